"""What changes the hash of an image's inputs, and what does not."""

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regraft.core.image_inputs import Added, inputs_of, moved
from regraft.core.image_values import ImageInputs, Place
from regraft.core.image_view import Recipe
from regraft.core.objects import Commit
from regraft.errors import InputError, MistakesError

HEAD = Commit("1" * 40)
DOCKERFILE = """\
# syntax=docker/dockerfile:1
ARG TAG=1.0
ARG ELSEWHERE=x
FROM base:${TAG}@sha256:0000 AS build
ARG COMMIT=abc
ENV MODE=fast
COPY src /src/
COPY --chmod=755 run.sh /usr/bin/
RUN --mount=type=bind,source=scripts/build.sh,target=/build.sh sh /build.sh
RUN <<EOF
git clone https://example.org/r && cd r && git checkout 0123456789abcdef0123456789abcdef01234567
EOF
FROM other:${ELSEWHERE} AS unused
COPY nothing /
FROM build
LABEL org.opencontainers.image.created="2024" kind=image
"""
FILES = {
    "Dockerfile": DOCKERFILE,
    "src/a.py": "a = 1\n",
    "src/b.py": "b = 1\n",
    "run.sh": "exec python /src/a.py\n",
    "scripts/build.sh": "make\n",
    "scripts/other.sh": "# a comment\n",
    "docs/readme.md": "words\n",
    "patches/p.patch": "--- a/x\n+++ b/x\n",
}
RECIPE = Recipe("rocm", "Dockerfile", arguments={"COMMIT": "def"})
ADDED = Added(patterns=("patches/*",), pins={"sglang": ("2" * 40, Place("lock"))})


def of(
    track: Any,
    files: dict[str, str] | None = None,
    recipe: Recipe = RECIPE,
    added: Added = ADDED,
    modes: dict[str, str] | None = None,
) -> ImageInputs:
    found = track({**FILES, **(files or {})}, modes)
    return inputs_of(recipe, added, found.tree, found.read, HEAD)


def edited(old: str, new: str) -> dict[str, str]:
    assert old in DOCKERFILE
    return {"Dockerfile": DOCKERFILE.replace(old, new)}


