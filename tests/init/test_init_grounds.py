"""What `init` fills in of the keys that are seldom written down: never a value without a line that says it."""

from typing import Any

import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CLONE = "RUN git clone https://github.com/o/eng /eng && cd /eng"


def dockerfile(run: str, copy: str = "COPY locks /locks") -> str:
    return f"FROM a\n{copy}\n{run}\n"


@pytest.mark.parametrize(
    "read",
    [
        "git checkout $(cat /locks/eng.txt)",
        'git checkout "$(cat /locks/eng.txt)"',
        "git checkout $(< /locks/eng.txt)",
        "REF=$(cat /locks/eng.txt) && git checkout $REF",
        'REF="$(cat \'/locks/eng.txt\')"; git checkout --detach "${REF}"',
        "git fetch origin $(cat /locks/eng.txt) && git checkout FETCH_HEAD",
    ],
)
def test_a_file_that_a_dockerfile_reads_the_commit_from_is_the_lock(repository: Any, read: str) -> None:
    files = {"Dockerfile": dockerfile(f"{CLONE} && {read}"), "locks/eng.txt": f"{COMMIT}\n"}
    found = repository(files)
    lock = found.manifest().dependencies["eng"].lock
    assert (lock.file, lock.key) == ("locks/eng.txt", None)
    assert "Dockerfile:3 reads the commit there" in found.propose().text.decode()


@pytest.mark.parametrize("read", ["jq -r .eng.commit /locks/all.json", "jq -er '.eng.commit' < /locks/all.json"])
def test_a_key_that_jq_reads_is_a_pointer(repository: Any, read: str) -> None:
    files = {
        "Dockerfile": dockerfile(f"{CLONE} && git checkout $({read})"),
        "locks/all.json": f'{{"eng": {{"commit": "{COMMIT}"}}}}',
    }
    lock = repository(files).manifest().dependencies["eng"].lock
    assert (lock.file, lock.key) == ("locks/all.json", "/eng/commit")


WORKFLOW = """
jobs:
  build:
    steps:
      - run: |
          docker build --build-arg ENG=$(jq -r .eng locks/all.json) -f Dockerfile .
"""
ARGUMENT = f"FROM a\nARG ENG\n{CLONE} && git checkout $ENG\n"


def test_a_file_that_a_workflow_reads_a_build_argument_from_is_the_lock(repository: Any) -> None:
    files = {"Dockerfile": ARGUMENT, ".github/workflows/b.yml": WORKFLOW, "locks/all.json": f'{{"eng": "{COMMIT}"}}'}
    found = repository(files)
    lock = found.manifest().dependencies["eng"].lock
    assert (lock.file, lock.key) == ("locks/all.json", "/eng")
    assert ".github/workflows/b.yml:5 reads the commit there" in found.propose().text.decode()


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ("main\n", "cat /locks/eng.txt"),
        (COMMIT[:12], "cat /locks/eng.txt"),
        (f'{{"other": "{COMMIT}"}}', "jq -r .eng /locks/eng.txt"),
    ],
)
def test_a_file_without_a_full_commit_is_a_question(repository: Any, content: str, read: str) -> None:
    files = {"Dockerfile": dockerfile(f"{CLONE} && git checkout $({read})"), "locks/eng.txt": content}
    found = repository(files)
    assert found.manifest().dependencies["eng"].lock is None
    assert "no full commit is there" in found.questions()["dependencies.eng.lock"]


def test_two_images_that_read_two_files_are_a_question(repository: Any) -> None:
    files = {
        **{f"Dockerfile.{n}": dockerfile(f"{CLONE} && git checkout $(cat /locks/{n}.txt)") for n in "ab"},
        "locks/a.txt": COMMIT,
        "locks/b.txt": COMMIT,
    }
    found = repository(files)
    assert found.manifest().dependencies["eng"].lock is None
    assert (
        "locks/a.txt (Dockerfile.a:3), locks/b.txt (Dockerfile.b:3): they are several"
        in found.questions()["dependencies.eng.lock"]
    )


@pytest.mark.parametrize(
    "read",
    ["cat /elsewhere/eng.txt", "cat /locks/eng.txt | head -1", "curl https://x.org/eng.txt", "cat /locks/gone.txt"],
)
def test_what_is_no_file_of_the_project_is_no_lock_and_no_question_about_one(repository: Any, read: str) -> None:
    files = {"Dockerfile": dockerfile(f"{CLONE} && git checkout $({read})"), "locks/eng.txt": COMMIT}
    found = repository(files)
    assert found.manifest().dependencies["eng"].lock is None
    assert "dependencies.eng.lock" not in found.questions()


