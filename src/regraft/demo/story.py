"""What the demo tells: chapters of real commands, each with the exit code and the words that it must end with.

`cd` moves the later steps of its chapter; `{commit}` is the commit that the plan gave `engine`. No shell reads these lines.
"""

from msgspec import Struct


class Step(Struct, frozen=True):
    command: str
    means: str = ""  # one sentence on what was seen
    exit: int = 0
    says: tuple[str, ...] = ()  # what standard output and error together must contain


class Chapter(Struct, frozen=True):
    title: str
    steps: tuple[Step, ...]
    text: str = ""
    fresh: bool = False  # begins on a new container of the image


STORY = (
    Chapter(
        "The image, and what is known of it",
        text="An image has two upstream projects baked in from checkouts: `engine`, on which this project carries a\n"
        "patch, and `trainer`. What it holds is recorded once, when it is built: the baseline.",
        steps=(
            Step("git -C ../image/opt/stack/engine diff --unified=0", says=("-LANES = 32", "+LANES = 64")),
            Step(
                "regraft image probe --image rl --root ../image --write",
                "The project commits this file, baselines/rl.json: per dependency commit, tree of the files, patches and\n"
                "distributions, and what else the environment holds.",
                says=("engine: commit", "trainer: commit"),
            ),
        ),
    ),
    Chapter(
        "A pull request says in one line what it has to be tested with",
        steps=(
            Step("cat ../bodies/engine-12.md", says=("ci-engine-pr: #12",)),
            Step(
                "regraft plan --image rl --body ../bodies/engine-12.md --output plan.json",
                "The name became a full commit, once. The carried patch fits it. `trainer` stays as it is, and the line in\n"
                "the code block is said to be ignored. Every shard of this run is given this one file.",
                says=("ignored: body:10:1", "engine: override #12", "engine-lanes.patch applies", "trainer: keep"),
            ),
        ),
    ),
    Chapter(
        "The project's own commands install it",
        steps=(
            Step("cd ../image/opt/stack/engine"),
            Step("git fetch --quiet ../../../../upstreams/engine.git refs/pull/12/head"),
            Step("git checkout --quiet --force --detach {commit}"),
            Step("git apply ../../../../tinyrl/patches/engine-lanes.patch"),
            Step("../../venv/bin/python -m pip install --quiet --no-deps --no-build-isolation -e ."),
            Step("cd ../../../../tinyrl"),
            Step(
                "../image/opt/venv/bin/python -m pip install --quiet --no-deps --no-build-isolation -e .",
                "No word from any of them, which is what a step that did nothing says as well.",
            ),
        ),
    ),
    Chapter(
        "Is this machine what the plan says?",
        steps=(
            Step(
                "regraft verify plan.json --root ../image --receipt receipt.json",
                "Yes: commit, every tracked byte with the patch in it, where a fresh interpreter finds the imports, the\n"
                "distributions; and `trainer` and the rest of the environment are what the baseline says. The receipt keeps it.",
                says=("engine 1.0.0 -> 1.1.0", "trainer 2.0.0 -> 2.0.0", "{commit}", "verdict   yes"),
            ),
        ),
    ),
    Chapter(
        "Stopped in time, 1: a ref that does not exist",
        steps=(
            Step("cat ../bodies/no-such-ref.md", says=("#99",)),
            Step(
                "regraft plan --image rl --body ../bodies/no-such-ref.md --output stopped.json",
                "Exit 2: editing the body mends it. Without this the image's own copy would have been tested, and green.",
                exit=2,
                says=("body:3:1", "#99", "no-such-ref"),
            ),
        ),
    ),
    Chapter(
        "Stopped in time, 2: a key with a letter missing",
        steps=(
            Step("cat ../bodies/misspelt.md", says=("ci-engin-pr",)),
            Step(
                "regraft plan --image rl --body ../bodies/misspelt.md --output stopped.json",
                "Exit 2, with the place and the nearest right form. A search for the key would have found nothing, and said so.",
                exit=2,
                says=("body:3:1: 'ci-engin-pr'", "write ci-engine-pr: #12"),
            ),
        ),
    ),
    Chapter(
        "Stopped in time, 3: a patch whose target is gone",
        steps=(
            Step("cat ../bodies/engine-13.md", says=("ci-engine-pr: #13",)),
            Step(
                "regraft plan --image rl --body ../bodies/engine-13.md --output stopped.json",
                "Exit 1: that pull request moves the file that the carried patch edits. Known at the gate, before a GPU is\n"
                "asked for.",
                exit=1,
                says=("target-gone", "engine-lanes.patch", "src/engine/hardware/kernels.py", "no plan is written"),
            ),
        ),
    ),
    Chapter(
        "Which upstream commit it was, and what to do",
        steps=(
            Step(
                "regraft patch status --at main --at '#12' --at '#13'",
                "The same without a plan: one exact state for each carried patch at each ref.",
                exit=1,
                says=("applies", "target-gone", "refresh it"),
            ),
            Step(
                "regraft patch why engine-lanes.patch --at '#13'",
                "The commit, where it moved the file, who still refers to it, and what can be proved: the same change fits there.",
                exit=1,
                says=("Keep what depends on the hardware in one folder", "moved it to", "do        refresh it"),
            ),
            Step(
                "regraft patch refresh engine-lanes.patch --at '#13' --dry-run",
                says=("+--- a/src/engine/hardware/kernels.py", "nothing was written"),
            ),
        ),
    ),
    Chapter(
        "Stopped in time, 4: an install that left the old copy in place",
        text="The same plan on a new container of the same image. This time the install step is the kind that many\n"
        "projects have, and the address that the image was cloned from has gone.",
        fresh=True,
        steps=(
            Step("cat ci/install.sh", says=("git fetch", "&&")),
            Step(
                "sh ci/install.sh",
                "The fetch failed, the rest of the chain was skipped, and the step is green.",
                says=("engine is installed",),
            ),
            Step(
                "regraft verify plan.json --root ../image --receipt stopped.json",
                "Exit 1: the suite would have tested the image's own copy of `engine`.",
                exit=1,
                says=("head-differs", "nothing was checked out", "verdict   no"),
            ),
            Step(
                "regraft diff receipt.json stopped.json",
                "Two runs of one plan, and what they really tested.",
                exit=1,
                says=("dependencies.engine.after.commit: {commit} -> ", "verdict: yes -> no"),
            ),
        ),
    ),
    Chapter(
        "The same by one command, killed in the middle, and given back",
        text="`regraft apply` does what the install step did, or leaves the image as it was. Here somebody kills it with\n"
        "`kill -9` while its first install command runs.",
        fresh=True,
        steps=(
            Step(
                "python ci/kill_midway.py apply plan.json --root ../image --snapshot",
                "Half of it is there: the commit is the planned one, the rest of the install is missing.",
                exit=1,
                says=("killed while it installed",),
            ),
            Step(
                "regraft restore --root ../image --wait 60",
                "It needs no manifest and no network. An install that still runs holds the lock, and is ended first.",
                says=("the baseline is back",),
            ),
            Step("cp baselines/rl.json ../before.json"),
            Step("regraft image probe --image rl --root ../image --write", says=("engine: commit", "trainer: commit")),
            Step(
                "cmp ../before.json baselines/rl.json", "What a probe sees now is what it saw when the image was built."
            ),
            Step(
                "regraft apply plan.json --root ../image --snapshot --receipt receipt.json",
                "All of it this time: fetched, proved, written, installed, verified.",
                says=("engine 1.0.0 -> 1.1.0", "verdict   yes", "applied: the machine holds the plan"),
            ),
            Step(
                "regraft apply plan.json --root ../image",
                "The same plan again changes nothing.",
                says=("already applied",),
            ),
            Step(
                "regraft restore --root ../image",
                "And back, byte for byte.",
                says=("the baseline is back",),
            ),
        ),
    ),
    Chapter(
        "The same shell in a workflow",
        text="Such a step mostly stands in a workflow. All workflows and scripts of a repository are read as one graph, and\n"
        "their steps can be run here.",
        steps=(
            Step("mkdir .github"),
            Step("cp -r ../workflows .github/workflows"),
            Step(
                "regraft workflow check",
                "Exit 1, with file and line: what kept the old copy in place above is found before anything runs.",
                exit=1,
                says=(
                    ".github/workflows/suite.yml:",
                    "`git fetch",
                    "can fail and this step goes on",
                    "swallowed-failure",
                ),
            ),
            Step(
                "regraft workflow run suite.yml suite resolve --input engine=main",
                "One step, with the shell line that GitHub uses, without network or containers. A pytest plugin does it in tests.",
                says=("ok", "output ref = main"),
            ),
        ),
    ),
)
