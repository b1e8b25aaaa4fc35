"""Variables that scripts read and nothing sets."""

from collections.abc import Callable
from textwrap import indent

import pytest

RULE = "env-unset"


def job(steps: str, head: str = "", runs_on: str = "ubuntu-latest", top: str = "") -> dict[str, str]:
    text = f"on: push\n{top}jobs:\n  a:\n    runs-on: {runs_on}\n{indent(head, '    ')}    steps:\n{indent(steps, '      ')}"
    return {"ci.yml": text}


def run(script: str, env: str = "") -> str:
    return f"- run: |\n{indent(script, '    ')}\n" + (f"  env:\n{indent(env, '    ')}\n" if env else "")


ERRORS = {
    "a swap of the job's": job(run("echo $UPSTREAM_RFE"), "env:\n  UPSTREAM_REF: main\n"),
    "a letter less than the step's": job(run('pip install "$PACKAGE_VERSON"', "PACKAGE_VERSION: 1")),
    "a letter more than the workflow's": job(run("echo $IMAGES_TAG"), top="env:\n  IMAGE_TAG: x\n"),
    "near what an earlier step has written": job(
        run('echo "SGLANG_REF=main" >> $GITHUB_ENV') + run("git checkout $SGLANG_REFS")
    ),
    "case": job(run("echo $target_dir"), "env:\n  TARGET_DIR: x\n"),
    "near one of the script": job(run("RESULT_FILE=x\ncat $RESULTS_FILE")),
    "near the runner's": job(run('echo "a=1" >> "$GITHUB_OUPUT"')),
    "near the runner's, with letters swapped": job(run('echo "a=1" >> "${GITHUB_OPUTPUT}"')),
    "near the runner's, without its prefix's letter": job(run("echo x >> $GIHUB_PATH"), runs_on="self-hosted"),
    "near the runner's, of another family": job(run("ls $RUNER_TEMP")),
    "near the runner's, in a family that is let through": job(run("ls $RUNNER_TMP")),
    "near the runner's in PowerShell": job(run('echo "C:\\x" >> $env:GIHUB_PATH'), runs_on="windows-latest"),
    "near the runner's in PowerShell, named": job(
        "- shell: pwsh\n" + run('"a=1" >> ${env:GITHUB_ENVV}')[2:].replace("run", "  run", 1)
    ),
    "near the runner's in cmd": job("- shell: cmd\n" + run("echo x>> %GITHUB_PAHT%")[2:].replace("run", "  run", 1)),
    "near the runner's in Python": job(
        "- shell: python\n" + run("import os\nopen(os.environ['GITHUB_OUPUT'], 'a')")[2:].replace("run", "  run", 1)
    ),
}
WARNINGS = {
    "nothing at all": job(run("curl $DOWNLOAD_ADDRESS")),
    "in braces and quotes": job(run('tar xf "${ARCHIVE_NAME}.tgz"')),
    "written in this very step": job(run('echo "FOO_BAR=1" >> $GITHUB_ENV\necho $FOO_BAR')),
    "set in another step only": job(run("export FOO_BAR=1") + run("echo $FOO_BAR")),
    "set in the env of another step": job(run("echo", "FOO_BAR: 1") + run("echo $FOO_BAR")),
    "known actions": job("- uses: actions/checkout@v4\n- uses: actions/setup-python@v5\n" + run("echo $FOO_BAR")),
    "set by a program that is run": job(run("FOO_BAR=1 make") + run("echo $FOO_BAR")),
}
SILENT = {
    "the workflow": job(run("echo $A_NAME"), top="env:\n  A_NAME: x\n"),
    "the job": job(run("echo $A_NAME"), "env:\n  A_NAME: x\n"),
    "the step": job(run("echo $A_NAME", "A_NAME: x")),
    "the container": job(run("echo $A_NAME"), "container:\n  image: ubuntu\n  env:\n    A_NAME: x\n"),
    "an earlier step": job(run('echo "A_NAME=1" >> "$GITHUB_ENV"') + run("echo $A_NAME")),
    "an earlier step in a group": job(
        run("{\n  echo 'A_NAME<<EOF'\n  cat x\n  echo EOF\n} >> $GITHUB_ENV") + run("echo $A_NAME")
    ),
    "an earlier step by a here-document": job(run("cat <<EOF >> $GITHUB_ENV\nA_NAME=1\nEOF") + run("echo $A_NAME")),
    "an earlier step, unknown": job(run("cat x.env >> $GITHUB_ENV") + run("echo $A_NAME")),
    "an earlier step in python": job(
        "- shell: python\n"
        + run("import os\nprint('A_NAME=1', file=open(os.environ['GITHUB_ENV'], 'a'))")[2:].replace("run", "  run", 1)
        + run("echo $A_NAME")
    ),
    "an earlier program": {
        **job("- uses: actions/checkout@v4\n" + run("python ci/set.py") + run("echo $A_NAME")),
        "ci/set.py": "import os\nwith open(os.environ['GITHUB_ENV'], 'a') as f:\n    f.write('A_NAME=1')\n",
    },
    "an earlier program beside the workflows": {
        **job("- uses: actions/checkout@v4\n" + run("./.github/release/set.sh") + run("echo $A_NAME")),
        ".github/release/set.sh": "echo A_NAME=1 >> $GITHUB_ENV\n",
    },
    "an earlier step of a script": job(
        "- uses: actions/github-script@v7\n  with:\n    script: core.exportVariable('A_NAME', 1)\n"
        + run("echo $A_NAME")
    ),
    "an action that nobody knows": job("- uses: some/thing@v1\n" + run("echo $A_NAME")),
    "an action of the repository": {
        **job("- uses: actions/checkout@v4\n- uses: ./act\n" + run("echo $A_NAME")),
        "act/action.yml": "runs:\n  using: composite\n  steps:\n  - run: echo A_NAME=1 >> $GITHUB_ENV\n    shell: bash\n",
    },
    "the runner": job(run("echo $GITHUB_SHA $RUNNER_TEMP $CI $HOME $PATH $GITHUB_STEP_SUMMARY $RUNNER_OS $ImageOS")),
    "the shell": job(run("echo $RANDOM $UID $BASH_SOURCE $PWD $SECONDS $HOSTNAME ${PIPESTATUS[0]} $USER $TMPDIR")),
    "the machine": job(run("echo $LD_LIBRARY_PATH $CUDA_VISIBLE_DEVICES $PYTHONPATH $JAVA_HOME $CONDA $VIRTUAL_ENV")),
    "the script": job(run("A_NAME=1\necho $A_NAME")),
    "a loop": job(run("for x in a b; do echo $x; done")),
    "read": job(run("while IFS=, read -r a b; do echo $a $b; done < x")),
    "printf -v": job(run("printf -v out '%s' x\necho $out")),
    "mapfile": job(run("mapfile -t out < x\necho ${out[@]}")),
    "a default": job(run("echo ${A_NAME:-x} ${B_NAME-} ${C_NAME:+y}")),
    "a test": job(run('if [ -n "$A_NAME" ]; then echo $A_NAME; fi')),
    "set +u": job(run("set +u\necho $A_NAME")),
    "awk": job(run("awk '{print $NF}' x\nsed 's/$FOO//' x")),
    "a quoted here-document": job(run("cat <<'EOF' > x.sh\necho $A_NAME\nEOF")),
    "single quotes for another machine": job(run("docker exec c bash -c 'echo $A_NAME'")),
    "a source of the repository": {
        **job("- uses: actions/checkout@v4\n" + run("source ci/env.sh\necho $A_NAME")),
        "ci/env.sh": "export A_NAME=1\n",
    },
    "a source of nobody": job(run("source /opt/x/setup.sh\necho $A_NAME")),
    "an export of what a file has": job(run("export $(xargs < x.env)\necho $A_NAME")),
    "an export of a computed name": job(run('while read -r k v; do export "$k=$v"; done < x\necho $A_NAME')),
    "eval": job(run('eval "$(ssh-agent)"\necho $A_NAME')),
    "a machine of their own": job(run("echo $A_NAME"), runs_on="[self-hosted, gpu]"),
    "a machine that is given": job(run("echo $A_NAME"), runs_on="${{ inputs.runner }}"),
    "an image": job(run("echo $A_NAME"), "container: nvidia/cuda\n"),
    "an env that is computed": job(run("echo $A_NAME"), "env: ${{ fromJSON(inputs.env) }}\n"),
    "near, but a number": job(run("echo $SHARD_2"), "env:\n  SHARD_1: x\n", runs_on="self-hosted"),
    "near, but short": job(run("echo $TAB"), "env:\n  TAG: x\n", runs_on="self-hosted"),
    "an array": job(run("ARGS=()\nARGS+=(x)\necho ${ARGS[@]}")),
    "Windows": job(run("echo $A_NAME $env:B_NAME"), runs_on="windows-latest"),
    "a descriptor that the shell chooses": job(run('exec {OUT_FD}>out\necho x >&"$OUT_FD"\nexec {OUT_FD}>&-')),
    "a descriptor in a line of its own command": job(run("cat {IN_FD}< x\necho $IN_FD")),
    "a coprocess": job(run('coproc WORKER { cat; }\necho x >&"${WORKER[1]}"\nkill $WORKER_PID')),
    "a coprocess without a name": job(run("coproc cat\nkill $COPROC_PID")),
    "near a runner's, but set": job(run("echo $GITHUB_PATHS", "GITHUB_PATHS: x")),
    "a token that is no path": job(run("echo $GITHUB_PAT"), runs_on="self-hosted"),
    "a runner's on Windows": job(run("echo x >> $env:GITHUB_PATH\necho $env:RUNNER_TEMP"), runs_on="windows-latest"),
    "a name of the script on Windows": job(
        run("$env:GITHUB_PATHS = 1\necho $env:GITHUB_PATHS"), runs_on="windows-latest"
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str, found: Callable) -> None:
    assert [one.severity for one in found(ERRORS[name], RULE)] == ["error"]


@pytest.mark.parametrize("name", WARNINGS)
def test_warnings(name: str, found: Callable) -> None:
    assert [one.severity for one in found(WARNINGS[name], RULE)] == ["warning"]


@pytest.mark.parametrize("name", SILENT)
def test_what_is_set(name: str, found: Callable) -> None:
    assert [(one.line, one.message) for one in found(SILENT[name], RULE)] == []


READ = "- uses: some/action@v1\n  with: {{key: '${{{{ {} }}}}'}}\n"
WITHOUT = "- uses: actions/cache@v4\n  with: {{key: '${{{{ {} }}}}'}}\n"


@pytest.mark.parametrize(
    ("texts", "severity"),
    [
        (job(WITHOUT.format("env.CACHE_DATE")), "warning"),
        (job(WITHOUT.format("env.CACHE_DATES"), top="env: {CACHE_DATE: x}\n"), "error"),
        (job(READ.format("env.CACHE_DATES") + run("make"), "env: {CACHE_DATE: x}\n"), "error"),
        (job(READ.format("env.X_Y") + WITHOUT.format("env.CACHE_DATES"), "env: {CACHE_DATE: x}\n"), "warning"),
        (job(run("echo ${{ env.CACHE_DATE }}")), "warning"),
        (job(WITHOUT.format("env.CACHE_DATE == 1")), "warning"),
    ],
    ids=["nothing", "near the workflow's", "near the job's", "an action may set it", "in a script", "compared"],
)
def test_an_expression_reads_what_nothing_sets(texts: dict[str, str], severity: str, found: Callable) -> None:
    assert severity in [one.severity for one in found(texts, RULE)]


@pytest.mark.parametrize(
    "texts",
    [
        job(WITHOUT.format("env.CACHE_DATE"), top="env: {CACHE_DATE: x}\n"),
        job(WITHOUT.format("env.cache_date"), "env: {CACHE_DATE: x}\n"),
        job(WITHOUT.format("env.CACHE_DATE || 1")),
        job(run("echo CACHE_DATE=1 >> $GITHUB_ENV") + WITHOUT.format("env.CACHE_DATE")),
        job("- uses: some/action@v1\n" + WITHOUT.format("env.CACHE_DATE")),
        job(run('if [ -n "${{ env.CACHE_DATE }}" ]; then make; fi')),
        job(WITHOUT.format("env.HOME")),
    ],
    ids=[
        "the workflow",
        "in another case",
        "or else",
        "an earlier step",
        "an action may",
        "asked first",
        "the machine",
    ],
)
def test_an_expression_reads_what_is_set_or_may_be(texts: dict[str, str], found: Callable) -> None:
    assert found(texts, RULE) == []


def test_the_place_the_near_name_and_its_line(found: Callable) -> None:
    (one,) = found(ERRORS["a swap of the job's"], RULE)
    assert (one.path, one.line, one.column) == (".github/workflows/ci.yml", 9, 17)
    assert "`UPSTREAM_RFE`" in one.message
    assert "`$UPSTREAM_REF`" in (one.fix or "")
    assert [two.line for two in one.witnesses] == [6]


def test_one_finding_for_a_name_in_a_step(found: Callable) -> None:
    assert len(found(job(run("echo $FOO_BAR\necho $FOO_BAR")), RULE)) == 1


def test_an_action_has_what_its_users_have(found: Callable) -> None:
    files = {
        **job("- uses: actions/checkout@v4\n- uses: ./act\n", "env:\n  UPSTREAM_REF: x\n"),
        "act/action.yml": "runs:\n  using: composite\n  steps:\n  - run: echo $UPSTREAM_REF $OTHER\n    shell: bash\n",
    }
    assert found(files, RULE) == []
