"""`regraft workflow check` as a process: where it looks, what it prints, and how it ends."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

BAD = """on: push
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - run: |
          git fetch origin && git checkout FETCH_HEAD
          make
"""
GOOD = BAD.replace(
    "git fetch origin && git checkout FETCH_HEAD\n", "git fetch origin\n          git checkout FETCH_HEAD\n"
)
RULE = "swallowed-failure"
SUITE = ".github/workflows/suite.yml"

Done = subprocess.CompletedProcess[str]


def regraft(cwd: Path, *words: str, **environ: str) -> Done:
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": "/nonexistent", **environ}
    argv = [sys.executable, "-m", "regraft", "workflow", "check", *words]
    return subprocess.run(argv, capture_output=True, text=True, env=env, check=False, cwd=cwd)


def write(root: Path, path: str, text: str) -> Path:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


def found(done: Done) -> list[tuple[str, str, int]]:
    """(rule, path, line) of what `--format json` says."""
    return [(one["rule"], one["path"], one["line"]) for one in json.loads(done.stdout)["findings"]]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    write(tmp_path, f"project/{SUITE}", BAD)
    return tmp_path / "project"


def git(root: Path, *words: str) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *words], cwd=root, env=env, check=True, capture_output=True)


# Where it looks.


def test_a_folder_without_git_is_a_repository_too(repository: Path) -> None:
    done = regraft(repository)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(f"{SUITE}:7:11: error: ")
    assert f"[{RULE}]" in done.stdout
    assert "checked: workflows 1, jobs 1, actions 0, rules " in done.stdout


def test_in_a_checkout_files_that_git_ignores_are_none(repository: Path) -> None:
    git(repository, "init", "--quiet")
    write(repository, "venv/lib/action.yml", "inputs: {unread: {}}\nruns: {using: composite, steps: []}\n")
    assert len(found(regraft(repository, "--format", "json"))) == 2
    write(repository, ".gitignore", "venv/\n")
    assert found(regraft(repository, "--format", "json")) == [(RULE, SUITE, 7)]


@pytest.mark.parametrize("path", [".", SUITE, ".github", ".github/workflows"])
def test_a_path_in_a_repository_leads_to_all_of_it(repository: Path, path: str) -> None:
    done = regraft(repository, path, "--format", "json")
    assert done.returncode == 1
    assert found(done) == [(RULE, SUITE, 7)]
    assert json.loads(done.stdout)["checked"]["workflows"] == 1


def test_only_what_is_there_is_said(repository: Path) -> None:
    write(repository, ".github/workflows/other.yml", GOOD)
    done = regraft(repository, ".github/workflows/other.yml", "--format", "json")
    assert (done.returncode, found(done)) == (0, [])
    assert json.loads(done.stdout)["checked"]["workflows"] == 2  # the graph is of all of them


@pytest.mark.parametrize("words", [(), ("--project", ".")])
def test_without_a_path_all_is_said_wherever_one_stands(repository: Path, words: tuple[str, ...]) -> None:
    write(repository, "src/a.py", "")
    done = regraft(repository / "src", *words, "--format", "json")
    assert (done.returncode, found(done)) == (1, [(RULE, f"../{SUITE}", 7)])


@pytest.mark.parametrize("path", ["src", "README", ".github/labels.yml"])
def test_a_path_where_nothing_is_checked_is_a_mistake(repository: Path, path: str) -> None:
    for one in ("src/a.py", "README", ".github/labels.yml"):
        write(repository, one, "")
    done = regraft(repository, path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{path}: there is no workflow and no action here" in done.stderr


@pytest.mark.parametrize("path", [".github/workflows/mine.yml", "built"])
def test_a_path_that_git_ignores_is_a_mistake(repository: Path, path: str) -> None:
    git(repository, "init", "--quiet")
    write(repository, ".gitignore", "mine.yml\nbuilt/\n")
    write(repository, ".github/workflows/mine.yml", BAD)
    write(repository, "built/action.yml", "")
    done = regraft(repository, path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{path}: this is none of the repository's files" in done.stderr
    assert "[not-listed]" in done.stderr


@pytest.mark.parametrize("path", ["inner", "inner/src", "inner/README"])
def test_a_repository_in_another_is_not_the_other(repository: Path, path: str) -> None:
    git(repository, "init", "--quiet")
    for one in ("inner/src/a.py", "inner/README"):
        write(repository, one, "")
    git(repository / "inner", "init", "--quiet")
    done = regraft(repository, path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "[no-workflows]" in done.stderr


def test_a_path_that_is_a_link_is_the_workflow_of_that_name(repository: Path) -> None:
    write(repository, "shared.yml", BAD)
    linked = ".github/workflows/linked.yml"
    (repository / linked).symlink_to("../../shared.yml")
    assert found(regraft(repository, linked, "--format", "json")) == [(RULE, linked, 7)]
    (repository / "shared.yml").unlink()
    assert found(regraft(repository, linked, "--format", "json")) == [("workflow-unreadable", linked, 1)]


def test_a_repository_elsewhere_is_named_as_it_was(repository: Path) -> None:
    for words in (("project",), ("--project", "project"), (f"project/{SUITE}",)):
        assert found(regraft(repository.parent, *words, "--format", "json")) == [(RULE, f"project/{SUITE}", 7)]


def test_no_workflows_is_a_mistake_and_no_clean_answer(tmp_path: Path) -> None:
    write(tmp_path, ".github/dependabot.yml", "version: 2\n")
    done = regraft(tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "[no-workflows]" in done.stderr


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    done = regraft(tmp_path, "absent")
    assert done.returncode == 2
    assert "[no-project]" in done.stderr


@pytest.mark.parametrize("with_git", [True, False])
@pytest.mark.parametrize("target", ["absent.yml", "linked.yml"])
def test_a_link_that_leads_nowhere_is_no_workflow_that_is_fine(repository: Path, target: str, with_git: bool) -> None:
    write(repository, SUITE, GOOD)
    (repository / ".github/workflows/linked.yml").symlink_to(target)
    if with_git:
        git(repository, "init", "--quiet")
        git(repository, "add", ".")
    done = regraft(repository, "--format", "json")
    assert (done.returncode, found(done)) == (1, [("workflow-unreadable", ".github/workflows/linked.yml", 1)])


def test_a_file_that_was_taken_away_and_not_committed_is_none(repository: Path) -> None:
    write(repository, ".github/workflows/gone.yml", BAD)
    git(repository, "init", "--quiet")
    git(repository, "add", ".")
    (repository / ".github/workflows/gone.yml").unlink()
    assert found(regraft(repository, "--format", "json")) == [(RULE, SUITE, 7)]


def test_what_is_not_read_is_not_called_empty(repository: Path, tmp_path: Path) -> None:
    write(repository, SUITE, GOOD)
    write(repository, ".github/workflows/large.yml", "#" * (5 * 1024 * 1024))
    write(tmp_path, "elsewhere.yml", GOOD)
    (repository / ".github/workflows/linked.yml").symlink_to(tmp_path / "elsewhere.yml")
    write(repository, "tools/action.yml", "#" * (5 * 1024 * 1024))
    said = {
        one["path"]: one["message"] for one in json.loads(regraft(repository, "--format", "json").stdout)["findings"]
    }
    assert said == {
        ".github/workflows/large.yml": "larger than 4,194,304 bytes",
        ".github/workflows/linked.yml": "a link leads out of the project",
        "tools/action.yml": "larger than 4,194,304 bytes",
    }


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("with_git", [True, False])
@pytest.mark.parametrize("folder", [".github", ".github/workflows"])
def test_a_folder_that_may_not_be_read_is_no_empty_one(repository: Path, folder: str, with_git: bool) -> None:
    if with_git:
        git(repository, "init", "--quiet")
    (repository / folder).chmod(0)
    try:
        done = regraft(repository)
    finally:
        (repository / folder).chmod(0o755)
    assert (done.returncode, done.stdout) == (3, "")
    assert "[cannot-read]" in done.stderr


# Which rules.


def test_only_the_rules_that_are_asked_for(repository: Path) -> None:
    assert found(regraft(repository, "--rule", "gate-never-opens", "--format", "json")) == []
    both = ("--rule", "gate-never-opens", "--rule", RULE, "--format", "json")
    done = regraft(repository, *both)
    assert found(done) == [(RULE, SUITE, 7)]
    assert json.loads(done.stdout)["checked"]["rules"] == 2


def test_the_rules_are_listed_without_a_repository(tmp_path: Path) -> None:
    lines = regraft(tmp_path, "--rules").stdout.splitlines()
    assert any(line.startswith(f"{RULE}: ") for line in lines)
    rules = json.loads(regraft(tmp_path, "--rules", "--format", "json").stdout)["rules"]
    assert [f"{one['rule']}: {one['about']}" for one in rules] == lines


def test_the_index_has_each_rule(tmp_path: Path) -> None:
    rules = json.loads(regraft(tmp_path, "--rules", "--format", "json").stdout)["rules"]
    index = (ROOT / "docs/README.md").read_text("utf-8")
    assert [one["rule"] for one in rules if f"](rules/{one['rule']}.md)" not in index] == []


def test_an_unknown_rule_is_a_mistake_with_the_nearest(repository: Path) -> None:
    done = regraft(repository, "--rule", "swallowed-failures", "--rule", "nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean swallowed-failure?" in done.stderr
    assert "'nonsense'" in done.stderr


# How it is said.


def test_what_only_warns_ends_with_0(repository: Path) -> None:
    write(
        repository,
        SUITE,
        GOOD.replace("on: push\n", "on:\n  workflow_dispatch:\n    inputs:\n      unread: {type: string}\n"),
    )
    done = regraft(repository, "--format", "json")
    [one] = json.loads(done.stdout)["findings"]
    assert (one["rule"], one["severity"]) == ("input-unread", "warning")
    assert done.returncode == 0


def test_a_clean_repository_says_what_was_looked_at(repository: Path) -> None:
    write(repository, SUITE, GOOD)
    done = regraft(repository)
    assert done.returncode == 0
    assert re.fullmatch(
        r"checked: workflows 1, jobs 1, actions 0, rules \d+, ignored 0; found: errors 0, warnings 0, notes 0\n",
        done.stdout,
    )


def test_sarif_is_one_run_with_the_place_and_the_rule(repository: Path) -> None:
    done = regraft(repository, "--format", "sarif")
    assert done.returncode == 1
    [run] = json.loads(done.stdout)["runs"]
    [result] = run["results"]
    where = result["locations"][0]["physicalLocation"]
    assert (result["ruleId"], result["level"]) == (RULE, "error")
    assert (where["artifactLocation"]["uri"], where["region"]["startLine"]) == (SUITE, 7)
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["shortDescription"]["text"] != RULE


def test_sarif_names_files_as_the_repository_does_from_wherever_it_is_run(repository: Path) -> None:
    (repository / "src").mkdir()
    runs = [
        (repository, ()),
        (repository / "src", ()),
        (repository / "src", ("..",)),
        (repository.parent, ("project",)),
        (Path("/"), (str(repository),)),
        (repository.parent, (f"project/{SUITE}",)),
    ]
    said = [json.loads(regraft(cwd, *words, "--format", "sarif").stdout)["runs"][0]["results"] for cwd, words in runs]
    [first] = said[0]
    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == SUITE
    assert [one["physicalLocation"]["artifactLocation"]["uri"] for one in first["relatedLocations"]] == [SUITE]
    assert said == [said[0]] * len(runs)


def test_github_is_a_command_for_each_finding(repository: Path) -> None:
    done = regraft(repository, "--format", "github")
    assert done.returncode == 1
    assert done.stdout.startswith(f"::error file={SUITE},line=7,col=11,title=regraft%3A {RULE}::")
    assert done.stdout.count("\n") == 1


def test_in_actions_there_are_annotations_and_a_summary_unasked(repository: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    environ = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    done = regraft(repository, "--format", "sarif", **environ)
    assert json.loads(done.stdout)["runs"]  # what a step writes to a file stays what it was
    assert f"::error file={SUITE},line=7," in done.stderr
    assert summary.read_text().startswith("### regraft workflow check\n\n- **error** ")
    done = regraft(repository, "--format", "github", **environ)
    assert done.stdout.count("::error ") == 1
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("on: push\njobs:\n  a: [\n", 4),
        ("on: push\njobs:\n  a:\n    runs-on: x\n    if: a ==\n    steps:\n      - run: make\n", 5),
    ],
)
def test_what_github_cannot_read_is_a_finding_with_its_place(repository: Path, text: str, line: int) -> None:
    write(repository, ".github/workflows/broken.yml", text)
    done = regraft(repository, "--format", "json")
    assert done.returncode == 1
    assert [one for one in found(done) if one[0] == "workflow-unreadable"] == [
        ("workflow-unreadable", ".github/workflows/broken.yml", line)
    ]
    assert (RULE, SUITE, 7) in found(done)  # and the others are judged as ever


JOB = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: make\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"{JOB}        timeout-minutes: ${{{{ foo() }}}}\n", [7]),
        (f"{JOB}    timeout-minutes: ${{{{ 1 + }}}}\n", [7]),
        (f"{JOB}    strategy:\n      matrix:\n        x: [1, '${{{{ a b }}}}', '${{{{']\n", [9, 9]),
        (f"{JOB}    container:\n      image: ${{{{ foo() }}}}${{{{ bar() }}}}\n", [8]),
        (f"run-name: ${{{{ }}}}\n{JOB}", [1]),
        (f"{JOB}        env: {{X: '${{{{ foo() }}}}'}}\n", [7]),
        (f"{JOB}    concurrency: &same ${{{{ foo() }}}}\n    environment: *same\n", [7]),
    ],
    ids=["step", "job", "matrix", "two-in-one", "top", "a-key-that-is-read", "alias"],
)
def test_an_expression_is_read_whatever_key_it_stands_at(found: Callable, text: str, lines: list[int]) -> None:
    assert [(one.rule, one.line) for one in found({"a.yml": text}, "input-unread")] == [
        ("workflow-unreadable", line) for line in lines
    ]


def test_a_manifest_with_mistakes_ends_with_2(repository: Path) -> None:
    write(repository, "regraft.toml", "[project]\nnam = 'x'\n")
    done = regraft(repository)
    assert (done.returncode, done.stdout) == (2, "")
    assert "regraft.toml:2:1: " in done.stderr


def test_a_git_that_fails_ends_with_3(repository: Path) -> None:
    git(repository, "init", "--quiet")
    (repository / ".git/index").write_bytes(b"no index")
    done = regraft(repository)
    assert (done.returncode, done.stdout) == (3, "")
    assert "[git-failed]" in done.stderr


HOSTILE = "\x1b[2J\r::error::forged"


def test_hostile_names_and_texts_are_never_printed_raw(repository: Path) -> None:
    escape = HOSTILE.encode("unicode_escape").decode().replace("\\x1b", "\\e")
    step = f'      - name: "{escape}"\n        run: "git fetch \'{escape}\' && git checkout x\\nmake"\n'
    write(repository, SUITE, BAD + step)
    write(repository, f".github/workflows/{HOSTILE.replace('/', '')}\n::error::also.yml", BAD)
    for form in ("text", "json", "sarif", "github"):
        done = regraft(repository, "--format", form, GITHUB_ACTIONS="true")
        assert done.returncode == 1
        said = done.stdout + done.stderr
        assert "\x1b" not in said
        assert "\r" not in said
        commands = [line for line in said.splitlines() if line.lstrip().startswith("::")]
        assert all(re.match(r"::(error|warning|notice) file=[^,]*\.yml,line=\d", line) for line in commands), commands
        assert len(commands) >= 3  # the two steps of one file, and the one of the other


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_a_name_that_is_no_text_is_said_in_every_format(repository: Path, form: str) -> None:
    odd = os.fsencode(repository) + b"/.github/workflows/a\xffb.yml"
    Path(os.fsdecode(odd)).write_text(BAD)
    summary = repository / "summary.md"
    environ = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    done = regraft(repository, "--format", form, **environ)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    if form == "json":
        assert sorted(line for _, _, line in found(done)) == [7, 7]
    assert regraft(repository, "--freeze", "old.json").returncode == 0
    assert regraft(repository, "--baseline", "old.json").returncode == 0


# What is left out.


def test_what_was_frozen_is_silent_and_what_is_new_is_said(repository: Path) -> None:
    done = regraft(repository, "--freeze", "old.json")
    assert (done.returncode, done.stdout) == (0, "")
    assert "froze 1 findings in old.json" in done.stderr
    again = regraft(repository, "--baseline", "old.json", "--format", "json")
    assert (again.returncode, found(again)) == (0, [])
    assert json.loads(again.stdout)["checked"]["frozen"] == 1
    write(
        repository,
        SUITE,
        "# a line more\n" + BAD + "      - run: |\n          git fetch fork && git checkout fork/x\n          make\n",
    )
    new = regraft(repository, "--baseline", "old.json", "--format", "json")
    assert (new.returncode, found(new)) == (1, [(RULE, SUITE, 11)])


def test_to_freeze_anew_keeps_what_the_old_baseline_holds(repository: Path) -> None:
    regraft(repository, "--freeze", "old.json")
    write(repository, ".github/workflows/b.yml", BAD)
    done = regraft(repository, "--baseline", "old.json", "--freeze", "new.json")
    assert "froze 2 findings" in done.stderr
    assert found(regraft(repository, "--baseline", "new.json", "--format", "json")) == []


def test_what_was_frozen_and_is_mended_is_counted(repository: Path) -> None:
    regraft(repository, "--freeze", "old.json")
    write(repository, SUITE, GOOD)
    done = regraft(repository, "--baseline", "old.json")
    assert "frozen 0, frozen and not found any more 1" in done.stdout


@pytest.mark.parametrize("text", ["", "[]", '{"schema": "regraft.findings-baseline/9", "findings": []}'])
@pytest.mark.parametrize("option", ["--baseline", "--zizmor"])
def test_a_file_that_is_none_of_those_ends_with_2(repository: Path, option: str, text: str) -> None:
    write(repository, "given.json", text)
    if (option, text) == ("--zizmor", "[]"):
        return  # zizmor found nothing
    done = regraft(repository, option, "given.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "given.json" in done.stderr


@pytest.mark.parametrize("option", ["--baseline", "--zizmor"])
def test_a_file_that_is_not_there_is_said(repository: Path, option: str) -> None:
    done = regraft(repository, option, "absent.json")
    assert done.returncode in (2, 3)
    assert "absent.json" in done.stderr


@pytest.mark.parametrize("option", ["--baseline", "--zizmor"])
def test_a_pipe_that_nobody_writes_to_is_refused(repository: Path, option: str) -> None:
    os.mkfifo(repository / "pipe")
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    argv = [sys.executable, "-m", "regraft", "workflow", "check", option, "pipe"]
    done = subprocess.run(argv, capture_output=True, text=True, env=env, check=False, cwd=repository, timeout=20)
    assert done.returncode == 2
    assert "pipe: this is a named pipe" in done.stderr


def test_what_another_program_is_writing_is_read(repository: Path) -> None:
    regraft(repository, "--freeze", "old.json")
    command = f"'{sys.executable}' -m regraft workflow check --baseline <(cat old.json)"
    assert subprocess.run(["bash", "-c", command], capture_output=True, check=False, cwd=repository).returncode == 0


def test_a_comment_with_a_reason_is_counted_and_one_without_is_an_error(repository: Path) -> None:
    line = "git checkout FETCH_HEAD"
    write(repository, SUITE, BAD.replace(line, f"{line} # regraft: ignore[{RULE}] the next line tells"))
    done = regraft(repository)
    assert (done.returncode, "ignored 1;" in done.stdout) == (0, True)
    write(repository, SUITE, BAD.replace(line, f"{line} # regraft: ignore[{RULE}]"))
    assert {one[0] for one in found(regraft(repository, "--format", "json"))} == {RULE, "ignore-without-reason"}


def test_the_name_of_the_rule_is_no_word_that_a_failure_is_meant(repository: Path) -> None:
    line = "git fetch origin && git checkout FETCH_HEAD"
    text = BAD.replace(line, f"# regraft: ignore[{RULE}] old branches\n          {line}")
    write(repository, SUITE, text)
    assert "ignored 1;" in regraft(repository).stdout


def test_a_file_that_github_cannot_read_is_not_ignored(repository: Path) -> None:
    line = "run: echo ${{ bad( }}  # regraft: ignore[workflow-unreadable] later"
    write(repository, SUITE, f"on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - {line}\n")
    done = regraft(repository, "--format", "json")
    assert (done.returncode, {one[0] for one in found(done)}) == (1, {"workflow-unreadable", "ignore-unknown-rule"})


# zizmor.

INJECTED = """on: {}
jobs:
  greet:
    runs-on: ubuntu-latest
    permissions: {{}}
    steps:
      - run: echo "${{{{ github.event.pull_request.title }}}}"
