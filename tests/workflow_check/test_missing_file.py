"""Files that workflows name and the repository does not have."""

from collections.abc import Callable
from textwrap import indent

import pytest

RULE = "missing-file"
FILES = {
    "ci/run_tests.sh": "true\n",
    "ci/install.sh": "true\n",
    "tools/report.py": "print()\n",
    "src/pkg/__init__.py": "",
    "src/pkg/main.py": "",
    "requirements-dev.txt": "pytest\n",
    "docs/index.md": "",
    "package-lock.json": "{}",
    "tests/test_a.py": "",
}
CHECKOUT = "- uses: actions/checkout@v4\n"


def job(steps: str, on: str = "push", **files: str) -> dict[str, str]:
    text = f"on: {on}\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n{indent(steps, '      ')}"
    return {"ci.yml": text, **FILES, **files}


def run(script: str, rest: str = "") -> str:
    return f"- run: |\n{indent(script, '    ')}\n" + indent(rest, "  ")


def filtered(*patterns: str) -> dict[str, str]:
    listed = "".join(f"      - '{one}'\n" for one in patterns)
    return job(run("ls"), f"\n  push:\n    paths:\n{listed}")


ERRORS = {
    "a script by its path": job(CHECKOUT + run("./ci/run_test.sh")),
    "a script by bash": job(CHECKOUT + run("bash ci/instal.sh --all")),
    "a script after a folder": job(CHECKOUT + run("cd ci\n./run-test.sh")),
    "a script in a working directory": job(CHECKOUT + run("./setup.sh", "working-directory: ci\n")),
    "a program in python": job(CHECKOUT + run("python tools/reports.py")),
    "a script under the workspace": job(CHECKOUT + run('bash "$GITHUB_WORKSPACE/ci/gone.sh"')),
    "a script under the workspace's expression": job(CHECKOUT + run("bash ${{ github.workspace }}/ci/gone.sh")),
    "a script in a checkout below a folder": job(
        "- uses: actions/checkout@v4\n  with:\n    path: here\n" + run("./here/ci/gone.sh")
    ),
    "an action": job(CHECKOUT + "- uses: ./.github/actions/setup\n"),
}
WARNINGS = {
    "requirements": job(CHECKOUT + run("pip install -r requirements-ci.txt")),
    "a file of tests": job(CHECKOUT + run("pytest tests/test_b.py -x")),
    "what an image is built from": job(CHECKOUT + run("docker build --pull -f ci/Dockerfile.gpu -t x .")),
    "what services are made of": job(CHECKOUT + run("docker compose -f ci/services.yml up -d\ndocker compose down")),
    "what more services are made of": job(
        CHECKOUT + run("docker-compose --file ci/a.yml -f ci/b.yaml up"), **{"ci/a.yml": "services: {}\n"}
    ),
    "a filter that is a folder": filtered("docs"),
    "a filter that is a file": filtered("src/pkg/old.py"),
    "a filter of a folder that is gone": filtered("lib/**"),
    "a key over nothing": job(
        CHECKOUT + "- uses: actions/cache@v4\n  with:\n    path: x\n    key: ${{ hashFiles('poetry.lock') }}\n"
    ),
    "a folder": job(CHECKOUT + run("ls", "working-directory: scripts\n")),
}
SILENT = {
    "what is there": job(
        CHECKOUT + run("./ci/run_tests.sh\nbash ci/install.sh\npython tools/report.py\npython -m pkg.main")
    ),
    "no checkout": job(run("./ci/gone.sh")),
    "another repository": job("- uses: actions/checkout@v4\n  with:\n    repository: o/r\n" + run("./ci/gone.sh")),
    "another repository below a folder": job(
        CHECKOUT + "- uses: actions/checkout@v4\n  with:\n    repository: o/r\n    path: ci\n" + run("./ci/gone.sh")
    ),
    "another ref": job("- uses: actions/checkout@v4\n  with:\n    ref: gh-pages\n" + run("./ci/gone.sh")),
    "another ref by git": job(CHECKOUT + run("git checkout v1.0\n./ci/gone.sh")),
    "made before": job(CHECKOUT + run("cat > ci/gone.sh <<'EOF'\nls\nEOF\nbash ci/gone.sh")),
    "fetched before": job(CHECKOUT + run("curl -o get.sh https://example.com/get.sh") + run("bash get.sh")),
    "cloned before": job(CHECKOUT + run("git clone https://github.com/o/other\ncd other\n./build.sh")),
    "built before": job(CHECKOUT + run("cmake --build build\n./build/run.sh")),
    "what configures": job(CHECKOUT + run("./configure && make")),
    "an artifact": job(
        CHECKOUT + "- uses: actions/download-artifact@v4\n  with:\n    path: ci\n" + run("bash ci/gone.sh")
    ),
    "ignored": job(CHECKOUT + run("bash ci/local.sh"), **{".gitignore": "/ci/local.sh\n"}),
    "absolute": job(CHECKOUT + run("/opt/x/gone.sh\nbash ~/gone.sh")),
    "a variable": job(CHECKOUT + run('bash "ci/$NAME.sh"\n./$X.sh\nbash ci/${{ inputs.x }}.sh')),
    "asked first": job(CHECKOUT + run("if [ -f ci/gone.sh ]; then\n  bash ci/gone.sh\nfi")),
    "may fail": job(CHECKOUT + run("bash ci/gone.sh || true")),
    "an unknown folder": job(CHECKOUT + run('cd "$X"\n./ci/gone.sh')),
    "what docker follows, or has elsewhere": job(
        CHECKOUT
        + run(
            "docker compose logs -f ci/web.yml\ndocker build -f ci/Dockerfile https://example.com/x.git\n"
            "docker build -f - .\ndocker build -f $X/Dockerfile .\ndocker run -f ci/x.yml\ndocker compose -f ci/a.yml up"
        ),
        **{"ci/a.yml": "services: {}\n"},
    ),
    "a folder of another machine": job(CHECKOUT + run("docker exec c bash ci/gone.sh")),
    "a folder that is made": job(CHECKOUT + run("mkdir scripts") + run("ls", "working-directory: scripts\n")),
    "a script in nobody's folder": job(CHECKOUT + run("./out/x.sh")),
    "filters": filtered(
        "docs/**",
        "src/pkg/*.py",
        "**.md",
        "**/*.py",
        "!docs/old/**",
        "package-lock.json",
        ".github/workflows/ci.yml",
        "requirements*.txt",
    ),
    "a submodule": {
        **filtered("third/x"),
        ".gitmodules": '[submodule "x"]\n\tpath = third/x\n\turl = https://example.com/x\n',
    },
    "keys": job(
        CHECKOUT
        + "- uses: actions/cache@v4\n  with:\n    path: x\n    key: ${{ hashFiles('**/package-lock.json', 'x.lock') }}-${{ hashFiles(format('{0}', inputs.x)) }}\n"
    ),
    "a key over what is made": job(
        CHECKOUT
        + run("poetry lock -o poetry.lock")
        + "- uses: actions/cache@v4\n  with:\n    path: x\n    key: ${{ hashFiles('poetry.lock') }}\n"
    ),
    "a key over another repository": job(
        "- uses: actions/checkout@v4\n  with:\n    repository: o/r\n    path: other\n- uses: actions/cache@v4\n  with:\n    path: x\n    key: ${{ hashFiles('**/go.sum') }}\n"
    ),
    "an action elsewhere": job(
        "- uses: actions/checkout@v4\n  with:\n    repository: o/r\n    path: other\n- uses: ./other/setup\n"
    ),
    "a workflow, which another rule says": {
        "ci.yml": "on: push\njobs:\n  a:\n    uses: ./.github/workflows/tests.yml\n"
    },
    "an action that is there": job(
        CHECKOUT + "- uses: ./act\n", **{"act/action.yml": "runs:\n  using: node20\n  main: x.js\n"}
    ),
    "an action of a Dockerfile": job(CHECKOUT + "- uses: ./act\n", **{"act/Dockerfile": "FROM x\n"}),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str, found: Callable) -> None:
    assert [one.severity for one in found(ERRORS[name], RULE)] == ["error"]


@pytest.mark.parametrize("name", WARNINGS)
def test_warnings(name: str, found: Callable) -> None:
    assert [one.severity for one in found(WARNINGS[name], RULE)] == ["warning"]


@pytest.mark.parametrize("name", SILENT)
def test_what_is_there_or_made(name: str, found: Callable) -> None:
    assert [(one.line, one.message) for one in found(SILENT[name], RULE)] == []


def test_a_pattern_of_names_alone_is_a_note(found: Callable) -> None:
    assert [one.severity for one in found(filtered("**/*.rs"), RULE)] == ["note"]


def test_the_place_and_the_nearest_name(found: Callable) -> None:
    (one,) = found(ERRORS["a script by its path"], RULE)
    assert (one.path, one.line, one.column) == (".github/workflows/ci.yml", 8, 11)
    assert one.fix == "write `ci/run_tests.sh`"
    (one,) = found(filtered("docs"), RULE)
    assert (one.line, one.fix) == (4, "write `docs/**`")
