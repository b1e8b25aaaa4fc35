"""`regraft patch status`: what it says of each carried patch at each ref, and what it advises."""

import base64
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).parent / "golden"
Lines = Callable[..., str]


def grounds(lab: Any, patch: str, *words: str) -> tuple[str, str]:
    """The action and its grounds, as `why` has them."""
    row = lab.row("why", patch, *words)
    return row["action"], "\n".join(row["grounds"])


def notes(lab: Any, patch: str, *words: str) -> dict[str, str]:
    return {one["code"]: one["message"] for one in lab.row("why", patch, *words)["notes"]}


@pytest.fixture
def three(lab: Any, lines: Lines) -> Any:
    """Upstream took the first change, rewrote what the second needs, and left the third alone (eight lines further down)."""
    lab.upstream.commit({"a.py": lines(), "b.py": lines(), "c.py": lines()}, "Begin")
    before = {"a.py": lines(), "b.py": lines(), "c.py": lines()}
    lab.carry(
        {
            "p/landed.patch": lab.diff(before, {"a.py": lines(l20="fixed")}),
            "p/lost.patch": lab.diff(before, {"b.py": lines(l20="fixed")}),
            "p/fits.patch": lab.diff(before, {"c.py": lines(l20="fixed")}),
        }
    )
    lab.upstream.commit({"a.py": lines(l20="fixed")}, "Fix a (#7)")
    lab.upstream.commit(
        {"b.py": lines(l20="other"), "c.py": "new\n" * 8 + lines()}, "Rewrite b\n\nPR-URL: https://x.org/o/r/pull/8"
    )
    return lab


def test_all_are_judged_in_one_run_although_one_is_there_and_one_does_not_fit(three: Any) -> None:
    code, out, _ = three.run("status")
    assert code == 1
    first = [line for line in out.splitlines() if not line.startswith(" ")]
    assert [line.split()[:2] for line in first[:3]] == [
        ["already-there", "p/landed.patch"],
        ["conflict", "p/lost.patch"],
        ["applies", "p/fits.patch"],
    ]
    assert first[3] == "3 patches at 1 commit: applies 1, already-there 1, conflict 1"
    assert "  1 hunks fit away from their own lines (+8)" in out
    assert "  -> drop it: its change came in with" in out


def test_the_json_is_the_documented_one(three: Any) -> None:
    code, out, _ = three.run("status", "--format", "json")
    assert code == 1
    commits = three.upstream.git("rev-list", "--reverse", "main").decode().split()
    golden = (GOLDEN / "status.json").read_text()
    for at, commit in enumerate(commits):
        golden = golden.replace(f"COMMIT-{at}", commit)
    assert out == golden


def test_the_json_says_where_each_hunk_fits(three: Any) -> None:
    row = three.row("status", "fits.patch")
    assert list(row) == [
        "image",
        "dependency",
        "patch",
        "ref",
        "commit",
        "state",
        "reason",
        "hunks",
        "culprit",
        "action",
    ]
    assert row["hunks"] == [{"file": "c.py", "index": 1, "state": "applies", "offset": 8}]
    row = three.row("status", "p/lost.patch")
    assert row["culprit"] == {"commit": three.upstream.heads["main"], "subject": "Rewrite b", "pull": 8}
    assert row["action"] == "pin"


def test_hunks_are_shown_on_request(three: Any) -> None:
    assert "c.py hunk 1 applies (offset +8)" in three.run("status", "--hunks")[1]
    assert "hunk 1 applies" not in three.run("status")[1]


def test_each_patch_at_each_ref(three: Any) -> None:
    three.upstream.tag("v1", three.upstream.git("rev-parse", "main~2").decode().strip())
    rows = three.json("status", "--at", "v1", "--at", "main")
    assert [(row["ref"], row["patch"], row["state"]) for row in rows] == [
        ("v1", "p/landed.patch", "applies"),
        ("v1", "p/lost.patch", "applies"),
        ("v1", "p/fits.patch", "applies"),
        ("main", "p/landed.patch", "already-there"),
        ("main", "p/lost.patch", "conflict"),
        ("main", "p/fits.patch", "applies"),
    ]
    assert three.run("status", "--at", "v1")[0] == 0


def test_one_would_stop_a_run_and_the_chosen_ones_would_not(three: Any) -> None:
    assert three.run("status", "p/fits.patch", "p/landed.patch")[0] == 0
    assert three.run("status", "lost.patch")[0] == 1


