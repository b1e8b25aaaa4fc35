"""What `regraft image check` looks for: one line a rule. `docs/commands/image-check.md` has the same table for people."""

from typing import NamedTuple

from regraft.core.findings import Confidence, Finding, Severity, Witness
from regraft.core.image_values import Place


class Rule(NamedTuple):
    severity: Severity
    text: str
    confidence: Confidence = "high"


RULES = {
    "dockerfile-wrong": Rule("error", "the Dockerfile cannot be built: a stage, an argument, an instruction or a link is wrong"),
    "copy-missing": Rule("error", "a COPY, an ADD or a mount of something that the build context does not have"),
    "apply-missing": Rule("error", "a patch is applied that the folder copied there does not have"),
    "apply-unchecked": Rule("error", "the failure of an apply cannot stop the build"),
    "patch-unused": Rule("error", "a patch file that no built image applies"),
    "patch-twice": Rule("warning", "one patch is applied in two places"),
    "patch-after-install": Rule("warning", "a patch is applied after the install that it changes"),
    "patch-copied": Rule("warning", "byte-identical copies of a patch or a Dockerfile"),
    "clone-moving": Rule("warning", "a clone or an install by a moving name, without a hash or an argument for one"),
    "input-outside": Rule("error", "an input outside of `inputs-within`"),
    "input-unwatched": Rule("warning", "an input of which a change starts no workflow that builds the image", "medium"),
    "input-unhashed": Rule("warning", "an input that a workflow's hash over the image's files leaves out", "medium"),
    "filter-unmatched": Rule("warning", "a filter or a hash of a workflow that builds an image, which matches no file", "medium"),
    "image-unbuilt": Rule("warning", "a Dockerfile that no image of the manifest and nothing else names", "medium"),
    "pin-differs": Rule("warning", "patches of one set are applied to different commits", "medium"),
    "argument-unused": Rule("warning", "a build argument that the Dockerfile does not declare"),
    "script-unread": Rule("note", "a RUN or a script that cannot be read, and in which nothing was looked for"),
}  # fmt: skip


def finding(
    rule: str, place: Place, message: str, fix: str | None = None, witnesses: tuple[tuple[Place, str], ...] = ()
) -> Finding:
    """A finding of one of the rules, at a place in the repository."""
    kind = RULES[rule]
    said = tuple(Witness(one.path, one.line, text) for one, text in witnesses)
    return Finding(
        rule, kind.severity, message, place.path, place.line, confidence=kind.confidence, witnesses=said, fix=fix
    )
