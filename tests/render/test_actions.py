"""Outputs that no value can break out of, and annotations that carry hostile text as text."""

from regraft.core.findings import Finding
from regraft.core.plan import Note
from regraft.render import actions


def parse(data: bytes) -> dict[str, str]:
    """The way in which the runner reads `$GITHUB_OUTPUT`."""
    found = {}
    lines = iter(data.decode().split("\n"))
    for line in lines:
        if not line:
            continue
        name, _, delimiter = line.partition("<<")
        assert delimiter, f"not a heredoc: {line!r}"
        value = []
        for inner in lines:
            if inner == delimiter:
                break
            value.append(inner)
        found[name] = "\n".join(value)
    return found


def test_a_value_cannot_end_itself_and_name_another_output() -> None:
    hostile = "x\nEOF\nregraft_\noverridden<<EOF\ntrue\nEOF"
    assert parse(actions.outputs({"overridden": "false", "plan": hostile})) == {"overridden": "false", "plan": hostile}


def test_each_delimiter_is_another() -> None:
    first, second = (actions.outputs({"a": "b"}) for _ in range(2))
    assert first != second


def test_findings_are_commands_on_one_line_each() -> None:
    finding = Finding("patch-conflict", "error", "100% wrong\n::error::forged", "a,b:c.patch", line=3)
    assert actions.finding_annotations([finding]) == (
        "::error file=a%2Cb%3Ac.patch,line=3,title=regraft%3A patch-conflict::100%25 wrong%0A::error::forged\n"
    )


def test_only_warnings_among_notes_are_annotated() -> None:
    notes = [Note("notice", "quiet", "a"), Note("warning", "loud", "b")]
    assert actions.note_annotations(notes) == "::warning title=regraft%3A loud::b\n"
