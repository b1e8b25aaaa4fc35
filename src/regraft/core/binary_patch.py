"""Binary content in a patch, as `git diff --binary` writes it: base85 lines that hold compressed bytes, whole or as a delta.

The format is git's own (apply.c, diff.c); the delta is that of its packs (gitformat-pack).
"""

from regraft.core.patch_text import BinaryPart

LIMIT = 256 * 1024 * 1024
_LENGTHS = {**{ord("A") + n: n + 1 for n in range(26)}, **{ord("a") + n: n + 27 for n in range(26)}}


def decode(part: BinaryPart) -> bytes:
    """The block's bytes: content, or a delta. Raises ValueError where git calls the patch corrupt."""
    if part.size > LIMIT:
        raise ValueError(f"a block of {part.size} bytes; at most {LIMIT} are read")
    import zlib  # noqa: PLC0415 - few patches hold binary content, and a cold gate reads them all

    packed = b"".join(_line(line) for line in part.lines)
    inflate = zlib.decompressobj()
    try:
        data = inflate.decompress(packed, part.size + 1)
    except zlib.error as error:
        raise ValueError(f"its compressed bytes are damaged ({error})") from None
    if len(data) != part.size or not inflate.eof:
        raise ValueError(f"it does not hold the {part.size} bytes that it announces")
    return data


def _line(line: bytes) -> bytes:
    length = _LENGTHS.get(line[0]) if line else None
    if length is None or (len(line) - 1) % 5 or not length <= (len(line) - 1) // 5 * 4 < length + 4:
        raise ValueError("a base85 line has another length than it says")
    import base64  # noqa: PLC0415 - as above

    return base64.b85decode(line[1:])[:length]


def apply_part(part: BinaryPart, old: bytes) -> bytes:
    """What the block makes of `old`. Raises ValueError where it is damaged or made for other content."""
    data = decode(part)
    return data if part.method == "literal" else _patched(data, old)


def _patched(delta: bytes, old: bytes) -> bytes:
    source, at = _size(delta, 0)
    target, at = _size(delta, at)
    if source != len(old):
        raise ValueError(f"it is made for {source} bytes, and the file has {len(old)}")
    if target > LIMIT:
        raise ValueError(f"its result would have {target} bytes; at most {LIMIT} are read")
    pieces: list[bytes] = []
    while at < len(delta):
        command, at = delta[at], at + 1
        if command & 0x80:
            fields = []
            for bit in range(7):
                present = command >> bit & 1
                fields.append(delta[at] if present and at < len(delta) else 0)
                at += present
            offset = int.from_bytes(fields[:4], "little")
            length = int.from_bytes(fields[4:], "little") or 0x10000
            if offset + length > len(old):
                raise ValueError("it copies from beyond the end of the file")
            pieces.append(old[offset : offset + length])
        elif command:
            pieces.append(delta[at : at + command])
            at += command
        else:
            raise ValueError("it holds a command that no delta has")
    result = b"".join(pieces)
    if len(result) != target or at != len(delta):
        raise ValueError(f"it makes {len(result)} bytes, and announces {target}")
    return result


def _size(delta: bytes, at: int) -> tuple[int, int]:
    size = shift = 0
    while at < len(delta):
        byte, at = delta[at], at + 1
        size |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return size, at
    raise ValueError("its sizes are cut off")
