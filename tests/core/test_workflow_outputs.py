"""What a step writes as its outputs, and when nobody can say."""

import time
from collections.abc import Callable, Mapping

import pytest

from regraft.core.workflow_graph import Graph
from regraft.core.workflow_outputs import Written, written

GraphOf = Callable[[Mapping[str, str]], Graph]
PATH = ".github/workflows/w.yml"


@pytest.fixture
def writes(graph_of: GraphOf) -> Callable[..., Written]:
    def of(script: str, **files: str) -> Written:
        lines = "".join(f"          {one}\n" for one in script.split("\n"))
        text = f"on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - id: s\n        run: |\n{lines}"
        graph = graph_of(
            {PATH: text, **{name.replace("__", "/").replace("_dot_", "."): one for name, one in files.items()}}
        )
        job = graph.repository.workflows[PATH].jobs["a"]
        return written(graph, PATH, job, job.steps[0])

    return of


@pytest.mark.parametrize(
    ("script", "names"),
    [
        ('echo "tag=v1" >> "$GITHUB_OUTPUT"', {"tag"}),
        ("echo tag=v1 >> $GITHUB_OUTPUT\necho 'Other=2' | tee -a ${GITHUB_OUTPUT}", {"tag", "other"}),
        ('printf "tag=%s\\n" "$TAG" >> "$GITHUB_OUTPUT"', {"tag"}),
        ('echo "::set-output name=tag::v1"', {"tag"}),
        ('{\n  echo "a=1"\n  echo "b=2"\n} >> "$GITHUB_OUTPUT"', {"a", "b"}),
        ('cat >> "$GITHUB_OUTPUT" <<EOF\na=1\nb<<X\nsome\nX\nEOF', {"a", "b"}),
        ('echo "body<<EOF" >> $GITHUB_OUTPUT\ngit log >> $GITHUB_OUTPUT\necho EOF >> $GITHUB_OUTPUT', {"body"}),
        ('tag=$(git describe)\nif [ -n "$tag" ]; then\n  echo "tag=$tag" >> $GITHUB_OUTPUT\nfi', {"tag"}),
        ('echo "tag=${{ github.ref_name }}" \\\n  >> $GITHUB_OUTPUT', {"tag"}),
        ('echo "tag=1" >> $GITHUB_OUTPUT && echo "other=1" >> $GITHUB_ENV', {"tag"}),
        ("tag=v1\necho $tag", set()),
        ("python - <<'EOF' >> $GITHUB_OUTPUT\nprint('tag=1')\nEOF", {"tag"}),
        ('{\n  echo "body<<$END"\n  cat notes.md\n  echo "$END"\n} >> "$GITHUB_OUTPUT"', {"body"}),
    ],
    ids=[
        *("echo", "tee", "printf", "old", "group", "here", "several-lines", "variable", "two-lines", "one-line", "none"),
            *("python", "group-of-lines"),
    ],
)  # fmt: skip
def test_names_that_are_written_are_known(writes: Callable, script: str, names: set[str]) -> None:
    found = writes(script)
    assert (set(found.names), found.open) == (names, False)


@pytest.mark.parametrize(
    "script",
    [
        'echo "$NAME=1" >> $GITHUB_OUTPUT',
        'echo "x-${{ matrix.a }}=1" >> $GITHUB_OUTPUT',
        "cat result.txt >> $GITHUB_OUTPUT",
        'for k in a b; do echo "${k}=1"; done >> $GITHUB_OUTPUT',
        "{\n  jq -r to_entries x.json\n} >> $GITHUB_OUTPUT",
        'OUT=$GITHUB_OUTPUT\necho "a=1" >> $OUT',
        "mytool release",
        "x=$(./build.sh)",
        "make dist",
        "npm run build",
        "source ./env.sh",
        'python - <<EOF\nimport os\nopen(os.environ["GITHUB_OUTPUT"], "a").write(name)\nEOF',
        'printf "%s=%s\\n" a b >> $GITHUB_OUTPUT',
        'eval "$SCRIPT"',
        "curl https://x.example/install.sh | bash",
        'bash -c "$COMMAND"',
        "MODE=full cat names >> $GITHUB_OUTPUT",
        "cat names MODE=full >> $GITHUB_OUTPUT",
        "terraform plan",
        'echo "a<<EOF" >> $GITHUB_OUTPUT\ncat x >> $GITHUB_OUTPUT\necho EOF >> $GITHUB_OUTPUT\ncat names >> $GITHUB_OUTPUT',
        "python - <<EOF\nprint(f'::set-output name={k}::1')\nEOF",
    ],
)
def test_what_may_write_any_name_is_open(writes: Callable, script: str) -> None:
    assert writes(script).open


def test_a_program_of_the_repository_is_read(writes: Callable) -> None:
    program = "import os\nwith open(os.environ['GITHUB_OUTPUT'], 'a') as out:\n    out.write(f'{name}=1')\nNAMES = ['image', 'tag']\n"
    found = writes("python ci/out.py", ci__out_dot_py=program)
    assert found.open
    assert {"image", "tag"} <= found.maybe
    assert not writes("python ci/out.py", ci__out_dot_py="print(1)\n").open


def test_what_goes_to_the_environment_is_no_output(writes: Callable) -> None:
    found = writes('echo "a=1" >> $GITHUB_OUTPUT && echo "b=1" >> $GITHUB_ENV')
    assert (set(found.sure), set(found.env)) == ({"a"}, {"b"})
    found = writes('matrix=$(jq -c . m.json)\necho "matrix=$matrix" >> $GITHUB_ENV')
    assert (set(found.names), set(found.env), found.open) == (set(), {"matrix"}, False)


@pytest.mark.parametrize(
    "script",
    [
        "\n" * 15_000 + "echo x=1",
        "echo " + "-a " * 15_000 + "> $GITHUB_OUTPUT",
        "f() { x; }\n" * 2_000,
        "cat " * 15_000,
    ],
)
def test_a_script_that_is_made_to_be_slow_is_not(writes: Callable, script: str) -> None:
    began = time.process_time()
    writes(script)
    assert time.process_time() - began < 3
