"""A proposed manifest for people and machines: what it holds, and what it asks."""

import json
from collections.abc import Iterator

from regraft.core.init_questions import QUESTION
from regraft.core.manifest import Manifest
from regraft.render import safe


def proposed_lines(text: bytes, manifest: Manifest, place: str) -> Iterator[str]:
    """One line for what was written, and one for each question that is open in it."""
    asked = list(questions(text))
    held = ", ".join(f"{word} {count}" for word, count in counted(manifest).items())
    yield f"wrote {safe.text(place)}: {held}; open questions {len(asked)}"
    yield from (safe.log_line(f"{place}:{line}: {question}") for line, question in asked)


def proposed_json(text: bytes, manifest: Manifest, written: str | None) -> str:
    """{written, manifest, holds, questions: [{line, text}]}; `written` is null where nothing was."""
    asked = [{"line": line, "text": question} for line, question in questions(text)]
    whole = {"written": written, "manifest": text.decode(), "holds": counted(manifest), "questions": asked}
    return json.dumps(whole, indent=2)


def counted(manifest: Manifest) -> dict[str, int]:
    patches = {path for image in manifest.images.values() for one in image.carried.values() for path in one.patches}
    return {
        "dependencies": len(manifest.dependencies) + len(manifest.packages),
        "images": len(manifest.images),
        "patches": len(patches),
        "suites": len(manifest.suites),
    }


def questions(text: bytes) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.decode().split("\n"), 1):
        if line.startswith(QUESTION):
            yield number, line.removeprefix(QUESTION)