COUNTS: dict[str, dict[str, Any]] = {
    "a copied file": {"files": {"src/a.py": "a = 2\n"}},
    "a file more in a copied folder": {"files": {"src/c.py": "c\n"}},
    "the mode of a copied file": {"modes": {"src/a.py": "100755"}},
    "the default of an ARG": {"files": edited("COMMIT=abc", "COMMIT=abd")},
    "the default of an ARG before FROM": {"files": edited("TAG=1.0", "TAG=1.1")},
    "a build argument": {"recipe": Recipe("rocm", "Dockerfile", arguments={"COMMIT": "xyz"})},
    "the base image's digest": {"files": edited("sha256:0000", "sha256:0001")},
    "a mounted script": {"files": {"scripts/build.sh": "make all\n"}},
    "an ENV": {"files": edited("MODE=fast", "MODE=slow")},
    "a line of a here-document": {"files": edited("cd r &&", "cd r && true &&")},
    "the platform of a stage": {"files": edited("FROM build\n", "FROM --platform=linux/arm64 build\n")},
    "a flag of a COPY": {"files": edited("--chmod=755", "--chmod=700")},
    "what the manifest adds": {"files": {"patches/p.patch": "--- a/y\n+++ b/y\n"}},
    "a pin": {"added": Added(patterns=("patches/*",), pins={"sglang": ("3" * 40, Place("lock"))})},
    "a label that does not tell the time": {"files": edited("kind=image", "kind=other")},
    "what .dockerignore leaves out": {"files": {".dockerignore": "src/b.py\n"}},
    "the target": {"recipe": Recipe("rocm", "Dockerfile", target="build", arguments={"COMMIT": "def"})},
}
ESCAPED = "# escape=`\n"
HASH = "0123456789abcdef0123456789abcdef01234567"
FROM = "FROM scratch\n"
DIFFER = {
    "the second of two stages of one name": ("FROM scratch AS a\nRUN echo one\nFROM a AS a\nRUN echo two", "FROM scratch AS a\nRUN echo one\nFROM a AS a\nRUN echo three"),
    "blanks before a continuation": ("FROM scratch\nRUN install lib \\\nfoo", "FROM scratch\nRUN install lib\\\nfoo"),
    "blanks before a continuation in quotes": ('FROM scratch\nRUN echo "a  \\\nb"', 'FROM scratch\nRUN echo "a\\\nb"'),
    "empty lines at the end of a here-document": ("FROM scratch\nCOPY <<X /x\na\n\nX", "FROM scratch\nCOPY <<X /x\na\nX"),
    "empty lines at the start of a here-document": ("FROM scratch\nCOPY <<X /x\n\na\nX", "FROM scratch\nCOPY <<X /x\na\nX"),
    "a line moved from one here-document to the next": ("FROM scratch\nCOPY <<A <<B /x\n1\n2\nA\n3\nB", "FROM scratch\nCOPY <<A <<B /x\n1\nA\n2\n3\nB"),
    "a here-document of an ONBUILD": ("FROM scratch\nONBUILD RUN <<A\n1\nA", "FROM scratch\nONBUILD RUN <<A\n2\nA"),
    "the frontend": ("# syntax=docker/dockerfile:1.4\nFROM scratch", "# syntax=docker/dockerfile:1.7-labs\nFROM scratch"),
    "the escape character": (f"{ESCAPED}FROM scratch\nRUN echo a\\ b", "FROM scratch\nRUN echo a\\ b"),
}  # fmt: skip
SAME = {
    "blanks after the escape character": ("FROM scratch\nRUN install lib\\  \nfoo", "FROM scratch\nRUN install lib\\\nfoo"),
    "how lines end": ("FROM scratch\r\nRUN install lib\\\r\nfoo\r\n", "FROM scratch\nRUN install lib\\\nfoo\n"),
    "what is checked": ("# check=skip=all\nFROM scratch", "# check=error=true\nFROM scratch"),
}  # fmt: skip


def hash_of(track: Any, text: str, files: dict[str, str] | None = None, **arguments: str) -> str:
    found = track({"Dockerfile": text, **(files or {})})
    return inputs_of(Recipe("i", "Dockerfile", arguments=arguments), Added(), found.tree, found.read, HEAD).hash


@pytest.mark.parametrize(("one", "other"), DIFFER.values(), ids=DIFFER)
def test_dockerfiles_that_build_different_images_have_different_hashes(track: Any, one: str, other: str) -> None:
    assert hash_of(track, one) != hash_of(track, other)


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_dockerfiles_that_build_the_same_image_have_the_same_hash(track: Any, one: str, other: str) -> None:
    assert hash_of(track, one) == hash_of(track, other)


def test_a_second_line_that_is_not_indented_is_a_word_of_its_own(track: Any) -> None:
    text = "FROM scratch\nENV DIR=src \\\nNAME=a.py\nCOPY $DIR/$NAME /\n"
    assert hash_of(track, text, {"src/a.py": "1"}) != hash_of(track, text, {"src/a.py": "2"})


@pytest.mark.parametrize("name", ["SOURCE_DATE_EPOCH", "BUILDKIT_CONTEXT_KEEP_GIT_DIR", "BUILDKIT_SYNTAX"])
def test_an_argument_that_buildkit_takes_without_an_arg_counts(track: Any, name: str) -> None:
    text = "FROM scratch\n"
    assert len({hash_of(track, text), hash_of(track, text, **{name: "1"}), hash_of(track, text, **{name: "2"})}) == 3
    found = track({"Dockerfile": text})
    recipe = Recipe("i", "Dockerfile", arguments={name: "1"})
    assert inputs_of(recipe, Added(), found.tree, found.read, HEAD).notes == ()


