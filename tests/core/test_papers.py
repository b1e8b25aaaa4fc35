"""What differs between two documents, and nothing that does not matter."""

import pytest
from msgspec.structs import replace

from regraft.core.objects import Commit, Sha256
from regraft.core.papers import Change, compare, moved_commits, read_paper
from regraft.core.plan import Note, Plan, PlannedDependency, PlannedImage, PlannedPatch, Source
from regraft.core.plan_document import encode_plan, seal
from regraft.core.receipt import Environment, FoundDependency, Held, Receipt, Times
from regraft.core.receipt_document import encode_receipt
from regraft.core.receipt_document import seal as seal_receipt
from regraft.errors import InputError


def plan(**changes: object) -> Plan:
    sglang = PlannedDependency("override", "#1", Source("body", 1, 1), "https://x/o/r", Commit("1" * 40), None, ())
    made = Plan(
        schema="regraft.plan/1",
        digest=Sha256("0" * 64),
        request=Sha256("0" * 64),
        project="p",
        manifest=Sha256("1" * 64),
        suites=(),
        image=PlannedImage("rocm", "r:t", None),
        baseline=None,
        dependencies={"sglang": replace(sglang, tree="2" * 40)},  # type: ignore[arg-type]
        notes=(),
    )
    return seal(replace(made, **changes))  # type: ignore[arg-type]


def with_sglang(**changes: object) -> Plan:
    sglang = plan().dependencies["sglang"]
    return plan(dependencies={"sglang": replace(sglang, **changes)})  # type: ignore[arg-type]


def receipt(of: Plan, *, version: str = "1", seconds: float = 1.0) -> Receipt:
    return seal_receipt(
        Receipt(
            schema="regraft.receipt/1",
            digest=Sha256("0" * 64),
            plan=of.digest,
            request=of.request,
            project=of.project,
            manifest=of.manifest,
            suites=of.suites,
            image=of.image,
            baseline=None,
            verdict="yes",
            dependencies={
                name: FoundDependency(one, Held(None, None, None), Held(one.commit, one.tree, {name: version}), ())
                for name, one in of.dependencies.items()
            },
            environment=Environment("3.11.7", None, ()),
            findings=(),
            notes=(),
            times=Times("2026-01-01T00:00:00Z", seconds),
        )
    )


def test_equal_documents_differ_in_nothing() -> None:
    assert compare(plan(), plan(notes=(Note("notice", "a", "b"),))) == ()


def test_a_moved_pin_is_one_change_and_names_both() -> None:
    other = with_sglang(commit=Commit("9" * 40))
    assert compare(plan(), other) == (Change("dependencies.sglang.commit", "1" * 40, "9" * 40),)
    assert moved_commits(plan(), other) == {"sglang": ("1" * 40, "9" * 40)}


def test_one_patch_more_is_keyed_by_its_path() -> None:
    patches = (PlannedPatch("a.patch", Sha256("3" * 64), "applies"),)
    places = [change.place for change in compare(plan(), with_sglang(patches=patches))]
    assert places == [f"dependencies.sglang.patches.a.patch.{key}" for key in ("path", "sha256", "state")]


def test_two_receipts_of_one_run_differ_in_what_was_found_and_not_in_time() -> None:
    assert compare(receipt(plan(), seconds=1), receipt(plan(), seconds=2)) == ()
    changed = compare(receipt(plan(), version="1"), receipt(plan(), version="2"))
    assert changed == (Change("dependencies.sglang.after.distributions.sglang", "1", "2"),)


def test_a_plan_and_its_receipt_agree_on_what_was_planned() -> None:
    assert compare(plan(), receipt(plan())) == ()
    other = receipt(with_sglang(commit=Commit("9" * 40)))
    assert compare(plan(), other) == (Change("dependencies.sglang.commit", "1" * 40, "9" * 40),)


@pytest.mark.parametrize("paper", [plan(), receipt(plan())])
def test_the_schema_says_which_it_is(paper: Plan | Receipt) -> None:
    data = encode_plan(paper) if isinstance(paper, Plan) else encode_receipt(paper)
    assert read_paper(data, "file") == paper


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (encode_receipt(receipt(plan())).replace(b'"yes"', b'"no"'), "edited-receipt"),
        (encode_plan(plan()).replace(b"r:t", b"r:u"), "edited-plan"),
        (b'{"schema": "other"}', "wrong-schema"),
        (b"text", "not-json"),
    ],
)
def test_what_is_no_document_of_ours_is_named(data: bytes, code: str) -> None:
    with pytest.raises(InputError) as caught:
        read_paper(data, "file")
    assert caught.value.code == code
