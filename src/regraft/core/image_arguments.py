"""Which build arguments can be handed a commit or a digest in place of a name: those of which every use takes one.

`ARG REF=main` with `git checkout $REF` can; with `git clone -b $REF`, `FROM image:$REF` or `pip install x==$REF` it cannot.
"""

from collections import Counter
from collections.abc import Iterator

from regraft.core import dockerfile_args as args
from regraft.core.dockerfile_steps import Step, joined
from regraft.core.git_clones import commit_words
from regraft.core.image_scripts import Script
from regraft.core.image_values import Place
from regraft.core.image_view import View
from regraft.core.patterns import regex
from regraft.core.shell_walk import Seen

_VARIABLE = regex(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)")
_WHOLE = regex(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_PIP = regex(r"(?:[^\s@]+\s*@\s*)?git\+\S+@(\$\{?[A-Za-z_][A-Za-z0-9_]*\}?)(?:#\S*)?")
_COMMENT = regex(r"(?m)^\s*#.*$")
_ASSIGNS = frozenset({"ARG", "ENV"})
_NEITHER = frozenset({"LABEL", "CMD", "ENTRYPOINT", "HEALTHCHECK", "MAINTAINER"})  # say it only, or know no ARG


def whole(text: str) -> str | None:
    """The variable that it is, and nothing more."""
    match = _WHOLE.fullmatch(text)
    return (match[1] or match[2]) if match else None


def unfit(name: str) -> str:
    """Why the build cannot be handed what a build argument is a part of."""
    return f"{name} is a part of it, or stands where only a name can"


def misused(view: View) -> dict[str, Place]:
    """Each variable of which a use takes no commit and no digest, and the place of the first such use."""
    found: dict[str, Place] = {}
    for name, place in _misuses(view):
        found.setdefault(name, place)
    return found


def _misuses(view: View) -> Iterator[tuple[str, Place]]:
    for step in view.stages.arguments:
        yield from _assigned(step, view)
    good: dict[int, Counter[str]] = {}
    owners = []
    for script in view.followed.scripts:
        own = _own(script)
        key = id(own.step) if own.caller is None else id(own)
        if own is script and own.caller is not None:
            owners.append(own)
        good.setdefault(key, Counter()).update(name for seen in script.commands(inner=True) for name in _good(seen))
    for stage in view.stages.stages:  # BuildKit reads the FROM of a stage that nothing leads to, too
        place = Place(view.recipe.dockerfile, stage.line)
        alone = () if stage.base.argument is None else (stage.base.argument,)
        yield from ((name, place) for name in stage.base.used if name not in alone)
        yield from ((name, place) for flag in stage.flags for name in _VARIABLE.findall(flag))
    for _, step in view.steps:
        if step.keyword in _ASSIGNS:
            yield from _assigned(step, view)
        elif step.keyword not in _NEITHER:
            used = Counter(_VARIABLE.findall(step.logical()))
            yield from ((name, view.place(step)) for name in used - good.get(id(step), Counter()))
    for own in owners:
        used = Counter(_VARIABLE.findall(_COMMENT.sub("", own.text.decode("utf-8", "surrogateescape"))))
        yield from ((name, own.place(0)) for name in used - good[id(own)])


def _assigned(step: Step, view: View) -> Iterator[tuple[str, Place]]:
    """The variables that another is made with; `ENV REF=$REF` only hands one on."""
    for word in args.split_words(joined(step.instruction)):
        name, _, value = word.partition("=")
        if whole(value.strip('"')) != name:
            yield from ((one, view.place(step)) for one in _VARIABLE.findall(word))


def _own(script: Script) -> Script:
    """The script in whose text it stands: `bash -c '…'` has none of its own."""
    while script.caller is not None and script.path == script.caller[0].path:
        script = script.caller[0]
    return script


def _good(seen: Seen) -> Iterator[str]:
    """The variables in a command that may be a commit as well as a name, once for each time."""
    words = [word.text for word in seen.command.words]
    name = words[0].rpartition("/")[2] if words else ""
    if name in ("echo", "printf") or (name in ("test", "[", "[[") and {"-n", "-z"} & set(words)):
        yield from (one for word in words for one in _VARIABLE.findall(word))
        return
    pip = (match[1] for word in words if (match := _PIP.fullmatch(word)))
    yield from (one for text in (*commit_words(seen), *pip) if (one := whole(text)))
