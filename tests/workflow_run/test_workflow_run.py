"""Steps run as on a runner: shells, environment, files, conditions, actions, stubs, paths, remotes."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from regraft.errors import InputError
from regraft.workflow_testing import Answer, Runs, StepResult, Stub, git

One = Callable[..., StepResult]
MakeRuns = Callable[..., Runs]


def test_a_chain_in_the_middle_of_a_script_does_not_fail_the_step(one: One) -> None:
    done = one("false && echo never\ntrue && false && true\necho after")
    assert (done.outcome, done.code, done.log) == ("success", 0, "after\n")


def test_a_chain_at_the_end_is_the_exit_code_of_the_step(one: One) -> None:
    assert one("true\ntrue && false").code == 1


def test_a_failing_command_alone_stops_the_script(one: One) -> None:
    done = one("false\necho never")
    assert (done.outcome, done.log, done.why) == ("failure", "", "exit code 1")


@pytest.mark.parametrize(("shell", "code"), [("name: step", 0), ("shell: bash", 1), ("shell: sh", 0)])
def test_a_pipe_fails_only_where_the_shell_is_named_bash(one: One, shell: str, code: int) -> None:
    assert one("false | true", shell).code == code


def test_the_shell_of_defaults_counts(project: MakeRuns) -> None:
    text = """
        on: push
        defaults: {run: {shell: bash}}
        jobs:
          outer: {runs-on: x, steps: [{id: a, run: "false | true"}]}
          inner: {runs-on: x, defaults: {run: {shell: sh}}, steps: [{id: a, run: "false | true"}]}
    """
    runs = project(text)
    assert runs.run_step("tests.yml", "outer", "a").code == 1
    assert runs.run_step("tests.yml", "inner", "a").code == 0


def test_python_is_a_shell(one: One) -> None:
    assert one("import sys\nprint(sys.version_info.major)", "shell: python").log == "3\n"


def test_a_shell_that_is_not_there_fails_the_step(one: One) -> None:
    done = one("x", "shell: no-such-shell {0}")
    assert done.outcome == "failure"
    assert "no-such-shell" in done.why


def test_outputs_by_line_and_by_heredoc_feed_the_next_step(project: MakeRuns) -> None:
    text = """
        on: push
        jobs:
          job:
            runs-on: x
            outputs: {ref: "${{ steps.resolve.outputs.ref }}"}
            steps:
              - id: resolve
                run: |
                  echo "ref=main" >>"$GITHUB_OUTPUT"
                  { echo "body<<END"; printf 'one\\ntwo=2\\n'; echo END; } >>"$GITHUB_OUTPUT"
              - id: use
                env: {BODY: "${{ steps.resolve.outputs.body }}"}
                run: printf '%s|%s' "${{ steps.resolve.outputs.ref }}" "$BODY"
    """
    done = project(text).run_job("tests.yml", "job")
    assert done.step("resolve").outputs == {"ref": "main", "body": "one\ntwo=2"}
    assert done.step("use").log == "main|one\ntwo=2\n"
    assert done.outputs == {"ref": "main"}


def test_a_heredoc_that_is_not_closed_fails_the_step(one: One) -> None:
    done = one('echo "body<<END" >>"$GITHUB_OUTPUT"')
    assert (done.outcome, done.code) == ("failure", 0)
    assert "Matching delimiter not found" in done.why


def test_environment_in_the_order_of_github(project: MakeRuns) -> None:
    text = """
        on: push
        env: {A: workflow, B: workflow, C: workflow, GITHUB_SHA: mine}
        jobs:
          job:
            runs-on: x
            env: {B: job, C: job}
            steps:
              - run: echo "B=file" >>"$GITHUB_ENV"; echo "$B"
              - id: last
                env: {C: step}
                run: echo "$IMAGE $A $B $C ${{ env.B }} $GITHUB_SHA"
    """
    done = project(text).run_job("tests.yml", "job", env={"IMAGE": "image", "A": "image"}, github={"sha": "f" * 40})
    assert done.steps[0].log == "job\n"
    assert done.step("last").log == f"image workflow file step file {'f' * 40}\n"


def test_path_of_an_earlier_step_comes_first(project: MakeRuns) -> None:
    text = """
        on: push
        jobs:
          job:
            runs-on: x
            steps:
              - run: |
                  mkdir bin; printf '#!/bin/sh\\necho mine\\n' >bin/tool; chmod +x bin/tool
                  echo "$PWD/bin" >>"$GITHUB_PATH"
              - {id: use, run: tool}
    """
    assert project(text).run_job("tests.yml", "job").step("use").log == "mine\n"


def test_text_of_a_body_in_the_environment_stays_data(one: One, tmp_path: Path) -> None:
    body = "`touch pwn` $(touch pwn)\r\n\"'; touch pwn\nEOF"
    done = one(
        'printf %s "$BODY" >body; ls; cat body',
        "env: {BODY: '${{ github.event.pull_request.body }}'}",
        event={"pull_request": {"number": 1, "body": body}},
    )
    assert done.log == "body\n" + body.replace("\r\n", "\n") + "\n"


def test_text_of_a_body_in_a_script_is_code_as_on_github(one: One) -> None:
    done = one("echo ${{ github.event.pull_request.title }}", event={"pull_request": {"title": "$(echo code)"}})
    assert done.log == "code\n"


def test_conditions_look_at_how_the_job_goes(project: MakeRuns) -> None:
    text = """
        on: push
        jobs:
          job:
            runs-on: x
            steps:
              - {id: bad, run: exit 3}
              - {id: plain, run: echo}
              - {id: implicit, if: "true", run: echo}
              - {id: failed, if: failure(), run: echo}
              - {id: always, if: "${{ always() }}", run: echo}
              - {id: outcome, if: "always() && steps.bad.outcome == 'failure'", run: echo}
    """
    done = project(text).run_job("tests.yml", "job")
    assert {one.id: one.outcome for one in done.steps} == {
        "bad": "failure",
        "plain": "skipped",
        "implicit": "skipped",
        "failed": "success",
        "always": "success",
        "outcome": "success",
    }
    assert done.result == "failure"


def test_continue_on_error_keeps_the_job_green(project: MakeRuns) -> None:
    text = """
        on: push
        jobs:
          job:
            runs-on: x
            steps:
              - {id: bad, continue-on-error: true, run: exit 3}
              - {id: next, run: "echo ${{ steps.bad.outcome }} ${{ steps.bad.conclusion }}"}
    """
    done = project(text).run_job("tests.yml", "job")
    assert (done.result, done.step("bad").outcome, done.step("bad").conclusion) == ("success", "failure", "success")
    assert done.step("next").log == "failure success\n"


def test_working_directory_and_a_missing_one(one: One) -> None:
    assert one("pwd", "working-directory: .github").log.endswith("/project/.github\n")
    done = one("pwd", "working-directory: nowhere")
    assert done.outcome == "failure"
    assert "nowhere" in done.why


ACTION = """
    inputs: {who: {default: nobody}, greeting: {required: true}}
    outputs: {said: {value: "${{ steps.say.outputs.text }}"}}
    runs:
      using: composite
      steps:
        - id: say
          shell: bash
          run: |
            echo "text=${{ inputs.greeting }} ${{ inputs.who }}" >>"$GITHUB_OUTPUT"
            cat "$GITHUB_ACTION_PATH/note"
        - {shell: bash, if: inputs.who == 'nobody', run: exit 4}
        - {id: after, shell: bash, if: failure(), run: echo after}
