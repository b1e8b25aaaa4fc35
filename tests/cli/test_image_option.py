"""`--image NAME`: the caller says which image this machine is, and another one's plan is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.parametrize("lane", ["dist-info"], indirect=True)


@pytest.mark.parametrize("command", ["verify", "apply", "replay"])
def test_the_plan_of_another_image_is_refused_before_anything_is_looked_at(
    lane: Any, command: str, tmp_path: Path
) -> None:
    file = "plan.json"
    if command == "replay":
        file = str(tmp_path / "receipt.json")
        assert lane.regraft("verify", "plan.json", "--root", str(lane.root), "--receipt", file).returncode == 1
    before = lane.see()
    done = lane.regraft(command, file, "--root", str(lane.root), "--image", "other", "--format", "json")
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert (error["code"], error["where"]) == ("other-image", "--image")
    assert "for the image 'lane', and this machine is said to be 'other'" in error["message"]
    assert lane.see() == before
    assert not (lane.root / "var/lib/regraft").exists()


def test_the_plan_of_this_image_goes_on(lane: Any) -> None:
    done = lane.regraft("verify", "plan.json", "--root", str(lane.root), "--image", "lane")
    assert done.returncode == 1
    assert "verdict   no" in done.stdout
