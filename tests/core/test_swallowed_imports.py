"""A back end that is skipped because another dependency lost what it imports: seen, and named.

As in https://github.com/NVIDIA-NeMo/Megatron-Bridge/pull/5119
"""

import pytest
from msgspec.structs import replace

from regraft.core.imports import judge_swallowed
from regraft.core.manifest import Baked, Image
from regraft.core.observation import Import

CORE = Baked("core", "/src/core", (), (), ("megatron.core",), (), (), (), "stop", ())
BRIDGE = replace(CORE, dependency="bridge", path="/src/bridge", imports=("megatron.bridge",))
IMAGE = Image(*("img", None, None, None, None, ("keep",), "python", (), "report", (), {"core": CORE, "bridge": BRIDGE}))


def said(wanted: str, by: str, *, ok: bool = True) -> list[str]:
    found = {"megatron.bridge": Import("megatron.bridge", ok=ok, swallowed=((wanted, by),))}
    return [f"{one.rule} {one.severity} {one.path}: {one.message}" for one in judge_swallowed(IMAGE, found)]


def test_a_name_of_another_dependency_that_could_not_be_imported_is_a_finding() -> None:
    assert said("megatron.core.lost", "megatron.bridge.models") == [
        "import-swallowed warning /src/bridge: megatron.bridge.models could not import megatron.core.lost of core, and went on without it"
    ]


@pytest.mark.parametrize(
    ("wanted", "by"),
    [
        ("megatron.bridge.optional", "megatron.bridge"),  # its own affair
        ("apex", "megatron.bridge.models"),  # nobody's that the manifest knows
        ("megatron.corelib", "megatron.bridge.models"),
        ("megatron.core.lost", "transformers.integrations"),  # somebody else looks whether it is there
    ],
)
def test_other_optional_imports_are_not(wanted: str, by: str) -> None:
    assert said(wanted, by) == []


def test_of_an_import_that_failed_the_failure_is_said_instead() -> None:
    assert said("megatron.core.lost", "megatron.bridge.models", ok=False) == []