"""


@pytest.mark.parametrize(("who", "result", "at"), [("me", "success", "."), ("nobody", "failure", "$")])
def test_a_composite_action_of_the_repository_runs(project: MakeRuns, who: str, result: str, at: str) -> None:
    text = f"""
        on: push
        jobs:
          job:
            runs-on: x
            steps:
              - {{id: act, uses: {at}/actions/say, with: {{greeting: hello, who: {who}}}}}
              - {{id: use, if: always(), run: "echo ${{{{ steps.act.outputs.said }}}}"}}
    """
    runs = project(text, {"actions/say/action.yml": ACTION, "actions/say/note": "a note\n"})
    done = runs.run_job("tests.yml", "job")
    assert done.result == result
    assert done.step("use").log == f"hello {who}\n"
    assert done.step("act").steps[0].log == "a note\n"
    assert [one.outcome for one in done.step("act").steps[1:]] == (
        ["skipped", "skipped"] if who == "me" else ["failure", "success"]
    )


def test_an_action_of_others_is_skipped_and_said_or_stands_for_outputs(project: MakeRuns) -> None:
    text = """
        on: push
        jobs:
          job:
            runs-on: x
            steps:
              - {id: cache, uses: acme/cache@v1}
              - {id: use, run: "echo [${{ steps.cache.outputs.hit }}]"}
    """
    runs = project(text)
    done = runs.run_job("tests.yml", "job")
    assert done.step("cache").outcome == "skipped"
    assert "acme/cache@v1 is another repository's" in done.notes[0]
    assert done.step("use").log == "[]\n"
    done = runs.run_job("tests.yml", "job", uses={"acme/cache": {"hit": "yes"}})
    assert done.step("use").log == "[yes]\n"


def test_the_workspace_is_empty_before_checkout_where_the_job_has_one(project: MakeRuns) -> None:
    text = """
        on: push
        jobs:
          job:
            runs-on: x
            steps:
              - {id: before, run: ls}
              - {uses: actions/checkout@v4, with: {path: here}}
              - {id: after, run: ls here}
    """
    runs = project(text, {"file": ""})
    done = runs.run_job("tests.yml", "job")
    assert (done.step("before").log, done.step("after").log) == ("", "file\n")
    assert runs.run_step("tests.yml", "job", "before").log == "file\n"


def test_programs_are_stubs_that_keep_a_record(one: One) -> None:
    done = one(
        """
        mkdir sub && cd sub
        pip install -e '.[all]' "a b"
        python -u -m pip install x
        sudo -E apt-get -y update
        printf secret | docker login --password-stdin registry
        gh pr view 5 --json body
        """,
        stubs=[Stub("gh", (Answer(("pr", "view"), stdout='{"body": "it\'s"}\n'), Answer(code=7)))],
    )
    assert done.outcome == "success", done.log
    assert done.log == '{"body": "it\'s"}\n'
    assert done.calls_of("pip") == (("install", "-e", ".[all]", "a b"), ("install", "x"))
    assert done.calls_of("apt-get") == (("-y", "update"),)
    (login,) = [call for call in done.calls if call.program == "docker"]
    assert (login.stdin, login.folder) == ("secret", "$GITHUB_WORKSPACE/sub")


def test_what_a_container_is_given_to_read_is_kept(one: One) -> None:
    done = one("docker exec -i box bash -s <<'E'\npip install x\nE\npip install -i https://example.org/simple x")
    assert [(call.program, call.stdin) for call in done.calls] == [("docker", "pip install x\n"), ("pip", None)]


def test_a_stub_answers_with_its_exit_code(one: One) -> None:
    done = one("gh api user", stubs=[Stub("gh", (Answer(("pr",), code=0), Answer(code=7, stderr="no login\n")))])
    assert (done.code, done.log) == (7, "no login\n")


def test_a_stub_does_not_eat_the_lines_of_a_loop(one: One) -> None:
    done = one("printf 'a\\nb\\n' | while read -r name; do pip install \"$name\"; done")
    assert done.calls_of("pip") == (("install", "a"), ("install", "b"))


def test_a_program_may_be_watched_and_still_run(one: One) -> None:
    done = one("git --version", stubs=[Stub("git", through=True)])
    assert done.log.startswith("git version")
    assert done.calls_of("git") == (("--version",),)
    done = one(
        "git push origin x; git hash-object --stdin <<<x",
        stubs=[Stub("git", (Answer(("push",), code=0),), through=True)],
    )
    assert (done.outcome, done.log) == ("success", "587be6b4c3f93f93c489c0111bba5596147a26cb\n")
    done = one("head -c 200000 /dev/zero | cat - | wc -c", stubs=[Stub("cat", through=True)])
    assert done.log == "200000\n"
    assert len(done.calls[0].stdin or "") == 65536


@pytest.mark.parametrize("name", ["cd", "../x", ""])
def test_what_no_stub_can_stand_for(one: One, name: str) -> None:
    with pytest.raises(InputError, match=r"built in|no name"):
        one("true", stubs=[Stub(name)])


def test_paths_of_the_image_are_mapped_and_said(one: One, tmp_path: Path) -> None:
    (tmp_path / "image/engine").mkdir(parents=True)
    done = one(
        'cd /root/engine && echo "$PLACE" >note && pip install -e . && cat /root/engine/note',
        "env: {PLACE: /root/engine}",
        maps={"/root": tmp_path / "image"},
    )
    assert (tmp_path / "image/engine/note").read_text() == f"{tmp_path}/image/engine\n"
    assert [(one.path, one.times) for one in done.mapped] == [("/root", 3)]
    assert done.calls[0].folder == "/root/engine"


def test_paths_are_mapped_in_scripts_of_the_project_too(project: MakeRuns, tmp_path: Path) -> None:
    text = """
        on: push
        jobs:
          job:
            runs-on: x
            steps:
              - uses: actions/checkout@v4
              - {id: run, run: "bash ci/install.sh; ci/also; cat ci/note ci/program.py"}
    """
    files = {
        "ci/install.sh": "cd /root/engine\npwd\n",
        "ci/also": "#!/usr/bin/env bash\n[ -d /root/engine ] && echo there\n",
    }
    runs = project(text, files | {"ci/note": "/root\n", "ci/program.py": "'/root'\n"})
    (runs.workflows.root / "ci/also").chmod(0o755)
    (tmp_path / "image/engine").mkdir(parents=True)
    done = runs.run_job("tests.yml", "job", maps={"/root": tmp_path / "image"})
    assert done.step("run").log == f"{tmp_path}/image/engine\nthere\n/root\n'/root'\n"
    assert [(one.path, one.times) for one in done.steps[0].mapped] == [("/root", 2)]
    assert (runs.workflows.root / "ci/install.sh").read_text() == files["ci/install.sh"]
    assert "/root is" in runs.run_job("tests.yml", "job", "run", maps={"/root": tmp_path / "image"}).notes[0]


def test_a_remote_is_thrown_away_and_has_pull_refs(project: MakeRuns, tmp_path: Path) -> None:
    text = """
        on: push
        jobs:
          job:
            runs-on: x
            steps:
              - id: get
                env: {TOKEN: "${{ secrets.PAT }}"}
                run: |
                  git clone --quiet https://x-access-token:$TOKEN@github.com/acme/engine engine
                  cd engine
                  git fetch --quiet --depth=1 https://github.com/acme/engine.git pull/12/head
                  git checkout --quiet FETCH_HEAD
                  cat a b
    """
    runs = project(text)
    engine = runs.upstream("acme/engine")
    engine.commit("main", {"a": "main\n"})
    pull = engine.pull(12, {"b": "pull\n"})
    engine.tag("v1", pull)
    done = runs.run_step("tests.yml", "job", "get")
    assert (done.outcome, done.log) == ("success", "main\npull\n")
    assert engine.head("refs/pull/12/head") == pull


@pytest.mark.parametrize(
    "url",
    [
        "https://git.example.org/stack/engine",
        "https://git.example.org/stack/engine.git",
        "git@git.example.org:stack/engine.git",
    ],
)
def test_a_remote_may_be_on_another_host(project: MakeRuns, url: str) -> None:
    text = f"on: push\njobs: {{job: {{runs-on: x, steps: [{{id: a, run: 'git ls-remote {url} main'}}]}}}}\n"
    runs = project(text)
    commit = runs.upstream("https://git.example.org/stack/engine").commit("main", {"a": "a"})
    assert runs.run_step("tests.yml", "job", "a").log == f"{commit}\trefs/heads/main\n"


def test_what_is_not_given_cannot_be_reached(one: One) -> None:
    done = one("git ls-remote https://github.com/acme/other")
    assert done.outcome == "failure"
    assert "not allowed" in done.log


def test_nothing_of_the_caller_is_seen(one: One, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGRAFT_SECRET", "mine")
    monkeypatch.setenv("GITHUB_TOKEN", "mine")
    monkeypatch.setenv("BASH_ENV", "/nowhere")
    done = one("env; echo ~; git config --list --show-origin | grep -v insteadof || true")
    assert "mine" not in done.log
    assert os.path.expanduser("~") not in done.log.replace(os.environ["PATH"], "").split()
    assert "/nowhere" not in done.log


def test_secrets_are_placeholders_and_do_not_leave_as_outputs(project: MakeRuns) -> None:
    text = """
        on: push
        jobs:
          job:
            runs-on: x
            outputs: {image: "${{ steps.a.outputs.image }}"}
            steps:
              - id: a
                run: echo "image=${{ secrets.REGISTRY }}/x" >>"$GITHUB_OUTPUT"; echo "[${{ secrets.OTHER }}]"
    """
    done = project(text).run_job("tests.yml", "job", secrets={"OTHER": ""})
    assert done.step("a").outputs == {"image": "regraft-placeholder-REGISTRY/x"}
    assert done.step("a").log == "[]\n"
    assert done.outputs == {}
    assert "output image is dropped" in done.notes[0]


def test_inputs_have_their_types_and_defaults(project: MakeRuns) -> None:
    text = """
        on:
          workflow_dispatch:
            inputs:
              ref: {default: main}
              flag: {type: boolean}
              lane: {type: choice, options: [cuda, rocm]}
        jobs:
          job:
            runs-on: x
            steps:
              - id: a
                run: echo '${{ toJSON(inputs) }}' '${{ inputs.flag && 'on' || 'off' }}' '${{ github.event.inputs.flag }}'
    """
    runs = project(text)
    done = runs.run_step("tests.yml", "job", "a")
    assert json.loads(done.log.partition("}")[0] + "}") == {"ref": "main", "flag": False, "lane": "cuda"}
    assert done.log.endswith("} off false\n")
    assert runs.run_step("tests.yml", "job", "a", inputs={"flag": "true"}).log.endswith(" on true\n")
    for inputs, said in (({"reff": "x"}, "no input 'reff'"), ({"flag": "yes"}, "boolean"), ({"lane": "tpu"}, "option")):
        with pytest.raises(InputError, match=said):
            runs.run_step("tests.yml", "job", "a", inputs=inputs)


def test_needs_and_matrix(project: MakeRuns) -> None:
    text = """
        on: push
        jobs:
          gate: {runs-on: x, steps: [{run: echo}]}
          job:
            needs: gate
            if: needs.gate.outputs.go == 'yes'
            runs-on: x
            strategy: {matrix: {n: [4, 8], os: [a]}}
            steps: [{id: a, run: "echo ${{ matrix.n }} ${{ matrix.os }} ${{ needs.gate.result }}"}]
    """
    runs = project(text)
    done = runs.run_job("tests.yml", "job")
    assert (done.result, done.steps) == ("skipped", ())
    done = runs.run_job("tests.yml", "job", needs={"gate": {"outputs": {"go": "yes"}}}, matrix={"n": 8, "os": "b"})
    assert done.step("a").log == "8 b success\n"
    assert runs.run_step("tests.yml", "job", "a").log == "4 a success\n"


MADE = """
        on: push
        jobs:
          first: {runs-on: x, steps: [{run: echo}]}
          gate: {needs: first, if: always(), runs-on: x, steps: [{run: echo}]}
          job:
            needs: gate
            runs-on: x
            strategy: {matrix: {part: "${{ fromJSON(needs.gate.outputs.parts) }}", os: [a]}}
            steps: [{run: "echo ${{ matrix.part }} ${{ matrix.os }}"}]
    """


def gives(parts: str) -> dict[str, dict[str, object]]:
    return {"gate": {"result": "success", "outputs": {"parts": parts}}}


def test_a_matrix_that_an_output_makes(project: MakeRuns) -> None:
    runs = project(MADE)
    assert runs.run_step("tests.yml", "job", 1, needs=gives("[2, 3]")).log == "2 a\n"
    for parts, said in (("[]", "which holds nothing to run"), ('"2"', "which holds nothing to run"), ("", "fromJSON")):
        with pytest.raises(InputError, match="(?i)" + said):
            runs.run_job("tests.yml", "job", needs=gives(parts))
    assert runs.run_step("tests.yml", "job", 1, matrix={"part": 1, "os": "b"}).log == "1 b\n"


def test_a_job_that_is_skipped_asks_for_no_matrix_and_one_further_away_may_be_skipped(project: MakeRuns) -> None:
    """GitHub's implied `success()` looks at all ancestors."""
    runs = project(MADE)
    needs = {**gives(""), "first": {"result": "skipped"}}
    assert runs.run_job("tests.yml", "job", needs=needs).result == "skipped"
    with pytest.raises(InputError, match="does not come after 'job'"):
        runs.run_step("tests.yml", "gate", 1, needs={"job": {"result": "success"}})