def test_pull_requests_short_hashes_and_full_ones_are_refs(three: Any) -> None:
    first = three.upstream.git("rev-parse", "main~2").decode().strip()
    three.upstream.git("update-ref", "refs/pull/5/head", first)
    for ref in ("#5", first, first[:9], f"#5@{first}"):
        assert three.row("status", "lost.patch", "--at", ref)["commit"] == first
    code, _, err = three.run("status", "--at", "#6", "--at", "nowhere")
    assert code == 2
    assert "refs for #6 could not be fetched" in err
    assert "has no branch and no tag 'nowhere'" in err


def test_a_commit_that_no_ref_leads_to_is_refused(three: Any, lines: Lines) -> None:
    stray = three.upstream.commit({"a.py": lines()}, branch="stray")
    three.upstream.git("update-ref", "-d", "refs/heads/stray")
    code, _, err = three.run("status", "--at", stray)
    assert (code, "[unreachable]" in err) == (2, True)


def test_a_patch_that_no_manifest_names_gets_the_nearest_name(three: Any) -> None:
    for command in ("status", "why", "refresh"):
        code, _, err = three.run(command, "p/lots.patch")
        assert code == 2
        assert "did you mean p/lost.patch?" in err
    code, _, err = three.run("status", "--image", "ii", "--dependency", "deb")
    assert code == 2
    assert "did you mean i?" in err
    assert "did you mean dep?" in err


