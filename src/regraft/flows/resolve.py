"""Every moving name to one full commit, once. Nothing falls back to another name, to a branch or to the baked copy."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from regraft.core.manifest import Dependency
from regraft.core.objects import Commit, Tree
from regraft.core.plan import Note
from regraft.core.refs import HashRef, NameRef, PullRef, Ref
from regraft.core.repository_url import public
from regraft.core.resolution import (
    Fetched,
    Pick,
    Place,
    Remote,
    Tip,
    pick_commit,
    pick_hash,
    pick_name,
    tip_of,
    unreachable,
)
from regraft.core.which_repository import url_of
from regraft.errors import InputError, OutsideError, raise_all
from regraft.flows.ports import Upstream


class Wanted(Struct, frozen=True):
    """`target` is a directive's ref, a lock's commit, or None for the head of the dependency's branch.

    `where` is for messages: "body:3:1", "input ci_sglang_pr", "lock release-lock.json". `also` is the baseline's commit:
    fetched in the same fetch where the server has it, so that trees can be compared.
    """

    dependency: Dependency
    target: Ref | Commit | None
    where: str
    also: Commit | None = None


class Pin(Struct, frozen=True):
    """`url` is the repository's that the commit was taken from, without credentials; `name` the full ref name, or None.

    `has_also` says that the baseline's commit is in the store too, `filtered` that files are missing there.
    """

    url: str
    name: str | None
    commit: Commit
    tree: Tree
    has_also: bool
    filtered: bool
    notes: tuple[Note, ...]


class _Question(Struct, frozen=True):
    wanted: Wanted
    remote: Remote
    target: NameRef | HashRef | PullRef | Commit

    @property
    def place(self) -> Place:
        return Place(self.wanted.where, public(self.remote.url))


def resolve(wanted: Sequence[Wanted], upstream: Upstream) -> list[Pin]:
    """One pin for each that is wanted, in their order; each repository is asked once.

    Raises all mistakes at once (InputError: not-allowed, no-such-ref, ambiguous-ref, stale-hash, write-full-hash, unreachable,
    not-a-commit, no-branch, sha256-repository), and else the first OutsideError.
    """
    answers: dict[int, Pin | InputError] = {}
    outside: list[OutsideError] = []
    asked: dict[Remote, dict[int, _Question]] = {}
    for number, one in enumerate(wanted):
        try:
            question = _question(one)
        except InputError as mistake:
            answers[number] = mistake
        else:
            asked.setdefault(question.remote, {})[number] = question
    for remote, questions in asked.items():
        try:
            answers.update(_Answers(remote, upstream).of(questions))
        except InputError as mistake:
            answers.update(dict.fromkeys(questions, mistake))
        except OutsideError as error:
            outside.append(error)
    ordered = [answers[number] for number in sorted(answers)]
    raise_all(_once(answer for answer in ordered if isinstance(answer, InputError)))
    if outside:
        raise outside[0]
    return [answer for answer in ordered if isinstance(answer, Pin)]


def _once(mistakes: Iterator[InputError]) -> list[InputError]:
    return list({(mistake.code, mistake.where, mistake.message): mistake for mistake in mistakes}.values())


def _question(wanted: Wanted) -> _Question:
    dependency, target = wanted.dependency, wanted.target
    own = Remote(dependency.url, dependency.token_env)
    if target is None:
        if dependency.branch is None:
            message = f"{dependency.name} follows no branch, so there is no head to take"
            raise InputError("no-branch", message, where=wanted.where, hint="name one under `branch` in the manifest")
        return _Question(wanted, own, NameRef(dependency.branch, "branch"))
    if not isinstance(target, Ref):
        return _Question(wanted, own, target)
    remote = Remote(url_of(target, dependency, wanted.where), dependency.token_env)
    return _Question(wanted, remote, target.target)


class _Answers:
    """The answers of one repository: at most one list of its tips, one history and one fetch where nothing is amiss."""

    def __init__(self, remote: Remote, upstream: Upstream) -> None:
        self._remote = remote
        self._upstream = upstream
        self._tips: tuple[Tip, ...] = ()

    def of(self, questions: Mapping[int, _Question]) -> dict[int, Pin | InputError]:
        if any(not isinstance(one.target, PullRef) for one in questions.values()):
            self._tips = self._upstream.ls_remote(self._remote)
        answers: dict[int, Pin | InputError] = {}
        picks: dict[int, Pick] = {}
        for number, question in questions.items():
            try:
                picks[number] = self._pick(question)
            except InputError as mistake:
                answers[number] = mistake
        notes = self._drop_unreachable(questions, picks, answers)
        if picks:
            wants = [pick.source for pick in picks.values()]
            wants += [also for number in picks if (also := questions[number].wanted.also)]
            fetched = self._upstream.fetch(self._remote, wants)
            for number, pick in picks.items():
                answers[number] = self._answer(questions[number], pick, fetched, notes)
        return answers

    def _pick(self, question: _Question) -> Pick:
        match question.target:
            case PullRef(number=number):
                name = f"refs/pull/{number}/head"
                return Pick(name, name)
            case NameRef() as ref:
                return pick_name(ref, self._tips, question.place)
            case HashRef() as ref:
                return pick_hash(ref, self._tips, question.place)
            case commit:
                return pick_commit(commit, self._tips, question.place)

    def _drop_unreachable(
        self, questions: Mapping[int, _Question], picks: dict[int, Pick], answers: dict[int, Pin | InputError]
    ) -> tuple[Note, ...]:
        """A server may hand out what none of its refs leads to (a fork's commits, say): the history is the proof."""
        unlisted = {number: Commit(pick.source) for number, pick in picks.items() if not pick.listed}
        if not unlisted:
            return ()
        reach = self._upstream.reachable(self._remote, list(dict.fromkeys(unlisted.values())))
        for number, commit in unlisted.items():
            if commit not in reach.found:
                question = questions[number]
                tip = tip_of(question.wanted.dependency.branch, self._tips)
                answers[number] = unreachable(commit, tip, question.place)
                del picks[number]
        return reach.notes

    def _answer(self, question: _Question, pick: Pick, fetched: Fetched, notes: tuple[Note, ...]) -> Pin | InputError:
        place, target, also = question.place, question.target, question.wanted.also
        if pick.source in fetched.missing:
            if isinstance(target, PullRef):
                message = f"refs for #{target.number} could not be fetched: {place.url} has no {pick.source}"
                return place.error("no-such-ref", message, "look whether the number and the repository are right")
            raise self._gone(question, pick)
        if pick.source in fetched.others:
            message = (
                f"{pick.name or pick.source!r:.200} of {place.url} is a {fetched.others[pick.source]}, and no commit"
            )
            return place.error("not-a-commit", message, "name a branch, a tag of a commit, or a commit")
        commit, tree = fetched.commits[pick.source]
        if isinstance(target, PullRef) and not commit.startswith(target.head or ""):
            message = f"the head of #{target.number} in {place.url} is {commit}, and not {target.head}"
            return place.error("stale-hash", message, f"look at what was pushed, then write #{target.number}@{commit}")
        return Pin(
            url=place.url,
            name=pick.name,
            commit=commit,
            tree=tree,
            has_also=also in fetched.commits,
            filtered=fetched.filtered,
            notes=tuple(dict.fromkeys((*pick.notes, *notes, *fetched.notes))),
        )

    def _gone(self, question: _Question, pick: Pick) -> OutsideError:
        """What was listed is not handed out: the name moved in between, or the server keeps it back."""
        place = question.place
        if pick.name is not None:
            tips = self._upstream.ls_remote(self._remote)
            now = next((tip.commit for tip in tips if tip.name == pick.name), None)
            if now != pick.source:
                state = f"is now {now}" if now else "does not exist any more"
                message = (
                    f"{pick.source} was resolved for {pick.name!r:.200} and is gone from {place.url}; the name {state}"
                )
                return OutsideError("ref-moved", message, where=place.where, hint="run again")
        tip = tip_of(question.wanted.dependency.branch, self._tips)
        message = f"{place.url} does not hand out {pick.source}" + (f"; {tip}" if tip else "")
        hint = "name a branch, a tag or a pull request instead of the hash"
        return OutsideError("not-served", message, where=place.where, hint=hint)
