"""A Dockerfile by spans: what BuildKit's own reader makes of continued lines, comments, here-documents and directives."""

import time

import pytest

from regraft.core.dockerfile_text import Dockerfile, read_dockerfile


def values(read: Dockerfile) -> list[tuple[str, bytes]]:
    return [(one.keyword, read.data[one.value.start : one.value.stop].strip()) for one in read.instructions]


def test_comment_and_empty_lines_do_not_end_an_instruction() -> None:
    data = b"FROM x\nRUN a && \\\n  # why\n\n  b && \\\n  c\nCMD d\n"
    read = read_dockerfile(data)
    assert [(one.keyword, one.line) for one in read.instructions] == [("FROM", 1), ("RUN", 2), ("CMD", 7)]
    run = read.instructions[1]
    assert data[run.span.start : run.span.stop] == b"RUN a && \\\n  # why\n\n  b && \\\n  c\n"
    assert [data[one.start : one.stop] for one in run.comments] == [b"  # why\n", b"\n"]
    assert b"why" not in run.text
    assert len(run.text) == run.value.stop - run.value.start
    assert run.text.split() == [b"a", b"&&", b"\\", b"b", b"&&", b"\\", b"c"]


def test_comments_after_the_last_line_of_an_instruction_are_not_its_own() -> None:
    read = read_dockerfile(b"RUN a \\\n# end\n")
    assert read.data[slice(*read.instructions[0].span)] == b"RUN a \\\n"
    assert read.instructions[0].comments == ()


def test_the_escape_directive_counts_at_the_top_only() -> None:
    first = read_dockerfile(b"# syntax=x\n# escape=`\nRUN a `\n b\nRUN c \\\nRUN d\n")
    assert first.escape == b"`"
    assert values(first) == [("RUN", b"a `\n b"), ("RUN", b"c \\"), ("RUN", b"d")]
    assert first.instructions[0].text == b" a \\\n b"
    late = read_dockerfile(b"# a comment\n# escape=`\nRUN a `\nRUN b\n")
    assert late.escape == b"\\"
    assert len(late.instructions) == 2


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_lines_go_on_with_blanks_after_the_backslash_and_with_either_end(end: bytes) -> None:
    data = end.join([b"RUN a && \\  ", b"  b", b"USER c", b""])
    read = read_dockerfile(data)
    assert [one.keyword for one in read.instructions] == ["RUN", "USER"]
    assert read.instructions[0].text.split() == [b"a", b"&&", b"\\", b"b"]


def test_two_backslashes_do_not_continue() -> None:
    assert len(read_dockerfile(b"RUN a \\\\\nRUN b\n").instructions) == 2


def test_here_documents_belong_to_their_instruction() -> None:
    data = b"RUN <<EOF cat >x\nRUN no\nEOF\nCOPY <<-'A' <<B /d/\n\tone\n\tA\ntwo\nB\nUSER x\n"
    read = read_dockerfile(data)
    assert [(one.keyword, one.line) for one in read.instructions] == [("RUN", 1), ("COPY", 4), ("USER", 9)]
    [document] = read.instructions[0].heredocs
    assert (data[slice(*document.body)], document.expand, document.chomp) == (b"RUN no\n", True, False)
    first, second = read.instructions[1].heredocs
    assert (first.name, data[slice(*first.body)], first.expand, first.chomp) == (b"A", b"\tone\n", False, True)
    assert (second.name, data[slice(*second.body)]) == (b"B", b"two\n")


def test_what_stands_in_quotes_or_has_three_signs_is_no_here_document() -> None:
    read = read_dockerfile(b'RUN echo "a <<EOF" && cat <<<EOF\nRUN b\n')
    assert [one.keyword for one in read.instructions] == ["RUN", "RUN"]


def test_a_here_document_without_an_end_takes_the_rest() -> None:
    read = read_dockerfile(b"RUN <<EOF\na\n")
    assert read.data[slice(*read.instructions[0].heredocs[0].body)] == b"a\n"


def test_words_of_both_forms() -> None:
    data = (
        b'FROM x AS y\nCOPY --from=y --chown=1 a \\\n  b /d/\nCOPY ["a b", "c\\u0064", \\\n "/e/"]\nRUN [ -f x ] && y\n'
    )
    base, copy, strings, run = read_dockerfile(data).instructions
    assert [one.text for one in base.words] == ["x", "AS", "y"]
    assert [one.text for one in copy.flags] == ["--from=y", "--chown=1"]
    assert [one.text for one in copy.words] == ["a", "b", "/d/"]
    assert [one.text for one in strings.words] == ["a b", "cd", "/e/"]
    assert [data[slice(*one.span)] for one in strings.words] == [b'"a b"', b'"c\\u0064"', b'"/e/"']
    assert run.strings is None


def test_stages_are_counted() -> None:
    read = read_dockerfile(b"ARG A\nFROM x\nRUN a\nFROM y\nRUN b\n")
    assert [one.stage for one in read.instructions] == [-1, 0, 0, 1, 1]


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"\xef\xbb\xbfFROM x\n", b"\x00\xff\n", b"RUN", b"RUN \\", b"# escape=`", b"<<EOF\n"]
)
def test_whatever_bytes_are_read(data: bytes) -> None:
    read = read_dockerfile(data)
    assert all(one.span.stop <= len(data) for one in read.instructions)


@pytest.mark.slow
@pytest.mark.parametrize("piece", [b"RUN a\n", b"  a && \\\n", b"# c\n", b'RUN "<<A\n', b"RUN <<E\nE\n", b"\\\n"])
def test_eight_times_the_size_takes_no_sixty_four_times_the_time(piece: bytes) -> None:
    def seconds(size: int) -> float:
        start = time.process_time()
        read_dockerfile(b"RUN x \\\n" + piece * (size // len(piece)))
        return time.process_time() - start

    assert seconds(160_000) < 30 * max(seconds(20_000), 0.005)
