"""The page that explains the states: each example is judged, and has the state that it stands for."""

import re
from pathlib import Path

import pytest

from regraft.core.patch_read import read_patch_text
from regraft.core.patch_verdict import judge_patch
from regraft.core.tree_view import TreeView
from regraft.core.trees import Entry

PAGE = (Path(__file__).resolve().parents[2] / "docs/patches.md").read_text("utf-8")
STATE = re.compile(r"^### `([a-z-]+)`\n(.*?)(?=^##)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = {state: dict(BLOCK.findall(text)) for state, text in STATE.findall(PAGE)}


def test_every_state_has_an_example() -> None:
    assert [*EXAMPLES] == ["applies", "already-there", "partial", "conflict", "target-gone", "unreadable"]


@pytest.mark.parametrize("state", EXAMPLES)
def test_an_example_has_the_state_that_it_stands_for(state: str) -> None:
    blocks = EXAMPLES[state]
    files = {"1" * 40: blocks["text"].encode()} if "text" in blocks else {}
    entries = {b"f": Entry("100644", "blob", "1" * 40, b"f")} if files else {}
    text = read_patch_text(blocks["diff"].encode(), exists=entries.__contains__)
    assert judge_patch(text, TreeView(entries, files.__getitem__)).state == state
