"""A carried change that is no diff, from the plan to the machine and back."""

import json
from pathlib import Path
from typing import Any

import pytest

CHANGES = """\
[[replace]]
file = "dep/__init__.py"
old = "LAST = 1"
new = "LAST = 9"

[[anchor]]
file = "dep/__init__.py"
text = '''
def main():
    pass'''
"""


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["dist-info"], indirect=True)
def test_a_replacement_is_planned_applied_verified_and_given_back(lane: Any) -> None:
    project: Path = lane.project
    (project / "dep.patch").unlink()
    (project / "changes.toml").write_text(CHANGES)
    manifest = (project / "regraft.toml").read_text().replace('"dep.patch"', '"changes.toml"')
    (project / "regraft.toml").write_text(manifest)
    planned = lane.regraft("plan", "--image", "lane", "--body", "body.md", "--output", "plan.json")
    assert planned.returncode == 0, planned.stdout + planned.stderr
    [patch] = json.loads((project / "plan.json").read_text())["dependencies"]["dep"]["patches"]
    assert (patch["path"], patch["state"]) == ("changes.toml", "applies")
    before = lane.see()
    applied = lane.apply()
    assert applied.returncode == 0, applied.stdout + applied.stderr
    text = (lane.checkout / "dep/__init__.py").read_text()
    assert text == "A = 2\n\n\ndef main():\n    pass\n\n\nLAST = 9\n"
    verify = ("verify", "plan.json", "--root", str(lane.root))
    assert lane.regraft(*verify).returncode == 0
    (lane.checkout / "dep/__init__.py").write_text(text.replace("9", "8"))
    assert lane.regraft(*verify).returncode == 1
    (lane.checkout / "dep/__init__.py").write_text(text)
    restored = lane.restore()
    assert restored.returncode == 0, restored.stdout + restored.stderr
    assert lane.see() == before