@pytest.mark.parametrize("text", ["FROM scratch\n", "# syntax=docker/dockerfile@sha256:00\nFROM scratch\n"])
def test_a_frontend_that_an_argument_names_goes_before_the_files_own(track: Any, text: str) -> None:
    found = track({"Dockerfile": text})
    recipe = Recipe("i", "Dockerfile", arguments={"BUILDKIT_SYNTAX": "docker/dockerfile:1"})
    (one,) = inputs_of(recipe, Added(), found.tree, found.read, HEAD).loose
    assert one.what == "docker/dockerfile:1, which reads the Dockerfile, is a tag"


def test_copy_with_parents_takes_in_what_a_double_star_reaches_and_its_scripts_are_followed(track: Any) -> None:
    text = "FROM scratch\nCOPY --parents **/*.txt /w/\nCOPY --parents p/run.sh /w/\nRUN sh /w/p/run.sh\n"
    files = {"a/b/x.txt": "1", "p/run.sh": "git clone -b dev https://e.org/r\n"}
    assert hash_of(track, text, files) != hash_of(track, text, {**files, "a/b/x.txt": "2"})
    assert loose(track, text, files) == [("clone", "p/run.sh:1", "dev", None)]


def test_the_keys_of_a_mount_may_be_written_in_capitals(track: Any) -> None:
    text = "FROM scratch\nRUN --mount=TYPE=bind,SOURCE=d,TARGET=/x make\n"
    assert hash_of(track, text, {"d/x": "1"}) != hash_of(track, text, {"d/x": "2"})


ARCHITECTURES = "FROM a@sha256:00 AS base-amd64\nFROM b@sha256:00 AS base-arm64\nRUN one\nFROM base-${TARGETARCH}\n"


def test_where_the_platform_chooses_a_stage_all_of_them_count(track: Any) -> None:
    for change in ("a@sha256:01", "b@sha256:01"):
        assert hash_of(track, ARCHITECTURES) != hash_of(track, ARCHITECTURES.replace(change[:-1] + "0", change))
    assert hash_of(track, ARCHITECTURES) != hash_of(track, ARCHITECTURES.replace("RUN one", "RUN two"))
    assert loose(track, ARCHITECTURES) == []


def test_where_the_platform_chooses_an_image_that_is_not_covered(track: Any) -> None:
    assert loose(track, "FROM base-${TARGETARCH}\n") == [("base", "Dockerfile:1", None, None)]


@pytest.mark.parametrize(("name", "folder"), [("TARGETARCH", "bin/{}"), ("TARGETPLATFORM", "bin/linux/{}")])
def test_where_the_platform_chooses_a_file_all_of_them_count(track: Any, name: str, folder: str) -> None:
    text = f"{FROM}ARG {name}\nCOPY bin/${name}/x /x\nRUN --mount=type=bind,source=bin/${{{name}}}/y,target=/y make\n"
    files = {f"{folder.format(one)}/{file}": "1" for one in ("amd64", "arm64") for file in ("x", "y")}
    hashes = {hash_of(track, text, {**files, **change}) for change in ({}, *({path: "2"} for path in files))}
    assert len(hashes) == 5
    with pytest.raises(InputError) as caught:
        hash_of(track, text, {f"{folder.format('amd64')}/x": "1"})
    assert caught.value.code == "copy-missing"


@pytest.mark.parametrize("source", ["third/setup.py", "third/src/*.py", "third"])
def test_what_lies_in_a_submodule_is_covered_by_its_commit(track: Any, source: str) -> None:
    def of_commit(commit: str) -> str:
        found = track({"Dockerfile": f"{FROM}COPY {source} /t/\n", "third": commit}, {"third": "160000"})
        return inputs_of(Recipe("i", "Dockerfile"), Added(), found.tree, found.read, HEAD).hash

    assert of_commit("1" * 40) != of_commit("2" * 40)


