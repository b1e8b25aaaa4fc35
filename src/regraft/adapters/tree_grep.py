"""Looks for words in the files of a tree, without a checkout."""

from collections.abc import Iterator, Sequence

from regraft.adapters.git import At, Git
from regraft.adapters.object_store import ObjectStore
from regraft.adapters.scratch_index import failure
from regraft.core.objects import Tree
from regraft.core.patterns import regex
from regraft.core.references import Hit, in_bytes

OTHER = 1024 * 1024  # bytes of a file that is no text
BATCH = 32  # of those, read at once
HITS = 2_000  # lines that refer to something; more are not read

_FILES = frozenset({"100644", "100755"})
_NO_TEXT = regex(
    rb"(?is).*\.(?:png|jpe?g|gif|bmp|ico|webp|tiff?|pdf|mp[34]|wav|ogg|webm|mov|avi|zip|gz|tgz|bz2|xz|zst|7z|tar|jar|whl|woff2?|ttf|otf|eot|safetensors|npy|npz|pt|pth|onnx|gguf|parquet)"
)
_HIT = regex(rb"([^\0]+)\0([0-9]+)[\0:]([^\n]*)\n")


def grep(git: Git, store: ObjectStore, tree: Tree, words: Sequence[bytes], most: int = HITS) -> tuple[Hit, ...]:
    """The lines of a tree's text files, all of which are here, in which one of the words stands as a whole: `most` of them."""
    if not words:
        return ()
    asked = [argument for word in words for argument in ("-e", word.decode("utf-8", "surrogateescape"))]
    arguments = ["grep", "-z", "-n", "-I", "-F", "-w", "--no-color", "--full-name", *asked, tree, "--"]
    completed = git.run(arguments, At(git_dir=store.git_dir))
    if completed.returncode not in (0, 1) or completed.stderr:
        raise failure(completed)
    return tuple(_hits(completed.stdout, f"{tree}:".encode(), most))


def grep_others(git: Git, store: ObjectStore, tree: Tree, words: Sequence[bytes]) -> tuple[tuple[Hit, ...], int]:
    """The same in the files that are no text for git, one line of each: UTF-16, or a NUL byte in them.

    And how many were not looked into: pictures, archives and the like, and what holds more than `OTHER` bytes.
    """
    if not words:
        return (), 0
    completed = git.run(
        ["grep", "-z", "-l", "-I", "--no-color", "--full-name", "-e", "", tree, "--"], At(git_dir=store.git_dir)
    )
    if completed.returncode not in (0, 1) or completed.stderr:
        raise failure(completed)
    texts = {name.removeprefix(f"{tree}:".encode()) for name in completed.stdout.split(b"\0")}
    entries = [one for one in store.list_tree(tree) if one.mode in _FILES and one.path not in texts]
    asked = [one for one in entries if not _NO_TEXT.fullmatch(one.path)]
    hits, left = [], len(entries) - len(asked)
    for at in range(0, len(asked), BATCH):
        batch = asked[at : at + BATCH]
        found = store.find_blobs([one.oid for one in batch], OTHER)
        left += sum(one.oid not in found for one in batch)
        hits += [in_bytes(words, one.path, found[one.oid]) for one in batch if one.oid in found]
    return tuple(hit for hit in hits if hit is not None), left


def _hits(output: bytes, prefix: bytes, most: int) -> Iterator[Hit]:
    for count, match in enumerate(_HIT.finditer(output)):
        if count >= most:
            return
        yield Hit(match[1].removeprefix(prefix), int(match[2]), match[3])
