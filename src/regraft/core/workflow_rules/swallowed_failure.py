"""A command whose failure leaves its step green: https://github.com/radixark/miles/pull/2674

What the shell does is found by running the script in thought with that command failing (`shell_failure.outcome`), under the
options that are in force. What somebody seems to have meant is left alone: probes, `|| true`, conditions, a status that is kept after `set +e`.
"""

from collections.abc import Iterable, Iterator

from regraft.core.findings import Confidence, Finding, Severity, Witness
from regraft.core.patterns import regex
from regraft.core.shell_failure import outcome
from regraft.core.shell_kinds import kind, named_ref, script_path, stripped
from regraft.core.shell_options import Shell
from regraft.core.shell_places import Around, At, asks_for, commands_at, in_background, is_asked, next_or
from regraft.core.shell_values import (
    Chain,
    Command,
    Group,
    Negated,
    Node,
    Pipeline,
    commands_of,
    inside,
)
from regraft.core.workflow_answers import lost_answer, passes_on
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_run_files import run_files
from regraft.core.workflow_scripts import Script, job_scripts, kept, scripts
from regraft.core.workflow_swallowed import (
    GATE,
    OFF,
    WORDS_ONLY,
    Lost,
    following,
    in_conditions,
    in_other_shells,
    in_the_background,
    in_words,
    says_so,
    switched_off,
    waved_through,
    weight,
)
from regraft.core.workflow_windows import Passed, passed_over

NAME = "swallowed-failure"
MOST = 200_000  # commands of one script that are run in thought

_MAY = regex(rb"&&|\||\$\(|`")
_LOOKS = frozenset({"grep", "egrep", "rg", "awk", "python", "python3", "jq", "test", "[", "[[", "perl", "node"})
_DECIDES = frozenset({"break", "continue", "exit", "return"})
_TAKES_UP = frozenset({"mv", "cp", "cat", "tar"})


def find(graph: Graph) -> Iterator[Finding]:
    for script in scripts(graph):
        yield from _Judge(graph, script, ()).findings()
    for file, runner, ran in run_files(graph):
        line = runner.place(ran.word.span.start)
        yield from _Judge(graph, file, (Witness(line.path, line.line, f"a step runs {file.path}"),)).findings()
    yield from map(_of_windows, passed_over(graph))


def _of_windows(one: Passed) -> Finding:
    message = f"`{one.text}` can fail and the script goes on: `{one.shell}` does not stop at a program that fails"
    witnesses = (Witness(one.then.path, one.then.line, f"then `{one.next}` runs, and its status counts"),)
    fix = "give each program a step of its own, or write `shell: bash`"
    if one.shell == "pwsh":
        fix = "write `$PSNativeCommandUseErrorActionPreference = $true` before it, or `shell: bash`"
    at = one.place
    return Finding(NAME, "error", message, at.path, at.line, at.column, "high", witnesses, fix)


