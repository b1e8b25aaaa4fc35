"""Numbers as GitHub's expressions read and write them."""

from regraft.core.patterns import regex

_DECIMAL = regex(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEX = regex(r"0x[0-9a-fA-F]+")
_OCTAL = regex(r"0o[0-7]+")
_NAMED = {"Infinity": float("inf"), "+Infinity": float("inf"), "-Infinity": float("-inf")}


def number(text: str) -> float:
    """The number that a text is: 0 for an empty one, NaN where it is none. Blanks around it do not count."""
    text = text.strip()
    if not text:
        return 0.0
    if _DECIMAL.fullmatch(text):
        return float(text)
    if _HEX.fullmatch(text):
        return _whole(text[2:], 16)
    if _OCTAL.fullmatch(text):
        return _whole(text[2:], 8)
    return _NAMED.get(text, float("nan"))


def number_text(value: float) -> str:
    """A number as a text: 15 significant digits, as .NET's `G15` writes them."""
    if value != value:  # noqa: PLR0124 - not a number
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    text = f"{value:.15g}"
    if text in ("0", "-0"):
        return "0"
    return text.replace("e", "E")


def _whole(digits: str, base: int) -> float:
    """As an Int32, which GitHub's runner makes of it: what has more than 32 bits is no number."""
    value = int(digits, base)
    if value >= 2**32:
        return float("nan")
    return float(value - 2**32 if value >= 2**31 else value)
