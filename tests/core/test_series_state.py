"""Patches and series: how states fold, what a stack hides, and what people reported. One tree, in memory."""

import difflib
import hashlib
import itertools
from collections.abc import Sequence

import pytest

from regraft.core.patch_read import read_patch_text
from regraft.core.patch_state import fold_patch, fold_series
from regraft.core.plan import PatchState
from regraft.core.series_state import SeriesVerdict, judge_series
from regraft.core.tree_view import TreeView
from regraft.core.trees import Entry

Files = dict[str, bytes]


def oid(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def diff(old: Files, new: Files, *, plain: bool = False) -> bytes:
    """As git writes it: from one tree to another."""
    parts: list[bytes] = []
    for path in sorted(old.keys() | new.keys()):
        before, after = old.get(path), new.get(path)
        if before == after:
            continue
        name = path.encode()
        if not plain:
            parts.append(b"diff --git a/%s b/%s\n" % (name, name))
            parts += [b"new file mode 100644\n"] if before is None else []
            parts += [b"deleted file mode 100644\n"] if after is None else []
            names = [oid(text)[:9].encode() if text is not None else b"0" * 9 for text in (before, after)]
            parts.append(b"index %s..%s%s\n" % (*names, b" 100644" if None not in (before, after) else b""))
        sides = [(text or b"").splitlines(keepends=True) for text in (before, after)]
        froms = [b"/dev/null" if text is None else side + name for text, side in ((before, b"a/"), (after, b"b/"))]
        for row in difflib.diff_bytes(difflib.unified_diff, *sides, *froms, lineterm=b"\n"):
            parts.append(row if row.endswith(b"\n") else row + b"\n\\ No newline at end of file\n")
    return b"".join(parts)


def judge(now: Files, *patches: bytes, bases: Sequence[Files] = ()) -> SeriesVerdict:
    """`bases` are trees whose files are at hand, as in a clone with history."""
    blobs = {oid(content): content for tree in (now, *bases) for content in tree.values()}
    entries = {path.encode(): Entry("100644", "blob", oid(content), path.encode()) for path, content in now.items()}
    view = TreeView(
        entries,
        blobs.__getitem__,
        lambda begin: next((content for name, content in blobs.items() if name.startswith(begin)), None),
    )
    texts = [read_patch_text(data, strip=1, exists=entries.__contains__) for data in patches]
    return judge_series(texts, view)


def states(verdict: SeriesVerdict) -> list[str]:
    return [one.state for one in verdict.patches]


def reason(verdict: SeriesVerdict, number: int = 1) -> str:
    return verdict.patches[number - 1].reason or ""


def result(verdict: SeriesVerdict) -> Files:
    overlay = verdict.overlay
    entries = [overlay.entry(path) for path in overlay.paths()]
    return {entry.name: overlay.content(entry) for entry in entries if entry is not None}


def text(count: int = 30, **changed: str) -> bytes:
    """`line 1` to `line 30`; `_10="ten"` makes the tenth another, "" takes it out."""
    texts = {f"_{number}": f"line {number}" for number in range(1, count + 1)} | changed
    return "".join(f"{line}\n" for line in texts.values() if line).encode()


PLAIN, TEN = text(), text(_10="ten")
KEPT: Files = {"kept": b"k\n"}


# ---- folding

WORST: tuple[PatchState, ...] = ("unreadable", "target-gone", "conflict", "partial")


@pytest.mark.parametrize(
    ("parts", "patch", "series"),
    [
        (["applies"], "applies", "applies"),
        (["already-there"], "already-there", "already-there"),
        (["applies", "already-there"], "partial", "applies"),
        (["partial", "applies"], "partial", "partial"),
        *(([worst, "applies", "already-there"], worst, worst) for worst in WORST),
        *(([worse, better], worse, worse) for worse, better in itertools.combinations(WORST, 2)),
    ],
)
def test_states_fold(parts: list[PatchState], patch: PatchState, series: PatchState) -> None:
    assert fold_patch(parts) == patch
    assert fold_patch(reversed(parts)) == patch
    assert fold_series(parts) == series
    assert fold_series([]) is None


def test_a_mode_that_is_there_keeps_nothing_from_applying() -> None:
    mode = b"diff --git a/kept b/kept\nold mode 100755\nnew mode 100644\n"
    verdict = judge({"f": PLAIN} | KEPT, diff({"f": PLAIN}, {"f": TEN}) + mode)
    assert (states(verdict), reason(verdict)) == (["applies"], "kept: its mode is there already")
    assert states(judge(KEPT, mode)) == ["already-there"]


# ---- stacks

ONE, TWO, THREE = (
    text(_10="ten\nand a block\nof three"),
    text(_10="ten\nand another block\nof three"),
    text(_10="10", _25="x"),
)
STACK = (diff({"f": PLAIN}, {"f": ONE}), diff({"f": ONE}, {"f": TWO}), diff({"f": TWO}, {"f": THREE}))


def test_a_stack_applies_in_its_order() -> None:
    verdict = judge({"f": PLAIN}, *STACK)
    assert (states(verdict), verdict.state) == (["applies"] * 3, "applies")
    assert result(verdict) == {"f": THREE}


@pytest.mark.parametrize(
    ("landed", "expected"),
    [
        (ONE, ["already-there", "applies", "applies"]),
        (TWO, ["already-there", "already-there", "applies"]),
        (THREE, ["already-there"] * 3),
        (b"top\n" + THREE, ["already-there"] * 3),
    ],
)
def test_what_landed_of_a_stack_is_seen_below_what_landed_on_it(landed: bytes, expected: list[str]) -> None:
    """https://github.com/ROCm/rocm-systems/pull/5728: every rebuild after the first one fails."""
    verdict = judge({"f": landed}, *STACK)
    assert states(verdict) == expected
    assert result(verdict)["f"].removeprefix(b"top\n") == THREE


def test_a_stack_of_which_the_first_is_asked_about_alone_is_not_said_to_be_there() -> None:
    verdict = judge({"f": TWO}, STACK[0])
    assert states(verdict) == ["conflict"]
    assert states(judge({"f": TWO}, *STACK[:2])) == ["already-there", "already-there"]
    assert "below later patches" in reason(judge({"f": TWO}, *STACK[:2]))


def test_two_diffs_of_one_file_in_one_text_are_one_after_the_other() -> None:
    both = STACK[0] + STACK[1]
    assert result(judge({"f": PLAIN}, both)) == {"f": TWO}
    assert states(judge({"f": TWO}, both)) == ["already-there"]
    assert states(judge({"f": ONE}, both)) == ["partial"]
    assert states(judge({"f": text(_10="else")}, both)) == ["conflict"]


def test_files_that_change_places_are_judged_together() -> None:
    swap = b"".join(
        b"diff --git a/%s b/%s\nsimilarity index 100%%\nrename from %s\nrename to %s\n" % (a, b, a, b)
        for a, b in ((b"a", b"b"), (b"b", b"a"))
    )
    verdict = judge({"a": b"1\n", "b": b"2\n"}, swap)
    assert states(verdict) == ["applies"]
    assert result(verdict) == {"a": b"2\n", "b": b"1\n"}


def test_an_edit_and_a_rename_of_one_file_that_git_would_take_apart() -> None:
    """Of two commits in one text git renames the file as it was, and brings the edited one back."""
    rename = b"diff --git a/f b/e\nsimilarity index 100%\nrename from f\nrename to e\n"
    verdict = judge({"f": PLAIN}, diff({"f": PLAIN}, {"f": TEN}) + rename)
    assert states(verdict) == ["conflict"]
    assert "ambiguous: the patch touches it more than once" in reason(verdict)


# ---- the usual probes' lies


def test_half_of_the_files_landed() -> None:
    old, new = {"a": PLAIN, "b": PLAIN}, {"a": TEN, "b": TEN}
    verdict = judge({"a": TEN, "b": PLAIN}, diff(old, new))
    assert (states(verdict), reason(verdict)) == (["partial"], "a there already; b still to be changed")
    assert result(verdict) == {"a": TEN, "b": PLAIN}


def test_landed_and_edited_beside_is_still_there() -> None:
    """The reverse check loses a fix when the line after it is edited."""
    patch = diff({"f": PLAIN}, {"f": TEN})
    now = {"f": text(_10="ten", _11="eleven")}
    assert states(judge(now, patch)) == ["conflict"]
    verdict = judge(now, patch, bases=[{"f": PLAIN}])
    assert (states(verdict), reason(verdict)) == (
        ["already-there"],
        "f: a larger change contains it",
    )


def test_a_patch_that_deletes_what_never_existed_is_not_there() -> None:
    patch = diff({"gone": b"x\n", "f": PLAIN}, {"f": PLAIN})
    never = judge({"f": PLAIN}, patch)
    assert (states(never), "nothing shows that it ever was" in reason(never)) == (["conflict"], True)


def test_a_file_that_is_gone_is_no_proof_that_it_was_deleted_and_not_moved() -> None:
    """It may be `other` now, with an edit; a tree alone cannot tell."""
    patch = diff({"gone": PLAIN} | KEPT, KEPT)
    for now in (KEPT, {"other": text(_3="edited")} | KEPT):
        verdict = judge(now, patch, bases=[{"gone": PLAIN}])
        assert (states(verdict), "no tree tells whether" in reason(verdict)) == (["conflict"], True)


def test_a_change_that_a_patch_makes_twice_is_a_conflict_and_not_there() -> None:
    """Git refuses the second one. Nothing of it is upstream."""
    patch = diff({"f": PLAIN}, {"f": TEN})
    verdict = judge({"f": PLAIN}, patch + patch)
    assert (states(verdict), "makes the same change" in reason(verdict)) == (["conflict"], True)
    assert states(judge({"f": TEN}, patch + patch)) == ["already-there"]


# ---- what people reported


def test_five_patches_carried_over_a_version_get_five_verdicts() -> None:
    """https://github.com/radixark/miles/pull/3321"""
    old = dict.fromkeys(("same", "larger", "replaced", "honest"), PLAIN)
    patches = [
        diff({"same": PLAIN}, {"same": TEN}),
        diff({"larger": PLAIN}, {"larger": TEN}),
        diff({"replaced": PLAIN}, {"replaced": TEN}),
        diff({"honest": PLAIN}, {"honest": TEN}),
    ]
    helper = b"def helper_one():\n    pass\n\ndef helper_two():\n    pass\n"
    now = {
        "same": TEN,
        "larger": text(_9="before it", _10="ten\nand more"),
        "replaced": helper,
        "honest": text(_10="TEN"),
    }
    verdict = judge(now, *patches, bases=[old])
    assert states(verdict) == ["already-there", "already-there", "conflict", "conflict"]
    assert "a larger change contains it" in reason(verdict, 2)
    assert "the block no longer exists at this path" in reason(verdict, 3)
    assert "hunk 1 of 1 does not fit" in reason(verdict, 4)


def test_each_file_has_its_own_answer_where_only_a_test_fails() -> None:
    """https://github.com/eugr/spark-vllm-docker/issues/167"""
    old = dict.fromkeys(("csrc/a.cu", "ops/b.py", "tests/test_b.py"), PLAIN)
    verdict = judge(
        {"csrc/a.cu": b"new\n" * 6 + PLAIN, "ops/b.py": PLAIN, "tests/test_b.py": text(_9="other", _11="other")},
        diff(old, dict.fromkeys(old, TEN)),
    )
    [patch] = verdict.patches
    assert [(one.path, one.state) for one in patch.files] == [
        (b"csrc/a.cu", "applies"),
        (b"ops/b.py", "applies"),
        (b"tests/test_b.py", "conflict"),
    ]
    assert [hunk.offset for one in patch.files for hunk in one.hunks] == [6, 0, None]
    assert patch.state == "conflict"
    assert "tests/test_b.py" in str(patch.reason)
    assert "2 of 3 files would fit" in str(patch.reason)
    assert verdict.overlay.made == {}


def test_a_failing_patch_does_not_hide_the_next() -> None:
    """https://github.com/eugr/spark-vllm-docker/issues/344"""
    first = diff({"f": text(_10="k = 4")}, {"f": text(_10="k = 4 * n")})
    second = diff({"g": PLAIN}, {"g": TEN})
    verdict = judge({"f": text(_10="k = compute_k(n)"), "g": PLAIN}, first, second)
    assert (states(verdict), verdict.state) == (["conflict", "applies"], "conflict")
    assert "a line that it removes is no longer there" in reason(verdict)


def test_half_of_a_file_is_never_made() -> None:
    """https://github.com/eugr/spark-vllm-docker/issues/33"""
    verdict = judge({"f": text(_25="other")}, diff({"f": PLAIN}, {"f": text(_3="three", _25="x")}, plain=True))
    assert states(verdict) == ["conflict"]
    assert [hunk.state for hunk in verdict.patches[0].files[0].hunks] == ["applies", "conflict"]
    assert verdict.overlay.made == {}


def test_a_patch_that_lost_its_last_line_and_one_with_an_invented_index_line() -> None:
    """https://github.com/vllm-project/vime/pull/230"""
    patch = diff({"f": PLAIN}, {"f": TEN})
    cut = b"".join(patch.splitlines(keepends=True)[:-1])
    head, rest = patch.split(b"\n", 1)
    invented = head + b"\nindex 1234567..abcdef0 100644\n" + rest.split(b"\n", 1)[1]
    verdict = judge({"f": PLAIN}, cut, invented)
    assert states(verdict) == ["unreadable", "applies"]
    assert "corrupt patch at line" in reason(verdict)


def test_an_unrelated_edit_does_not_make_a_patch_look_landed() -> None:
    """https://github.com/NVIDIA-NeMo/RL/pull/3494"""
    patch = diff({"f": PLAIN}, {"f": TEN})
    assert states(judge({"f": text(_25="a local edit")}, patch)) == ["applies"]
    assert states(judge({"f": TEN}, patch)) == ["already-there"]


def test_a_fix_with_one_renamed_variable_is_not_the_same_fix() -> None:
    """https://github.com/LMCache/LMCache/pull/640"""
    old, carried, upstream = (text(_10=line) for line in ("use(x)", "use(size or x)", "use(length or x)"))
    assert states(judge({"f": upstream}, diff({"f": old}, {"f": carried}), bases=[{"f": old}])) == ["conflict"]


def test_new_files_of_a_patch_for_another_release_do_not_make_it_partial() -> None:
    """https://github.com/vllm-project/vllm-ascend/issues/8727"""
    old, new = {"f": PLAIN}, {"f": TEN, "n": b"new  \r\nfile\r\n"}
    verdict = judge({"f": text(_9="v1", _10="v1", _11="v1")}, diff(old, new))
    assert states(verdict) == ["conflict"]
    assert "1 of 2 files would fit" in reason(verdict)
    assert "white space" not in reason(verdict)


@pytest.mark.parametrize(("now", "state"), [(text(_9="other"), "conflict"), (PLAIN, "applies")])
def test_a_mode_is_a_note_and_the_hunk_decides(now: bytes, state: str) -> None:
    """https://github.com/dusty-nv/jetson-containers/issues/847"""
    patch = diff({"f": PLAIN}, {"f": TEN}).replace(b" 100644\n", b" 100755\n")
    verdict = judge({"f": now}, patch)
    assert states(verdict) == [state]
    assert ("its mode is 100644, and the patch was made for 100755" in reason(verdict)) == (state == "applies")


def test_one_of_three_guards_is_in_the_release_already() -> None:
    """https://github.com/ai-dynamo/dynamo/pull/13616"""
    verdict = judge({"f": text(_15="b")}, diff({"f": PLAIN}, {"f": text(_3="a", _15="b", _28="c")}))
    assert (states(verdict), reason(verdict)) == (["partial"], "f: hunk 2 of 3 is there already, the others still fit")
    assert [hunk.state for hunk in verdict.patches[0].files[0].hunks] == ["applies", "already-there", "applies"]


def test_order_is_found_by_trying_and_not_in_names() -> None:
    """https://github.com/syv-ai/qwen38-27b-rtx3090/pull/54"""
    with_block = text(_10="line 10\n# a block")
    a = diff({"f": PLAIN}, {"f": with_block})
    b = diff({"f": PLAIN}, {"f": text(_25="x")})
    c = diff({"f": with_block}, {"f": text(_10="line 10\n# a block", _11="eleven")})
    assert states(judge({"f": PLAIN}, c)) == ["conflict"]
    assert states(judge({"f": PLAIN}, a, c)) == ["applies", "applies"]
    assert states(judge({"f": PLAIN}, b, c)) == ["applies", "conflict"]


def test_a_compatibility_patch_over_four_versions() -> None:
    """https://github.com/verl-project/verl/pull/7779"""
    names = ("a", "b", "c", "d")
    old, new = dict.fromkeys(names, PLAIN), dict.fromkeys(names, TEN)
    patch = diff(old, new)
    two = old | {"b": TEN, "d": TEN}
    assert states(judge(old, patch)) == ["applies"]
    verdict = judge(two, patch)
    assert (states(verdict), reason(verdict)) == (["partial"], "b, d there already; a, c still to be changed")
    assert states(judge(new, patch)) == ["already-there"]
    assert states(judge({"z": b""}, patch)) == ["target-gone"]
    assert states(judge(dict.fromkeys(names, b"foreign\n"), patch)) == ["conflict"]


def test_the_authors_own_folder_in_the_headers_gets_a_hint() -> None:
    """https://github.com/tonyd2wild/DeepSeek-V4.1-Flash-vLLM-DGX-Spark/pull/4"""
    patch = diff({"private/tmp/x/attention.py": PLAIN}, {"private/tmp/x/attention.py": TEN})
    verdict = judge({"pkg/models/attention.py": PLAIN}, patch)
    assert states(verdict) == ["target-gone"]
    assert "one file has that name: pkg/models/attention.py, and the hunks fit there" in reason(verdict)


def test_a_change_of_a_file_that_was_never_there() -> None:
    """https://github.com/status-im/status-go/pull/647"""
    patch = b"diff --git a/n b/n\n--- a/n\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+b\n"
    verdict = judge(KEPT, patch)
    assert states(verdict) == ["target-gone"]
    assert "old side is empty: probably a new file" in reason(verdict)


def test_what_fits_with_fuzz_only_is_a_conflict_and_still_needed() -> None:
    """https://github.com/Igalia/meta-webkit/pull/471"""
    verdict = judge({"f": text(_7="moved on")}, diff({"f": PLAIN}, {"f": TEN}))
    assert (states(verdict), "the lines around it changed" in reason(verdict)) == (["conflict"], True)


def test_a_new_script_without_a_mode_is_said() -> None:
    """https://github.com/unraid/webgui/pull/2678"""
    verdict = judge(KEPT, diff({}, {"run.sh": b"#!/bin/sh\necho\n"}, plain=True))
    assert states(verdict) == ["applies"]
    assert "interpreter line" in reason(verdict)


def test_only_content_tells_whether_a_tree_is_patched() -> None:
    """https://github.com/qualcomm/cpullvm-toolchain/issues/22: a marker survived a change of branches."""
    patch = diff({"f": PLAIN}, {"f": TEN})
    assert states(judge({"f": PLAIN, "patched-marker": b"yes\n"}, patch)) == ["applies"]


def test_a_second_run_over_a_series_is_all_there_and_a_mixed_tree_is_told_by_patch() -> None:
    """https://github.com/ollama/ollama/pull/17948"""
    first, second = diff({"f": PLAIN}, {"f": TEN}), diff({"g": PLAIN}, {"g": TEN})
    once = judge({"f": PLAIN, "g": PLAIN}, first, second)
    again = judge(result(once), first, second)
    assert (states(again), again.state) == (["already-there", "already-there"], "already-there")
    assert result(again) == result(once)
    assert states(judge({"f": TEN, "g": PLAIN}, first, second)) == ["already-there", "applies"]