COUNTS |= {
    "what git makes of a copied file at a checkout": {"files": {".gitattributes": "*.py text eol=crlf\n"}},
    "likewise, in its folder": {"files": {"src/.gitattributes": "# why\n*.py export-subst\n"}},
}
COUNTS_NOT: dict[str, dict[str, Any]] = {
    "what git makes of another file": {"files": {"docs/.gitattributes": "*.md text eol=crlf\n"}},
    "an attribute that rewrites nothing": {"files": {"scripts/.gitattributes": "*.sh linguist-generated\n# text\n"}},
    "an unrelated file": {"files": {"docs/readme.md": "other words\n"}},
    "a new unrelated file": {"files": {"docs/new.md": "words\n"}},
    "a comment in another file": {"files": {"scripts/other.sh": "# another comment\n"}},
    "a comment in the Dockerfile": {"files": edited("COPY src", "# why\nCOPY src")},
    "an empty line in the Dockerfile": {"files": edited("COPY src", "\n\nCOPY src")},
    "a stage that is not reached": {"files": edited("COPY nothing /", "RUN other")},
    "an ARG that only such a stage has": {"files": edited("ELSEWHERE=x", "ELSEWHERE=y")},
    "the time in a label": {"files": edited('"2024"', '"2025"')},
    "a pattern that leaves nothing out": {"files": {".dockerignore": "no-such-file\n"}},
    "where the pin was read": {"added": Added(patterns=("patches/*",), pins={"sglang": ("2" * 40, Place("other", 7))})},
}


@pytest.mark.parametrize("change", COUNTS.values(), ids=COUNTS)
def test_this_changes_the_hash_and_is_named(track: Any, change: dict[str, Any]) -> None:
    before, after = of(track), of(track, **change)
    assert before.hash != after.hash
    assert moved(before, after)


@pytest.mark.parametrize("change", COUNTS_NOT.values(), ids=COUNTS_NOT)
def test_this_does_not(track: Any, change: dict[str, Any]) -> None:
    before, after = of(track), of(track, **change)
    assert before.hash == after.hash
    assert moved(before, after) == ()


PATHS = st.sampled_from(sorted(FILES.keys() - {"Dockerfile"}))


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(PATHS, st.sampled_from(["content", "mode"])), max_size=4), st.integers(0, 1000))
def test_the_hash_changes_with_what_is_used_and_with_nothing_else(
    track: Any, changes: list[tuple[str, str]], seed: int
) -> None:
    """Whatever else changes along with it, and in whatever order the files are listed."""
    used = {"src/a.py", "src/b.py", "run.sh", "scripts/build.sh", "patches/p.patch"}
    files, modes = dict(FILES), dict[str, str]()
    for path, what in changes:
        if what == "content":
            files[path] = f"{FILES[path]}more\n"
        else:
            modes[path] = "100755"
    shuffled = random.Random(seed).sample(sorted(files), len(files))
    found = track({path: files[path] for path in shuffled}, modes)
    after = inputs_of(RECIPE, ADDED, found.tree, found.read, HEAD)
    touched = used & {path for path, _ in changes}
    assert (after.hash != of(track).hash) == bool(touched)
    assert {one.name for one in moved(of(track), after)} == touched


def test_names_that_are_no_text_count_like_others(track: Any) -> None:
    names = ["src/\udcff", "src/\udcfe", "src/ÿ"]
    hashes = {of(track, {name: "x"}).hash for name in names}
    assert len(hashes) == len(names)


def test_an_instruction_that_is_put_in_between_is_one_difference(track: Any) -> None:
    (one,) = moved(of(track), of(track, edited("ENV MODE", "ENV NEW=1\nENV MODE")))
    assert (one.before, one.after, one.place) == (None, "ENV NEW=1", Place("Dockerfile", 6))


def test_two_inputs_that_differ_are_both_named(track: Any) -> None:
    found = moved(of(track), of(track, {"src/a.py": "2", **edited("MODE=fast", "MODE=slow")}))
    assert [(one.kind, one.name) for one in found] == [
        ("file", "src/a.py"),
        ("instruction", "Dockerfile stage build #2"),
    ]


