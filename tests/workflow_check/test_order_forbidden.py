"""Checkouts, patches and installs of a dependency, in an order that undoes what one of them did."""

from collections.abc import Callable
from textwrap import indent

import pytest

RULE = "order-forbidden"
MANIFEST = """
[project]
name = "demo"

[dependencies.sglang]
url = "https://github.com/sgl-project/sglang"
branch = "main"

[dependencies.kernel]
url = "https://github.com/sgl-project/kernel"

[images.cuda.baked.sglang]
path = "/sgl-workspace/sglang"
install = [["python", "-m", "pip", "install", "-e", "python"]]

[images.cuda.baked.kernel]
path = "third/kernel"
install = [["make", "install"]]
"""


def job(*scripts: str, head: str = "", manifest: bool = False, **files: str) -> dict[str, str]:
    steps = "".join(f"      - run: |\n{indent(one, ' ' * 10)}\n" for one in scripts)
    text = f"on: push\njobs:\n  a:\n    runs-on: gpu\n{indent(head, '    ')}    steps:\n      - uses: actions/checkout@v4\n{steps}"
    return {"ci.yml": text, **files, **({"regraft.toml": MANIFEST} if manifest else {})}


UP = "cd /sgl-workspace/sglang\n"
ERRORS = {
    "an install before its checkout": job(UP + "pip install ./python", UP + 'git fetch origin\ngit checkout "$REF"'),
    "by git -C": job("pip install /sgl-workspace/sglang/python", 'git -C /sgl-workspace/sglang checkout "$REF"'),
    "a patch after the install": job(UP + 'git checkout "$REF"\npip install .\ngit apply $GITHUB_WORKSPACE/fix.patch'),
    "a reset after the patch": job(UP + "git apply /p/fix.patch", UP + 'git reset --hard "$REF"\npip install .'),
    "a forced checkout after the patch": job(UP + "patch -p1 < /p/fix.patch\ngit checkout -f main\npip install ."),
    "all files back after the patch": job(UP + "git apply /p/fix.patch\ngit checkout .\npip install ."),
    "a checkout after git am": job(UP + "git am /p/fix.patch\ngit checkout v2\npip install ."),
    "in a container": job(
        'docker exec ci bash -c "cd /sgl-workspace/sglang && pip install ."',
        "docker exec -w /sgl-workspace/sglang ci git checkout $REF",
    ),
    "a folder in a variable": job(
        "cd $DIR\npip install .", 'cd "$DIR"\ngit checkout v2', head="env:\n  DIR: /sgl-workspace/sglang\n"
    ),
    "a declared install": job("cd third/kernel\nmake install\ngit checkout v2", manifest=True),
}
WARNINGS = {
    "an editable install of a declared dependency before its checkout": job(
        UP + "pip install -e python", UP + "git checkout v2", manifest=True
    ),
    "a patch after an editable install of a declared dependency": job(
        UP + "pip install -e python\ngit apply /p/fix.patch", manifest=True
    ),
    "a checkout over patches": job(UP + "git apply /p/fix.patch\ngit checkout v2\npip install .", manifest=True),
}
SILENT = {
    "checkout, patch, install": job(UP + 'git fetch\ngit checkout "$REF"\ngit apply /p/fix.patch\npip install .'),
    "installed again": job(UP + "pip install .", UP + "git checkout v2\npip install ."),
    "patched again": job(
        UP + "git apply /p/fix.patch", UP + "git reset --hard v2\ngit apply /p/fix.patch\npip install ."
    ),
    "an editable install": job(UP + "pip install -e python", UP + "git checkout v2"),
    "a wheel": job("pip install /a/x.whl", "cd /a\ngit checkout v2"),
    "two folders": job("cd /a\npip install .", "cd /b\ngit checkout v2"),
    "the project itself": job("pip install .", "git checkout gh-pages\ngit reset --hard"),
    "an unknown folder": job('cd "$X"\npip install .', 'cd "$X"\ngit checkout v2'),
    "two branches": job('if [ "$A" = b ]; then\n  cd /a && pip install .\nelse\n  cd /a && git checkout v2\nfi'),
    "a patch that is asked about": job(UP + "pip install .\ngit apply --check /p/fix.patch"),
    "a patch that is taken back": job(UP + "pip install .\ngit apply -R /p/fix.patch"),
    "fetch alone": job(UP + "git apply /p/fix.patch\ngit fetch origin\npip install ."),
    "a file back": job(UP + "git apply /p/fix.patch\ngit checkout -- setup.py\npip install ."),
    "other jobs": {
        "ci.yml": "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n    - run: cd /a && pip install .\n  b:\n    runs-on: x\n    steps:\n    - run: cd /a && git checkout v2\n"
    },
    "reset before": job(UP + "git reset --hard\ngit checkout v2\ngit apply /p/fix.patch\npip install ."),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str, found: Callable) -> None:
    assert [one.severity for one in found(ERRORS[name], RULE)] == ["error"]


@pytest.mark.parametrize("name", WARNINGS)
def test_warnings(name: str, found: Callable) -> None:
    assert [one.severity for one in found(WARNINGS[name], RULE)] == ["warning"]


@pytest.mark.parametrize("name", SILENT)
def test_good_orders(name: str, found: Callable) -> None:
    assert [(one.line, one.message) for one in found(SILENT[name], RULE)] == []


def test_steps_that_exclude_each_other(found: Callable) -> None:
    text = (
        "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n"
        "    - if: inputs.a\n      run: cd /a && pip install .\n    - if: inputs.b\n      run: cd /a && git checkout v2\n"
    )
    assert found({"ci.yml": text}, RULE) == []
    assert len(found({"ci.yml": text.replace("inputs.b", "inputs.a")}, RULE)) == 1
    assert len(found({"ci.yml": text.replace("if: inputs.a\n      run", "run")}, RULE)) == 1


def test_the_place_and_its_witness(found: Callable) -> None:
    (one,) = found(ERRORS["an install before its checkout"], RULE)
    assert (one.path, one.line, one.column) == (".github/workflows/ci.yml", 13, 11)
    assert "`/sgl-workspace/sglang`" in one.message
    assert [two.line for two in one.witnesses] == [9]


PREPARE = UP + 'git checkout "$REF"\npip install .\ngit apply "$GITHUB_WORKSPACE/fix.patch"\n'


@pytest.mark.parametrize(
    "command", ["bash ci/prepare.sh", "./ci/prepare.sh", "if true; then\n  bash -e ci/prepare.sh\nfi"]
)
def test_an_order_in_a_script_of_the_repository(command: str, found: Callable) -> None:
    texts = {**job(command, command), "ci/prepare.sh": PREPARE}
    assert [(one.severity, one.path, one.line) for one in found(texts, RULE)] == [("error", "ci/prepare.sh", 4)]


def test_a_script_comes_before_what_follows_its_call(found: Callable) -> None:
    texts = {**job("bash ci/install.sh\n" + UP + "git apply $P"), "ci/install.sh": UP + "pip install .\n"}
    assert [(one.severity, one.line) for one in found(texts, RULE)] == [("error", 10)]


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("bash ci/prepare.sh", UP + 'git checkout "$REF"\ngit apply $P\npip install .\n'),
        ("cat ci/prepare.sh", PREPARE),
        ("cd other\nbash ../ci/prepare.sh", PREPARE),
    ],
    ids=["in order", "is only read", "runs elsewhere"],
)
def test_a_script_that_does_no_harm_or_is_not_followed(command: str, script: str, found: Callable) -> None:
    assert found({**job(command), "ci/prepare.sh": script}, RULE) == []