def test_workflow_commands_are_kept_as_data(one: One) -> None:
    done = one('echo "::error file=a.py,line=2::it is%0Awrong"; echo "::set-output name=old::value"')
    assert [(c.name, c.properties, c.data) for c in done.commands] == [
        ("error", {"file": "a.py", "line": "2"}, "it is\nwrong"),
        ("set-output", {"name": "old"}, "value"),
    ]
    assert (done.outcome, done.outputs) == ("success", {"old": "value"})


def test_set_env_is_disabled_as_on_github(one: One) -> None:
    done = one('echo "::set-env name=A::b"')
    assert (done.outcome, done.why) == ("failure", "the `set-env` command is disabled on GitHub")


def test_a_summary_is_kept(one: One) -> None:
    assert one('echo "# Title" >>"$GITHUB_STEP_SUMMARY"').summary == "# Title\n"


def test_time_is_limited_and_nobody_is_left(one: One, tmp_path: Path) -> None:
    done = one("sleep 60 & sleep 60", timeout=0.3)
    assert (done.outcome, done.code, done.why) == ("failure", None, "its time was up")
    assert done.seconds < 5


def test_an_expression_that_cannot_be_evaluated_fails_the_step(one: One) -> None:
    done = one("echo ${{ fromJSON('{') }}")
    assert done.outcome == "failure"
    assert ".github/workflows/tests.yml:9" in done.why