def loose(track: Any, text: str, files: dict[str, str] | None = None) -> list[tuple[str, str, str | None, str | None]]:
    found = track({"Dockerfile": text, **(files or {})})
    inputs = inputs_of(Recipe("i", "Dockerfile"), Added(), found.tree, found.read, HEAD)
    return [(one.kind, str(one.place), one.ref, one.argument) for one in inputs.loose]


REMOTE = "git init /r && cd /r && git remote add origin https://e.org/r && git fetch origin main"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM ubuntu", [("base", "Dockerfile:1", "ubuntu", None)]),
        ("ARG B=ubuntu:22.04\nFROM $B", [("base", "Dockerfile:2", "ubuntu:22.04", "B")]),
        ("FROM ubuntu@sha256:00", []),
        ("FROM scratch\nCOPY --from=nginx:1 /x /", [("base", "Dockerfile:2", "nginx:1", None)]),
        (f"{FROM}RUN git clone https://e.org/r", [("clone", "Dockerfile:2", None, None)]),
        (f"{FROM}RUN git clone -b dev https://e.org/r /r", [("clone", "Dockerfile:2", "dev", None)]),
        (f"{FROM}ARG R=main\nRUN git clone --branch=$R https://e.org/r", [("clone", "Dockerfile:3", "main", None)]),
        (f"{FROM}RUN git clone https://e.org/r && cd r && git checkout {HASH}", []),
        (f"{FROM}RUN git clone https://e.org/r && \\\n  cd r && \\\n  git checkout main", [("clone", "Dockerfile:4", "main", None)]),
        (f"{FROM}RUN git clone https://e.org/r /r\nRUN git -C /r checkout {HASH}", []),
        (f"{FROM}RUN git clone https://e.org/r /r\nWORKDIR /r\nRUN git fetch origin {HASH} && git checkout FETCH_HEAD", []),
        (f"{FROM}RUN {REMOTE} && git reset --hard FETCH_HEAD", [("clone", "Dockerfile:2", "main", None)]),
        (f"{FROM}RUN git clone https://e.org/a /a && git clone https://e.org/b /b && git -C /b checkout {HASH}", [("clone", "Dockerfile:2", None, None)]),
        (f"{FROM}ARG C\nRUN git clone https://e.org/r && cd r && git checkout $C", [("argument", "Dockerfile:2", None, "C"), ("clone", "Dockerfile:3", None, "C")]),
        (f"{FROM}ENV C=main\nRUN git clone https://e.org/r && cd r && git checkout $C", [("clone", "Dockerfile:3", "main", None)]),
        (f"{FROM}ARG C=main\nENV C=$C\nRUN git clone https://e.org/r && git -C r checkout $C", [("clone", "Dockerfile:4", "main", "C")]),
        (f"{FROM}ARG C=main\nENV C=dev\nRUN git clone -b $C https://e.org/r", [("clone", "Dockerfile:4", "dev", None)]),
        (f"{FROM}RUN C=main && git clone -b $C https://e.org/r", [("clone", "Dockerfile:2", "main", None)]),
        (f"{FROM}RUN pip install git+https://e.org/r@main", [("pip", "Dockerfile:2", "main", None)]),
        (f"{FROM}RUN pip install 'x @ git+https://e.org/r'", [("pip", "Dockerfile:2", None, None)]),
        (f"{FROM}RUN python -m pip install -e git+https://e.org/r@{HASH}#egg=r", []),
        (f"{FROM}RUN curl -fsSL https://e.org/x.tgz | tar xz", [("download", "Dockerfile:2", None, None)]),
        (f"{FROM}RUN wget https://e.org/x.tgz && echo 'h x.tgz' | sha256sum -c -", []),
        (f"{FROM}RUN curl -O https://raw.example.org/o/r/{HASH}/x.sh", []),
        (f"{FROM}ADD https://e.org/x.tgz /", [("download", "Dockerfile:2", None, None)]),
        (f"{FROM}ADD --checksum=sha256:00 https://e.org/x.tgz /", []),
        (f"{FROM}ADD https://e.org/r.git#main /r", [("clone", "Dockerfile:2", "main", None)]),
        (f"{FROM}ADD https://e.org/r.git#{HASH} /r", []),
        (f"{FROM}COPY . /", [("context", "Dockerfile:2", None, None)]),
        (f"{FROM}RUN --mount=type=bind,source=.git,target=.git python -m build", [("context", "Dockerfile:2", None, None)]),
        (f"{FROM}COPY .git/ /src/.git", [("context", "Dockerfile:2", None, None)]),
        (f"{FROM}RUN if true; then", [("script", "Dockerfile:2", None, None)]),
        (f'{FROM}RUN ["git", "clone", "https://e.org/r"]', [("clone", "Dockerfile:2", None, None)]),
        (f"{FROM}RUN <<EOF\nset -e\ngit clone https://e.org/r\nEOF", [("clone", "Dockerfile:4", None, None)]),
        (f"{FROM}RUN cat <<EOF > /x\ngit clone https://e.org/r\nEOF", []),
        (f"{FROM}# RUN git clone https://e.org/r", []),
        ("# syntax=docker/dockerfile:1\nFROM scratch", [("base", "Dockerfile:1", None, None)]),
        ("# syntax=docker/dockerfile@sha256:00\nFROM scratch", []),
        (f'{FROM}RUN bash -lc "git clone -b dev https://e.org/r && make"', [("clone", "Dockerfile:2", "dev", None)]),
        (f"{FROM}RUN make && \\\n  sh -c 'cd / && \\\n  git clone https://e.org/r'", [("clone", "Dockerfile:4", None, None)]),
        (f'{FROM}RUN eval "git clone https://e.org/r"', [("clone", "Dockerfile:2", None, None)]),
        (f"{FROM}RUN su - me -c 'git clone https://e.org/r'", [("clone", "Dockerfile:2", None, None)]),
        (f"{FROM}RUN sudo -u me git clone https://e.org/r", [("clone", "Dockerfile:2", None, None)]),
        (f"{FROM}RUN timeout 60 git clone https://e.org/r", [("clone", "Dockerfile:2", None, None)]),
        (f"{FROM}RUN retry git clone https://e.org/r", [("clone", "Dockerfile:2", None, None)]),
        (f"{FROM}RUN apt-get install git clone https://e.org/r", []),
        (f"{FROM}RUN X=$(git clone https://e.org/r)", [("clone", "Dockerfile:2", None, None)]),
        (f"{FROM}RUN git clone -b 20240801 https://e.org/r", [("clone", "Dockerfile:2", "20240801", None)]),
        (f"{FROM}RUN git clone -b {HASH} https://e.org/r", [("clone", "Dockerfile:2", HASH, None)]),
        (f"{FROM}RUN git clone --revision={HASH} https://e.org/r", []),
        (f"{FROM}RUN git clone https://e.org/r /r && git -C /r checkout {HASH} && git -C /r submodule update --init --remote", [("clone", "Dockerfile:2", None, None)]),
        (f'{FROM}RUN sh -c "$(curl -fsSL https://e.org/x.sh)"', [("download", "Dockerfile:2", None, None)]),
        (f"{FROM}RUN bash <(curl -s https://e.org/x.sh)", [("download", "Dockerfile:2", None, None)]),
        (f"{FROM}RUN sudo wget $URL", [("download", "Dockerfile:2", None, None)]),
        (f"{FROM}RUN apt-get install curl && curl -o $OUT https://e.org/x", [("download", "Dockerfile:2", None, None)]),
        (f"{FROM}RUN sudo pip3 install git+ssh://git@e.org/x/ssh.git", [("pip", "Dockerfile:2", None, None)]),
        (f"{FROM}RUN pip install git+ssh://git@e.org/x/ssh.git@release/1", [("pip", "Dockerfile:2", "release/1", None)]),
        (f"{FROM}RUN pip install git+ssh://git@e.org/x/ssh.git@{HASH}", []),
        (f"{FROM}RUN pip install 'x @ git+https://e.org/r@main; python_version > \"3\"'", [("pip", "Dockerfile:2", "main", None)]),
    ],
)  # fmt: skip
def test_what_the_hash_cannot_cover_is_listed_with_its_place(track: Any, text: str, expected: list[Any]) -> None:
    assert loose(track, text) == expected


