"""The plan as a file: a golden file keeps its shape, its digest covers what decides, and an edit is refused."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from regraft.core.objects import Commit, Sha256, Tree
from regraft.core.plan import (
    BaselineSource,
    Note,
    Plan,
    PlannedDependency,
    PlannedImage,
    PlannedPatch,
    Source,
)
from regraft.core.plan_document import decode_plan, encode_plan, one_line, plan_digest, seal
from regraft.errors import InputError

GOLDEN = Path(__file__).parent / "golden" / "plan.json"

SGLANG = PlannedDependency(
    action="override",
    ref="#12",
    source=Source("body", 3, 1),
    url="https://github.com/sgl-project/sglang",
    commit=Commit("1" * 40),
    tree=Tree("2" * 40),
    patches=(PlannedPatch("docker/sglang.patch", Sha256("3" * 64), "applies"),),
)
MEGATRON = PlannedDependency(
    action="keep",
    ref=None,
    source=Source("unnamed"),
    url="https://github.com/radixark/Megatron-LM",
    commit=None,
    tree=None,
    patches=(),
)
PLAN = seal(
    Plan(
        schema="regraft.plan/1",
        digest=Sha256("0" * 64),
        request=Sha256("4" * 64),
        project="miles",
        manifest=Sha256("5" * 64),
        suites=("stage-c-4-gpu-mi350",),
        image=PlannedImage("rocm", "rocm/sgl-dev:miles", None),
        baseline=BaselineSource("file", Sha256("6" * 64)),
        dependencies={"sglang": SGLANG, "megatron": MEGATRON},
        notes=(Note("warning", "body-changed", "the body changed", None, None),),
    )
)


def test_the_golden_file_is_what_others_read() -> None:
    assert encode_plan(PLAN) == GOLDEN.read_bytes()
    assert decode_plan(GOLDEN.read_bytes(), "plan.json") == PLAN


def test_the_digest_is_the_sha256_of_the_canonical_form_written_out_by_hand() -> None:
    import hashlib

    canonical = (
        '{"dependencies":{"megatron":{"action":"keep","commit":null,"patches":[],"tree":null,'
        '"url":"https://github.com/radixark/Megatron-LM"},'
        '"sglang":{"action":"override","commit":"' + "1" * 40 + '","patches":[{"path":"docker/sglang.patch",'
        '"sha256":"' + "3" * 64 + '"}],"tree":"' + "2" * 40 + '","url":"https://github.com/sgl-project/sglang"}},'
        '"image":{"digest":null,"name":"rocm","reference":"rocm/sgl-dev:miles"},'
        '"manifest":"' + "5" * 64 + '","project":"miles","schema":"regraft.plan/1",'
        '"suites":["stage-c-4-gpu-mi350"]}'
    )
    assert PLAN.digest == hashlib.sha256(canonical.encode()).hexdigest()


def replaced(**changes: object) -> Plan:
    return replace(PLAN, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changed",
    [
        replaced(project="other"),
        replaced(manifest=Sha256("a" * 64)),
        replaced(suites=()),
        replaced(image=PlannedImage("rocm", "rocm/sgl-dev:other", None)),
        replaced(image=PlannedImage("rocm", "rocm/sgl-dev:miles", "sha256:" + "1" * 64)),
        replaced(dependencies={"sglang": SGLANG}),
        replaced(dependencies={"sglang": replace(SGLANG, commit=Commit("9" * 40)), "megatron": MEGATRON}),
        replaced(dependencies={"sglang": replace(SGLANG, tree=Tree("9" * 40)), "megatron": MEGATRON}),
        replaced(dependencies={"sglang": replace(SGLANG, url="https://x/y"), "megatron": MEGATRON}),
        replaced(dependencies={"sglang": replace(SGLANG, patches=()), "megatron": MEGATRON}),
    ],
)
def test_what_decides_what_is_tested_changes_the_digest(changed: Plan) -> None:
    assert plan_digest(changed) != PLAN.digest


@pytest.mark.parametrize(
    "changed",
    [
        replaced(notes=()),
        replaced(request=Sha256("a" * 64)),
        replaced(baseline=None),
        replaced(dependencies={"sglang": replace(SGLANG, ref="main"), "megatron": MEGATRON}),
        replaced(dependencies={"megatron": MEGATRON, "sglang": SGLANG}),
    ],
)
def test_how_one_came_to_it_does_not(changed: Plan) -> None:
    assert plan_digest(changed) == PLAN.digest


def edited(place: list[str | int], value: object) -> bytes:
    raw = json.loads(encode_plan(PLAN))
    inner = raw
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return json.dumps(raw).encode()


PLACED = {"level": "notice", "code": "x", "message": "x", "line": 1, "column": 1}


@pytest.mark.parametrize(
    "source", [{"kind": "input", "line": None, "column": None}, {"kind": "body", "line": 9, "column": 2}]
)
def test_the_digest_does_not_cover_who_named_it(source: dict[str, object]) -> None:
    """`docs/commands/show.md` says which fields are sealed."""
    assert decode_plan(edited(["dependencies", "sglang", "source"], source), "plan.json").digest == PLAN.digest
    assert decode_plan(edited(["notes", 0], PLACED), "plan.json").notes[0].line == 1


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (edited(["dependencies", "sglang", "commit"], "9" * 40), "edited-plan"),
        (edited(["image", "reference"], "evil/image:latest"), "edited-plan"),
        (edited(["digest"], "0" * 64), "edited-plan"),
        (edited(["dependencies", "sglang", "commit"], "main"), "bad-hash"),
        (edited(["dependencies", "sglang", "commit"], "1" * 40 + "\n"), "bad-hash"),
        (edited(["dependencies", "sglang", "tree"], None), "bad-hash"),
        (edited(["dependencies", "sglang", "install"], ["rm", "-rf"]), "wrong-shape"),
        (edited(["dependencies", "sglang", "action"], "replace"), "wrong-shape"),
        (edited(["suites"], "stage-c"), "wrong-shape"),
        (
            edited(["dependencies", "sglang", "source"], {"kind": "body", "line": None, "column": None}),
            "impossible-plan",
        ),
        (edited(["dependencies", "sglang", "source"], {"kind": "body", "line": 0, "column": 1}), "impossible-plan"),
        (edited(["dependencies", "sglang", "source"], {"kind": "input", "line": 3, "column": 1}), "impossible-plan"),
        (edited(["dependencies", "sglang", "source", "kind"], "unnamed"), "impossible-plan"),
        (edited(["dependencies", "sglang", "ref"], None), "impossible-plan"),
        (edited(["dependencies", "megatron", "ref"], "main"), "impossible-plan"),
        (edited(["dependencies", "megatron", "source", "kind"], "lock"), "impossible-plan"),
        (edited(["notes", 0, "line"], 3), "impossible-plan"),
        (edited(["notes", 0], PLACED | {"column": -1}), "impossible-plan"),
        (edited(["schema"], "regraft.plan/2"), "wrong-schema"),
        (b"", "not-json"),
        (b"[" * 100_000, "not-json"),
        (b'{"schema": "regraft.plan/1", "schema": "regraft.plan/1"}', "not-json"),
        (b"\xff\xfe", "not-json"),
        (b"[]", "wrong-schema"),
        (b'{"schema": "regraft.plan/1"}', "wrong-shape"),
    ],
)
def test_an_edited_plan_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(InputError) as caught:
        decode_plan(data, "plan.json")
    assert (caught.value.code, caught.value.where) == (code, "plan.json")


def test_one_line_is_the_same_document_without_a_line_end() -> None:
    assert "\n" not in one_line(PLAN)
    assert decode_plan(one_line(PLAN).encode(), "output") == PLAN
