"""Is a checkout what the plan says, and what must not differ from the baked copy?"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from regraft.core.baseline import BaselineDependency
from regraft.core.checkout_tree import is_importable
from regraft.core.findings import Finding, Severity, Witness
from regraft.core.globs import matching
from regraft.core.manifest import Baked
from regraft.core.observation import Checkout, DifferenceKind, Extra, is_below, quoted
from regraft.core.plan import PlannedDependency

SHOWN = 20

_RULES: dict[DifferenceKind, tuple[str, Severity, str, str | None]] = {
    "modified": ("tree-modified", "error", "tracked files with other content than planned: {n}", None),
    "missing": ("tree-missing", "error", "tracked files that are not there: {n}", "check them out again"),
    "type": ("tree-type", "error", "tracked paths that are something else than planned: {n}", None),
    "mode": (
        "tree-mode",
        "error",
        "tracked files with another mode: {n}",
        "copy the checkout in a way that keeps modes",
    ),
    "unreadable": (
        "tree-unreadable",
        "error",
        "tracked files that cannot be read: {n}",
        "run verify as a user who may",
    ),
    "submodule": (
        "submodule-differs",
        "error",
        "submodules at another commit: {n}",
        "update the submodules",
    ),
    "submodule-empty": (
        "submodule-empty",
        "error",
        "submodules that are not checked out: {n}",
        "update the submodules",
    ),
    "filter": ("differs-through-filter", "note", "files that differ only through a filter of git's: {n}", None),
}


class CheckoutCase(Struct, frozen=True):
    """One dependency. `changed` are the paths that differ between the baseline's commit and the plan's; None: unknown."""

    baked: Baked
    planned: PlannedDependency
    checkout: Checkout
    baseline: BaselineDependency | None
    changed: tuple[str, ...] | None
    searched: tuple[str, ...]  # real paths of the folders on sys.path

    @property
    def kept(self) -> bool:
        return self.planned.action == "keep"

    def finding(
        self,
        rule: str,
        severity: Severity,
        message: str,
        *,
        witnesses: Sequence[Witness] = (),
        fix: str | None = None,
    ) -> Finding:
        text = f"{self.baked.dependency}: {message}"
        return Finding(rule, severity, text, self.baked.path, witnesses=tuple(witnesses), fix=fix)


def judge_checkout(case: CheckoutCase) -> Iterator[Finding]:
    yield from _repository(case)
    if case.checkout.state in {"absent", "no-folder"}:
        return
    yield from _patches(case)
    if case.planned.commit is None and case.planned.tree is None:
        yield from _unknown(case)
    else:
        yield from _head(case)
        yield from _tree(case)
        yield from _differences(case)
    yield from _extras(case)
    if not case.kept:
        yield from _not_brought_in(case)


def _repository(case: CheckoutCase) -> Iterator[Finding]:
    found = case.checkout
    place = quoted(found.real)
    if found.state in {"absent", "no-folder"}:
        what = "there is nothing at" if found.state == "absent" else "there is no folder at"
        fix = "the checkout lies elsewhere in this image: correct `path`, or check it out there"
        yield case.finding("checkout-missing", "error", f"{what} {place}", fix=fix)
    elif found.state != "repository":
        proved = found.tree is not None and found.tree == case.planned.tree
        trouble = found.trouble or "not a repository"
        yield case.finding(
            "no-repository",
            "note" if proved else "warning",
            f"{place} is not a usable repository: {trouble}; it is judged by content",
        )
    if found.shallow:
        yield case.finding("shallow", "note", "the checkout is shallow: what needs its history is not known")
    if found.unfinished:
        left = ", ".join(found.unfinished)
        yield case.finding(
            "unfinished-operation",
            "warning",
            f"git was stopped in the middle of something here: {left}",
            fix="end it (`git rebase --abort`, `git merge --abort`), or remove a lock that no process holds",
        )
    if found.credentials:
        keys = ", ".join(quoted(key) for key in found.credentials)
        yield case.finding(
            "baked-credentials",
            "warning",
            f"the checkout's own git configuration carries a secret ({keys}); regraft does not use it",
            fix="take it out of the image, and revoke it: whoever can pull the image has it",
        )


def _patches(case: CheckoutCase) -> Iterator[Finding]:
    planned = {patch.path: patch for patch in case.planned.patches}
    unmade = case.checkout.expected != case.planned.tree
    for patch in case.checkout.patches:
        wanted = planned.get(patch.path)
        if wanted is None:
            continue
        if patch.sha256 is None:
            message = f"the project has no patch {quoted(patch.path)}, which the plan carries"
            yield case.finding("patch-missing", "error", message, fix="check out the commit that was planned")
        elif patch.sha256 != wanted.sha256:
            message = f"the patch {quoted(patch.path)} is not the one that was planned (sha256 {patch.sha256})"
            yield case.finding("patch-changed", "error", message, fix="make a new plan, or check out what was planned")
        elif patch.outcome == "does-not-apply" and wanted.state == "applies" and unmade:
            message = (
                f"the patch {quoted(patch.path)} does not apply to {case.planned.commit}, and the plan says it does"
            )
            yield case.finding("patch-does-not-apply", "error", message, fix="make a new plan")


def _unknown(case: CheckoutCase) -> Iterator[Finding]:
    found = case.checkout
    at = f"it is at {found.head}" if found.head else "its commit cannot be read"
    yield case.finding(
        "nothing-to-compare",
        "note",
        f"kept, and no baseline says what the image held: {at}",
        fix="record it once with `regraft image probe --write`",
    )
    edited = [one for one in found.differences if one.kind not in {"filter", "submodule-empty"}]
    if edited:
        message = f"tracked files that HEAD and the carried patches do not make: {len(edited)}"
        yield case.finding(
            "local-edits", "note", message, witnesses=_witnesses((one.path, one.detail) for one in edited)
        )


def _head(case: CheckoutCase) -> Iterator[Finding]:
    found, planned = case.checkout, case.planned
    rule = "kept-changed" if case.kept else "head-differs"
    if planned.commit is None:
        return
    if found.head is None:
        if found.state == "repository":
            yield case.finding(rule, "error", f"HEAD names no commit, and the plan's is {planned.commit}")
    elif found.head != planned.commit:
        if found.descends and found.head_tree == planned.tree:
            message = f"HEAD is {found.head}: the planned tree, committed on top of {planned.commit}"
            yield case.finding("patches-committed", "note", message)
            return
        before = case.baseline.commit if case.baseline else None
        stayed = " (the baked copy: nothing was checked out)" if found.head == before and not case.kept else ""
        yield case.finding(
            rule,
            "error",
            f"HEAD is {found.head}{stayed}, and the plan's commit is {planned.commit}",
            fix="leave the kept dependency alone" if case.kept else "check out the planned commit before installing",
        )


def _tree(case: CheckoutCase) -> Iterator[Finding]:
    found, planned = case.checkout, case.planned
    if planned.tree is None:
        yield case.finding("nothing-to-compare", "note", "the plan has no tree for it")
        return
    why = f" ({found.reason})" if found.reason else ""
    if found.tree is None:
        yield case.finding("not-proved", "error", f"what it holds could not be compared with the plan{why}")
    elif found.tree == planned.tree:
        if found.judged != "entries":
            message = f"proved by the content of all its files: they make the planned tree{why}"
            yield case.finding("proved-by-content", "note", message)
    elif found.judged == "content":
        message = f"could not be proved: the files make the tree {found.tree}, and the plan's is {planned.tree}{why}"
        yield case.finding(
            "not-proved", "error", message, fix="bring the planned commit's objects, or check it out again"
        )
    else:
        rule = "kept-changed" if case.kept else "tree-differs"
        message = f"the tracked files make the tree {found.tree}, and the plan's is {planned.tree}{why}"
        yield case.finding(rule, "error", message, fix=_edits(case))


def _edits(case: CheckoutCase) -> str | None:
    if case.baked.local_edits == "carry":
        return "an edit that is to be carried must be a carried patch: the plan cannot know it otherwise"
    return None if case.kept else "check out the planned commit, and apply its carried patches in their order"


def _differences(case: CheckoutCase) -> Iterator[Finding]:
    kinds: dict[DifferenceKind, list[tuple[str, str]]] = defaultdict(list)
    proved = case.checkout.tree is not None and case.checkout.tree == case.planned.tree
    for one in case.checkout.differences:
        # Where the tree was not made anew, what the planned one has elsewhere may differ; a submodule's is its commit's.
        if _RULES[one.kind][1] != "error" or not proved or case.checkout.judged == "entries" or one.inside:
            kinds[one.kind].append((one.path, one.detail))
    empty = kinds.pop("submodule-empty", [])
    for kind, (rule, severity, message, fix) in _RULES.items():
        found = kinds.get(kind)
        if found:
            text = message.format(n=len(found))
            yield case.finding(rule, severity, text, witnesses=_witnesses(found), fix=fix)
    yield from _empty(case, empty)
    if case.checkout.pointers:
        message = f"files of Git LFS that are pointers here, not their content: {len(case.checkout.pointers)}"
        witnesses = _witnesses((path, "a pointer") for path in case.checkout.pointers)
        yield case.finding("lfs-pointer", "note", message, witnesses=witnesses, fix="git lfs pull, if they are needed")


def _empty(case: CheckoutCase, empty: Sequence[tuple[str, str]]) -> Iterator[Finding]:
    """Submodules without files. What the image had none of either is not this run's doing."""
    recorded = case.baseline.empty_submodules if case.baseline else None
    baked = [one for one in empty if one[0] in (recorded or ()) or (case.kept and recorded is None)]
    rule, error, message, fix = _RULES["submodule-empty"]
    severities: tuple[tuple[Severity, list[tuple[str, str]]], ...] = (
        (error, [one for one in empty if one not in baked]),
        ("warning", baked),
    )
    for severity, found in severities:
        if found:
            yield case.finding(rule, severity, message.format(n=len(found)), witnesses=_witnesses(found), fix=fix)