class _Judge:
    def __init__(self, graph: Graph, script: Script, witnesses: tuple[Witness, ...]) -> None:
        self.graph = graph
        self.script = script
        self.witnesses = witnesses
        self.said: set[int] = set()
        self.left = 0

    def findings(self) -> Iterator[Finding]:
        data = self.script.data
        if self.script.shell.errexit and not any(one.search(data) for one in (_MAY, GATE, OFF)):
            return
        places = kept(self.graph, ("places", id(self.script.block)), self._places)
        if OFF.search(data):
            yield from self._say(switched_off(data, places))
            return
        self.left = MOST // max(1, len(places))
        for one in places:
            yield from self._patch(one)
            answer = lost_answer(self.script, one, self._goes_on)
            if answer is not None:
                yield from self._finding(answer.at, answer.severity, answer.why, answer.fix)
        in_all = not self.script.shell.errexit  # of such a script the worst is said, and no more
        for one in sorted(places, key=lambda at: in_all and weight(at.command) != "error"):
            yield from self._swallowed(one)
        if GATE.search(data):
            yield from self._lost(places)

    def _lost(self, places: list[At]) -> Iterator[Finding]:
        def goes_on(command: Command) -> bool:
            return self._goes_on(command, self.script.shell)

        yield from self._say(in_other_shells(self.script.data, places))
        yield from self._say(in_conditions(places) if self.script.shell.errexit else ())
        yield from self._say(in_the_background(self.script.block))
        yield from self._say(in_words(places, goes_on))
        yield from self._say(waved_through(places, goes_on))

    def _say(self, all_lost: Iterable[Lost]) -> Iterator[Finding]:
        for lost in all_lost:
            text = self.script.text(lost.at, lost.stop)
            message = f"`{text}` can fail and {self.script.label} goes on: {lost.why}"
            witnesses = () if lost.then is None else (self._witness(*lost.then),)
            yield from self._finding(lost.at, lost.severity, message, lost.fix, witnesses)

    def _witness(self, start: int, stop: int, words: str) -> Witness:
        place = self.script.place(start)
        return Witness(place.path, place.line, words.format(self.script.text(start, stop).strip()))

    def _places(self) -> list[At]:
        return [one for one in commands_at(self.script.block) if not in_background(one)]

    def _swallowed(self, at: At) -> Iterator[Finding]:
        pipe, chain = at.nearest(Pipeline), at.nearest(Chain)
        in_pipe = isinstance(pipe, Around) and pipe.part < len(inside(pipe.node)) - 1
        in_chain = chain is not None and chain.part < len(inside(chain.node)) - 1
        if not (in_pipe or in_chain or not self.script.shell.errexit) or is_asked(at):
            return
        if in_chain and not in_pipe and chain is not None and self._is_meant(chain.node):
            return
        found = kind(at.command)
        if found in ("probe", "harmless") or not self._goes_on(at.command, self.script.shell):
            return
        if in_pipe and pipe is not None and not self._goes_on(at.command, Shell(True, True)):
            yield from self._pipe(at, pipe)
        elif in_chain and chain is not None and self._goes_on(at.command, Shell(True, True)):
            yield from self._chain(at, chain)
        elif not self.script.shell.errexit and not in_chain:
            yield from self._shell(at)

    def _goes_on(self, command: Command, shell: Shell) -> bool:
        block = self.script.block
        self.left -= 1
        if self.left < 0:
            return False
        key = ("outcome", id(block), id(command), shell.errexit, shell.pipefail)
        found: str = kept(self.graph, key, lambda: outcome(block, [command], shell)[0])
        return found == "goes-on"

    def _is_meant(self, chain: Node) -> bool:
        """Whether a chain begins with a probe, is no plain one of `&&`, or was spoken of."""
        is_plain = isinstance(chain, Chain) and all(one.text == "&&" for one in chain.operators)
        if id(chain) in self.said or not isinstance(chain, Chain) or not is_plain:
            return True
        last = chain.items[-1]
        decides = isinstance(last, Command) and (not last.words or last.name in _DECIDES)
        return decides or _begins_with_probe(chain)

    def _pipe(self, at: At, pipe: Around) -> Iterator[Finding]:
        items = inside(pipe.node)
        after = list(items[pipe.part + 1 :])
        tests = kind(at.command) == "tests"
        is_program = script_path(stripped(at.command)) is not None
        if not (tests or is_program) or not all(map(passes_on, after)) or id(pipe.node) in self.said:
            return
        if self._looks_at(after, pipe.node.span.stop):
            return
        self.said.add(id(pipe.node))
        last = after[-1]
        name = last.name.rpartition("/")[2] if isinstance(last, Command) else "its last part"
        text = self._text(at.command)
        message = f"`{text}` can fail and nobody sees it: the status of the pipeline is that of `{name}`, as `pipefail` is not set"
        fix = (
            "write `shell: bash` at the step, or `set -o pipefail` before it"
            if self.script.step
            else "write `set -o pipefail` before it"
        )
        yield from self._finding(at.command.span.start, "error" if tests else "warning", message, fix)

    def _chain(self, at: At, chain: Around) -> Iterator[Finding]:
        node = chain.node
        assert isinstance(node, Chain)  # that is what was looked for
        if self._is_meant(node):
            return
        members = [one for item in node.items[:-1] for one in _firsts(item)]
        kinds = [kind(one) for one in members]
        if at.command not in members:
            return
        self.said.add(id(node))
        last = list(_firsts(node.items[-1]))
        later, told = [kind(one) for one in last], all(one.name in WORDS_ONLY for one in last)
        grave = [one for one, what in zip(members, kinds, strict=True) if what in ("tests", "ref", "apply")]
        if not grave and "tests" in later:
            grave = [one for one, what in zip(members, kinds, strict=True) if what == "install"]
        mild = [
            one
            for one, what in zip(members, kinds, strict=True)
            if what == "install"
            or (what == "network" and not (told and _only_looks(one)))
            or (what == "other" and one.name not in ("cd", "source", ".", "cp", "mv", "popd"))
        ]
        if not grave and not mild:
            return
        found = grave or mild
        one = next(
            (two for two in found if not all(word.plain for word in two.words)), found[0]
        )  # what is given may be wrong
        message = f"`{self._text(one)}` can fail and {self.script.label} goes on: `-e` does not look at what stands left of `&&`"
        fix = "write each command on a line of its own, or end the chain with `|| exit 1`"
        yield from self._finding(node.span.start, "error" if grave else "warning", message, fix, self._next(at, node))

    def _shell(self, at: At) -> Iterator[Finding]:
        severity, chain = weight(at.command), at.nearest(Chain)
        if chain is not None and id(chain.node) in self.said:
            return
        if id(self.script) in self.said or severity is None or self._is_needed(at.command):
            return
        self.said.add(id(self.script))
        message = f"`{self._text(at.command)}` can fail and {self.script.label} goes on: this shell runs without `-e`"
        fix = (
            "write `shell: bash -el {0}`, or `set -e` at the top"
            if self.script.step
            else "write `set -eo pipefail` at the top"
        )
        yield from self._finding(at.command.span.start, severity, message, fix, self._next(at, at.command))

    def _is_needed(self, command: Command) -> bool:
        """Whether the last command takes up a file that this one names, and fails where it is not there."""
        last = list(commands_of(self.script.block))[-1]
        files = {word.text for word in command.words[1:] if "." in word.text and not word.text.startswith("-")}
        return last.name in _TAKES_UP and any(word.text in files for word in last.words[1:])

    def _patch(self, at: At) -> Iterator[Finding]:
        """`git apply x || echo …`: an apply, or the checkout of a named ref, with words for its failure."""
        chain = at.nearest(Chain)
        if chain is None or not isinstance(chain.node, Chain) or chain.part >= len(chain.node.items) - 1:
            return
        node = chain.node
        falls = next_or(node, chain.part)
        if falls is None or _begins_with_probe(node) or at.above[-1].node is not node:
            return
        what = kind(at.command)
        named = named_ref(at.command)
        if what != "apply" and not named:
            return
        rest = [one for item in node.items[falls + 1 :] for one in commands_of(item)]
        if (
            not rest
            or any(one.name not in WORDS_ONLY for one in rest)
            or not self._goes_on(at.command, self.script.shell)
        ):
            return
        if any(asks_for(one) for one in at.above if one.node is not node):
            return
        self.said.add(id(node))
        forward = bool({"-N", "--forward"} & {one.text for one in at.command.words})
        severity: Severity = "warning" if forward or named == "literal" else "error"
        message = f"`{self._text(at.command)}` can fail and {self.script.label} goes on with what was there before"
        yield from self._finding(
            at.command.span.start, severity, message, "take the `||` away, or end it with `exit 1`"
        )

    def _looks_at(self, after: list[Node], stop: int) -> bool:
        """Whether something reads the log that `tee` writes."""
        files = [
            word.text.rpartition("/")[2]
            for one in after
            if isinstance(one, Command) and one.name == "tee"
            for word in one.words[1:]
            if not word.text.startswith("-")
        ]
        if not files:
            return False
        mine = [one for one in commands_of(self.script.block) if one.span.start >= stop]
        if self.script.step is not None:
            later = [
                one
                for one in job_scripts(self.graph, self.script.path, self.script.job)
                if one.step and one.step.index > self.script.step.index
            ]
            mine += [one for script in later for one in commands_of(script.block)]
        return any(
            one.name.rpartition("/")[2] in _LOOKS and any(file in word.text for word in one.words for file in files)
            for one in mine
        )

    def _text(self, command: Command) -> str:
        return self.script.text(command.span.start, command.span.stop)

    def _next(self, at: At, node: Node) -> tuple[Witness, ...]:
        """The statement that is run all the same."""
        then = following(at, "then `{}` runs, and its status counts")
        return (self._witness(*then),) if then is not None and then[0] >= node.span.stop else ()

    def _finding(
        self,
        at: int,
        severity: Severity,
        message: str,
        fix: str,
        witnesses: tuple[Witness, ...] = (),
    ) -> Iterator[Finding]:
        if says_so(self.script.data, at):
            return
        place = self.script.place(at)
        confidence: Confidence = "high" if severity == "error" else "medium"
        yield Finding(
            NAME,
            severity,
            message,
            place.path,
            place.line,
            place.column,
            confidence,
            (*self.witnesses, *witnesses),
            fix,
        )


def _begins_with_probe(chain: Chain) -> bool:
    first = next(iter(_firsts(chain.items[0])), None)
    return (
        isinstance(chain.items[0], Negated | Group)
        or first is None
        or kind(first) == "probe"
        or first.name in ("echo", "printf", "set")
    )


def _firsts(node: Node) -> Iterator[Command]:
    """The commands of a part of a chain that are no chain of their own."""
    if isinstance(node, Command):
        yield node
    elif isinstance(node, Pipeline):
        yield from (one for one in node.items if isinstance(one, Command))
    elif isinstance(node, Negated):
        yield from _firsts(node.item)


def _only_looks(command: Command) -> bool:
    """Whether a `curl` keeps nothing of what it gets: is there an answer?"""
    saves = ("-o", "-O", "-T", "--output", "--remote-name", "-X", "--request", "-d", "--data")
    return command.name == "curl" and not any(one.text.startswith(saves) for one in command.words[1:])


RULE = Rule(NAME, "a command of a script whose failure does not fail the step", find)
