"""The journal: what a restore reads after whatever ended the apply."""

import json

import pytest
from msgspec.structs import replace

from regraft.core.journal import SCHEMA, Journal, Phase, Running, Subject, decode_journal, encode_journal
from regraft.errors import InputError

JOURNAL = Journal(
    schema=SCHEMA,
    run="00ff",
    phase="installing",
    plan="a" * 64,
    image="rocm",
    root="",
    snapshot=True,
    started="2026-01-02T03:04:05Z",
    process=Running(12, 12, 3456, ("python", "-m", "pip")),
    subjects=(Subject("checkout", "/src/sglang"), Subject("also", "/etc/x", recursive=False)),
)


def test_the_document_that_is_written() -> None:
    assert json.loads(encode_journal(JOURNAL)) == {
        "schema": "regraft.journal/1",
        "run": "00ff",
        "phase": "installing",
        "plan": "a" * 64,
        "image": "rocm",
        "root": "",
        "snapshot": True,
        "started": "2026-01-02T03:04:05Z",
        "replaces": False,
        "process": {"pid": 12, "group": 12, "start_ticks": 3456, "argv": ["python", "-m", "pip"]},
        "subjects": [
            {"kind": "checkout", "path": "/src/sglang", "recursive": True},
            {"kind": "also", "path": "/etc/x", "recursive": False},
        ],
    }


def test_what_is_written_is_read() -> None:
    assert decode_journal(encode_journal(JOURNAL), "j") == JOURNAL
    bare = replace(JOURNAL, process=None, subjects=())
    assert decode_journal(encode_journal(bare), "j") == bare


def test_paths_that_are_not_utf8_come_back_as_they_were() -> None:
    odd = replace(
        JOURNAL,
        root="/r\udcff",
        subjects=(Subject("checkout", "/s\udcfe/%41\n"),),
        process=Running(1, 1, 1, ("x\udcff",)),
    )
    read = decode_journal(encode_journal(odd), "j")
    assert (read.root, read.subjects) == (odd.root, odd.subjects)
    assert read.process is not None
    assert read.process.argv == ("x\\xff",)


@pytest.mark.parametrize(
    ("phase", "replaces", "changed"),
    [
        ("recording", False, False),
        ("recording", True, True),
        ("recorded", False, True),
        ("writing", False, True),
        ("applied", False, True),
        ("restoring", False, True),
    ],
)
def test_only_while_recording_nothing_was_changed(phase: Phase, replaces: bool, changed: bool) -> None:
    assert replace(JOURNAL, phase=phase, replaces=replaces).changed is changed


@pytest.mark.parametrize("path", ["relative", "", "/a/../etc", "/a\0b", "/%4"])
def test_a_path_that_is_not_absolute_and_plain_is_refused(path: str) -> None:
    document = json.loads(encode_journal(JOURNAL))
    document["subjects"][0]["path"] = path
    with pytest.raises(InputError) as caught:
        decode_journal(json.dumps(document).encode(), "j")
    assert caught.value.code == "wrong-shape"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"schema": "regraft.journal/2"}, "wrong-schema"),
        ({"phase": "resting"}, "wrong-shape"),
        ({"more": 1}, "wrong-shape"),
        ({"snapshot": "yes"}, "wrong-shape"),
    ],
)
def test_another_document_is_refused(change: dict[str, object], code: str) -> None:
    document = json.loads(encode_journal(JOURNAL)) | change
    with pytest.raises(InputError) as caught:
        decode_journal(json.dumps(document).encode(), "j")
    assert caught.value.code == code


@pytest.mark.parametrize("data", [b"", b"{", encode_journal(JOURNAL)[:-20]])
def test_half_a_journal_is_refused(data: bytes) -> None:
    with pytest.raises(InputError) as caught:
        decode_journal(data, "j")
    assert caught.value.code == "not-json"