def _extras(case: CheckoutCase) -> Iterator[Finding]:
    known = _known_untracked(case)
    sources = frozenset(case.checkout.source_folders)
    roots = frozenset(
        _below(entry, case.checkout.real) for entry in case.searched if is_below(entry, case.checkout.real)
    )
    left = [one for one in case.checkout.extras if one.kind == "left-over"]
    fresh = [one for one in case.checkout.extras if one.kind == "untracked" and one not in known]
    modules = [one for one in fresh if is_importable(one.path, sources, roots)]
    others = [one for one in fresh if not is_importable(one.path, sources, roots)]
    generated = [one for one in case.checkout.extras if one.kind == "ignored"]
    if left:
        message = f"files that the planned tree has not, left over from the machine's HEAD: {len(left)}"
        yield case.finding("left-over", "error", message, witnesses=_files(left), fix="remove them")
    if modules:
        # What a kept checkout held from the start is not known without a baseline; in an override it stands in the way.
        severity: Severity = "note" if case.kept and case.baseline is None else "error"
        since = (
            "that are not as in the baseline"
            if case.baseline
            else "and no baseline says whether they were there before"
        )
        message = f"untracked files that an import can find, {since}: {len(modules)}"
        yield case.finding(
            "untracked-module", severity, message, witnesses=_files(modules), fix="remove them, or track them"
        )
    if others:
        message = f"untracked files: {len(others)}"
        yield case.finding("untracked-files", "note", message, witnesses=_files(others))
    if generated:
        compiled = [one for one in generated if one.path.endswith((".so", ".pyd"))]
        message = f"generated files, which git ignores: {len(generated)}, compiled modules among them: {len(compiled)}"
        yield case.finding("generated-files", "note", message, witnesses=_files(compiled))