def test_scripts_that_are_copied_and_run_are_followed(track: Any) -> None:
    files = {
        "s/a.sh": "#!/bin/bash\nset -e\n. /opt/b.sh\n",
        "s/b.sh": "cd /x\ngit clone https://e.org/r\n/opt/a.sh\n",
        "s/unused.sh": "git clone https://e.org/no\n",
        "reqs.txt": f"x==1\n# git+https://e.org/no\ngit+https://e.org/a@{HASH}\n-e git+https://e.org/b@dev\n",
    }
    text = f"{FROM}COPY s /opt/\nCOPY reqs.txt .\nRUN bash -x /opt/a.sh\nRUN pip install -r reqs.txt\n"
    assert loose(track, text, files) == [("clone", "s/b.sh:2", None, None), ("pip", "reqs.txt:4", "dev", None)]


def test_an_address_keeps_its_user(track: Any) -> None:
    found = track({"Dockerfile": f"{FROM}RUN pip install git+ssh://git@e.org/x/ssh.git@dev"})
    (one,) = inputs_of(Recipe("i", "Dockerfile"), Added(), found.tree, found.read, HEAD).loose
    assert (one.url, one.pin) == ("ssh://git@e.org/x/ssh.git", "git+ssh://git@e.org/x/ssh.git@<full commit>")


