"""Make the image match the plan, or change nothing."""

from msgspec import Struct
from msgspec.structs import replace

from regraft.core.apply_guard import beyond
from regraft.core.apply_outcome import interrupted, state_of, with_state
from regraft.core.baseline import Baseline
from regraft.core.findings import Finding
from regraft.core.journal import SCHEMA, Journal, Phase, Running, Subject
from regraft.core.manifest import Image, Manifest
from regraft.core.observation import Environment, Observation, Unreadable
from regraft.core.plan import Plan
from regraft.core.restored import Restored
from regraft.errors import InputError, Outcome, OutsideError, RefusedError, RegraftError
from regraft.flows import newer
from regraft.flows.apply_look import Looked, look
from regraft.flows.apply_steps import Ports, Progress, carry_out
from regraft.flows.restore import GIVING_BACK, give_back, newer_than
from regraft.flows.verify import Verified, image_of, verify


class Options(Struct, frozen=True):
    """`wait` is in seconds; `root` is the absolute path of `--root`, or "" where the machine itself is the image."""

    snapshot: bool = True
    wait: float = 0.0
    replace: bool = False
    root: str = ""


class Applied(Struct, frozen=True):
    """`before` is what was there before anything was changed; `findings` are those of verify, and of the guard.

    `stands` says whether what was verified is there still: not so where it was given back.
    """

    outcome: Outcome
    message: str
    verified: Verified
    findings: tuple[Finding, ...]
    before: Observation | None
    stands: bool = True

    @property
    def stopped(self) -> bool:
        return self.outcome not in {"applied", "unchanged"}


def apply(plan: Plan, manifest: Manifest, baseline: Baseline | None, options: Options, ports: Ports) -> Applied:
    """The machine is at the plan afterwards, or at its baseline; where neither could be had, the answer says so.

    Raises InputError where the plan is not for this project, manifest or image; RefusedError, OutsideError and
    StoppedError for what stopped it, with the machine's state in message and `outcome`; KeyboardInterrupt where nothing
    was changed yet.
    """
    image = image_of(plan, manifest, ports.files)
    with ports.state.lock(options.wait) as lock:
        earlier = _earlier(ports.state.read(), plan, options)
        if earlier is None:
            ports.state.clear()
        elif earlier.plan == plan.digest:
            verified = _verify(plan, manifest, baseline, ports)
            if not verified.stopped:
                message = f"already applied: the machine holds the plan {plan.digest[:12]}, and nothing was written"
                return Applied("unchanged", message, verified, verified.findings, None)
            ports.say("this plan was applied before, and the machine is not what it says any more")
        return _Apply(plan, manifest, image, baseline, options, ports, lock.fd).run(earlier)


def _earlier(journal: Journal | None, plan: Plan, options: Options) -> Journal | None:
    """The apply that this one goes over, or None. Raises RefusedError: unfinished, another-plan; InputError other-root."""
    if journal is None or not journal.changed:
        return None
    if journal.root != options.root:
        message = f"the state here is of the image below {journal.root or '/'!r:.200}"
        raise InputError("other-root", message, where="--root", hint="name that root, or unset REGRAFT_STATE")
    if journal.phase != "applied":
        back = "`regraft restore` gives the baseline back" if journal.snapshot else "throw this container away"
        message = f"an apply of plan {journal.plan[:12]} ended in the middle ({journal.phase}); nothing was done now"
        raise RefusedError("unfinished", message, hint=back)
    if journal.plan != plan.digest and not options.replace:
        message = f"the plan {journal.plan[:12]} is applied here, and this is {plan.digest[:12]}; nothing was done"
        raise RefusedError("another-plan", message, hint="`regraft restore` first, or `--replace`")
    return journal


def _verify(plan: Plan, manifest: Manifest, baseline: Baseline | None, ports: Ports) -> Verified:
    return verify(plan, manifest, baseline, files=ports.files, interpreter=ports.interpreter, checkouts=ports.checkouts)