def test_no_patches_is_an_answer_and_standard_input_is_not_read(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Untouched:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

    monkeypatch.setattr("sys.stdin", Untouched())
    lab.upstream.commit({"a.py": "a\n"})
    lab.carry({})
    assert lab.run("status") == (0, "no patches: the manifest carries none here\n", "")
    assert lab.run("history", "--last", "3")[:2] == (0, "no patches: the manifest carries none here\n")
    assert lab.json("status") == []


def test_the_first_of_a_stack_that_is_asked_about_alone_is_judged_with_the_others(lab: Any, lines: Lines) -> None:
    """Both came in, and the second overwrote the first: alone, the first would be a conflict."""
    lab.upstream.commit({"a.py": lines()})
    one, two = lines(l20="one"), lines(l20="two")
    lab.carry(
        {"1.patch": lab.diff({"a.py": lines()}, {"a.py": one}), "2.patch": lab.diff({"a.py": one}, {"a.py": two})}
    )
    lab.upstream.commit({"a.py": two}, "Take both")
    row = lab.row("status", "1.patch")
    assert (row["state"], row["action"]) == ("already-there", "drop")


def test_a_fix_that_landed_and_whose_neighbour_was_edited_is_still_there_and_can_be_dropped(
    lab: Any, lines: Lines
) -> None:
    lab.upstream.commit({"a.py": lines()})
    lab.carry({"p.patch": lab.diff({"a.py": lines()}, {"a.py": lines(l20="the real fix")})})
    landed = lab.upstream.commit({"a.py": lines(l20="the real fix")}, "Fix (#3)")
    lab.upstream.commit({"a.py": lines(l20="the real fix", l21="moved on")}, "Move on")
    row = lab.row("status")
    assert (row["state"], row["culprit"]["commit"], row["action"]) == ("already-there", landed, "drop")


def test_a_patch_newer_than_the_baked_tree_fits_from_a_later_commit_on(lab: Any, lines: Lines) -> None:
    """https://github.com/eugr/spark-vllm-docker/issues/261: the image was not rebuilt."""
    old = lab.upstream.commit({"a.py": lines()})
    new = lab.upstream.commit({"a.py": lines(l20="new")}, "New line (#4)")
    last = lab.upstream.commit({"b.py": "b\n"})
    lab.upstream.tag("v2", last)
    lab.upstream.tag("v1", old)
    lab.carry({"p.patch": lab.diff({"a.py": lines(l20="new")}, {"a.py": lines(l20="newer")})})
    action, said = grounds(lab, "p.patch", "--at", "v1")
    assert action == "by-hand"
    assert f"it fits dep from {new[:12]} (in tag v2) on" in said
    assert "what i holds of dep is not known" in said
    (lab.project / "baselines").mkdir()
    held = {"commit": old, "tree": None, "patches": [], "distributions": {}}
    baseline = {"schema": "regraft.baseline/1", "image": "i", "reference": None, "dependencies": {"dep": held}}
    (lab.project / "baselines/i.json").write_text(json.dumps(baseline | {"environment": [], "python": None}))
    action, said = grounds(lab, "p.patch", "--at", "v1")
    assert action == "rebuild"
    assert "which is older: rebuild the image" in said


def test_it_fits_behind_another_patch_which_is_found_by_trying(lab: Any, lines: Lines) -> None:
    """https://github.com/syv-ai/qwen38-27b-rtx3090/pull/54: the order is hidden in file names."""
    lab.upstream.commit({"f.py": lines()})
    commented = lines(l20="line 20\n# a comment\n# of two lines")
    first = lab.diff({"f.py": lines()}, {"f.py": commented})
    other = lab.diff({"f.py": lines()}, {"f.py": lines(l35="other")})
    third = lab.diff({"f.py": commented}, {"f.py": commented.replace("line 21", "mine")})
    lab.carry({"a-third.patch": third, "b-other.patch": other, "c-first.patch": first})
    action, said = grounds(lab, "a-third.patch")
    assert action == "by-hand"
    assert said == "it fits after c-first.patch (tried; not after b-other.patch): list it behind that one"


def test_a_patch_that_is_called_after_a_commit_is_tried_there_too(lab: Any, lines: Lines) -> None:
    """https://github.com/dusty-nv/jetson-containers/issues/847: it does not fit the commit that it is named after."""
    named = lab.upstream.commit({"a.py": lines()})
    lab.upstream.commit({"a.py": lines(l3="x")})
    wrong = lab.diff({"a.py": lines(l20="never")}, {"a.py": lines(l20="fixed", l22="too")})
    right = lab.diff({"a.py": lines()}, {"a.py": lines(l3="y")})
    lab.carry({f"dep-{named[:10]}.patch": wrong, f"{named}-right.patch": right})
    said = notes(lab, f"dep-{named[:10]}.patch")["commit-in-name"]
    assert said == f"its name holds commit {named[:12]}: it does not fit there either (conflict)"
    assert notes(lab, f"{named}-right.patch")["commit-in-name"].endswith("it fits there (applies)")


def test_upstream_solved_it_otherwise_is_a_hint_and_no_more(lab: Any, lines: Lines) -> None:
    """https://github.com/LMCache/LMCache/pull/640: the fix is in the release, with one variable renamed."""
    lab.upstream.commit({"a.py": lines()})
    mine = lines(l20="if cache is None:\n    cache = make_cache(size=config.limit)\nuse(cache, config)")
    theirs = (
        mine.replace("cache = make", "store = make").replace("if cache", "if store").replace("use(cache", "use(store")
    )
    lab.carry({"p.patch": lab.diff({"a.py": lines()}, {"a.py": mine})})
    by = lab.upstream.commit({"a.py": theirs}, "Make the store when it is needed (#9)")
    row = lab.row("status")
    assert row["state"] == "conflict"
    assert f"looks solved upstream in commit {by[:12]} (#9), not identical" in row["reason"]
    assert row["action"] != "drop"


def test_what_upstream_wrote_there_and_does_something_else_is_no_hint(lab: Any, lines: Lines) -> None:
    lab.upstream.commit({"a.py": lines()})
    lab.carry(
        {"p.patch": lab.diff({"a.py": lines()}, {"a.py": lines(l20="if cache is None:\n    cache = make_cache()")})}
    )
    lab.upstream.commit({"a.py": lines(l20="raise SystemExit('gone')\nprint(1, 2, 3)")})
    assert "looks-solved" not in notes(lab, "p.patch")


def test_headers_with_a_scratch_folder_get_a_proposal_and_are_not_applied(lab: Any, lines: Lines) -> None:
    """https://github.com/tonyd2wild/DeepSeek-V4.1-Flash-vLLM-DGX-Spark/pull/4"""
    lab.upstream.commit({"pkg/models/attention.py": lines()})
    patch = lab.diff({"private/tmp/x/attention.py": lines()}, {"private/tmp/x/attention.py": lines(l20="x")})
    lab.carry({"p.patch": patch})
    assert lab.row("status")["state"] == "target-gone"
    action, said = grounds(lab, "p.patch")
    assert action == "by-hand"
    assert "--- a/pkg/models/attention.py +++ b/pkg/models/attention.py" in said


def test_made_for_another_version_is_a_note_on_a_patch_that_applies(lab: Any, lines: Lines) -> None:
    """https://github.com/medic/cht-core/issues/10416: probably fine, said the tool."""
    old = lab.upstream.commit({"a.py": lines()})
    new = lab.upstream.commit({"b.py": "b\n"})
    lab.upstream.tag("v3.2.2", old)
    lab.upstream.tag("v4.0.0", new)
    patch = lab.diff({"a.py": lines()}, {"a.py": lines(l20="x")})
    lab.carry(
        {"p.patch": f"{patch}-- \n2.39.5\n\nbase-commit: {old}\n", "q.patch": patch.replace("line 20", "line 20")}
    )
    assert notes(lab, "p.patch") == {"made-for": "made for v3.2.2, target is v4.0.0"}
    assert lab.row("status", "p.patch")["state"] == "applies"
    assert notes(lab, "p.patch", "--at", "v3.2.2") == {}


def test_the_bytes_that_were_judged_are_named_where_they_fit_no_more(three: Any) -> None:
    """https://github.com/kunobi-ninja/kache/pull/571: the pinned ref got the blame, and the patch's bytes differed."""
    row = three.row("why", "lost.patch")
    said = {one["code"]: one["message"] for one in row["notes"]}["judged-bytes"]
    blob = three.upstream.git("rev-parse", "main:b.py").decode()[:12]
    assert said == f"the patch's bytes have the sha256 {row['sha256'][:16]}; b.py {blob}"


def test_a_checkout_that_rewrote_the_patch_is_named_and_not_the_ref(lab: Any, lines: Lines) -> None:
    """https://github.com/kunobi-ninja/kache/pull/571: the same pin, and other bytes than the committed ones."""
    import subprocess

    lab.upstream.commit({"a.py": lines()})
    good = lab.diff({"a.py": lines()}, {"a.py": lines(l20="x")})
    lab.carry({"p.patch": good})
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for argv in (["init", "--quiet"], ["add", "--all"], [*who, "commit", "--quiet", "--message", "m"]):
        subprocess.run(["git", *argv], cwd=lab.project, check=True)
    assert "bytes-differ" not in notes(lab, "p.patch")
    (lab.project / "p.patch").write_bytes(good.replace("\n", "\r\n").encode())
    said = notes(lab, "p.patch")["bytes-differ"]
    assert said.startswith("the patch's bytes are not those that HEAD has: only the line ends differ")


def test_carriage_returns_are_named_as_the_cause(lab: Any, lines: Lines) -> None:
    """https://github.com/city96/ComfyUI-GGUF/issues/166"""
    lab.upstream.commit({"a.py": lines()})
    lab.carry({"p.patch": lab.diff({"a.py": lines()}, {"a.py": lines(l20="x")}).replace("\n", "\r\n")})
    row = lab.row("status")
    assert (row["state"], row["action"]) == ("unreadable", "by-hand")
    assert "without the carriage returns it would fit" in row["reason"]


def test_a_dockerfile_that_runs_patch_is_told_what_that_would_do(three: Any) -> None:
    dockerfile = "FROM x\nRUN cd /dep && \\\n    patch -p1 < /p/lost.patch\n"
    (three.project / "Dockerfile").write_text(dockerfile)
    manifest = (three.project / "regraft.toml").read_text()
    (three.project / "regraft.toml").write_text(
        manifest.replace("[images.i]\n", '[images.i]\ndockerfile = "Dockerfile"\n')
    )
    said = [line for line in three.run("status")[1].splitlines() if line.startswith("note: ")]
    assert len(said) == 1
    assert "Dockerfile:2 runs `patch`, which leaves out up to two lines of context (fuzz)" in said[0]
    (three.project / "Dockerfile").write_text(dockerfile.replace("patch -p1 <", "git apply"))
    assert "runs `patch`" not in three.run("status")[1]


@pytest.mark.parametrize(
    ("run", "count"),
    [
        ("patch -p1 -F0 < /p/lost.patch", None),
        ("patch -F 0 -p1 -i /p/lost.patch", None),
        ("patch --fuzz=0 -p1 < /p/lost.patch", None),
        ("patch -F3 --fuzz 0 -p1 < /p/lost.patch", None),
        ('["patch", "-F", "0", "-i", "/p/lost.patch"]', None),
        ("patch -F1 -p1 < /p/lost.patch", "a line"),
        ("sudo patch --fuzz=3 -p1 < /p/lost.patch", "3 lines"),
        ("patch -F0 < /p/a.patch && patch < /p/lost.patch", "two lines"),
        ("patch -F$N < /p/lost.patch", "two lines"),
    ],
)
def test_the_note_about_fuzz_reads_the_options_and_stands_where_machines_read_it(
    three: Any, run: str, count: str | None
) -> None:
    (three.project / "Dockerfile").write_text(f"FROM x\nRUN {run}\n")
    manifest = (three.project / "regraft.toml").read_text()
    (three.project / "regraft.toml").write_text(
        manifest.replace("[images.i]\n", '[images.i]\ndockerfile = "Dockerfile"\n')
    )
    row = three.row("why", "lost.patch")
    notes = [one["message"] for one in row["notes"] if one["code"] == "runs-patch"]
    said = [line for line in three.run("status")[1].splitlines() if "runs `patch`, which leaves" in line]
    assert len(notes) == len(said) == (count is not None)
    assert all(f"leaves out up to {count} of context" in one for one in (*notes, *said))


def test_what_fuzz_would_do_is_named(lab: Any, lines: Lines) -> None:
    """https://github.com/landley/toybox/issues/533: the line goes into another function."""
    text = "# of\n# two\n# functions\n"
    text += "".join(f"def {name}():\n    a\n    b\n    c\n    d\n\n\n" for name in ("one", "two"))
    mine = text.replace("def two():\n    a\n", "def two():\n    a\n    mine\n")
    lab.upstream.commit({"a.py": text})
    lab.carry({"p.patch": lab.diff({"a.py": text}, {"a.py": mine})}, image='dockerfile = "Dockerfile"')
    (lab.project / "Dockerfile").write_text("FROM x\nRUN patch -p1 -d /dep -i /p.patch\n")
    by = lab.upstream.commit({"a.py": text.replace("two():\n    a\n    b\n    c", "two():\n    a\n    z\n    c")})
    code, out, _ = lab.run("status")
    assert code == 1
    assert f"it would put hunk 1 of p.patch to a.py:3 with fuzz 2 at {by[:12]}" in out


def test_a_conflict_that_nothing_mends_pins_what_last_fitted(lab: Any, lines: Lines) -> None:
    """https://github.com/NVIDIA-NeMo/Speech/issues/248: the clone has no commit, so the result depends on the day."""
    good = lab.upstream.commit({"a.py": lines()})
    lab.carry({"p.patch": lab.diff({"a.py": lines()}, {"a.py": lines(l20="x")})})
    lab.upstream.commit({"a.py": lines(l20="y")})
    action, said = grounds(lab, "p.patch")
    assert action == "pin"
    assert f"it fitted up to {good[:12]}" in said
    (lab.project / "lock").write_text(good + "\n")
    manifest = (lab.project / "regraft.toml").read_text()
    (lab.project / "regraft.toml").write_text(
        manifest.replace('branch = "main"\n', 'branch = "main"\nlock = { file = "lock" }\n')
    )
    assert grounds(lab, "p.patch")[0] == "by-hand"


def test_half_of_the_hunks_landed(lab: Any, lines: Lines) -> None:
    """https://github.com/ai-dynamo/dynamo/pull/13616: one of three guards is in the pinned release."""
    lab.upstream.commit({"a.py": lines()})
    lab.carry({"p.patch": lab.diff({"a.py": lines()}, {"a.py": lines(l5="one", l20="two", l35="three")})})
    lab.upstream.commit({"a.py": lines(l20="two")})
    row = lab.row("status")
    assert (row["state"], row["action"]) == ("partial", "by-hand")
    assert [hunk["state"] for hunk in row["hunks"]] == ["applies", "already-there", "applies"]


@pytest.mark.parametrize(
    "words", [["status"], ["history", "--last", "5"], ["why", "lost.patch"], ["refresh", "lost.patch"]]
)
def test_each_command_is_not_zero_where_a_patch_does_not_fit(three: Any, words: list[str]) -> None:
    """https://github.com/ds300/patch-package/issues/241: an error was printed, and the exit code was 0."""
    for form in ("text", "json"):
        assert three.run(*words, "--format", form)[0] == 1


def test_drop_is_not_zero_where_a_patch_does_not_fit(three: Any) -> None:
    import subprocess

    subprocess.run(["git", "init", "--quiet"], cwd=three.project, check=True)
    subprocess.run(["git", "add", "--all"], cwd=three.project, check=True)
    code, _, err = three.run("drop", "p/lost.patch")
    assert (code, "[not-proved]" in err) == (1, True)
    assert three.run("drop", "p/landed.patch", "--dry-run")[0] == 0


def test_in_actions_the_page_and_the_annotations_say_it_too(three: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(three.root / "summary.md"))
    code, out, err = three.run("status", "--format", "json")
    assert (code, len(json.loads(out))) == (1, 3)
    first, second = err.splitlines()
    assert first.startswith("::notice title=regraft%3A patch-already-there::p/landed.patch: already-there at main")
    assert second.startswith("::error title=regraft%3A patch-conflict::p/lost.patch: conflict at main")
    page = (three.root / "summary.md").read_text()
    assert [line.split(" | ")[0] for line in page.splitlines()[4:7]] == ["| already-there", "| conflict", "| applies"]


def test_a_missing_patch_file_is_named_with_its_nearest(three: Any) -> None:
    (three.project / "p/lost.patch").rename(three.project / "p/last.patch")
    code, _, err = three.run("status")
    assert (code, "p/last.patch" in err) == (2, True)


def test_without_git_nothing_is_judged(three: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """https://github.com/okfn/docker-ckan/issues/168 and its like: a missing tool is an error of its own, and no state."""
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    code, out, err = three.run("status")
    assert (code, out) == (3, "")
    assert "git" in err


def patched(lab: Any, lines: Lines) -> None:
    """`p.patch` is applied by git and does not fit any more, `q.patch` is applied by `patch` and has landed."""
    lab.upstream.commit({"a.py": lines(), "b.py": lines()})
    p = lab.diff({"a.py": lines()}, {"a.py": lines(l20="x")})
    q = lab.diff({"b.py": lines()}, {"b.py": lines(l20="x")})
    lab.carry({"p.patch": p, "q.patch": q}, image='dockerfile = "Dockerfile"')
    (lab.project / "Dockerfile").write_text(
        "FROM x\nCOPY p.patch q.patch /p/\nRUN cd /dep && git apply /p/p.patch\nRUN cd /dep && patch -p1 -i /p/q.patch\n"
    )
    lab.upstream.commit({"a.py": lines(l22="y"), "b.py": lines(l20="x")})


def test_what_patch_would_do_is_said_of_the_patch_that_it_is_run_on(lab: Any, lines: Lines) -> None:
    patched(lab, lines)
    assert "runs `patch`" not in lab.run("why", "p.patch")[1]
    assert "it would put hunk" not in lab.run("status")[1]
    swapped = (lab.project / "Dockerfile").read_text().replace("git apply", "patch -p1 <")
    (lab.project / "Dockerfile").write_text(swapped)
    assert "Dockerfile:3 runs `patch`, which leaves out up to two lines of context" in lab.run("why", "p.patch")[1]


def test_a_loop_that_does_not_say_on_what_it_runs_patch_may_run_it_on_each(lab: Any, lines: Lines) -> None:
    patched(lab, lines)
    loop = "FROM x\nRUN for p in /p/*.patch; do patch -p1 < $p; done\n"
    (lab.project / "Dockerfile").write_text(loop)
    assert "runs `patch`, which leaves" in lab.run("why", "p.patch")[1]
    assert "runs `patch` on q.patch" in lab.run("why", "q.patch")[1]


def test_that_patch_stops_the_build_at_what_has_landed_is_said(lab: Any, lines: Lines) -> None:
    patched(lab, lines)
    code, out, _ = lab.run("why", "q.patch")
    assert code == 0
    assert "Dockerfile:4 runs `patch` on q.patch, which is there already" in out
    assert "`patch` ends with exit code 1 there (`Reversed (or previously applied) patch detected`)" in out
    done = subprocess.run(
        ["patch", "-p1", "-i", str(lab.project / "q.patch")],
        cwd=_checkout(lab, {"b.py": lines(l20="x")}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Reversed (or previously applied) patch detected" in done.stdout
    with_t = (lab.project / "Dockerfile").read_text().replace("patch -p1 -i", "patch -t -p1 -i")
    (lab.project / "Dockerfile").write_text(with_t)
    assert "with `-t` it takes the change back out" in lab.run("why", "q.patch")[1]


def _checkout(lab: Any, files: dict[str, str]) -> Path:
    folder: Path = lab.root / "tree"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def test_a_mail_in_base64_holds_no_diff_for_git_and_its_decoding_is_offered(lab: Any, lines: Lines) -> None:
    lab.upstream.commit({"a.py": lines()})
    diff = lab.diff({"a.py": lines()}, {"a.py": lines(l20="x")})
    head = "From: A <a@example.org>\nSubject: [PATCH] X\nContent-Transfer-Encoding: base64\n\n"
    lab.carry({"p.patch": head + base64.encodebytes(diff.encode()).decode()})
    row = lab.row("status")
    assert (row["state"], row["action"]) == ("unreadable", "by-hand")
    assert "a mechanical repair would do: the body of the mail, which is base64, is decoded" in row["reason"]
