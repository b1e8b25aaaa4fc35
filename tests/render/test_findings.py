import json

from regraft.core.findings import Finding, Witness
from regraft.render.findings import findings_json, findings_markdown, findings_text, looked_at_text

PLAIN = Finding("patch-missing", "error", "the project has no file a.patch", "regraft.toml", 11, 31, fix="add the file")
WITNESSED = Finding(
    "patch-unreadable",
    "warning",
    "it is empty",
    "a.patch",
    witnesses=(Witness("regraft.toml", 11, "named here"), Witness("b", None, "c")),
)
HOSTILE = Finding("r", "note", "::error::\x1b[31m\n##[group]", "::set-output\n.patch", 1, None, fix="\u202ex")


def test_each_finding_is_a_line_with_its_place() -> None:
    assert findings_text([PLAIN, WITNESSED]).split("\n") == [
        "regraft.toml:11:31: error: the project has no file a.patch [patch-missing]",
        "  -> add the file",
        "a.patch: warning: it is empty [patch-unreadable]",
        "  | regraft.toml:11: named here",
        "  | b: c",
    ]
    assert findings_text([]) == ""


def test_hostile_text_stays_on_its_line_and_is_no_command() -> None:
    lines = findings_text([HOSTILE]).split("\n")
    assert len(lines) == 2
    assert all(line.isprintable() and not line.startswith("::") and "##[" not in line for line in lines)


def test_json_has_the_one_shape_of_findings() -> None:
    document = json.loads(json.dumps(findings_json([WITNESSED])))
    assert document == [
        {
            "rule": "patch-unreadable",
            "severity": "warning",
            "confidence": "high",
            "path": "a.patch",
            "line": None,
            "column": None,
            "message": "it is empty",
            "witnesses": [
                {"path": "regraft.toml", "line": 11, "message": "named here"},
                {"path": "b", "line": None, "message": "c"},
            ],
            "fix": None,
        }
    ]
    assert list(document[0]) == [
        "rule",
        "severity",
        "confidence",
        "path",
        "line",
        "column",
        "message",
        "witnesses",
        "fix",
    ]


def test_markdown_shows_hostile_text_as_text() -> None:
    shown = findings_markdown([Finding("r", "error", "<img src=x> [a](b)\n# h", "a`b", 3)])
    assert shown.count("\n") == 1
    assert "<img" not in shown
    assert "](" not in shown
    assert shown.startswith("- **error** ")
    assert " line 3: " in shown


def test_zeros_are_stated() -> None:
    assert (
        looked_at_text({"images": 0, "locks": 2}, [])
        == "checked: images 0, locks 2; found: errors 0, warnings 0, notes 0"
    )
    assert looked_at_text({}, [PLAIN, WITNESSED, HOSTILE]).endswith("found: errors 1, warnings 1, notes 1")
