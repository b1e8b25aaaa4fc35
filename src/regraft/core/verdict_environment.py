"""Did only what was named change in the image's environment, and do its parts still fit each other?"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from regraft.core.baseline import Baseline, Distribution
from regraft.core.findings import Finding, Severity, Witness
from regraft.core.observation import Environment, Installed, quoted
from regraft.core.requirements import Violation, check, newly_violated

SHOWN = 20


def effective(environment: Environment) -> dict[str, Installed]:
    """What is seen of each name: the first record on sys.path. A link is no record."""
    found: dict[str, Installed] = {}
    for one in environment.distributions:
        if one.kind != "egg-link":
            found.setdefault(one.name, one)
    return found


def as_distributions(environment: Environment) -> tuple[Distribution, ...]:
    """The environment in the form of a baseline, sorted by name."""
    installed = effective(environment).values()
    return tuple(
        sorted((Distribution(one.name, one.version, one.requires) for one in installed), key=lambda one: one.name)
    )


def judge_start(environment: Environment, python: str) -> Iterator[Finding]:
    """What is odd about the interpreter itself. `python` is its path in the manifest."""
    for entry in environment.absent:
        message = f"python-path names {quoted(entry)}, which is not there"
        fix = "the checkout lies elsewhere in this image: correct python-path"
        yield Finding("python-path-missing", "warning", message, python, fix=fix)
    ambient = environment.ambient_python_path
    if ambient is not None and tuple(part for part in ambient.split(":") if part) != environment.python_path:
        message = f"PYTHONPATH is {quoted(ambient)} here, and the manifest's python-path is what was tried"
        yield Finding(
            "ambient-python-path", "note", message, python, fix="let python-path say what the suites will have"
        )
    if environment.complaints:
        last = environment.complaints.splitlines()[-1]
        message = f"the interpreter complains when it starts: {quoted(last, 300)}"
        witnesses = tuple(Witness(python, None, quoted(line, 300)) for line in environment.complaints.splitlines()[-5:])
        yield Finding("start-complaints", "warning", message, python, witnesses=witnesses)
    if environment.unread:
        message = f"places on the search path that could not be looked into: {len(environment.unread)}"
        yield Finding("not-looked-into", "warning", message, python, witnesses=_witnesses(python, environment.unread))
    if environment.left_overs:
        message = f"records of uninstalls that did not end: {len(environment.left_overs)}"
        witnesses = tuple(Witness(path, None, "left over") for path in environment.left_overs[:SHOWN])
        yield Finding("half-uninstalled", "warning", message, python, witnesses=witnesses, fix="remove them")


def judge_changes(
    environment: Environment, baseline: Baseline | None, allowed: frozenset[str], python: str
) -> Iterator[Finding]:
    """Each distribution that came, went or changed, and is not among `allowed`, is an error."""
    if baseline is None:
        yield Finding(
            "environment-unknown",
            "note",
            "no baseline: it is not known whether the rest of the environment is what the image held",
            python,
            fix="record it once with `regraft image probe --write`",
        )
        return
    if baseline.python is not None and baseline.python != environment.version:
        message = f"the interpreter is {environment.version}, and was {baseline.python}"
        yield Finding("python-changed", "error", message, python)
    yield from judge_distributions(baseline.environment, environment, allowed, python)


def judge_distributions(
    held: Iterable[Distribution], environment: Environment, allowed: frozenset[str], python: str
) -> Iterator[Finding]:
    """By name and version alone: each that came, went or changed since it was `held`, and is not among `allowed`."""
    before = {one.name: one.version for one in held}
    installed = effective(environment)
    for name in sorted(before.keys() | installed.keys()):
        now = installed.get(name)
        if name in allowed or (now.version if now else None) == before.get(name):
            continue
        witnesses = (Witness(now.metadata, None, f"version {quoted(now.version)}"),) if now else ()
        yield Finding(
            "environment-changed",
            "error",
            f"{quoted(name)} {_change(before.get(name), now.version if now else None)}, and is not among what this run names",
            python,
            witnesses=witnesses,
            fix="install with --no-deps, or name it under `distributions`",
        )


def _change(before: str | None, now: str | None) -> str:
    if before is None:
        return f"was added ({quoted(now or '')})"
    if now is None:
        return f"was removed (it was {quoted(before)})"
    return f"changed from {quoted(before)} to {quoted(now)}"


def judge_requirements(
    environment: Environment, baseline: Baseline | None, policy: Literal["report", "stop"], python: str
) -> Iterator[Finding]:
    """Requirements that are not met now and were before; without a baseline all of them, which is said."""
    severity: Severity = "error" if policy == "stop" else "warning"
    now = check(as_distributions(environment), environment.markers)
    known = check(baseline.environment, environment.markers).violations if baseline else ()
    for one in newly_violated(now.violations, known):
        unknown = "" if baseline else "; not known whether this is new"
        message = f"{one.distribution} needs {quoted(one.requirement)}, and {_found(one)}{unknown}"
        yield Finding("requirement-violated", severity, message, python, fix="raise or lower one of the two")
    if now.unjudged:
        message = f"requirements that could not be judged: {len(now.unjudged)}"
        yield Finding("requirement-unjudged", "note", message, python, witnesses=_witnesses(python, now.unjudged))


def _found(violation: Violation) -> str:
    if violation.found is None:
        return f"{violation.needs} is not installed"
    return f"{violation.needs} is {quoted(violation.found)}"


def judge_shadowed(environment: Environment, named: frozenset[str], python: str) -> Iterator[Finding]:
    """Other distributions with several records. Those that are `named` have findings of their own."""
    several = [
        (name, records)
        for name, records in records_by_name(environment).items()
        if name not in named and len({one.version for one in records}) > 1
    ]
    if several:
        message = f"distributions in several versions, of which the first on the search path is seen: {len(several)}"
        shown = several[:SHOWN]
        witnesses = tuple(
            Witness(one.metadata, None, f"{quoted(name)} {quoted(one.version)}")
            for name, records in shown
            for one in records
        )
        yield Finding("shadowed-distributions", "warning", message, python, witnesses=witnesses)


def records_by_name(environment: Environment) -> Mapping[str, Sequence[Installed]]:
    found: dict[str, list[Installed]] = {}
    for one in environment.distributions:
        if one.kind != "egg-link":
            found.setdefault(one.name, []).append(one)
    return found


def _witnesses(path: str, lines: Iterable[str]) -> tuple[Witness, ...]:
    return tuple(Witness(path, None, quoted(line, 300)) for line in list(lines)[:SHOWN])