class _Apply:
    def __init__(  # noqa: PLR0913, PLR0917 - once, in this module
        self,
        plan: Plan,
        manifest: Manifest,
        image: Image,
        baseline: Baseline | None,
        options: Options,
        ports: Ports,
        lock: int,
    ) -> None:
        self._plan = plan
        self._manifest = manifest
        self._image = image
        self._baseline = baseline
        self._options = options
        self._ports = ports
        self._lock = lock
        self._journal: Journal | None = None
        self._newer: tuple[Finding, ...] = ()

    def run(self, earlier: Journal | None) -> Applied:
        try:
            try:
                return self._attempt(earlier)
            except BaseException:
                self._hold()  # a signal that comes before this is the last one, and is caught below
                raise
        except KeyboardInterrupt as error:
            raise interrupted(*state_of(self._roll_back(earlier))) from error
        except RegraftError as error:
            raise with_state(error, *state_of(self._roll_back(earlier))) from error
        except OSError as error:
            outside = OutsideError("system", error.strerror or str(error), where=str(error.filename or "") or None)
            raise with_state(outside, *state_of(self._roll_back(earlier))) from error
        except BaseException:
            self._ports.say(f"stopped: {state_of(self._roll_back(earlier))[1]}")
            raise

    def _hold(self) -> None:
        has_copy = self._journal is not None and self._journal.snapshot
        self._ports.hold(GIVING_BACK if has_copy else "stopping; wait, or kill -9 and `regraft restore`")

    def _attempt(self, earlier: Journal | None) -> Applied:
        self._go_back(earlier)
        looked = look(self._plan, self._manifest, self._image, self._baseline, self._ports, self._options.root)
        if not (looked.targets or self._manifest.install):
            return self._nothing_to_do(looked)
        self._record(looked, earlier)
        done = carry_out(looked, self._plan, self._manifest, self._image, self._progress(looked))
        self._enter("verifying")
        verified = _verify(self._plan, self._manifest, self._baseline, self._ports)
        findings = (*verified.findings, *self._newer, *done.findings(verified))
        if any(one.severity == "error" for one in findings):
            return self._no(verified, findings, looked)
        if self._journal is not None and self._journal.snapshot:
            self._ports.snapshots.note()
        self._ports.hold("the plan is applied; wait for the receipt")
        self._enter("applied")
        message = f"applied: the machine holds the plan {self._plan.digest[:12]}"
        return Applied("applied", message, verified, findings, looked.observation)

    def _go_back(self, earlier: Journal | None) -> None:
        """A further plan begins where the first one did: at the baseline. What is newer is looked at, and kept, before."""
        if earlier is None:
            return
        if not earlier.snapshot:
            if self._options.snapshot:
                message = "an apply with --no-snapshot was here before: no baseline is left to take a snapshot of"
                hint = "say --no-snapshot here too, or start from a fresh image"
                raise RefusedError("no-baseline", message, hint=hint)
            return
        if not self._options.snapshot:
            self._ports.say("the snapshot of the first apply is kept, and is the one that a restore gives back")
        ports, found = self._ports, newer_than(earlier, self._ports.snapshots)
        decided = newer.decide(found, self._plan, self._image, ports.files, ports.checkouts)
        self._newer = tuple(decided)
        self._newer += tuple(newer.said_of(ports.snapshots.keep(found, earlier.run), self._image))
        for one in self._newer:
            ports.say(one.message)
        self._journal = replace(earlier, replaces=True)
        self._enter("restoring")
        named = self._ports.snapshots.give_back()
        if named:
            raise RefusedError("not-given-back", f"the earlier plan could not be taken back: {'; '.join(named[:5])}")

    def _record(self, looked: Looked, earlier: Journal | None) -> None:
        snapshot = earlier.snapshot if earlier is not None else self._options.snapshot
        subjects = looked.subjects
        if snapshot:
            subjects += (*looked.kept, *_rest_of(looked.environment, self._ports))
        if earlier is not None:
            _check_replaced(earlier, looked)
            subjects = tuple(dict.fromkeys((*earlier.subjects, *subjects)))
        self._journal = Journal(
            schema=SCHEMA,
            run=self._ports.word(),
            phase="recording",
            plan=self._plan.digest,
            image=self._image.name,
            root=self._options.root,
            snapshot=snapshot,
            started=earlier.started if earlier is not None else self._ports.now(),
            replaces=earlier is not None,
            subjects=subjects,
        )
        self._enter("recording")
        if snapshot:
            self._ports.state.reserve()
            self._ports.say(f"recording {len(subjects)} places of the baseline")
            self._ports.snapshots.take(subjects)
        looked.guard.before(looked.environment, looked.named)
        self._enter("recorded")

    def _progress(self, looked: Looked) -> Progress:
        journal = self._journal
        assert journal is not None
        return Progress(self._ports, self._enter, self._running, journal.run, self._lock, looked.externally_managed)

    def _enter(self, phase: Phase) -> None:
        assert self._journal is not None
        self._journal = replace(self._journal, phase=phase, process=None)
        self._ports.state.write(self._journal)

    def _running(self, process: Running) -> None:
        assert self._journal is not None
        self._journal = replace(self._journal, phase="installing", process=process)
        self._ports.state.write(self._journal)

    def _roll_back(self, earlier: Journal | None) -> Restored:
        journal = self._journal
        if journal is None:
            return Restored("nothing", earlier)
        if not journal.snapshot and journal.phase in {"recording", "recorded"} and not journal.replaces:
            self._ports.state.clear()
            return Restored("unchanged", journal)
        try:
            return give_back(self._ports.state, self._ports.snapshots, journal)
        except RegraftError as error:
            return Restored("incomplete", journal, (f"{error.message} (`regraft restore` tries again)",))

    def _no(self, verified: Verified, findings: tuple[Finding, ...], looked: Looked) -> Applied:
        self._hold()
        errors = [one for one in findings if one.severity == "error"]
        restored = self._really(self._roll_back(None), looked, verified.observation.environment)
        outcome, state = state_of(restored)
        counted = f"{len(errors)} findings say no, first" if len(errors) > 1 else "one finding says no:"
        message = f"not applied: {counted} {errors[0].message}. {state[0].upper()}{state[1:]}"
        stands = restored.outcome == "no-snapshot"
        return Applied(outcome, message, verified, findings, looked.observation, stands)

    def _really(self, restored: Restored, looked: Looked, now: Environment | Unreadable) -> Restored:
        """What changed where no copy was made is not given back by giving the copies back."""
        if restored.outcome != "given-back" or isinstance(now, Unreadable) or restored.journal is None:
            return restored
        lines = beyond(looked.environment, now, looked.named, restored.journal.subjects)
        return replace(restored, outcome="incomplete", named=lines) if lines else restored

    def _nothing_to_do(self, looked: Looked) -> Applied:
        """Nothing is overridden, and the project has no install: there is only a question to be asked."""
        verified = _verify(self._plan, self._manifest, self._baseline, self._ports)
        self._hold()
        self._roll_back(None)
        done = "nothing was written" if self._journal is None else "the earlier plan was taken back"
        message = f"nothing is overridden, and the project installs nothing: {done}"
        outcome: Outcome = "rolled-back" if verified.stopped else "unchanged"
        return Applied(outcome, message, verified, (*verified.findings, *self._newer), looked.observation)


def _rest_of(environment: Environment, ports: Ports) -> tuple[Subject, ...]:
    """What else an install writes in a virtual environment (`look` has its pyvenv.cfg): small, and given back as well."""
    prefix = environment.prefix.rstrip("/")
    mark = Subject("environment", f"{prefix}/pyvenv.cfg", recursive=False)
    if not ports.snapshots.scan((mark,), content=False).entries:
        return ()
    return tuple(Subject("environment", f"{prefix}/{name}") for name in ("include", "share", "etc"))


def _check_replaced(earlier: Journal, looked: Looked) -> None:
    """Without a snapshot, what the earlier plan overrode can only be written over, and not be given back."""
    now = {one.path for one in looked.subjects if one.kind == "checkout"}
    lost = [one for one in earlier.subjects if one.kind == "checkout" and one.path not in now]
    if lost and not earlier.snapshot:
        message = f"the earlier plan changed {lost[0].path!r:.200}, this one keeps it, and no snapshot can give it back"
        raise RefusedError("cannot-replace", message, hint="throw this container away, and apply in a fresh one")
