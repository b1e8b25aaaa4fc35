"""The one boundary: each kind of error has its exit code, in text, in JSON and as an annotation; nothing raw is printed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from regraft import __version__
from regraft.cli.boundary import Boundary, Terminated
from regraft.errors import InputError, MistakesError, OutsideError, RefusedError


def code_of(error: BaseException, words: tuple[str, ...] = (), environ: dict[str, str] | None = None) -> int:
    with Boundary(words, environ or {}) as edge:
        raise error
    return edge.code  # type: ignore[unreachable]  # the boundary swallows what it reports


def regraft(*words: str, cwd: Path, env: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    environment = {"PATH": os.environ["PATH"], **(env or {})}
    argv = [sys.executable, "-m", "regraft", *words]
    return subprocess.run(argv, capture_output=True, text=True, cwd=cwd, env=environment, check=False, timeout=60)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RefusedError("no", "no"), 1),
        (InputError("bad", "bad"), 2),
        (OutsideError("down", "down"), 3),
        (FileNotFoundError(2, "no such file", "x"), 3),
        (OSError(28, "No space left on device"), 3),
        (RecursionError(), 3),
        (KeyboardInterrupt(), 130),
        (ValueError("ours"), 70),
    ],
)
def test_each_kind_of_error_has_its_exit_code(error: BaseException, code: int) -> None:
    assert code_of(error) == code


def test_disk_full_names_itself_and_a_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    code_of(OSError(28, "No space left on device", "/x/plan.json"))
    assert capsys.readouterr().err == (
        "error: /x/plan.json: no space is left [disk-full]\n  -> free some space, then run again\n"
    )


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), "interrupted"), (Terminated(15), "terminated")])
def test_an_interruption_is_json_too(error: BaseException, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    code_of(error, ("plan", "--format", "json"))
    assert json.loads(capsys.readouterr().out)["error"]["code"] == code


def test_an_error_says_in_json_what_became_of_the_machine(capsys: pytest.CaptureFixture[str]) -> None:
    error = OutsideError("down", "down")
    error.outcome = "rolled-back"
    code_of(error, ("apply", "--format", "json"))
    assert json.loads(capsys.readouterr().out)["error"]["outcome"] == "rolled-back"


@pytest.mark.parametrize("words", [("plan", "--format", "json"), ("plan", "--format=json")])
def test_errors_are_json_too(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    code_of(InputError("unknown-key", "no key 'a'", where="regraft.toml:3:1", hint="did you mean 'b'?"), words)
    assert json.loads(capsys.readouterr().out) == {
        "error": {
            "code": "unknown-key",
            "message": "no key 'a'",
            "where": "regraft.toml:3:1",
            "hint": "did you mean 'b'?",
        }
    }


def test_all_mistakes_are_there_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    mistakes = [InputError("a", "first", where="f:1:1"), InputError("b", "second", where="f:2:1")]
    code_of(MistakesError(mistakes), ("plan", "--format=json"))
    captured = capsys.readouterr()
    assert [one["code"] for one in json.loads(captured.out)["error"]["mistakes"]] == ["a", "b"]
    assert captured.err.count("error: ") == 2


def test_in_actions_each_mistake_is_an_annotation_on_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = InputError("bad-ref", "a\n::set-output name=x::y", where="regraft.toml:3:9")
    code_of(hostile, (), {"GITHUB_ACTIONS": "true"})
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == ("::error file=regraft.toml,line=3,col=9,title=regraft%3A bad-ref::a%0A::set-output name=x::y")
    assert sum(line.lstrip().startswith("::") for line in lines) == 1


def test_a_bug_prints_a_report_to_paste_and_no_raw_control_character(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(ValueError("\x1b[2Jboom"), ("plan", "\x1b]0;x\x07")) == 70
    report = capsys.readouterr().err
    assert f"regraft {__version__}" in report
    assert "ValueError" in report
    assert "\x1b" not in report


def test_version_and_help(tmp_path: Path) -> None:
    assert regraft("--version", cwd=tmp_path).stdout == f"regraft {__version__}\n"
    answer = regraft("--help", cwd=tmp_path)
    assert answer.returncode == 0
    assert "verify" in answer.stdout


@pytest.mark.parametrize(
    ("words", "needle"),
    [
        (("plam",), "did you mean `regraft plan`?"),
        (("plan", "--imge", "x"), "--imge"),
        (("show",), "FILE"),
    ],
)
def test_a_wrong_command_line_is_exit_2_without_a_traceback(
    words: tuple[str, ...], needle: str, tmp_path: Path
) -> None:
    answer = regraft(*words, cwd=tmp_path)
    assert answer.returncode == 2
    assert needle in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("schema >&-", 3),
        ("--version >&-", 3),
        ("--version > /dev/full", 3),
        ("--help > /dev/full", 3),
        ("schema > /dev/full", 3),
        ("plan --body - <&-", 2),
        ("schema 2>&-", 0),
        ("replay - <&-", 2),
        ("unheard-of 2> /dev/full", 2),
        ("unheard-of --format json > /dev/full", 2),
    ],
)
def test_closed_and_full_streams_are_no_yes_and_no_traceback(line: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "regraft.toml").write_text('[project]\nname = "p"\n[images.i]\n')
    argv = f"{sys.executable} -m regraft {line}"
    env = {"PATH": os.environ["PATH"]}
    answer = subprocess.run(argv, shell=True, capture_output=True, text=True, cwd=tmp_path, env=env, check=False)
    assert "Traceback" not in answer.stderr
    assert "bug" not in answer.stderr
    assert answer.returncode == code


def test_a_folder_whose_name_is_no_text(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/bad\xff"
    os.mkdir(folder)
    for name in (b"up", b"project"):
        os.mkdir(folder + b"/" + name)
    subprocess.run(["git", "init", "-q", "--bare", folder + b"/up"], check=True, env={"PATH": os.environ["PATH"]})
    with open(folder + b"/project/regraft.toml", "w") as manifest:
        manifest.write('[project]\nname = "p"\n[dependencies.e]\nurl = "../up"\nbranch = "main"\n')
        manifest.write('[images.i]\n[images.i.baked.e]\npath = "/x"\n')
    argv = [sys.executable, "-m", "regraft", "plan", "--set", "ci_e_pr=main", "--project", folder + b"/project"]
    answer = subprocess.run(argv, capture_output=True, env={"PATH": os.environ["PATH"]}, check=False, timeout=60)
    assert answer.returncode == 2
    assert b"[no-such-ref]" in answer.stderr


def test_in_actions_errors_are_on_the_summary_page_as_text(tmp_path: Path) -> None:
    page = tmp_path / "summary"
    code_of(
        InputError("bad-ref", "<b>@everyone</b>", where="body:1:1", hint="write it"),
        (),
        {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(page)},
    )
    text = page.read_text()
    assert "<b>" not in text
    assert "@everyone" not in text
    assert "write it" in text


def test_nobody_reads_any_more(tmp_path: Path) -> None:
    """`regraft --help | head -0`: no traceback and no noise."""
    argv = f"{sys.executable} -m regraft schema | true"
    answer = subprocess.run(argv, shell=True, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=60)
    assert answer.stderr == ""