"""


def test_what_zizmor_found_is_said_with_who_reaches_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        ".github/workflows/entry.yml",
        "on: pull_request_target\njobs:\n  a:\n    uses: ./.github/workflows/used.yml\n",
    )
    write(tmp_path, ".github/workflows/used.yml", INJECTED.format("workflow_call"))
    action = 'runs:\n  using: composite\n  steps:\n    - shell: bash\n      run: echo "${{ github.event.pull_request.title }}"\n'
    write(tmp_path, ".github/actions/unused/action.yml", f"name: u\ndescription: u\n{action}")
    write(tmp_path, "shared/action.yml", f"name: s\ndescription: s\n{action}")
    zizmor = Path(sys.executable).with_name("zizmor")
    argv = [zizmor, "--offline", "--format", "json", "."]
    (tmp_path / "zizmor.json").write_bytes(subprocess.run(argv, cwd=tmp_path, capture_output=True, check=False).stdout)
    done = regraft(tmp_path, "--zizmor", "zizmor.json", "--format", "json")
    at = {one["path"]: one for one in json.loads(done.stdout)["findings"] if one["rule"] == "zizmor/template-injection"}
    reached = at[".github/workflows/used.yml"]
    assert reached["severity"] == "error"
    assert [(one["path"], one["line"]) for one in reached["witnesses"]][-2:] == [
        (".github/workflows/entry.yml", 1),
        (".github/workflows/entry.yml", 4),
    ]
    unreached = at[".github/actions/unused/action.yml"]
    assert unreached["severity"] == "note"
    assert "no event and no caller starts this file" in unreached["message"]
    shared = at["shared/action.yml"]  # other repositories may use it
    assert shared["severity"] == "error"


def zizmor_finding(*paths: str) -> dict[str, object]:
    places = [
        {
            "symbolic": {"key": {"Local": {"given_path": path}}, "annotation": "here", "kind": kind},
            "concrete": {"location": {"start_point": {"row": 6, "column": 0}}},
        }
        for path, kind in zip(paths, ("Primary", "Related"), strict=False)
    ]
    return {
        "ident": "x",
        "desc": "d",
        "determinations": {"severity": "High", "confidence": "High"},
        "locations": places,
    }


def test_what_zizmor_found_where_it_was_run_is_said_of_the_file_here(repository: Path) -> None:
    write(repository, "tools/x.py", "")
    paths = (SUITE, f"./{SUITE}", str(repository / SUITE), f"../project/{SUITE}", f"/elsewhere/{SUITE}")
    given = [zizmor_finding(path, path) for path in paths]
    given += [zizmor_finding(path) for path in ("ignored/action.yml", str(repository / "ignored/action.yml"))]
    write(repository, "zizmor.json", json.dumps(given))
    done = regraft(repository / "tools", "--zizmor", "../zizmor.json", "--format", "json")
    said = [one for one in json.loads(done.stdout)["findings"] if one["rule"] == "zizmor/x"]
    assert (
        sorted((one["path"], one["line"]) for one in said)
        == [(f"../{SUITE}", 7)] * 5 + [("../ignored/action.yml", 7)] * 2
    )
    assert {one["path"] for finding in said for one in finding["witnesses"]} == {f"../{SUITE}"}


def test_what_zizmor_found_in_no_file_of_the_repository_is_a_mistake(repository: Path) -> None:
    given = [zizmor_finding("../../etc/passwd"), zizmor_finding(SUITE, "/etc/other"), zizmor_finding(SUITE)]
    write(repository, "zizmor.json", json.dumps(given))
    for form in ("text", "sarif"):
        done = regraft(repository, "--zizmor", "zizmor.json", "--format", form)
        assert (done.returncode, done.stdout) == (2, "")
        assert "'../../etc/passwd', which is no file" in done.stderr
        assert "'/etc/other', which is no file" in done.stderr


# What the documents hand out.


def test_the_workflow_that_is_shown_passes(found: Callable) -> None:
    [shown] = re.findall(
        r"^```yaml\n(name:.*?)^```$",
        (ROOT / "docs/how-to/check-workflows.md").read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    assert [(one.rule, one.line, one.message) for one in found({"check.yml": shown})] == []


def test_our_own_workflows_and_action_pass() -> None:
    done = regraft(ROOT, "--format", "json")
    assert [one for one in json.loads(done.stdout)["findings"] if one["severity"] != "note"] == []


def test_the_pre_commit_hook_runs_a_command_that_is_there(repository: Path) -> None:
    hook = dict(re.findall(r"^[- ] (\w+): (.*)$", (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"), re.MULTILINE))
    words = hook["entry"].split()
    assert words[:3] == ["regraft", "workflow", "check"]
    assert regraft(repository, *words[3:]).returncode == 1
    assert hook["pass_filenames"] == "false"  # it looks at the whole repository
    starts = re.compile(hook["files"])
    assert all(starts.search(path) for path in (SUITE, "action.yml", ".github/labels.yml", "tools/x/action.yaml"))
    assert not starts.search("src/reaction.yml")
