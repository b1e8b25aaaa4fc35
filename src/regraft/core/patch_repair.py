"""Mechanical repairs of damaged patch files. They are offered, and never made in silence: the stored file stays as it is."""

import binascii

from msgspec import Struct

from regraft.core.patch_body import body_counts, body_end, first_header_return
from regraft.core.patch_glance import patch_fault
from regraft.core.patch_outside import outside
from regraft.core.patch_scan import HUNK, Scan, scan_lines
from regraft.core.patterns import regex

_BOM = b"\xef\xbb\xbf"
_ENCODING = regex(rb"(?i)content-transfer-encoding:[ \t]*(base64|quoted-printable)[ \t]*\r?")
_MAIL_END = regex(rb"\r?\n\r?\n")
_BASE64 = regex(rb"[A-Za-z0-9+/]+={0,2}")
_ROUNDS = 100  # each fault may hide the next one
_LIMIT = 256 * 1024  # bytes: a larger file was not damaged by hand


class Repair(Struct, frozen=True):
    """A text that git can read, and what was done for that, a phrase each."""

    text: bytes
    what: tuple[str, ...]


def repair(data: bytes, *, crlf_content: bool = False) -> Repair | None:
    """The mended text, or None where nothing is to be mended, the file is larger than 256 KiB, or no mechanical repair makes the file readable.

    Where every line ends in a carriage return, all are taken out; with `crlf_content` only those of the headers, as for a
    file of the upstream that has such line ends itself.
    """
    what: list[str] = []
    text = data
    if len(data) > _LIMIT:
        return None
    for step in (_mail, _mark, _headers_only if crlf_content else _returns, _end, _blanks, _counts):
        mended, said = step(text)
        if said:
            text = mended
            what.append(said)
    if not what or not readable(text):
        return None
    return Repair(text, tuple(what))


def readable(data: bytes) -> bool:
    """Whether git reads all of the lines; names are another matter."""
    scan = scan_lines(data)
    whole = scan.stop is None and bool(scan.raws) and patch_fault(data) is None
    return whole and first_header_return(scan) is None and not outside(scan)[0]


def _mail(data: bytes) -> tuple[bytes, str]:
    """A mail whose body is encoded, which `git am` decodes and `git apply` does not."""
    head, body = _MAIL_END.split(data, 1) if _MAIL_END.search(data) else (data, b"")
    lines = head.split(b"\n")
    codes = [(line, match[1].lower()) for line in lines if (match := _ENCODING.fullmatch(line))]
    if len(codes) != 1 or not any(line.lower().startswith(b"subject:") for line in lines):
        return data, ""
    line, code = codes[0]
    try:
        text = binascii.a2b_qp(body) if code == b"quoted-printable" else _base64(body)
    except binascii.Error:
        return data, ""
    lines.remove(line)
    return b"\n".join(lines) + b"\n\n" + text, f"the body of the mail, which is {code.decode()}, is decoded"


def _base64(body: bytes) -> bytes:
    packed = b"".join(body.split())
    if not packed or _BASE64.fullmatch(packed) is None:
        raise binascii.Error
    return binascii.a2b_base64(packed)


def _mark(data: bytes) -> tuple[bytes, str]:
    return (data.removeprefix(_BOM), "the byte order mark is taken out") if data.startswith(_BOM) else (data, "")


def _returns(data: bytes) -> tuple[bytes, str]:
    if first_header_return(scan_lines(data)) is None:
        return data, ""
    lines = data.split(b"\n")
    if all(line.endswith(b"\r") for line in lines[:-1]):
        return data.replace(b"\r\n", b"\n").removesuffix(b"\r"), "the carriage returns are taken out of all lines"
    return _headers_only(data)


def _headers_only(data: bytes) -> tuple[bytes, str]:
    """Line by line: without a carriage return in the first header git sees the next one."""
    if first_header_return(scan_lines(data)) is None:
        return data, ""
    lines = data.split(b"\n")
    for _ in range(_ROUNDS):
        scan = scan_lines(b"\n".join(lines))
        if first_header_return(scan) is None:
            break
        for raw in scan.raws:
            for at in range(raw.first, raw.hunks_at):
                lines[at] = lines[at].removesuffix(b"\r")
        for at, line in enumerate(lines):
            if (line.endswith(b"@@\r") and HUNK.match(line)) or line == b"\\ No newline at end of file\r":
                lines[at] = line.removesuffix(b"\r")
    return b"\n".join(lines), "the carriage returns are taken out of the headers"


def _end(data: bytes) -> tuple[bytes, str]:
    scan = scan_lines(data)
    if scan.ended or scan.stop is None or scan.stop.at < len(scan.lines) - 1:
        return data, ""
    return data + b"\n", "the newline at the end of the file is put back"


def _blanks(data: bytes) -> tuple[bytes, str]:
    scan = scan_lines(data)
    lines = data.split(b"\n")
    bare = [hunk.line + at for raw in scan.raws for hunk in raw.hunks for at, line in enumerate(hunk.body) if not line]
    for at in bare:
        lines[at] = b" "
    many = f"{len(bare)} empty lines" if len(bare) > 1 else "an empty line"
    return b"\n".join(lines), f"the blank of {many} of context is put back" if bare else ""


def _counts(data: bytes) -> tuple[bytes, str]:
    said: list[int] = []
    for _ in range(_ROUNDS):
        scan = scan_lines(data)
        wrong = _wrong_hunk(scan)
        header = _recounted(scan, wrong) if wrong is not None else None
        if wrong is None or header is None:
            break
        lines = data.split(b"\n")
        lines[wrong] = header
        data = b"\n".join(lines)
        said.append(wrong + 1)
    numbers = ", ".join(map(str, sorted(set(said))))
    return (
        data,
        f"the lines of the hunk{'s' if len(set(said)) > 1 else ''} at line {numbers} are counted anew" if said else "",
    )


def _wrong_hunk(scan: Scan) -> int | None:
    """The header (an index) of the first hunk that counts its body wrong."""
    for raw in scan.raws:
        for hunk in raw.hunks:
            header = hunk.line - 1
            goes_on = body_end(scan.lines, header + 1) > header + 1 + len(hunk.body)
            ends_before = any(line.startswith(b"--- ") for line in hunk.body) and body_end(
                scan.lines, header + 1
            ) < header + 1 + len(hunk.body)
            if goes_on or ends_before:
                return header
    if not (scan.in_last and scan.stop and scan.stop.said.startswith("corrupt patch")):
        return None
    raw = scan.raws[-1]
    return raw.hunks[-1].line + len(raw.hunks[-1].body) if raw.hunks else raw.hunks_at


def _recounted(scan: Scan, header: int) -> bytes | None:
    """The hunk header with the counts of its body, where it is plain where that ends."""
    line = scan.line(header)
    match = HUNK.match(line)
    end = body_end(scan.lines, header + 1)
    body = scan.lines[header + 1 : end]
    unsure = any(one.startswith((b"--- ", b"+++ ")) for one in body)
    gap = end < len(scan.lines) and not scan.lines[end]  # an empty line may be context that lost its blank
    follows = next((one for one in scan.lines[end:] if one), b"")
    if match is None or unsure or (gap and follows and not follows.startswith(b"-- ")):
        return None
    if not any(one.startswith((b"+", b"-")) for one in body):
        return None
    old, new = body_counts(scan.lines, header + 1)
    counted = b"@@ -%s,%d +%s,%d @@" % (match[1], old, match[3], new)
    return None if line.startswith(counted) else counted + line[match.end() :]
