"""Would an import in a checkout take what the planned sources say, or something that only lies beside them?"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from regraft.core.findings import Finding, Severity, Witness
from regraft.core.manifest import Baked
from regraft.core.observation import ByteCode, Checkout, Environment
from regraft.core.source_tree import SourceTree

SHOWN = 20


class ModulesCase(Struct, frozen=True):
    """One dependency. `byte_code` is None where it was not asked for."""

    baked: Baked
    checkout: Checkout
    environment: Environment
    byte_code: ByteCode | None
    kept: bool

    def finding(
        self,
        rule: str,
        severity: Severity,
        message: str,
        witnesses: tuple[Witness, ...] = (),
        *,
        fix: str | None = None,
    ) -> Finding:
        text = f"{self.baked.dependency}: {message}"
        return Finding(rule, severity, text, self.baked.path, witnesses=witnesses, fix=fix)


def judge_modules(case: ModulesCase) -> Iterator[Finding]:
    tree = SourceTree(case.checkout, case.environment, case.baked.rebuild_when)
    loose = [
        one.path
        for one in case.checkout.extras
        if one.kind != "left-over" and not tree.is_environments(f"{tree.folder}/{one.path}")
    ]
    yield from _shadowed(case, tree, loose)
    yield from _sourceless(case, tree)
    if case.byte_code is not None:
        yield from _byte_code(case, case.byte_code)


def _shadowed(case: ModulesCase, tree: SourceTree, paths: Iterable[str]) -> Iterator[Finding]:
    """What is compiled on purpose is named in `rebuild-when`, which says when the compiled file is too old."""
    found = []
    for path in paths:
        source = tree.shadowed(path)
        if source is not None and not tree.is_compiled(source):
            found.append((path, f"taken in place of {source}"))
    if found:
        # No baseline says what git ignores: in a kept checkout it may have been there from the start.
        severity: Severity = "warning" if case.kept else "error"
        yield case.finding(
            "shadowed-source",
            severity,
            f"files that are not of the planned tree, which an import takes in place of a tracked source: {len(found)}",
            _witnesses(found),
            fix="remove them, or name those sources in `rebuild-when` where the install compiles them",
        )


def _sourceless(case: ModulesCase, tree: SourceTree) -> Iterator[Finding]:
    """Byte code outside of a cache, which git ignores: a module whose source has gone."""
    ignored = [one.path for one in case.checkout.extras if one.kind == "ignored"]
    places = [path for path in ignored if not tree.is_environments(f"{tree.folder}/{path}")]
    found = [(path, "byte code without a source") for path in places if tree.is_sourceless(path)]
    if found:
        severity: Severity = "note" if case.kept else "error"
        message = f"byte code that an import can find, without a source: {len(found)}"
        yield case.finding("untracked-module", severity, message, _witnesses(found), fix="remove it")


def _byte_code(case: ModulesCase, code: ByteCode) -> Iterator[Finding]:
    if code.trouble is not None:
        message = f"the byte code could not be compared with its sources: {code.trouble}"
        fix = "remove the __pycache__ folders of the checkout"
        yield case.finding("bytecode-not-compared", "error", message, fix=fix)
    if code.stale:
        yield case.finding(
            "stale-bytecode",
            "error",
            f"byte code that an import takes, and that is not its source's: {len(code.stale)}",
            _witnesses((one.path, one.why) for one in code.stale),
            fix="delete it: an import then compiles the source",
        )
    if code.left:
        message = f"the byte code of {code.compared} sources was compared, and that of {code.left} was not: too many"
        fix = "remove the __pycache__ folders of the checkout"
        yield case.finding("bytecode-not-compared", "warning", message, fix=fix)


def _witnesses(found: Iterable[tuple[str, str]]) -> tuple[Witness, ...]:
    listed = list(found)
    shown = [Witness(path, None, message) for path, message in listed[:SHOWN]]
    rest = len(listed) - len(shown)
    return (*shown, Witness("", None, f"and {rest} more")) if rest else tuple(shown)
