"""What is offered for a damaged patch file, and what is not."""

import base64
import quopri

import pytest

from regraft.core.patch_repair import Repair, readable, repair

GOOD = b"""diff --git a/f b/f
index 1111111..2222222 100644
--- a/f
+++ b/f
@@ -1,5 +1,5 @@ def f():
 a
-b
+B
\x20
 c
 d
"""


def offered(data: bytes) -> tuple[bytes, tuple[str, ...]]:
    found = repair(data)
    assert found is not None
    return found.text, found.what


@pytest.mark.parametrize(
    ("damaged", "what"),
    [
        (b"\xef\xbb\xbf" + GOOD, "the byte order mark is taken out"),
        (GOOD.replace(b"\n", b"\r\n"), "the carriage returns are taken out of all lines"),
        (GOOD.replace(b"\n", b"\r\n", 4), "the carriage returns are taken out of the headers"),
        (GOOD[:-1], "the newline at the end of the file is put back"),
        (GOOD.replace(b"\n \n", b"\n\n"), "the blank of an empty line of context is put back"),
        (GOOD.replace(b"+1,5 @@", b"+1,7 @@"), "the lines of the hunk at line 5 are counted anew"),
        (GOOD.replace(b"-1,5 +1,5", b"-1,2 +1,2"), "the lines of the hunk at line 5 are counted anew"),
    ],
)
def test_one_damage_is_mended_whole(damaged: bytes, what: str) -> None:
    assert repair(damaged) == Repair(GOOD, (what,))
    assert readable(GOOD)


def test_carriage_returns_of_the_content_are_kept_where_that_is_asked_for() -> None:
    """The target has such line ends itself: the headers alone are wrong."""
    found = repair(GOOD.replace(b"\n", b"\r\n"), crlf_content=True)
    assert found is not None
    assert found.text.split(b"\n")[4:7] == [b"@@ -1,5 +1,5 @@ def f():\r", b" a\r", b"-b\r"]
    assert found.text.startswith(b"diff --git a/f b/f\nindex")


def test_several_hunks_and_several_damages() -> None:
    second = GOOD.replace(b"/f", b"/g").replace(b"-1,5 +1,5", b"-1,9 +1,1")
    text, what = offered(GOOD.replace(b"+1,5", b"+1,4") + second)
    assert text == GOOD + GOOD.replace(b"/f", b"/g")
    assert what == ("the lines of the hunks at line 5, 16 are counted anew",)
    text, what = offered((GOOD.replace(b"+1,5", b"+1,4"))[:-1])
    assert (text, len(what)) == (GOOD, 2)


def test_a_mail_keeps_its_signature() -> None:
    mail = GOOD.replace(b"+B\n", b"") + b"-- \n2.39.5\n\n"
    text, _ = offered(mail)
    assert text == mail.replace(b"+1,5 @@", b"+1,4 @@")


@pytest.mark.parametrize(
    "data",
    [
        GOOD,
        b"",
        b"<html></html>",
        GOOD.replace(b" a\n-b", b"a\n-b"),
        GOOD.replace(b"@@ -1,5 +1,5 @@", b"@@ 1,5 1,5 @@"),
        GOOD.replace(b"+1,5 @@", b"+1,6 @@") + b"\n" + GOOD,  # the empty line may belong to the hunk
        GOOD.replace(b"+1,5 @@", b"+1,6 @@").replace(b"-b\n", b"--- b\n"),  # a line removed, or another file's header
    ],
)
def test_what_is_whole_or_not_plain_is_left_alone(data: bytes) -> None:
    assert repair(data) is None


HEAD = b"From 1111111 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\nSubject: [PATCH] B\n"
TOLD = b"Content-Transfer-Encoding: %b\nMIME-Version: 1.0\n\n"


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_the_body_of_a_mail_in_base64_is_decoded(end: bytes) -> None:
    """`git am` reads such a mail, and `git apply` finds no patch in it."""
    body = base64.encodebytes(b"Why.\n---\n" + GOOD)
    text, what = offered((HEAD + TOLD % b"base64" + body).replace(b"\n", end))
    assert what == ("the body of the mail, which is base64, is decoded",)
    assert text.replace(b"\r", b"") == HEAD + b"MIME-Version: 1.0\n\nWhy.\n---\n" + GOOD


def test_so_is_one_that_is_quoted_printable() -> None:
    patch = GOOD.replace(b"+B", b"+" + b"B" * 90)
    body = quopri.encodestring(patch)
    assert b"=\n" in body
    text, what = offered(HEAD + TOLD % b"quoted-printable" + body)
    assert (text, what) == (
        HEAD + b"MIME-Version: 1.0\n\n" + patch,
        ("the body of the mail, which is quoted-printable, is decoded",),
    )


@pytest.mark.parametrize(
    "data",
    [
        HEAD + TOLD % b"base64" + b"no base64 at all!\n",
        HEAD + TOLD % b"base64" + base64.encodebytes(b"no patch\n"),
        (HEAD + TOLD % b"base64" + base64.encodebytes(GOOD)) * 2,
        b"Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(GOOD),
    ],
    ids=["damaged", "no patch", "two mails", "no mail"],
)
def test_what_holds_no_patch_then_is_offered_nothing(data: bytes) -> None:
    assert repair(data) is None