@pytest.mark.parametrize(
    ("install", "places"),
    [
        ("-r /q/all.txt", ["q/all.txt:1", "q/base.txt:2"]),
        ("-r/q/base.txt", ["q/base.txt:2"]),
        ("--requirement=/q/base.txt", ["q/base.txt:2"]),
        ("-c /q/base.txt numpy", ["q/base.txt:2"]),
        ("/q/proj", ["q/proj/pyproject.toml:3"]),
        ("-e '/q/proj[test]'", ["q/proj/pyproject.toml:3"]),
        ("-r /q/local.txt", ["q/proj/pyproject.toml:3"]),
        ("-r /q/round.txt", []),
    ],
)
def test_what_an_install_leads_to_is_read(track: Any, install: str, places: list[str]) -> None:
    files = {
        "q/all.txt": "git+https://e.org/a@main\n-r base.txt\n-c base.txt\n",
        "q/base.txt": "x==1\ny @ git+https://e.org/b@main  # why\n# git+https://e.org/no\n",
        "q/local.txt": "-e ./proj\n",
        "q/round.txt": "-rround.txt\n",
        "q/proj/pyproject.toml": f'[project]\nname = "p"\ndependencies = ["foo @ git+https://e.org/f@main", "g @ git+https://e.org/g@{HASH}"]\n',
    }
    found = loose(track, f"{FROM}COPY q /q\nRUN pip install {install}\n", files)
    assert [(kind, place) for kind, place, _, _ in found] == [("pip", place) for place in places]


