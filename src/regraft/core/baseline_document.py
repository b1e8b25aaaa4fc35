"""The baseline as a file: `baselines/IMAGE.json` in the project."""

from collections.abc import Iterator

from regraft.core import document
from regraft.core.baseline import SCHEMA, Baseline
from regraft.core.objects import Sha256, parse_commit, parse_sha256, parse_tree
from regraft.errors import InputError


def path_of(image: str) -> str:
    """Where the project keeps the baseline of an image, relative to its root."""
    return f"baselines/{image}.json"


def encode_baseline(baseline: Baseline) -> bytes:
    return document.encode(baseline)


def decode_baseline(data: bytes, image: str, name: str | None = None) -> Baseline:
    """The baseline in `data`. Raises InputError: what `document.decode` raises, bad-hash, other-image.

    `name` stands in the places of mistakes, `baselines/IMAGE.json` unless it is given.
    """
    name = name or path_of(image)
    baseline = document.decode(data, Baseline, SCHEMA, name)
    if baseline.image != image:
        raise InputError(
            "other-image",
            f"the baseline is of image {baseline.image!r:.80}, not of {image!r}",
            where=name,
            hint=f"probe {image} and commit what `regraft image probe --write` gives",
        )
    for dependency, held in baseline.dependencies.items():
        try:
            if held.commit is not None:
                parse_commit(held.commit)
            if held.tree is not None:
                parse_tree(held.tree)
            for sha256 in (*(patch.sha256 for patch in held.patches), *(held.untracked_content or {}).values()):
                parse_sha256(sha256)
        except ValueError as error:
            raise InputError("bad-hash", f"dependencies.{dependency}: {error}", where=name) from None
    try:
        for sha256 in filter(None, _hashes(baseline)):
            parse_sha256(sha256)
    except ValueError as error:
        raise InputError("bad-hash", f"environment: {error}", where=name) from None
    return baseline


def _hashes(baseline: Baseline) -> Iterator[Sha256 | None]:
    if baseline.site is not None:
        yield from baseline.site.records.values()
        yield from (one.sha256 for one in baseline.site.path_files)
        yield from (one.sha256 for one in baseline.site.loose)
        yield from (one.sha256 for one in baseline.site.edited)
