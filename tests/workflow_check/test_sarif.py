"""Findings as SARIF: what code scanning reads of one."""

import json

from regraft.core.findings import Finding, Witness
from regraft.render.sarif import sarif


def test_a_finding_has_its_rule_level_place_witnesses_and_a_lasting_name() -> None:
    witness = Witness("a b.yml", 2, "nobody passes it")
    found = Finding("input-unread", "warning", "never read", "ci.yml", 3, 5, "medium", (witness,), "take it out")
    (run,) = json.loads(sarif([found], "1.0", {"input-unread": "an input that nobody reads"}, {"ci.yml": b"\n\nx\n"}))[
        "runs"
    ]
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"] == [
        {"id": "input-unread", "shortDescription": {"text": "an input that nobody reads"}}
    ]
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == ("input-unread", 0, "warning")
    assert result["message"]["text"] == "never read\nWhat to do: take it out"
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "ci.yml"}, "region": {"startLine": 3, "startColumn": 5}}
    (related,) = result["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"] == {"uri": "a%20b.yml"}
    assert len(result["partialFingerprints"]["regraft/v1"]) == 32


def test_a_finding_without_a_line_has_no_region_and_control_characters_are_shown_as_text() -> None:
    found = Finding("input-unread", "error", "bad\x1b[31m", "ci\x1b.yml")
    (result,) = json.loads(sarif([found], "1.0", {}, {}))["runs"][0]["results"]
    assert "region" not in result["locations"][0]["physicalLocation"]
    assert (
        "\x1b" not in result["message"]["text"] + result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    )


def test_a_finding_has_the_same_place_and_name_from_wherever_it_is_looked_at() -> None:
    said = []
    for top in ("", "../", "/home/x/project/"):
        witness = Witness(f"{top}lib/b.yml", 2, "nobody passes it")
        found = Finding("input-unread", "warning", "never read", f"{top}ci.yml", 3, witnesses=(witness,))
        [result] = json.loads(sarif([found], "1.0", {}, {f"{top}ci.yml": b"\n\nx\n"}, top))["runs"][0]["results"]
        said.append(result)
    assert said[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "ci.yml"
    assert said[0]["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "lib/b.yml"
    assert said == [said[0]] * 3


def test_no_findings_are_a_run_without_results() -> None:
    assert json.loads(sarif([], "1.0", {}, {}))["runs"][0]["results"] == []
