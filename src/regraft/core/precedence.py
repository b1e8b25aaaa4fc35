"""Who decides: per dependency and image a dispatch input, then the body, then what the manifest says of the unnamed.

Within one source the line that names the image beats the line that does not.
"""

from collections.abc import Sequence

from msgspec import Struct

from regraft.core.directives import Directive, TagDirective


class Choice(Struct, frozen=True):
    """The directive that holds, and those that it beats, in the order of their strength."""

    winner: Directive
    losers: tuple[Directive, ...]


class TagChoice(Struct, frozen=True):
    winner: TagDirective
    losers: tuple[TagDirective, ...]


def choose(dependency: str, image: str, directives: Sequence[Directive]) -> Choice | None:
    """What holds for one dependency in one image; None where nothing is named."""
    ranked = sorted(
        (one for one in directives if one.dependency == dependency and one.scope in (None, image)), key=_strength
    )
    return Choice(ranked[0], tuple(ranked[1:])) if ranked else None


def choose_tag(key: str, image: str, tags: Sequence[TagDirective]) -> TagChoice | None:
    """The tag that holds for an image that takes directive `key`; None where nothing is named."""
    ranked = sorted((one for one in tags if one.key == key and one.scope in (None, image)), key=_strength)
    return TagChoice(ranked[0], tuple(ranked[1:])) if ranked else None


def _strength(directive: Directive | TagDirective) -> tuple[bool, bool]:
    return directive.source.kind != "input", directive.scope is None