def test_names_that_are_not_there(project: MakeRuns) -> None:
    runs = project("on: push\njobs: {job: {runs-on: x, steps: [{id: a, run: echo}]}}\n")
    with pytest.raises(InputError, match="no job"):
        runs.run_job("tests.yml", "jobb")
    with pytest.raises(InputError, match="no step"):
        runs.run_job("tests.yml", "job", "b")
    with pytest.raises(InputError, match="no such workflow"):
        runs.run_job("other.yml", "job")
    with pytest.raises(InputError, match="no job 'jobb'"):
        runs.workflows.gate("tests.yml", "jobb")
    with pytest.raises(InputError, match="nothing is called"):
        runs.run_job("tests.yml", "job", input={})


def test_a_job_that_calls_a_workflow_is_none_to_run(project: MakeRuns) -> None:
    runs = project("on: push\njobs: {job: {uses: ./.github/workflows/other.yml}}\n")
    with pytest.raises(InputError, match="the job calls"):
        runs.run_job("tests.yml", "job")


def test_the_checkout_is_a_repository_at_the_commit_of_the_project(project: MakeRuns) -> None:
    text = """
        on: push
        jobs:
          job:
            runs-on: x
            steps:
              - uses: actions/checkout@v4
              - {id: look, run: "git rev-parse HEAD; git show HEAD:file; git status --porcelain; echo $GITHUB_SHA"}
    """
    runs = project(text, {"file": "committed\n", ".gitignore": "ignored\n"})
    root = runs.workflows.root
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "--message", "m")
    (root / "file").write_text("changed\n")
    (root / "ignored").write_text("not here\n")
    head = git(root, "rev-parse", "HEAD")
    done = runs.run_job("tests.yml", "job")
    assert done.step("look").log == f"{head}\ncommitted\n M file\n{head}\n"
    assert git(root, "status", "--porcelain") == "M file"


