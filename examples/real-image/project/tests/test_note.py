import pytest
from click.testing import CliRunner
from tinycli import note


@pytest.fixture(autouse=True)
def no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TINYCLI_NO_EDITOR", "1")


def test_no_editor_is_opened_where_nobody_types() -> None:
    done = CliRunner().invoke(note, [])
    assert done.exit_code == 1
    assert "no editor is opened on this machine" in done.output


def test_an_empty_default_is_shown() -> None:
    assert '[default: ""]' in CliRunner().invoke(note, ["--help"]).output
