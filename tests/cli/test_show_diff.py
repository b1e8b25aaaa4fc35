"""`show` and `diff` as processes: safe text, the same for machines, and the upstream commits between two pins."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from regraft.core.objects import Commit, Sha256, Tree
from regraft.core.plan import Note, Plan, PlannedDependency, PlannedImage, Source
from regraft.core.plan_document import encode_plan, seal


def plan(commit: str, note: str = "") -> Plan:
    sglang = PlannedDependency(
        "override", "main", Source("body", 1, 1), "https://x/o/r", Commit(commit), Tree("2" * 40), ()
    )
    return seal(
        Plan(
            schema="regraft.plan/1",
            digest=Sha256("0" * 64),
            request=Sha256("0" * 64),
            project="p",
            manifest=Sha256("1" * 64),
            suites=(),
            image=PlannedImage("rocm", None, None),
            baseline=None,
            dependencies={"sglang": sglang},
            notes=(Note("notice", "code", note),) if note else (),
        )
    )


def regraft(*words: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    argv = [sys.executable, "-m", "regraft", *words]
    env = {"PATH": os.environ["PATH"], "HOME": str(cwd)}
    return subprocess.run(argv, capture_output=True, text=True, cwd=cwd, env=env, check=False, timeout=60)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, Plan], None]:
    return lambda name, one: (tmp_path / name).write_bytes(encode_plan(one)) and None


def test_show_prints_hostile_notes_as_text(tmp_path: Path, write: Any) -> None:
    write("plan.json", plan("1" * 40, "\x1b[2J\n::error::forged"))
    answer = regraft("show", "plan.json", cwd=tmp_path)
    assert answer.returncode == 0
    assert "\x1b" not in answer.stdout
    assert not any(line.lstrip().startswith("::") for line in answer.stdout.splitlines())
    assert regraft("show", "--format", "json", "plan.json", cwd=tmp_path).stdout == (tmp_path / "plan.json").read_text()


def test_equal_plans_are_exit_0_and_the_count_is_said(tmp_path: Path, write: Any) -> None:
    write("a.json", plan("1" * 40))
    write("b.json", plan("1" * 40, "another note"))
    answer = regraft("diff", "a.json", "b.json", cwd=tmp_path)
    assert (answer.returncode, answer.stdout) == (0, "0 differences\n")


def test_between_two_pins_the_upstream_commits_are_listed(tmp_path: Path, write: Any, make_repository: Any) -> None:
    upstream = make_repository()
    first = upstream.commit("main")
    second = upstream.commit("main")
    third = upstream.commit("main")
    aside = upstream.commit("aside", parent=first)
    write("a.json", plan(first))
    write("b.json", plan(third))
    write("c.json", plan(aside))
    checkout = f"sglang={upstream.path}"
    answer = regraft("diff", "a.json", "b.json", "--checkout", checkout, "--format", "json", cwd=tmp_path)
    assert answer.returncode == 1
    document = json.loads(answer.stdout)
    assert document["changes"] == [{"place": "dependencies.sglang.commit", "before": first, "after": third}]
    assert [one["commit"] for one in document["commits"]["sglang"]["commits"]] == [third, second]
    assert document["commits"]["sglang"]["diverged"] is False
    aside_answer = regraft("diff", "b.json", "c.json", "--checkout", checkout, "--format", "json", cwd=tmp_path)
    assert json.loads(aside_answer.stdout)["commits"]["sglang"]["diverged"] is True


def test_where_the_objects_are_not_at_hand_that_is_said(tmp_path: Path, write: Any, make_repository: Any) -> None:
    write("a.json", plan("1" * 40))
    write("b.json", plan("2" * 40))
    assert "--checkout sglang=DIR" in regraft("diff", "a.json", "b.json", cwd=tmp_path).stdout
    empty = make_repository()
    answer = regraft("diff", "a.json", "b.json", "--checkout", f"sglang={empty.path}", cwd=tmp_path)
    assert "does not hold both commits" in answer.stdout


def test_a_repositorys_own_configuration_runs_nothing(tmp_path: Path, write: Any, make_repository: Any) -> None:
    upstream = make_repository()
    first, second = upstream.commit("main"), upstream.commit("main")
    pwned = tmp_path / "pwned"
    program = tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch {pwned}\n")
    program.chmod(0o755)
    upstream.git("config", "log.showSignature", "true")
    upstream.git("config", "gpg.program", str(program))
    upstream.git("config", "core.pager", str(program))
    upstream.git("config", "core.fsmonitor", str(program))
    write("a.json", plan(first))
    write("b.json", plan(second))
    answer = regraft("diff", "a.json", "b.json", "--checkout", f"sglang={upstream.path}", cwd=tmp_path)
    assert second[:12] in answer.stdout
    assert not pwned.exists()


def test_a_wrong_file_is_exit_2(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    assert regraft("show", "a.json", cwd=tmp_path).returncode == 2
    assert regraft("show", "missing.json", cwd=tmp_path).returncode == 2
    assert regraft("diff", "a.json", "a.json", "--checkout", "x", cwd=tmp_path).returncode == 2


def test_dataclasses_replace_keeps_the_seal_honest() -> None:
    assert replace(plan("1" * 40), project="q").digest == plan("1" * 40).digest
    assert seal(replace(plan("1" * 40), project="q")).digest != plan("1" * 40).digest
