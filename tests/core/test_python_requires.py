import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regraft.core.python_requires import candidate_folders, requires_python, satisfies
from regraft.errors import InputError


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, None),
        ({"pyproject.toml": b'[project]\nname = "x"\nrequires-python = ">=3.10"\n'}, ">=3.10"),
        ({"pyproject.toml": b'[project]\nname = "x"\n', "setup.py": b'setup(python_requires=">=3.9")\n'}, None),
        (
            {
                "pyproject.toml": b'[project]\nname = "x"\ndynamic = ["requires-python"]\n',
                "setup.py": b'setup(python_requires=">=3.9")\n',
            },
            ">=3.9",
        ),
        (
            {"pyproject.toml": b"[build-system]\n", "setup.cfg": b"[options]\npython_requires = >=3.8, <4\n"},
            ">=3.8, <4",
        ),
        ({"setup.cfg": b"[options]\npython_requires =\n    >=3.8\n"}, ">=3.8"),
        ({"setup.cfg": b"[metadata]\nname = x\n[tool]\na = %(b)s\n"}, None),
        ({"setup.py": b'import setuptools\nsetuptools.setup(name="x", python_requires="~=3.11")\n'}, "~=3.11"),
        ({"setup.py": b'NEED = ">=3.12"\nif __name__ == "__main__":\n    setup(python_requires=NEED)\n'}, ">=3.12"),
        ({"setup.py": b"setup(python_requires=compute())\n"}, None),
        (
            {"setup.py": b'setup(python_requires=">=3.12")\n', "setup.cfg": b"[options]\npython_requires = >=3.8\n"},
            ">=3.12",
        ),
        ({"setup.py": b'other(python_requires=">=3.12")\n'}, None),
        ({"setup.py": b'raise SystemExit("\\d")\n'}, None),
        ({"pyproject.toml": b'[tool.poetry.dependencies]\npython = "^3.8"\n'}, ">=3.8,<4"),
        ({"pyproject.toml": b'[tool.poetry.dependencies]\npython = "~3.8.1"\n'}, ">=3.8.1,<3.9"),
        ({"pyproject.toml": b'[tool.poetry.dependencies]\npython = ">=3.8, !=3.9.1"\n'}, ">=3.8,!=3.9.1"),
        ({"pyproject.toml": b'[project]\nname = "x"\nrequires-python = 3\n'}, None),
    ],
)
def test_what_the_files_of_a_folder_declare(files: dict[str, bytes], expected: str | None) -> None:
    assert requires_python(files) == expected


@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": b"[project\n"},
        {"pyproject.toml": b"\xff"},
        {"setup.cfg": b"no section\n"},
        {"setup.cfg": b"\xff"},
        {"setup.py": b"def (:\n"},
        {"setup.py": b"\0"},
        {"setup.py": b"(" * 100_000},
    ],
)
def test_a_file_that_cannot_be_read_is_said(files: dict[str, bytes]) -> None:
    with pytest.raises(InputError) as caught:
        requires_python(files)
    assert caught.value.code == "broken-metadata"
    assert next(iter(files)) in caught.value.message


@given(st.sampled_from(["pyproject.toml", "setup.cfg", "setup.py"]), st.binary(max_size=200))
@settings(max_examples=100)
def test_no_content_makes_it_crash(name: str, data: bytes) -> None:
    try:
        found = requires_python({name: data})
    except InputError:
        return
    assert found is None or isinstance(found, str)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python -m pip install -e . --no-deps", ("",)),
        ("python -m pip install -e python --no-deps", ("python",)),
        ("python -m pip install --no-deps python", ("python",)),
        ("python -m pip install --editable=./python[all]", ("python",)),
        ("python -m pip install --editable ./x/[a,b] -v", ("x",)),
        ("pip install -e.", ("",)),
        ("pip install .[dev]", ("",)),
        ("uv pip install --python /opt/bin/python -r requirements.txt ./x", ("x",)),
        ("pip install a ./b -e c", ("a", "b", "c")),
        ("python setup.py develop", ("",)),
        ("python sub/setup.py install", ("sub",)),
        ("pip install torch==2.1 https://example.org/x.whl git+https://example.org/x", ()),
        ("pip install /abs/path ../out ./a/../../out", ()),
        ("make -C x", ()),
        ("pip install -e", ()),
        ("pip install", ()),
    ],
)
def test_the_folders_that_a_command_installs_from(command: str, expected: tuple[str, ...]) -> None:
    assert candidate_folders([tuple(command.split())]) == expected


def test_the_folders_of_several_commands_come_once() -> None:
    commands = [("pip", "install", "-e", "."), ("pip", "install", "./"), ("pip", "install", "x")]
    assert candidate_folders(commands) == ("", "x")


@pytest.mark.parametrize(
    ("version", "specifier", "fits"),
    [
        ("3.12.3", ">=3.10", True),
        ("3.9.18", ">=3.10", False),
        ("3.12.3", ">=3.10,<3.12", False),
        ("3.10.0", "~=3.10", True),
        ("3.13.0rc1", ">=3.12", True),
        ("3.12.3", "", True),
        ("3.12.3", "==3.12.*", True),
    ],
)
def test_whether_a_python_fits(version: str, specifier: str, fits: bool) -> None:
    assert satisfies(version, specifier) is fits


@pytest.mark.parametrize(
    ("version", "specifier", "code"),
    [
        ("3.12", "3.10 or so", "broken-specifier"),
        ("3.12", ">=3.8 || >=3.9", "broken-specifier"),
        ("new", ">=3", "broken-version"),
    ],
)
def test_what_is_no_version_or_specifier_is_said(version: str, specifier: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        satisfies(version, specifier)
    assert caught.value.code == code