def _known_untracked(case: CheckoutCase) -> frozenset[Extra]:
    """The untracked files that are as the baseline has them; an older one has no content to compare with."""
    held = case.baseline
    if held is None:
        return frozenset()
    content = held.untracked_content
    return frozenset(
        one
        for one in case.checkout.extras
        if one.path in held.untracked and (content is None or content.get(one.path) == one.sha256)
    )


def _not_brought_in(case: CheckoutCase) -> Iterator[Finding]:
    baked = case.baked
    both = (
        ("not-installed", baked.not_installed, "paths that this install does not bring in"),
        (
            "rebuild-when",
            baked.rebuild_when,
            "compiled inputs that this install does not rebuild",
        ),
    )
    for rule, patterns, text in both:
        if not patterns:
            continue
        if case.changed is None:
            message = f"not known whether {', '.join(patterns)} changed since the image was built"
            yield case.finding(rule, "error", message, fix=_to_know(case))
            continue
        paths = matching(patterns, case.changed)
        if paths:
            before = case.baseline.commit if case.baseline else None
            message = f"{text}, changed between the baked {before} and {case.planned.commit}: {len(paths)}"
            yield case.finding(
                rule,
                "error",
                message,
                witnesses=_witnesses((path, "changed") for path in paths),
                fix="rebuild the image for this commit, or choose a commit without these changes",
            )


def _to_know(case: CheckoutCase) -> str:
    """How the difference between what was baked and what was planned becomes known."""
    if case.baseline is None:
        return "commit a baseline (`regraft image probe --write`, in the untouched image)"
    if case.baseline.commit is None:
        return "keep the checkout's repository in the image: the baseline has no commit to compare with"
    return f"fetch {case.baseline.commit} and {case.planned.commit} into the checkout's own repository"


def _witnesses(found: Iterable[tuple[str, str]]) -> tuple[Witness, ...]:
    listed = list(found)
    shown = [Witness(path, None, detail) for path, detail in listed[:SHOWN]]
    rest = len(listed) - len(shown)
    return (*shown, Witness("", None, f"and {rest} more")) if rest else tuple(shown)


def _files(extras: Iterable[Extra]) -> tuple[Witness, ...]:
    return _witnesses((one.path, "not in the planned tree") for one in extras)


def _below(path: str, folder: str) -> str:
    return path[len(folder) :].strip("/")
