"""Failures that a script loses by where a command stands: in a shell of its own, in the background, under a condition."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from regraft.core.findings import Severity
from regraft.core.patterns import regex
from regraft.core.shell_failure import outcome
from regraft.core.shell_inner import Inner, inner_script
from regraft.core.shell_kinds import is_build, kind, named_ref, script_path, stripped
from regraft.core.shell_options import Shell
from regraft.core.shell_places import Around, At, commands_at, in_background, is_asked, next_or
from regraft.core.shell_values import (
    Block,
    Chain,
    Command,
    Group,
    If,
    Negated,
    Nested,
    Node,
    Pipeline,
    Word,
    all_commands,
    inside,
)

GATE = regex(rb"\b(?:[bd]?a?sh|ssh)\b|&\s*(?:$|\n|[^&>])|\bif\b|\|\||!\s|\)\s*$")
WORDS_ONLY = frozenset({"echo", "printf", "true", ":"})

_MEANT = regex(
    rb"(?i)\b(?:don'?t|do not|does not|may|might|can|could|allowed to|okay? to|ignore)\b[^.]{0,40}\bfail"
    rb"|best[- ]effort|\bignor(?:e|es|ing)\b[^.]{0,20}(?:error|failure)"
)
_PUTS = frozenset({"install", "sync", "add", "develop", "ci", "i"})
_SOURCE = regex(r"-[er]\b|--(?:editable|requirements?)\b|\.|git\+|[^=<>]*/|[^ ]*\.whl|--upgrade|-U\b|\$")
_OWN = regex(r"-e|--editable|\.(?:/\S*|\[\S*\])?|git\+\S+")
_SYSTEM = frozenset({"apt", "apt-get", "yum", "dnf", "apk", "brew", "conda", "mamba"})

OFF = regex(rb"(?m)^\s*set \+(?:[a-z]*e|o errexit)|\btrap\b.*\bERR\b")
_TAKES = regex(rb"\$\?|PIPESTATUS|\b(?:trap|exit|return|if|while|until|wait)\b|\|\||&&|\bset -(?:[a-z]*e|o errexit)|#")


class Lost(Struct, frozen=True):
    """A command at a byte of the script, how grave its loss is, why it is lost, and what to do."""

    at: int
    stop: int
    severity: Severity
    why: str
    fix: str
    then: tuple[int, int, str] | None = None  # a statement of the script, and what to say of it


def weight(command: Command) -> Severity | None:
    """How grave it is that nobody sees it fail; None: not at all, or that is not known."""
    what = kind(command)
    if what == "tests":
        words = stripped(command)
        return "warning" if is_build(words) or script_path(words) is not None else "error"
    if what == "apply" or named_ref(command):
        return "error"
    if what == "install":
        words = stripped(command)
        return "warning" if words[0].text.rpartition("/")[2] not in _SYSTEM and _replaces(words) else None
    return "warning" if what == "ref" else None


def _replaces(words: Sequence[Word]) -> bool:
    """Whether an install puts something in the place of what may be there: a plain name that is missing is missed later."""
    at = next((index for index, one in enumerate(words) if one.text in _PUTS), None)
    if at is None:
        return False
    rest = [one.text for one in words[at + 1 :]]
    return not any(not one.startswith("-") for one in rest) or any(_SOURCE.match(one) for one in rest)


def in_other_shells(data: bytes, places: Sequence[At]) -> Iterator[Lost]:
    """Commands in the middle of what `bash -c '…'`, `docker exec c bash -c '…'` or `bash <<EOF` runs without `-e`."""
    for at in places:
        inner = None if is_waved_through(at) else inner_script(data, at.command)
        if inner is not None:
            yield from _of_inner(inner)


def _of_inner(inner: Inner) -> Iterator[Lost]:
    found: list[tuple[Severity, At]] = []
    for one in commands_at(inner.block):
        grave = weight(one.command)
        pipe = one.nearest(Pipeline)
        if grave is None or in_background(one) or is_asked(one) or _in_front(pipe):
            continue
        chain = one.nearest(Chain)
        if _in_front(chain) and chain is not None and _probes(chain.node):
            continue
        if outcome(inner.block, [one.command], inner.shell.copy())[0] == "goes-on":
            found.append((grave, one))
    if not found:
        return
    grave, one = next((each for each in found if each[0] == "error"), found[0])
    span = one.command.span
    why = f"the shell that `{inner.how}` starts runs without `-e`"
    if inner.shell.errexit:
        why = f"`-e` of `{inner.how}` does not look at it there"
    then = following(one, "then `{}` runs in that shell, and its status counts")
    moved = None if then is None else (inner.at(then[0]), inner.at(then[1]), then[2])
    fix = "begin what that shell runs with `set -e`, or join all of its commands with `&&`"
    yield Lost(inner.at(span.start), inner.at(span.stop), grave, why, fix, moved)


def in_conditions(places: Sequence[At]) -> Iterator[Lost]:
    """Commands in a function or a group that is a condition: `-e` is off in all of it."""
    calls: dict[str, list[At]] = {}
    for at in places:
        calls.setdefault(at.command.name, []).append(at)
    said: set[int] = set()
    for at in places:
        within = _guarded(at, calls)
        if within is None or id(within[0]) in said or weight(at.command) is None or not _is_lost(within[0], at.command):
            continue
        said.add(id(within[0]))
        node, call = within
        mine = [one for one in places if any(each.node is node for each in one.above)]
        grave = [one for one in mine if _guarded(one, calls) == within and weight(one.command) == "error"]
        one = next((each for each in grave if _is_lost(node, each.command)), at)
        name = f"`{node.name}`" if isinstance(node, Nested) else "this group"
        severity = weight(one.command) or "warning"
        why = f"{name} is asked for as a condition, and `-e` is off in all of it"
        then = (call.span.start, call.span.stop, f"here {name} is a condition") if isinstance(node, Nested) else None
        fix = "join its commands with `&&`, or end each with `|| return 1`"
        yield Lost(one.command.span.start, one.command.span.stop, severity, why, fix, then)


def _is_condition(at: At) -> bool:
    return is_asked(at) or _in_front(at.nearest(Chain))


def _is_lost(node: Nested | Group, command: Command) -> bool:
    """Whether the function or group does well when that command fails, with `-e` out of force."""
    body = node.body if isinstance(node, Group) else node.blocks[0]
    return outcome(body, [command], Shell())[0] == "goes-on"


def _guarded(at: At, calls: dict[str, list[At]]) -> tuple[Nested | Group, Command] | None:
    """The function or group around a command in which `-e` is off, and the command that is asked; None where that is not so."""
    for index in range(len(at.above) - 1, -1, -1):
        node = at.above[index].node
        below = At(at.command, at.above[index + 1 :])
        if is_asked(below) or _in_front(below.nearest(Chain)) or _in_front(below.nearest(Pipeline)):
            return None
        if isinstance(node, Nested) and node.kind == "function":
            called = calls.get(node.name, [])
            asked = [one for one in called if _is_condition(one) and not is_waved_through(one)]
            return (node, asked[0].command) if asked else None
        if isinstance(node, Group):
            around = At(at.command, at.above[:index])
            if _is_condition(around) and not is_waved_through(around):
                return node, at.command
    return None


def in_words(places: Sequence[At], goes_on: Callable[[Command], bool]) -> Iterator[Lost]:
    """`if ! git checkout "$REF"; then echo …; fi`: the failure is told, and nothing else comes of it."""
    for at in places:
        asked = [one for one in at.above if isinstance(one.node, If)]
        if not asked or kind(at.command) not in ("tests", "apply", "ref") or weight(at.command) is None:
            continue
        node = asked[-1].node
        assert isinstance(node, If)  # that is what was looked for
        condition, body = node.branches[0]
        if condition is None or len(condition.items) != 1:
            continue
        item = condition.items[0]
        told = body if isinstance(item, Negated) and item.item is at.command else None
        if item is at.command and len(node.branches) == 2 and node.branches[1][0] is None:
            told = node.branches[1][1]
        words = [] if told is None else list(all_commands(told))
        is_told = words and all(one.name in ("echo", "printf") for one in words)
        if not is_told or any(">&" not in each.operator for one in words for each in one.redirects):
            continue
        if goes_on(at.command):
            said = " ".join(word.text for one in words for word in one.words).lower()
            severity: Severity = "error" if "::error" in said else "warning"
            fix = "end the branch with `exit 1`"
            yield Lost(
                at.command.span.start, at.command.span.stop, severity, "its failure is told, and that is all", fix
            )


def waved_through(places: Sequence[At], goes_on: Callable[[Command], bool]) -> Iterator[Lost]:
    """`pip install -e . || true`, and tests of it further on: they may well run what was there before."""
    tested = max((one.command.span.start for one in places if kind(one.command) == "tests"), default=-1)
    for at in places:
        own = kind(at.command) == "install" and any(_OWN.fullmatch(word.text) for word in at.command.words[1:])
        if own and at.command.span.start < tested and is_waved_through(at) and goes_on(at.command):
            why = "what is tested then may be what was there before"
            yield Lost(at.command.span.start, at.command.span.stop, "warning", why, "take the `||` away")


def in_the_background(block: Block) -> Iterator[Lost]:
    """Tests that are started with `&`, and a `wait` that does well whatever becomes of them."""
    everywhere = list(all_commands(block))
    waits = [one for one in everywhere if one.name == "wait"]
    named = [one for one in waits if len(one.words) > 1]
    texts = [
        word.text for one in everywhere for word in (*one.words, *(w for _, w in one.assignments if w is not None))
    ]
    if not waits or named or any("$!" in text or "jobs" in text or "PIPESTATUS" in text for text in texts):
        return
    for at in commands_at(block):
        if not in_background(at) or kind(at.command) != "tests" or is_asked(at):
            continue
        last = waits[-1]
        files = [one.text.rpartition("/")[2] for one in at.command.targets]
        read = [word.text for one in everywhere if one is not at.command for word in (*one.words, *one.targets)]
        if last.span.start < at.command.span.start or _in_front(at.nearest(Chain)):
            continue
        if any(file and file in text for file in files for text in read):
            continue
        why = "it runs in the background, and `wait` without a number does well whatever becomes of it"
        fix = 'keep its number (`pid=$!`) and wait for that: `wait "$pid"`'
        severity = weight(at.command) or "warning"
        then = (last.span.start, last.span.stop, "here `wait` takes no number")
        yield Lost(at.command.span.start, at.command.span.stop, severity, why, fix, then)
        return


def switched_off(data: bytes, places: Sequence[At]) -> Iterator[Lost]:
    """Tests after `set +e`, where nothing takes up a status and the last command does well whatever came before."""
    off = OFF.search(data)
    if off is None or _TAKES.search(data) or not places or kind(places[-1].command) != "harmless":
        return
    for at in places:
        span = at.command.span
        if span.start > off.start() and weight(at.command) == "error":
            why = "`set +e` stands before it, and nothing asks for its status"
            fix = 'keep the status (`code=$?`), and end the script with `exit "$code"`'
            yield Lost(span.start, span.stop, "warning", why, fix, following(at, "then `{}` runs"))
            return


def is_waved_through(at: At) -> bool:
    """Whether somebody has written that it may fail: `|| true`, `|| echo …`."""
    for place in at.above:
        node = place.node
        if isinstance(node, Chain):
            falls = next_or(node, place.part)
            if falls is not None:
                rest = [one for item in node.items[falls + 1 :] for one in all_commands(item)]
                if all(one.name in WORDS_ONLY for one in rest):
                    return True
    return False


def says_so(data: bytes, at: int) -> bool:
    """Whether the comment right above a statement says that it may fail."""
    lines = data[:at].split(b"\n")[:-1]
    words: list[bytes] = []
    while lines and lines[-1].lstrip().startswith(b"#"):
        word = lines.pop().strip(b"# \t\r")
        if not word.startswith(b"regraft:"):  # one that ignores a finding is counted, and names the rule
            words.insert(0, word)
    return bool(words) and _MEANT.search(b" ".join(words)) is not None


def following(at: At, words: str) -> tuple[int, int, str] | None:
    """The statement that runs all the same: where it begins and ends, and what to say of it."""
    for one in reversed(at.above):
        if isinstance(one.node, Block) and one.part + 1 < len(one.node.items):
            then = one.node.items[one.part + 1]
            return then.span.start, min(then.span.stop, then.span.start + 60), words
    return None


def _in_front(place: Around | None) -> bool:
    return place is not None and place.part < len(inside(place.node)) - 1


def _probes(chain: Node) -> bool:
    first = next(all_commands(chain), None)
    return first is None or kind(first) == "probe"