def test_another_repository_is_checked_out_where_somebody_stands_for_it(project: MakeRuns) -> None:
    text = """
        on: push
        jobs:
          job:
            runs-on: x
            steps:
              - {id: get, uses: actions/checkout@v4, with: {repository: acme/tools, ref: v1, path: tools}}
              - {id: look, run: cat tools/note}
    """
    runs = project(text)
    assert "git fetch failed" in str(runs.run_job("tests.yml", "job").step("get").why)
    tools = runs.upstream("acme/tools")
    tools.tag("v1", tools.commit("main", {"note": "one\n"}))
    tools.commit("main", {"note": "two\n"})
    assert runs.run_job("tests.yml", "job").step("look").log == "one\n"


def test_files_of_the_runner_that_a_script_replaced_are_not_followed(one: One, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("password=1\n")
    done = one(f'rm "$GITHUB_OUTPUT"; ln -s {tmp_path}/secret "$GITHUB_OUTPUT"; rm "$GITHUB_ENV"; mkfifo "$GITHUB_ENV"')
    assert (done.outcome, done.outputs, done.env) == ("success", {}, {})


def test_what_a_script_locks_goes_away_all_the_same(one: One, tmp_path: Path) -> None:
    assert one("mkdir -p a/b && touch a/b/c && chmod 000 a/b a").outcome == "success"


def test_hash_files_of_the_workspace(one: One) -> None:
    done = one("echo '${{ hashFiles('**/*.yml') }}' '[${{ hashFiles('*.none') }}]'")
    assert len(done.log.split()[0]) == 64
    assert done.log.split()[1] == "[]"


@pytest.mark.parametrize(
    "script",
    [
        "echo more >>a/file",
        "touch -r a/file stamp; echo XXXXXX >a/file; touch -r stamp a/file",
        "rm -r a",
        "mkdir -p new/b; touch new/b/c a/new",
        "rm -r a; ln -s /tmp a",
        "rm a/file; mkdir a/file; touch a/file/x",
        "chmod 700 run",
        "rm run; mkfifo run",
        "rm -r .git; git init --quiet",
        "git commit --quiet --allow-empty -m x; git branch other",
        "cd ..; rm -r project",
        "cd ..; mv project other; ln -s /tmp project",
    ],
)
def test_what_one_run_does_to_its_files_the_next_does_not_see(project: MakeRuns, script: str) -> None:
    text = f"""
        on: push
        jobs:
          job:
            runs-on: x
            steps:
              - {{id: spoil, run: "{script}"}}
              - {{id: look, run: "find . -not -path './.git/*' -printf '%p %y %m\\n' | sort; cat a/file; git rev-parse HEAD; git branch; git status --porcelain"}}
    """
    runs = project(text, {"a/file": "before\n", "run": "#!/bin/sh\n"})
    root = runs.workflows.root
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "--message", "m")
    first = runs.run_step("tests.yml", "job", "look").log
    assert "before\n" in first
    runs.run_step("tests.yml", "job", "spoil")
    assert runs.run_step("tests.yml", "job", "look").log == first
    assert (root / "a/file").read_text() == "before\n"


