"""What others read has a file here: a change of a contract is a change of that file, and is seen."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from regraft.core import document
from regraft.core.baseline import (
    Baseline,
    BaselineDependency,
    BaselinePatch,
    Distribution,
    EditedFile,
    HeldFile,
    HeldFinder,
    Loose,
    Site,
)
from regraft.core.baseline_document import decode_baseline, encode_baseline
from regraft.core.findings import Finding, Witness
from regraft.core.objects import Commit, Sha256, Tree
from regraft.core.plan import BaselineSource, Note, PlannedDependency, PlannedImage, PlannedPatch, Source
from regraft.core.receipt import Environment, Failure, FoundDependency, FoundImport, Held, Receipt, Times
from regraft.core.receipt_document import decode_receipt, encode_receipt, seal
from regraft.errors import InputError, MistakesError, OutsideError, RefusedError, RegraftError

GOLDEN = Path(__file__).parent / "golden"
SITE = "lib/python3.12/site-packages"

BASELINE = Baseline(
    schema="regraft.baseline/1",
    image="rocm",
    reference="rocm/sgl-dev:miles",
    python="3.12.3",
    dependencies={
        "sglang": BaselineDependency(
            commit=Commit("1" * 40),
            tree=Tree("2" * 40),
            patches=(BaselinePatch("docker/sglang.patch", Sha256("3" * 64)),),
            distributions={"sglang": "0.5.1"},
            untracked=("notes.txt", "python/sglang/local.py"),
            untracked_content={"python/sglang/local.py": Sha256("a" * 64)},
            empty_submodules=("3rdparty/docs",),
        )
    },
    environment=(
        Distribution("sglang", "0.5.1", ("torch>=2",)),
        Distribution("torch", "2.9.1"),
    ),
    site=Site(
        records={"sglang": Sha256("b" * 64), "torch": Sha256("c" * 64)},
        path_files=(HeldFile(f"{SITE}/distutils-precedence.pth", Sha256("d" * 64), ("setuptools",)),),
        finders=(HeldFinder("_distutils_hack.DistutilsMetaFinder", ("setuptools",)),),
        loose=(
            Loose(f"{SITE}/sitecustomize.py", "module", Sha256("e" * 64)),
            Loose(f"{SITE}/vendored", "package", None),
        ),
        edited=(EditedFile("torch", f"{SITE}/torch/version.py", Sha256("f" * 64)),),
    ),
)
# As the first files of this schema were written: what they do not say is not recorded.
OLDER = replace(
    BASELINE,
    dependencies={
        "sglang": replace(
            BASELINE.dependencies["sglang"], untracked=("notes.txt",), untracked_content=None, empty_submodules=None
        )
    },
    site=None,
)
FINDING = Finding(
    rule="import-elsewhere",
    severity="error",
    message="sglang is found outside the checkout",
    path="/sgl-workspace/sglang",
    witnesses=(Witness("/opt/venv/lib/site-packages/a.pth", 1, "puts it in front"),),
    fix="remove the file",
)
RECEIPT = seal(
    Receipt(
        schema="regraft.receipt/1",
        digest=Sha256("0" * 64),
        plan=Sha256("4" * 64),
        request=Sha256("5" * 64),
        project="miles",
        manifest=Sha256("6" * 64),
        suites=("stage-c",),
        image=PlannedImage("rocm", "rocm/sgl-dev:miles", None),
        baseline=BaselineSource("file", Sha256("7" * 64)),
        verdict="no",
        dependencies={
            "sglang": FoundDependency(
                planned=PlannedDependency(
                    action="override",
                    ref="#12",
                    source=Source("body", 3, 1),
                    url="https://github.com/sgl-project/sglang",
                    commit=Commit("8" * 40),
                    tree=Tree("9" * 40),
                    patches=(PlannedPatch("docker/sglang.patch", Sha256("3" * 64), "applies"),),
                ),
                before=Held(Commit("1" * 40), Tree("2" * 40), {"sglang": "0.5.1"}),
                after=Held(Commit("8" * 40), Tree("9" * 40), {"sglang": "0.5.2"}),
                imports=(FoundImport("sglang", ("/sgl-workspace/sglang/python/sglang/__init__.py",)),),
            )
        },
        environment=Environment("3.12.3", (Distribution("sglang", "0.5.1"),), (Distribution("sglang", "0.5.2"),)),
        findings=(FINDING,),
        notes=(Note("notice", "body-frozen", "the body is the event's"),),
        times=Times("2026-08-21T10:00:00Z", 1.5),
        outcome="changed",
        error=Failure("disk-full", "no space is left"),
    )
)


def test_the_baseline() -> None:
    assert encode_baseline(BASELINE) == (GOLDEN / "baseline.json").read_bytes()
    assert decode_baseline((GOLDEN / "baseline.json").read_bytes(), "rocm") == BASELINE


def test_a_baseline_of_before_is_still_read() -> None:
    assert decode_baseline((GOLDEN / "baseline-older.json").read_bytes(), "rocm") == OLDER


@pytest.mark.parametrize("digit", ["a", "b", "c", "d", "e", "f"])
def test_a_hash_of_a_baseline_that_is_none_is_refused(digit: str) -> None:
    data = (GOLDEN / "baseline.json").read_bytes().replace(digit.encode() * 64, b"damaged")
    with pytest.raises(InputError) as caught:
        decode_baseline(data, "rocm")
    assert caught.value.code == "bad-hash"


def test_the_receipt() -> None:
    assert encode_receipt(RECEIPT) == (GOLDEN / "receipt.json").read_bytes()
    assert decode_receipt((GOLDEN / "receipt.json").read_bytes(), "receipt.json") == RECEIPT


def test_a_receipt_of_before_is_still_read_and_its_digest_is_the_same() -> None:
    older = json.loads((GOLDEN / "receipt.json").read_text())
    del older["outcome"], older["error"]
    found = decode_receipt(json.dumps(older).encode(), "receipt.json")
    assert found == replace(RECEIPT, outcome=None, error=None)
    assert found.digest == RECEIPT.digest


def test_a_finding() -> None:
    shape = ["rule", "severity", "confidence", "path", "line", "column", "message", "witnesses", "fix"]
    assert sorted(document.plain(FINDING)) == sorted(shape)
    assert sorted(document.plain(FINDING.witnesses[0])) == ["line", "message", "path"]


def test_the_exit_codes() -> None:
    codes = {kind.__name__: kind.exit_code for kind in (RefusedError, InputError, MistakesError, OutsideError)}
    assert codes == json.loads((GOLDEN / "exit-codes.json").read_text())
    assert RegraftError.exit_code == 70
