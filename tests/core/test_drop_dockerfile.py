"""What goes of a Dockerfile with a patch: the COPY in each of its forms, and what RUN does with it, by where it stands."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regraft.core.drop_dockerfile import cut_dockerfile
from regraft.core.drop_target import Target
from regraft.core.spans import Edit, edited

PATCH = "docker/amd/m.patch"
TRACKED = frozenset({PATCH, "docker/amd/o.patch", "docker/cuda/m.patch", "docker/Dockerfile", "app/a.py"})


TARGET = Target(PATCH, TRACKED)


def cut(data: bytes | str, target: Target = TARGET, path: str = "docker/Dockerfile") -> str:
    raw = data.encode() if isinstance(data, str) else data
    return edited(raw, [Edit(span) for span in cut_dockerfile(raw, path, target).spans]).decode()


BRING = f"FROM x\nCOPY {PATCH} /tmp/m.patch\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"COPY {PATCH} /tmp/\n", ""),
        (f"ADD ./{PATCH} /tmp/\n", ""),
        (f"COPY --chown=1:1 /{PATCH} /tmp/\n", ""),
        ("COPY amd/m.patch /tmp/\n", ""),  # a build context in the Dockerfile's own folder
        (f'COPY "{PATCH}" /tmp/\n', ""),
        (f"COPY {PATCH} docker/amd/o.patch /p/\n", "COPY docker/amd/o.patch /p/\n"),
        (f"COPY docker/amd/o.patch {PATCH} /p/\n", "COPY docker/amd/o.patch /p/\n"),
        (f"COPY docker/amd/o.patch \\\n     {PATCH} \\\n     /p/\n", "COPY docker/amd/o.patch \\\n     /p/\n"),
        (f"COPY {PATCH} \\\n     docker/amd/o.patch /p/\n", "COPY docker/amd/o.patch /p/\n"),
        (f'COPY ["{PATCH}", "/p/"]\n', ""),
        (f'COPY ["{PATCH}", "a b", "/p/"]\n', 'COPY ["a b", "/p/"]\n'),
        (f'COPY ["a b", "{PATCH}", "/p/"]\n', 'COPY ["a b", "/p/"]\n'),
        ("COPY docker/amd /p/\n", "COPY docker/amd /p/\n"),
        ("COPY . /src\n", "COPY . /src\n"),
        ("COPY docker/amd/*.patch /p/\n", "COPY docker/amd/*.patch /p/\n"),
        ("COPY docker/cuda/m.patch /tmp/\n", "COPY docker/cuda/m.patch /tmp/\n"),
        ("COPY docker/$X/m.patch /tmp/\n", "COPY docker/$X/m.patch /tmp/\n"),
        ("ADD https://example.org/docker/amd/m.patch /tmp/\n", "ADD https://example.org/docker/amd/m.patch /tmp/\n"),
    ],
)
def test_copies(before: str, after: str) -> None:
    assert cut(f"FROM x\n{before}USER a\n") == f"FROM x\n{after}USER a\n"


def test_a_folder_that_gets_empty_is_copied_no_more() -> None:
    alone = Target("p/m.patch", frozenset({"p/m.patch", "Dockerfile"}))
    assert cut("FROM x\nCOPY p/ /p/\nCOPY p/*.patch /q/\nCOPY . /\n", alone, "Dockerfile") == "FROM x\nCOPY . /\n"


@pytest.mark.parametrize(
    ("bring", "use"),
    [
        (f"COPY {PATCH} /tmp/", "git apply /tmp/m.patch"),
        (f"COPY {PATCH} /tmp", "git apply /tmp/m.patch"),
        (f"COPY {PATCH} /tmp/other.diff", "git apply /tmp/other.diff"),
        (f"WORKDIR /w\nCOPY {PATCH} .", "git apply m.patch"),
        (f"WORKDIR /w\nWORKDIR v\nCOPY {PATCH} ./", "cd / && git apply /w/v/m.patch"),
        (f"COPY {PATCH} ./", "cd r && git apply ../m.patch"),
        (f"COPY {PATCH} $HOME/p/", 'git apply "${HOME}/p/m.patch"'),
        (f"ENV PATCH=/tmp/m.patch\nCOPY {PATCH} /tmp/", "git apply $PATCH"),
        ("COPY docker/amd /p", "git apply /p/m.patch"),
        ("COPY . /src", f"cd /r && git apply /src/{PATCH}"),
        ("COPY docker/amd/*.patch /p/", "git apply /p/m.patch"),
        ("RUN git clone u /src", f"git apply /src/{PATCH}"),
        (f"COPY {PATCH} /a/\nFROM y\nCOPY --from=0 /a/ /b/", "git apply /b/m.patch"),
        (f"COPY {PATCH} /a/m.patch\nFROM x AS z\nCOPY --from=base /a/m.patch /b/", "git apply /b/m.patch"),
        (f"COPY {PATCH} /a/m.patch\nFROM base", "git apply /a/m.patch"),
    ],
)
def test_the_patch_is_known_by_where_it_stands(bring: str, use: str) -> None:
    """Also where it has another name there, and from stage to stage."""
    data = f"FROM x AS base\n{bring}\nRUN {use} && make\n"
    assert cut(data).endswith(("\nRUN make\n", "\nRUN cd / && make\n", "\nRUN cd r && make\n", "\nRUN cd /r && make\n"))


@pytest.mark.parametrize("use", ["git apply /other/m.patch", "git apply m.patch", "git apply /p/m.patch"])
def test_another_file_of_that_name_stays(use: str) -> None:
    data = f"{BRING}WORKDIR /w\nCOPY docker/cuda/m.patch /p/\nRUN {use} && make\n"
    assert cut(data) == data.replace(f"COPY {PATCH} /tmp/m.patch\n", "")


def test_a_stage_does_not_see_what_another_has() -> None:
    data = f"{BRING}FROM y\nRUN git apply /tmp/m.patch && make\n"
    assert "RUN git apply" in cut(data)


@pytest.mark.parametrize(
    ("run", "left"),
    [
        ("RUN git apply /tmp/m.patch\n", ""),
        ("RUN cd /r && git apply /tmp/m.patch || echo no\n", ""),
        ('RUN ["git", "apply", "/tmp/m.patch"]\n', ""),
        ('RUN ["git", "apply", "/tmp/m.patch", "/p/o.patch"]\n', 'RUN ["git", "apply", "/p/o.patch"]\n'),
        ("RUN <<EOF\nset -e\ngit apply /tmp/m.patch\nEOF\n", ""),
        ("RUN bash -e <<'EOF'\ngit apply /tmp/m.patch\nmake\nEOF\n", "RUN bash -e <<'EOF'\nmake\nEOF\n"),
        (
            "RUN <<EOF\n#!/usr/bin/env python3\n'/tmp/m.patch'\nEOF\n",
            "RUN <<EOF\n#!/usr/bin/env python3\n'/tmp/m.patch'\nEOF\n",
        ),
        ("RUN cat <<EOF >x\ngit apply /tmp/m.patch\nEOF\n", "RUN cat <<EOF >x\ngit apply /tmp/m.patch\nEOF\n"),
        ("ONBUILD RUN git apply /tmp/m.patch\n", "ONBUILD RUN git apply /tmp/m.patch\n"),
        (f"RUN --mount=type=bind,source={PATCH},target=/m.diff git apply /m.diff && make\n", "RUN make\n"),
        (
            f"RUN --network=none --mount=type=bind,source={PATCH},target=/m.diff git apply /m.diff && make\n",
            "RUN --network=none make\n",
        ),
        (
            "RUN --mount=type=bind,source=docker,target=/d git apply /d/amd/m.patch && make\n",
            "RUN --mount=type=bind,source=docker,target=/d make\n",
        ),
    ],
)
def test_runs(run: str, left: str) -> None:
    assert cut(f"{BRING}{run}USER a\n") == f"FROM x\n{left}USER a\n"


def test_comments_and_the_escape_directive_stay() -> None:
    data = f"# escape=`\n{BRING}RUN a && `\n    # why\n    git apply /tmp/m.patch && `\n    # then\n    b\n"
    assert cut(data) == "# escape=`\nFROM x\nRUN a && `\n    # why\n    # then\n    b\n"


def test_line_ends_stay_as_they_are() -> None:
    data = f"{BRING}RUN a && \\\n  git apply /tmp/m.patch && \\\n  b && \\\n  rm /tmp/m.patch\nUSER c\n"
    windows = data.replace("\n", "\r\n").encode()
    assert cut(windows) == "FROM x\r\nRUN a && \\\r\n  b\r\nUSER c\r\n"


@pytest.mark.parametrize(
    "name",
    [
        "a b.patch",
        'q"uote.patch',
        "apo's.patch",
        "semi;colon.patch",
        "new\nline.patch",
        "*.patch",
        "\udcff.patch",
        "ü.patch",
    ],
)
def test_hostile_names(name: str) -> None:
    """Each is found in the JSON form and in quotes, and breaks nothing where it is not."""
    import json

    target = Target(f"p/{name}", frozenset({f"p/{name}", "p/o.patch", "Dockerfile"}))
    data = f"FROM x\nCOPY {json.dumps([f'p/{name}', 'p/o.patch', '/q/'])}\nRUN make\n".encode(
        "utf-8", "surrogateescape"
    )
    assert cut(data, target, "Dockerfile") == 'FROM x\nCOPY ["p/o.patch", "/q/"]\nRUN make\n'
    if not set("'*\n\udcff") & set(name):
        quoted = f"FROM x\nCOPY [{json.dumps(f'p/{name}')}, \"/q/\"]\nRUN git apply '/q/{name}' && make\n"
        assert cut(quoted, target, "Dockerfile") == "FROM x\nRUN make\n"


def test_patterns_are_told_and_stay() -> None:
    data = b"FROM x\nCOPY docker/amd /p\nRUN for p in /p/*.patch; do git apply $p; done && git apply /p/m*.patch\n"
    found = cut_dockerfile(data, "docker/Dockerfile", Target(PATCH, TRACKED))
    assert found.spans == ()
    assert [data[slice(*one)] for one in found.globs] == [b"/p/*.patch", b"/p/m*.patch"]


def test_a_chain_that_cannot_be_read_stays() -> None:
    data = f"{BRING}RUN git apply /tmp/m.patch && if\n"
    assert cut(data) == "FROM x\nRUN git apply /tmp/m.patch && if\n"


@pytest.mark.slow
def test_a_dockerfile_of_a_megabyte_is_edited_in_time() -> None:
    data = BRING.encode() + b"RUN make a && make b && make c\n" * 30_000 + b"RUN git apply /tmp/m.patch && make\n" * 50
    start = time.process_time()
    after = cut(data)
    assert time.process_time() - start < 30
    assert "m.patch" not in after
    assert after.splitlines().count("RUN make") == 50


others = st.sampled_from(
    [
        "RUN make && \\\n  # about\n\n  make install",
        "# a comment",
        "",
        "COPY docker/amd/o.patch /tmp/o.patch",
        "RUN git apply /tmp/o.patch",
        "RUN <<EOF\n  git apply\nEOF",
        "ENV A=m",
        "  run   odd   \t blanks ",
        "RUN cd /x && cd ..",
        "COPY docker/cuda/m.patch /c/m.patch",
    ]
)
ours = st.sampled_from(
    [
        f"COPY {PATCH} /tmp/m.patch",
        "RUN git apply /tmp/m.patch",
        "RUN cd /r && \\\n  git apply /tmp/m.patch",
        "RUN rm /tmp/m.patch",
    ]
)


@given(st.lists(st.one_of(others, others, ours), max_size=12), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=100, deadline=None)
def test_every_byte_of_the_neighbours_stays(parts: list[str], end: str) -> None:
    """Entries without an empty line between them, in any order: those of the patch go, the others are what they were."""
    whole = ["FROM x", f"COPY {PATCH} /tmp/m.patch", *parts]
    kept = [one for one in whole if "/tmp/m.patch" not in one]
    before, after = ("".join(f"{one}\n" for one in some).replace("\n", end) for some in (whole, kept))
    assert cut(before.encode()) == after


APPLY = "git apply /tmp/m.patch"
RECORDED = [
    f"RUN {APPLY} && git commit -am patched && make\n",
    f"RUN {APPLY} && git add -A && sudo git -c user.name=x commit -qm patched && make\n",
    f"RUN {APPLY} && ! git diff --quiet && make\n",
    "RUN patch -p1 < /tmp/m.patch\nRUN git commit -am patched\n",
    f"RUN cd /a && git apply /o.patch && sed -i s/a/b/ /etc/hosts\nRUN cd /b && {APPLY} && git commit -am patched\n",
    f"RUN git apply /x.patch && git commit -am x && {APPLY} && git commit -am y\n",
    f"RUN <<EOF\nset -e\n{APPLY}\ngit commit -am patched\nmake\nEOF\n",
]


@pytest.mark.parametrize("run", RECORDED)
def test_a_commit_that_would_have_nothing_to_record_keeps_what_it_records(run: str) -> None:
    assert cut(BRING + run) == "FROM x\n" + run


@pytest.mark.parametrize(
    ("run", "left"),
    [
        (
            f"RUN {APPLY} && git apply /o.patch && git commit -am both\n",
            "RUN git apply /o.patch && git commit -am both\n",
        ),
        (f"RUN {APPLY} && git commit --allow-empty -am x\n", "RUN git commit --allow-empty -am x\n"),
        (f"RUN git apply /o.patch && git commit -am x && {APPLY}\n", "RUN git apply /o.patch && git commit -am x\n"),
        ("RUN git am /tmp/m.patch && make commit\n", "RUN make commit\n"),
    ],
)
def test_a_commit_that_still_has_something_to_record_is_no_matter(run: str, left: str) -> None:
    assert cut(BRING + run) == "FROM x\n" + left
