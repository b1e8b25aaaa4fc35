"""From directives and inputs to one plan per image, all from one resolution."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from regraft.core.asked import Asked
from regraft.core.canonical import digest
from regraft.core.directives import Directive, TagDirective
from regraft.core.findings import Finding
from regraft.core.manifest import Image, Manifest
from regraft.core.objects import Sha256
from regraft.core.plan import SCHEMA, Note, Plan, PlannedDependency, PlannedImage, PlannedPatch
from regraft.core.plan_document import seal
from regraft.core.planned import Overruled, Planned, Reach
from regraft.core.spelling import nearest
from regraft.errors import InputError, raise_all
from regraft.flows.baselines import Registries
from regraft.flows.draft import Decision, Draft, Drafting, OwnOf
from regraft.flows.gate import Gate, Verdict
from regraft.flows.judging import Judging
from regraft.flows.patch_files import PatchFiles, sha256
from regraft.flows.ports import ProjectFiles, Upstream
from regraft.flows.pulls import FindUpstreamPull, confirm_pulls
from regraft.flows.resolve import Wanted, resolve

_UNSEALED = Sha256("0" * 64)


def plan(  # noqa: PLR0913 - its ports, by name
    manifest: Manifest,
    asked: Asked,
    images: Sequence[str],
    *,
    files: ProjectFiles,
    upstream: Upstream,
    gate: Gate,
    find_pull: FindUpstreamPull | None,
    unset: Collection[str] = (),
    registries: Registries | None = None,
    own_of: OwnOf | None = None,
) -> Planned:
    """Plans for the named images, or for all of them where none is named. `unset` are the variables that hold no token.

    With `registries`, each image's tag is resolved to a digest there, and its baseline is taken from its label. `own_of` tells
    which image a pull request would have of its own; None where the run is none of a pull request.

    Raises InputError for what the body, the manifest or the arguments must mend, and OutsideError where the world failed.
    A patch that does not fit, or a change that the install does not bring in, is a finding.
    """
    chosen = _chosen(manifest, images)
    raise_all(asked.mistakes)
    drafting = Drafting(manifest, asked, files, registries, own_of)
    drafts = [drafting.draft(image) for image in chosen]
    patches = PatchFiles(files, chosen)
    raise_all([*drafting.mistakes, *patches.mistakes])
    wanted = list(dict.fromkeys(one.wanted for draft in drafts for one in draft.decisions if one.wanted))
    pins = dict(zip(wanted, resolve(wanted, upstream), strict=True))
    reach = tuple(_reach(manifest, asked, drafts))
    common = (
        *asked.notes,
        *_without_token(wanted, unset),
        *confirm_pulls(pins.items(), find_pull),
        *_unreached(reach),
    )
    verdicts = Judging(pins, patches, gate).of(drafts)
    findings = [found for of_image in verdicts.values() for one in of_image.values() if one for found in one.findings]
    placed = dict.fromkeys(_placed(found, patches.paths, files) for found in findings)
    plans = {draft.image.name: _plan(manifest, draft, verdicts[draft.image.name], patches, common) for draft in drafts}
    return Planned(plans, tuple(placed), asked, reach)


def _chosen(manifest: Manifest, names: Sequence[str]) -> list[Image]:
    mistakes = []
    if not manifest.images:
        raise InputError(
            "no-images", "the manifest has no images: there is nothing to plan", hint="add `[images.NAME]`"
        )
    for name in names:
        if name not in manifest.images:
            known = ", ".join(manifest.images)
            hint = nearest(name, manifest.images)
            mistakes.append(
                InputError(
                    "unknown-image",
                    f"the manifest has no image {name!r:.80}; it has {known}",
                    where="--image",
                    hint=f"did you mean {hint}?" if hint else None,
                )
            )
    raise_all(mistakes)
    return [image for image in manifest.images.values() if not names or image.name in names]


def _placed(finding: Finding, paths: Collection[str], files: ProjectFiles) -> Finding:
    """A patch is named as the caller's working directory names it; the plan keeps the project's own path."""
    return replace(finding, path=files.place(finding.path)) if finding.path in paths else finding


def _without_token(wanted: Iterable[Wanted], unset: Collection[str]) -> Iterator[Note]:
    for dependency in {one.dependency.name: one.dependency for one in wanted}.values():
        if dependency.token_env in unset:
            message = f"{dependency.name}: {dependency.token_env} is unset or empty, so no token is given to its server"
            yield Note("notice", "token-unset", message)


def _plan(
    manifest: Manifest,
    draft: Draft,
    verdicts: Mapping[str, Verdict | None],
    patches: PatchFiles,
    common: Iterable[Note],
) -> Plan:
    image = draft.image
    dependencies = {
        one.dependency.name: _dependency(one, verdicts[one.dependency.name], draft, patches) for one in draft.decisions
    }
    judged = (note for verdict in verdicts.values() if verdict for note in verdict.notes)
    return seal(
        Plan(
            schema=SCHEMA,
            digest=_UNSEALED,
            request=_request(draft),
            project=manifest.name,
            manifest=manifest.sha256,
            suites=tuple(suite.name for suite in manifest.suites.values() if suite.image == image.name),
            image=PlannedImage(image.name, draft.reference, draft.digest),
            baseline=draft.held.source,
            dependencies=dependencies,
            notes=tuple(dict.fromkeys((*common, *draft.notes, *judged))),
        )
    )


def _dependency(decision: Decision, verdict: Verdict | None, draft: Draft, patches: PatchFiles) -> PlannedDependency:
    if verdict is not None:
        return PlannedDependency(
            action="override",
            ref=decision.choice.winner.ref.text if decision.choice else None,
            source=decision.source,
            url=verdict.pin.url,
            commit=verdict.pin.commit,
            tree=verdict.tree,
            patches=verdict.patches,
        )
    baseline = draft.held.baseline
    held = baseline.dependencies.get(decision.dependency.name) if baseline else None
    return PlannedDependency(
        action="keep",
        ref=None,
        source=decision.source,
        url=decision.dependency.url,
        commit=held.commit if held else None,
        tree=held.tree if held else None,
        patches=tuple(PlannedPatch(patch.path, sha256(patch), None) for patch in patches.of(decision.baked)),
    )


def _request(draft: Draft) -> Sha256:
    """What was asked of this image, and nothing else that the body says."""
    named = {one.dependency.name: one.choice.winner.ref.text for one in draft.decisions if one.choice}
    return digest({"image": draft.image.name, "refs": named, "tag": draft.tag.winner.tag if draft.tag else None})


def _reach(manifest: Manifest, asked: Asked, drafts: Sequence[Draft]) -> Iterator[Reach]:
    for directive in asked.everything:
        images = [draft.image.name for draft in drafts if _holds(directive, draft)]
        beaten = ((draft.image.name, _beaten_by(directive, draft)) for draft in drafts)
        overruled = [Overruled(image, winner.source) for image, winner in beaten if winner]
        suites = [suite.name for suite in manifest.suites.values() if suite.image in images]
        yield Reach(directive.text, directive.source, tuple(images), tuple(suites), tuple(overruled))


def _holds(directive: Directive | TagDirective, draft: Draft) -> bool:
    winners = [one.choice.winner for one in draft.decisions if one.choice]
    return any(directive is winner for winner in winners) or (draft.tag is not None and directive is draft.tag.winner)


def _beaten_by(directive: Directive | TagDirective, draft: Draft) -> Directive | TagDirective | None:
    for choice in (draft.tag, *(one.choice for one in draft.decisions)):
        if choice and any(directive is loser for loser in choice.losers):
            return choice.winner
    return None


def _unreached(reach: Iterable[Reach]) -> Iterator[Note]:
    for one in reach:
        if not one.images and not one.overruled:
            message = f"{one.text!r:.160} reaches none of the images that are planned here"
            yield Note("warning", "reaches-nothing", message, one.source.line, one.source.column)
