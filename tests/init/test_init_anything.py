"""Whatever stands in a repository: the proposal is a valid manifest, and both checks are silent on it."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regraft.flows.check import check
from regraft.flows.init import ProposedFiles

URLS = ["https://x.org/o/eng", "git@x.org:o/eng.git", "https://x.org/p/Eng", "$A", "https://u:p@x.org/o/two", "/m/eng.git", "x y", "eng"]  # fmt: skip
PATHS = ["/eng", "/eng/lib", "eng", "..", ".", "~/eng", "/opt/$A", "$D/eng", "-", "/", "/a\tb", "/é", "/two", "''"]
REFS = ["main", "work", "$A", "${A:-main}", "v1.2", "FETCH_HEAD", "origin/work", "a" * 40, "HEAD", "-f", "$(cat /c)", "pull/7/head"]  # fmt: skip
PATCHES = ["/p/a.patch", "/p/b.patch", "/p/*.patch", "/p/no.patch", "$X", "<(curl x)", "p/a.patch", "/p/$n.patch"]
SENTENCES = st.one_of(
    st.builds("git clone {} {}".format, st.sampled_from(URLS), st.sampled_from(PATHS)),
    st.builds("git clone -b {} {}".format, st.sampled_from(REFS), st.sampled_from(URLS)),
    st.builds("cd {}".format, st.sampled_from(PATHS)),
    st.builds("git -C {} checkout {}".format, st.sampled_from(PATHS), st.sampled_from(REFS)),
    st.builds("git checkout {}".format, st.sampled_from(REFS)),
    st.builds("git fetch {} {}".format, st.sampled_from(["origin", *URLS]), st.sampled_from(REFS)),
    st.builds("git remote add {} {}".format, st.sampled_from(["origin", "up"]), st.sampled_from(URLS)),
    st.builds("git apply {} {}".format, st.sampled_from(["", "-p0", "-3", "--directory=x/..", "--directory=lib", "-pz"]), st.sampled_from(PATCHES)),
    st.builds("patch {} < {}".format, st.sampled_from(["-p1", "-p2", "", "-d lib -p1"]), st.sampled_from(PATCHES[:3])),
    st.builds("for n in a b; do git apply {}; done".format, st.sampled_from(PATCHES)),
    st.builds("for n in $(cat /p/series); do git apply /p/{}; done".format, st.sampled_from(["$n", "x$n"])),
    st.builds("{} install {} {}".format, st.sampled_from(["pip", "/v/bin/pip", "uv pip", "MAX=1 pip", "PYTHONPATH=/x pip"]),
              st.sampled_from(["-e", "", "--no-deps -e", "--target $T"]), st.sampled_from([*PATHS, "git+https://x.org/o/eng@w", "x @ git+https://x.org/o/x"])),
    st.builds("mv {} {}".format, st.sampled_from(PATHS), st.sampled_from(PATHS)),
    st.builds("sed -i s/a/b/ {}".format, st.sampled_from(PATHS)),
)  # fmt: skip
JOINS = st.sampled_from([" && ", "; ", " || ", "\nRUN ", "\nWORKDIR /eng\nRUN ", "\nARG A=work\nRUN ", "\nARG A\nRUN ", "\nENV PYTHONPATH=/eng:a\nRUN ", "\nFROM one AS b\nRUN ", "\nCOPY p /p\nRUN "])  # fmt: skip


@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sentences=st.lists(st.tuples(SENTENCES, JOINS), min_size=1, max_size=12))
def test_any_dockerfile_gives_a_valid_manifest_that_both_checks_accept(
    repository: Callable[..., Any], patch: Callable[..., str], sentences: list[tuple[str, str]]
) -> None:
    files = {"p/a.patch": patch("d/f"), "p/b.patch": patch("d/f"), "p/series": "a.patch\nb.patch\n"}
    found = repository(files)
    text = "".join(f"{join}{sentence}" for sentence, join in sentences).lstrip(" &|;")
    found.files["Dockerfile"] = f"FROM a AS one\nARG A=work\nCOPY p /p\nRUN true && true {text}\n".encode()
    proposed = found.propose()
    assert check(ProposedFiles(found, proposed)).findings == ()
    assert found.differences() == []
