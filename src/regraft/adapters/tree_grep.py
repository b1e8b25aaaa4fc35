"""Looks for words in the files of a tree, without a checkout."""

from collections.abc import Iterator, Sequence

from regraft.adapters.git import At, Git
from regraft.adapters.object_store import ObjectStore
from regraft.adapters.scratch_index import failure
from regraft.core.patterns import regex
from regraft.core.references import Hit

HITS = 2_000  # lines that refer to something; more are not read

_HIT = regex(rb"([^\0]+)\0([0-9]+)[\0:]([^\n]*)\n")


def grep(git: Git, store: ObjectStore, tree: str, words: Sequence[bytes], most: int = HITS) -> tuple[Hit, ...]:
    """The lines of a tree's text files, all of which are here, in which one of the words stands as a whole: `most` of them."""
    if not words:
        return ()
    asked = [argument for word in words for argument in ("-e", word.decode("utf-8", "surrogateescape"))]
    arguments = ["grep", "-z", "-n", "-I", "-F", "-w", "--no-color", "--full-name", *asked, tree, "--"]
    completed = git.run(arguments, At(git_dir=store.git_dir))
    if completed.returncode not in (0, 1) or completed.stderr:
        raise failure(completed)
    return tuple(_hits(completed.stdout, f"{tree}:".encode(), most))


def _hits(output: bytes, prefix: bytes, most: int) -> Iterator[Hit]:
    for count, match in enumerate(_HIT.finditer(output)):
        if count >= most:
            return
        yield Hit(match[1].removeprefix(prefix), int(match[2]), match[3])
