"""Values of GitHub's expressions: truth, comparison, and what a key or an index finds in them.

The rules are those of https://github.com/actions/runner (`EvaluationResult.cs`, `Index.cs`): JavaScript's loose comparison, but
texts are compared without case, and arrays and objects only with themselves.
"""

from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct

from regraft.core.expression_numbers import number, number_text

Kind = Literal["Null", "Boolean", "Number", "String", "Array", "Object"]

_NO_CASE = frozenset("\u0131\u017f")  # .NET leaves the dotless i and the long s as they are


class Array(Struct, frozen=True, eq=False):
    """`filtered`: made by `.*`, so that a key after it goes into each item."""

    items: "tuple[Value, ...]" = ()
    filtered: bool = False


class Object(Struct, frozen=True, eq=False):
    """Fields as they are written. Keys are found in any case; `object_of` sees to it that no two differ in case alone."""

    fields: "Mapping[str, Value]" = {}

    def get(self, key: str) -> "Value":
        """The value of a key, or null."""
        found = self.fields.get(key)
        if found is not None or key in self.fields:
            return found
        wanted = folded(key)
        return next((value for name, value in self.fields.items() if folded(name) == wanted), None)

    def has(self, key: str) -> bool:
        wanted = folded(key)
        return key in self.fields or any(folded(name) == wanted for name in self.fields)


Value = None | bool | float | str | Array | Object
"""A number is a float. An int, which type checkers let pass for one, is the same number."""


def value_of(plain: object) -> Value:
    """A value of what a JSON or YAML reader gives: None, booleans, numbers, texts, lists, mappings with text keys."""
    if plain is None or isinstance(plain, bool | str):
        return plain
    if isinstance(plain, int | float):
        return float(plain)
    if isinstance(plain, Mapping):
        return object_of({str(key): value_of(value) for key, value in plain.items()})
    if isinstance(plain, list | tuple):
        return Array(tuple(value_of(item) for item in plain))
    raise TypeError(f"no value of an expression: {type(plain).__name__}")


def object_of(fields: "Mapping[str, Value]") -> Object:
    """Of keys that differ in case alone the first counts."""
    seen: set[str] = set()
    kept: dict[str, Value] = {}
    for key, value in fields.items():
        name = folded(key)
        if name not in seen:
            seen.add(name)
            kept[key] = value
    return Object(kept)


def plain_of(value: Value) -> object:
    """What `value_of` was given, with each number as a float."""
    if isinstance(value, Array):
        return [plain_of(item) for item in value.items]
    if isinstance(value, Object):
        return {key: plain_of(item) for key, item in value.fields.items()}
    return value


def kind_of(value: Value) -> Kind:
    if value is None:
        return "Null"
    if isinstance(value, bool):
        return "Boolean"
    if isinstance(value, int | float):
        return "Number"
    if isinstance(value, str):
        return "String"
    return "Array" if isinstance(value, Array) else "Object"


def folded(text: str) -> str:
    """A text for comparison without case: as .NET's `OrdinalIgnoreCase`, each character for itself."""
    if text.isascii():
        return text.upper()
    return "".join(up if len(up := one.upper()) == 1 and one not in _NO_CASE else one for one in text)


def truthy(value: Value) -> bool:
    if value is None or value is False or value == "":
        return False
    return not (isinstance(value, int | float) and (value == 0 or value != value))  # noqa: PLR0124 - not a number


def primitive(value: Value) -> bool:
    return not isinstance(value, Array | Object)


def number_of(value: Value) -> float:
    """NaN for arrays and objects, and for texts that are no number."""
    if value is None:
        return 0.0
    if isinstance(value, str):
        return number(value)
    return float(value) if isinstance(value, int | float) else float("nan")


def text_of(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number_text(float(value))
    return value if isinstance(value, str) else kind_of(value)


def equal(left: Value, right: Value) -> bool:
    one, two = _alike(left, right)
    return one is two if isinstance(one, Array | Object) or isinstance(two, Array | Object) else one == two


def greater(left: Value, right: Value) -> bool:
    match _alike(left, right):
        case (str(one), str(two)):
            return one > two
        case (float(one), float(two)):
            return one > two
    return False


def index(item: Value, key: Value) -> Value:
    """`item[key]`: null where there is nothing; of a filtered array what is found in its items."""
    if isinstance(item, Object):
        return item.get(text_of(key)) if primitive(key) else None
    if not isinstance(item, Array):
        return None
    if item.filtered:
        return Array(tuple(_found(item, key)), filtered=True)
    at = _place(key)
    return item.items[at] if at is not None and at < len(item.items) else None


def every(item: Value) -> Array:
    """`item.*`: a filtered array, empty where there are no items."""
    if isinstance(item, Array) and item.filtered:
        return Array(tuple(inner for one in item.items for inner in _items(one)), filtered=True)
    return Array(_items(item), filtered=True)


def _items(item: Value) -> tuple[Value, ...]:
    if isinstance(item, Array):
        return item.items
    return tuple(item.fields.values()) if isinstance(item, Object) else ()


def _found(items: Array, key: Value) -> Iterator[Value]:
    at = _place(key)
    for one in items.items:
        if isinstance(one, Object):
            if primitive(key) and one.has(text_of(key)):
                yield one.get(text_of(key))
        elif isinstance(one, Array) and at is not None and at < len(one.items):
            yield one.items[at]


def _place(key: Value) -> int | None:
    at = number_of(key)
    return int(at) if 0 <= at < 2**31 else None


def _alike(left: Value, right: Value) -> tuple[Value, Value]:
    """Both as texts (without case), or as numbers, booleans among them; what cannot be compared as NaN and NaN."""
    if isinstance(left, str) and isinstance(right, str):
        return folded(left), folded(right)
    if isinstance(left, Array | Object) or isinstance(right, Array | Object):
        same = type(left) is type(right)
        return (left, right) if same else (float("nan"), float("nan"))
    return number_of(left), number_of(right)