def test_a_change_of_the_project_is_seen_by_the_next_run(project: MakeRuns) -> None:
    runs = project("on: push\njobs: {job: {runs-on: x, steps: [{id: a, run: cat file}]}}\n", {"file": "one\n"})
    assert runs.run_step("tests.yml", "job", "a").log == "one\n"
    (runs.workflows.root / "file").write_text("two\n")
    assert runs.run_step("tests.yml", "job", "a").log == "two\n"


def test_ci_is_true_where_nobody_says_otherwise(project: MakeRuns) -> None:
    """Builds are told `CI: false` to be less strict, and the runner lets them."""
    text = """
        on: push
        jobs:
          job:
            runs-on: x
            steps:
              - {id: own, run: 'echo "$CI $GITHUB_ACTIONS"', env: {CI: "false", GITHUB_ACTIONS: "false"}}
              - {id: usual, run: 'echo "$CI"'}
    """
    done = project(text).run_job("tests.yml", "job")
    assert done.step("own").log == "false true\n"
    assert done.step("usual").log == "true\n"


def test_an_output_with_what_a_step_masked_or_a_line_of_a_secret_does_not_leave(project: MakeRuns) -> None:
    text = """
        on: push
        jobs:
          job:
            runs-on: x
            outputs:
              masked: "${{ steps.a.outputs.masked }}"
              line: "${{ steps.a.outputs.line }}"
              token: "${{ steps.a.outputs.token }}"
              plain: "${{ steps.a.outputs.plain }}"
            steps:
              - id: a
                run: |
                  echo "::add-mask::hush-hush"
                  echo "masked=a hush-hush b" >>"$GITHUB_OUTPUT"
                  echo "line=second of ${{ secrets.KEY != '' }}" >>"$GITHUB_OUTPUT"
                  echo "token=${{ github.token }}" >>"$GITHUB_OUTPUT"
                  echo "plain=1" >>"$GITHUB_OUTPUT"
    """
    done = project(text).run_job("tests.yml", "job", secrets={"KEY": "first of\nsecond of\n"})
    assert done.step("a").outputs["masked"] == "a hush-hush b"
    assert done.outputs == {"plain": "1"}


