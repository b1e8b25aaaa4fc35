"""Listings of files in a shell, `$(ls …)` and `$(find …)`, and the order that they have: of names, or of versions."""

from msgspec import Struct

from regraft.core.patterns import regex

# The options that leave the order to names are few; any other (-r, -t, -S) would turn it.
_SORT = r"(?:\|\s*sort\s*(?P<sort>(?:-\w+\s*|--version-sort\s*)*))?"
_LS = regex(r"\$\(\s*ls\s+(?P<options>(?:-\w+\s+)*)(?P<text>[^|;&()$]+?)\s*" + _SORT + r"\)")
_FIND = regex(r"\$\(\s*find\s+(?P<folder>\S+)\s.*?-name\s+[\"']?(?P<name>[^\s\"'|)]+)[\"']?[^|)]*" + _SORT + r"\)")
_PLAIN_LS, _PLAIN_SORT = frozenset("1adApFv"), frozenset("ufndV")
_SUFFIX = regex(r"(.*?)((?:\.[A-Za-z~][A-Za-z0-9~]*)*)", 16)  # DOTALL
_RUN = regex(r"(\D*)(\d*)", 16)  # DOTALL


class Listing(Struct, frozen=True):
    """`patterns` are what is listed, as written. `versions`: in the order of their versions, which no locale changes.

    `command`: by `ls`, for which a folder stands for the names in it.
    """

    patterns: tuple[str, ...]
    versions: bool
    command: bool = False


def listing(text: str) -> Listing | None:
    """What a word lists, where that is all it does and its order is known."""
    names = _LS.fullmatch(text)
    if (one := names) is not None:
        options = {*one["options"]} - {*"- \t"}
        patterns = tuple(one["text"].split())
    elif (one := _FIND.fullmatch(text)) is not None:
        options, patterns = set(), (f"{one['folder'].rstrip('/')}/{one['name']}",)
    else:
        return None
    orders = (one["sort"] or "").replace("--version-sort", "-V")
    if not options <= _PLAIN_LS or not {*orders} - {*"- \t"} <= _PLAIN_SORT:
        return None
    return Listing(patterns, "V" in orders or ("v" in options and one["sort"] is None), names is not None)


def by_version(name: str) -> tuple[object, ...]:
    """A key for the order of `sort -V` and `ls -v`, https://www.gnu.org/software/coreutils/manual/html_node/Version-sort-ordering-rules.html"""
    match = _SUFFIX.fullmatch(name)
    assert match is not None
    return (*_runs(match[1]), (), *_runs(match[2]), (), name)


def _runs(text: str) -> tuple[tuple[tuple[int, ...], int], ...]:
    """Each part without digits and the number after it. A tilde comes before the end, and letters before other characters."""
    return tuple(
        (
            (*(-1 if char == "~" else ord(char) if char.isalpha() else ord(char) + 0x110000 for char in one[1]), 0),
            int(one[2] or 0),
        )
        for one in _RUN.finditer(text)
        if one[0]
    )
