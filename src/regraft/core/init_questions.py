"""The questions that `regraft init` left in a manifest, as comments, until somebody answers them."""

from regraft.core.manifest_advice import Advice

QUESTION = "# question: "


def open_questions(data: bytes) -> tuple[str, ...]:
    """The key paths of the questions that a manifest still holds, in order."""
    found = []
    for line in data.decode("utf-8", "replace").split("\n"):
        text = line.strip()
        if text.startswith(QUESTION) and ":" in text[len(QUESTION) :]:
            found.append(text[len(QUESTION) :].partition(":")[0].strip())
    return tuple(found)


def answers(one: Advice, asked: tuple[str, ...]) -> bool:
    """Whether an open question asks for just what a piece of advice misses."""
    match one.rule, one.path:
        case "no-dependencies", _:
            return any(key.startswith("dependencies") for key in asked)
        case "image-without-suites", _:
            return "suites" in asked
        case "dependency-unused", (_, name):
            return any(key.startswith("images.") and f".baked.{name}." in f"{key}." for key in asked)
        case "image-without-dependencies", (_, name):
            return any(key.startswith(f"images.{name}.baked") for key in asked)
        case "nothing-located", (_, image, _, name):
            return f"images.{image}.baked.{name}.imports" in asked
        case _:
            return False