def test_a_mask_of_a_composite_action_counts_for_the_job(project: MakeRuns) -> None:
    action = """
        runs:
          using: composite
          steps: [{run: "echo ::add-mask::hush-hush", shell: bash}]
    """
    text = """
        on: push
        jobs:
          job:
            runs-on: x
            outputs: {masked: "${{ steps.a.outputs.masked }}"}
            steps:
              - uses: ./act
              - {id: a, run: 'echo "masked=hush-hush" >>"$GITHUB_OUTPUT"'}
    """
    assert project(text, {"act/action.yml": action}).run_job("tests.yml", "job").outputs == {}


@pytest.mark.parametrize("before", ["{run: echo}", "{uses: ./act}, {uses: actions/checkout@v4}"])
def test_an_action_that_is_not_in_the_workspace_fails_the_step(project: MakeRuns, before: str) -> None:
    """The name is wrong, or the checkout comes after it."""
    after = "" if "act" in before else ", {uses: ./acct}"
    text = f"""
        on: push
        jobs:
          job:
            runs-on: x
            steps: [{before}{after}, {{run: echo, if: always()}}]
    """
    action = "runs: {using: composite, steps: [{run: echo, shell: bash}]}"
    done = project(text, {"act/action.yml": action}).run_job("tests.yml", "job")
    assert done.result == "failure"
    why = next(one.why for one in done.steps if one.outcome == "failure")
    assert why is not None
    assert "no action.yml" in why
    assert "actions/checkout" in why