@pytest.mark.parametrize("files", [{"ctx/Dockerfile": f"{FROM}COPY . /w\n"}])
def test_what_lies_untracked_in_a_context_below_the_top_is_not_covered(track: Any, files: dict[str, str]) -> None:
    found = track({**files, "ctx/x": "x"})
    inputs = inputs_of(Recipe("i", "ctx/Dockerfile", "ctx"), Added(), found.tree, found.read, HEAD)
    assert [(one.kind, one.what) for one in inputs.loose] == [
        ("context", "the whole build context is copied: what lies there untracked is in it, and in no hash")
    ]


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        (f"{FROM}RUN <<E\nmake\n", "bad-dockerfile", "Dockerfile:2"),
        (f"{FROM}COPY missing /", "copy-missing", "Dockerfile:2"),
        (f"{FROM}COPY hidden.txt /", "copy-missing", "Dockerfile:2"),
        (f"{FROM}RUN --mount=type=bind,source=no.sh,target=/x sh /x", "copy-missing", "Dockerfile:2"),
        (f"{FROM}COPY out /", "link-out", "Dockerfile:2"),
        (f"{FROM}ARG X\nCOPY $X /", "no-value", "Dockerfile:3"),
        ("ARG X\nFROM $X\n", "no-value", "Dockerfile:2"),
        (f"{FROM}COPY --from=nope:$x a /", "bad-stage", "Dockerfile:2"),
        ("FROM a AS build\nFROM b\nCOPY --from=biuld /x /", "no-such-stage", "Dockerfile:3"),
        (f"{FROM}COPI a /", "bad-dockerfile", "Dockerfile:2"),
        (f"{FROM}COPY a\n", "bad-dockerfile", "Dockerfile:2"),
    ],
)
def test_what_cannot_be_read_is_an_error_and_never_a_hash(track: Any, text: str, code: str, where: str) -> None:
    all_files = {"Dockerfile": text, ".dockerignore": "hidden.txt", "hidden.txt": "x", "out": "../x"}
    files = track(all_files, {"out": "120000"})
    with pytest.raises(InputError) as caught:
        inputs_of(Recipe("i", "Dockerfile"), Added(), files.tree, files.read, HEAD)
    assert (caught.value.code, caught.value.where) == (code, where)


def test_all_mistakes_are_said_at_once(track: Any) -> None:
    files = track({"Dockerfile": f"{FROM}COPY a /\nCOPY b /\nRUNN\n"})
    with pytest.raises(MistakesError) as caught:
        inputs_of(Recipe("i", "Dockerfile"), Added(patterns=("no/*",)), files.tree, files.read, HEAD)
    places = sorted(one.where or "" for one in caught.value.mistakes)
    assert places == ["", "Dockerfile:2", "Dockerfile:3", "Dockerfile:4"]


def test_a_context_below_the_top(track: Any) -> None:
    files = track(
        {"docker/Dockerfile": f"{FROM}COPY x /\n", "docker/x": "x", "docker/.dockerignore": "y", "x": "other"}
    )
    found = inputs_of(Recipe("i", "docker/Dockerfile", "docker"), Added(), files.tree, files.read, HEAD)
    assert [one.name for one in found.inputs if one.kind == "file"] == ["docker/x"]
    other = track({"docker/Dockerfile": f"{FROM}COPY ../x2 /\n", "x2": "x"})
    with pytest.raises(InputError) as caught:
        inputs_of(Recipe("i", "docker/Dockerfile", "docker"), Added(), other.tree, other.read, HEAD)
    assert caught.value.hint == "nothing above the build context can be copied: build with one that holds it"


def test_what_is_made_before_the_build_is_not_covered_and_said(track: Any) -> None:
    files = track({"Dockerfile": f"{FROM}COPY dist/*.whl /\n"})
    found = inputs_of(Recipe("i", "Dockerfile"), Added(generated=("dist/*",)), files.tree, files.read, HEAD)
    assert [one.kind for one in found.loose] == ["context"]


def test_a_build_argument_that_nothing_declares_is_said_and_does_not_count(track: Any) -> None:
    plain = of(track, recipe=Recipe("rocm", "Dockerfile", arguments={"COMMIT": "def", "NOBODY": "x"}))
    assert plain.hash == of(track).hash
    assert plain.notes == ("Dockerfile declares no ARG NOBODY: its value is not used",)
