"""The build context of a Dockerfile that no workflow tells: by where the files are that its COPY lines name."""

import posixpath
from collections.abc import Collection, Iterator

from regraft.core.dockerfile_text import Dockerfile, Instruction
from regraft.core.drop_target import matches
from regraft.core.init_values import Context, Place, Told

_MOST = 200  # sources that are looked for
_OFF = ("$", "<<", "://", "git@")  # what is no path of the context, or none that is written there


def context_of(read: Dockerfile, path: str, tracked: Collection[str]) -> Context | None:
    """Among the project's top and the folders down to the Dockerfile's own. None where the top is as good as the others."""
    folder = posixpath.dirname(path)
    sources = [Told(text, Place(path, one.line)) for one in read.instructions for text in _sources(one)][:_MOST]
    if not folder or not sources:
        return None
    parts = folder.split("/")
    folders = ["", *("/".join(parts[: size + 1]) for size in range(len(parts)))]
    found = {one: {told for told in sources if _there(told.text, one, tracked)} for one in folders}
    most = max(found.values(), key=len)
    best = tuple(one for one in folders if found[one] == most)
    if not most or best == ("",) or any(not there <= most for there in found.values()):
        return None
    return Context(best, next(told for told in sources if told in most and (told not in found[""] or "" in best)))


def _sources(one: Instruction) -> Iterator[str]:
    """What an instruction takes from the context by name; the whole context is in every folder, and tells nothing."""
    if one.keyword == "RUN":
        texts = list(_mounted(one))
    elif one.keyword in {"COPY", "ADD"} and not any(flag.text.startswith("--from") for flag in one.flags):
        texts = [word.text for word in (one.strings or one.words)[:-1]]
    else:
        return
    for text in texts:
        clean = posixpath.normpath(f"/{text}").lstrip("/")
        if clean.strip("*") and not any(part in text for part in _OFF):
            yield clean


def _mounted(one: Instruction) -> Iterator[str]:
    for flag in one.flags:
        name, _, value = flag.text.partition("=")
        settings = dict(part.partition("=")[::2] for part in value.split(","))
        if name == "--mount" and settings.get("type", "bind") == "bind" and "from" not in settings:
            yield settings.get("source") or settings.get("src") or "."


def _there(source: str, folder: str, tracked: Collection[str]) -> bool:
    path = posixpath.join(folder, source)
    if not any(char in path for char in "*?["):
        return path in tracked or any(one.startswith(f"{path}/") for one in tracked)
    size = path.count("/") + 1
    return any(matches(path, "/".join(one.split("/")[:size])) for one in tracked)
