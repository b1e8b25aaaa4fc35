"""The words of a command line, parted into options and operands."""

from collections.abc import Sequence

from msgspec import Struct, field

from regraft.core.init_expand import Value


class Parted(Struct):
    """`options` are in order, each with its value where it takes one; a long one may have it after `=`."""

    options: list[tuple[str, Value | None]] = field(default_factory=list)
    operands: list[Value] = field(default_factory=list)
    after: list[Value] = field(default_factory=list)  # what follows `--`

    def last(self, *names: str) -> Value | None:
        return next((value for name, value in reversed(self.options) if name in names and value is not None), None)

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.options)


def parted(words: Sequence[Value], taking: frozenset[str], glued: str = "") -> Parted:
    """`taking` are the options that take the next word, `glued` the letters of short ones that may have it in the same word."""
    found = Parted()
    at = 0
    while at < len(words):
        text = words[at].text
        at += 1
        if text == "--":
            found.after = list(words[at:])
            break
        if not text.startswith("-") or text == "-":
            found.operands.append(words[at - 1])
        elif text.startswith("--") and "=" in text:
            name, _, value = text.partition("=")
            found.options.append((name, Value(value, words[at - 1].known)))
        elif text in taking and at < len(words):
            found.options.append((text, words[at]))
            at += 1
        elif len(text) > 2 and text[1] in glued and not text.startswith("--"):
            found.options.append((text[:2], Value(text[2:], words[at - 1].known)))
        else:
            found.options.append((text, None))
    return found