@pytest.mark.parametrize(
    "login", ["${UPSTREAM_TOKEN}", "$UPSTREAM_TOKEN", "x-access-token:${UPSTREAM_TOKEN}", "oauth2:$UPSTREAM_TOKEN"]
)
def test_the_secret_that_a_clone_names_is_the_token(repository: Any, login: str) -> None:
    text = f"FROM a\nARG UPSTREAM_TOKEN\nRUN git clone https://{login}@github.com/o/eng /eng\n"
    found = repository({"Dockerfile": text})
    dependency = found.manifest().dependencies["eng"]
    assert (dependency.url, dependency.token_env) == ("https://github.com/o/eng", "UPSTREAM_TOKEN")
    assert "Dockerfile:3 logs in with it" in found.propose().text.decode()


@pytest.mark.parametrize("login", ["$(cat /run/secrets/token)", "x:$(cat /run/secrets/token)"])
def test_a_secret_without_a_variable_is_a_question(repository: Any, login: str) -> None:
    text = f"FROM a\nRUN --mount=type=secret,id=token git clone https://{login}@github.com/o/eng /eng\n"
    found = repository({"Dockerfile": text})
    dependency = found.manifest().dependencies["eng"]
    assert (dependency.url, dependency.token_env) == ("https://github.com/o/eng", None)
    assert "Dockerfile:2 logs in with a secret" in found.questions()["dependencies.eng.token-env"]


@pytest.mark.parametrize("login", ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "me:secret-password"])
def test_a_secret_that_is_written_out_is_in_no_line_of_the_manifest(repository: Any, login: str) -> None:
    found = repository({"Dockerfile": f"FROM a\nRUN git clone https://{login}@github.com/o/eng /eng\n"})
    assert login.rpartition(":")[2] not in found.propose().text.decode()
    assert found.manifest().dependencies["eng"].token_env is None


def test_a_repository_that_is_fetched_into_the_same_checkout_is_allowed(repository: Any) -> None:
    fork = f"{CLONE} && git remote add fork https://github.com/Fork/eng.git && git fetch fork && git checkout fork/work"
    found = repository({"Dockerfile": f"FROM a\n{fork}\n"})
    (dependency,) = found.manifest().dependencies.values()
    assert dependency.url == "https://github.com/Fork/eng.git"
    assert dependency.allow == ("o/eng",)
    assert "Dockerfile:2: the build takes from there too" in found.propose().text.decode()


def test_another_server_and_the_same_repository_are_not_allowed(repository: Any) -> None:
    text = f"FROM a\n{CLONE} && git remote add m https://other.org/o/eng && git remote add s git@github.com:o/eng.git\n"
    assert repository({"Dockerfile": text}).manifest().dependencies["eng"].allow == ()


def test_what_an_editable_install_does_not_bring_in_is_asked(repository: Any) -> None:
    found = repository({"Dockerfile": f"FROM a\n{CLONE} && python -m pip install -e python[all] --no-deps\n"})
    asked = found.questions()
    assert "is editable, and its repository is not here" in asked["images.default.baked.eng.rebuild-when"]
    assert "besides python/" in asked["images.default.baked.eng.not-installed"]
    baked = found.manifest().images["default"].baked["eng"]
    assert (baked.rebuild_when, baked.not_installed) == ((), ())


@pytest.mark.parametrize(("install", "keys"), [("-e .", {"rebuild-when"}), (".", set())])
def test_an_install_of_the_whole_repository_leaves_less_to_ask(repository: Any, install: str, keys: set[str]) -> None:
    found = repository({"Dockerfile": f"FROM a\n{CLONE} && python -m pip install {install}\n"})
    asked = {key.rpartition(".")[2] for key in found.questions()}
    assert asked & {"rebuild-when", "not-installed"} == keys


def test_check_on_its_own_output_is_silent(repository: Any) -> None:
    files = {
        "Dockerfile": dockerfile(f"{CLONE} && git checkout $(cat /locks/eng.txt) && python -m pip install -e python"),
        "locks/eng.txt": COMMIT,
    }
    assert repository(files).differences() == []