def test_an_action_that_is_there_and_no_composite_one_is_skipped(project: MakeRuns) -> None:
    text = """
        on: push
        jobs:
          job: {runs-on: x, steps: [{uses: ./act}, {run: echo}]}
    """
    runs = project(text, {"act/action.yml": "runs: {using: node20, main: index.js}"})
    done = runs.run_job("tests.yml", "job")
    assert (done.result, done.steps[0].outcome) == ("success", "skipped")


def test_a_time_limit_may_be_an_expression(project: MakeRuns) -> None:
    text = """
        on: push
        jobs:
          job:
            runs-on: x
            steps: [{run: sleep 20, timeout-minutes: "${{ fromJSON(vars.MINUTES) }}"}]
    """
    done = project(text).run_job("tests.yml", "job", vars={"MINUTES": "0.005"})
    assert (done.result, done.steps[0].why) == ("failure", "its time was up")


def test_nobody_outlives_the_job(one: One, tmp_path: Path) -> None:
    """`setsid` takes a program out of its group; the runner knows its own by a variable that they inherit."""
    place = tmp_path / "pid"
    done = one(
        f"""
        setsid sh -c 'echo $$ >{place}.new; mv {place}.new {place}; exec sleep 60' >/dev/null 2>&1 &
        while [ ! -e {place} ]; do sleep 0.01; done
        """
    )
    assert done.outcome == "success"
    left = Path(f"/proc/{place.read_text().strip()}/cmdline")
    assert not left.exists() or not left.read_bytes()  # nobody may have taken note of its end
