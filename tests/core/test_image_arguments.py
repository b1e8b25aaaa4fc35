"""Which pins a build is handed as an argument: what stands in their place would break the build."""

from typing import Any

import pytest

from regraft.core.image_inputs import Added, inputs_of
from regraft.core.image_values import Loose
from regraft.core.image_view import Recipe
from regraft.core.objects import Commit

FROM = "FROM scratch\nARG REF=main\n"
URL = "https://e.org/r"
CHECKOUT = f"RUN git clone {URL} /r && cd /r && git checkout $REF"


def loose_of(track: Any, text: str, files: dict[str, str] | None = None) -> list[Loose]:
    found = track({"Dockerfile": text, **(files or {})})
    inputs = inputs_of(Recipe("i", "Dockerfile"), Added(), found.tree, found.read, Commit("1" * 40))
    return [one for one in inputs.loose if one.kind in ("base", "clone", "pip")]


def handed(track: Any, text: str, files: dict[str, str] | None = None) -> list[str | None]:
    return [one.argument if one.unfit is None else None for one in loose_of(track, text, files)]


@pytest.mark.parametrize(
    "text",
    [
        "ARG REF=base:v5\nFROM ${REF}",
        'ARG REF=base:v5\nFROM "$REF" AS a\nFROM a\nRUN make',
        "ARG TAG=v5\nARG REF=base:$TAG\nFROM $REF",
        f"{FROM}{CHECKOUT}",
        f'{FROM}RUN git clone {URL} /r\nWORKDIR /r\nRUN git checkout "${{REF}}"',
        f"{FROM}ENV REF=$REF\n{CHECKOUT}",
        f'{FROM}LABEL ref="$REF"\n{CHECKOUT} && echo "at $REF" > /info',
        f'{FROM}RUN git clone {URL} /r && cd /r && if [ -n "$REF" ]; then git checkout $REF; fi',
        f"{FROM}RUN git clone {URL} /r && cd /r && git checkout -b mine $REF",
        f"{FROM}RUN git clone {URL} /r && cd /r && git fetch origin $REF && git checkout FETCH_HEAD",
        f"{FROM}RUN git clone {URL} /r && cd /r && git fetch --depth 1 origin $REF && git reset --hard $REF",
        f"{FROM}RUN pip install git+{URL}@$REF",
        f'{FROM}RUN pip install "r @ git+{URL}@${{REF}}#egg=r"',
        f"{FROM}RUN bash -c 'git clone {URL} /r && cd /r && git checkout $REF'",
        f"{FROM}{CHECKOUT}\n{CHECKOUT}",
    ],
)
def test_a_pin_is_handed_over_where_the_argument_is_the_whole_word_and_takes_a_commit_or_a_digest(
    track: Any, text: str
) -> None:
    assert set(handed(track, text)) == {"REF"}


@pytest.mark.parametrize(
    "text",
    [
        "ARG REF=v5\nFROM base:${REF}",
        "ARG REF=base\nFROM ${REF}:v5",
        "ARG REF=base\nFROM h/${REF}:v5 AS a\nFROM a\nARG REF\nRUN make $REF",
        "ARG REF=base\nFROM $REF AS a\nFROM $REF-dev\nCOPY --from=a /x /",
        "ARG REF=base:1\nFROM $REF AS a\nFROM a\nARG REF\nRUN case $REF in *cuda*) make;; esac",
        "ARG REF=base:1\nFROM $REF-dev AS unused\nFROM $REF",
        "ARG REF=base:1\nFROM --platform=$REF $REF",
        f"{FROM}RUN git clone -b ${{REF}} {URL}",
        f"{FROM}RUN git clone --branch=$REF {URL}",
        f"{FROM}RUN git clone {URL} /r && cd /r && git checkout origin/${{REF}}",
        f"{FROM}RUN git clone {URL} /r && cd /r && git checkout v$REF",
        f"{FROM}RUN git clone {URL} /r && cd /r && git switch $REF",
        f"{FROM}RUN git clone {URL} /r && cd /r && git pull origin $REF",
        f"{FROM}RUN git clone {URL} /r && cd /r && git fetch origin $REF:$REF && git checkout $REF",
        f"{FROM}RUN git clone -b $REF {URL} /r && cd /r && git checkout $REF",
        f"{FROM}RUN pip install git+{URL}@v$REF",
        f"{FROM}{CHECKOUT} && pip install r==$REF",
        f"{FROM}{CHECKOUT}\nENV VERSION=$REF",
        f"{FROM}ARG NAME=r-$REF\n{CHECKOUT}",
        f"{FROM}{CHECKOUT}\nCOPY --from=other /$REF /",
        f"{FROM}{CHECKOUT}\nRUN git clone https://e.org/other /o && git -C /o checkout $REF",
        f"{FROM}{CHECKOUT}\nRUN bash -c 'make VERSION=$REF'",
    ],
)
def test_a_pin_is_left_alone_where_a_use_of_the_argument_takes_neither_and_that_is_said(track: Any, text: str) -> None:
    loose = [one for one in loose_of(track, text) if one.ref != "other"]
    assert loose
    assert all(one.unfit is not None or one.argument is None for one in loose)
    assert any("REF" in (one.unfit or "") for one in loose)


def test_a_use_in_a_script_of_the_repository_counts(track: Any) -> None:
    text = f"{FROM}COPY s.sh /s.sh\n{CHECKOUT} && sh /s.sh\n"
    (one,) = loose_of(track, text, {"s.sh": "# builds $REF\ngit -C /r checkout $REF\n"})
    assert one.unfit is None
    (one,) = loose_of(track, text, {"s.sh": "make VERSION=$REF\n"})
    assert one.unfit == "REF is used at s.sh:1 where no commit and no digest can stand"
