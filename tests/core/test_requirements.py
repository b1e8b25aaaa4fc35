"""Requirements that are violated now and were not before, by the image's own markers."""

import pytest

from regraft.core.baseline import Distribution
from regraft.core.requirements import Violation, check, newly_violated, normalized

MARKERS = {
    "implementation_name": "cpython",
    "implementation_version": "3.8.18",
    "os_name": "posix",
    "platform_machine": "aarch64",
    "platform_python_implementation": "CPython",
    "platform_release": "1",
    "platform_system": "Linux",
    "platform_version": "1",
    "python_full_version": "3.8.18",
    "python_version": "3.8",
    "sys_platform": "linux",
}


def violated(*environment: Distribution) -> list[tuple[str, str, str | None]]:
    return [(one.distribution, one.needs, one.found) for one in check(environment, MARKERS).violations]


@pytest.mark.parametrize(
    ("requirement", "version", "met"),
    [
        ("numlib<=2.2", "2.3", False),
        ("numlib<=2.2", "2.2", True),
        ("numlib (>=1.0)", "1.0", True),
        ("numlib", "0", True),
        ("NumLib==2.3.0", "2.3.0+rocm6", True),
        ("numlib>=2", "3.0rc1", True),
        ("numlib @ https://example.org/x.whl", "9", True),
        ("numlib>2; python_version >= '3.9'", "1", True),
        ("numlib>2; python_version < '3.9'", "1", False),
        ("numlib>2; platform_machine == 'aarch64'", "1", False),
        ("numlib>2; extra == 'fast'", "1", True),
    ],
)
def test_a_requirement_by_the_images_markers(requirement: str, version: str, met: bool) -> None:
    found = violated(Distribution("lib", "1", (requirement,)), Distribution("numlib", version))
    assert found == ([] if met else [("lib", "numlib", version)])


def test_a_requirement_that_is_not_installed() -> None:
    assert violated(Distribution("lib", "1", ("other>=1",))) == [("lib", "other", None)]


def test_extras_count_where_somebody_asks_for_them() -> None:
    lib = Distribution(
        "lib", "1", ("mail>=2; extra == 'email'", "lib[deep]; extra == 'email'", "well; extra == 'deep'")
    )
    user = Distribution("user", "1", ("lib[email]>=1",))
    assert violated(lib, Distribution("mail", "1")) == []
    assert violated(lib, user, Distribution("mail", "1")) == [("lib", "mail", "1"), ("lib", "well", None)]


def test_extras_that_ask_for_each_other_come_to_an_end() -> None:
    one = Distribution("one", "1", ("two[a]", "one[a]; extra == 'a'"))
    two = Distribution("two", "1", ("one[a]; extra == 'a'",))
    assert violated(one, two) == []


def test_what_cannot_be_judged_is_said() -> None:
    environment = [
        Distribution("lib", "1", ("not a requirement !", "odd>=1")),
        Distribution("odd", "1.0-custom-x"),
    ]
    found = check(environment, MARKERS)
    assert found.violations == ()
    assert found.unjudged == ("lib: 'not a requirement !'", "lib: odd>=1 with version '1.0-custom-x'")


def test_old_violations_are_not_blamed_on_this_change() -> None:
    old = Violation("lib", "a<1", "a", "2")
    now = [Violation("lib", "a<1", "a", "3"), Violation("lib", "b<1", "b", "2"), Violation("other", "a<1", "a", "3")]
    assert newly_violated(now, [old]) == (now[1], now[2])


def test_names_are_normalized() -> None:
    assert normalized("Zope.Interface__x") == "zope-interface-x"
