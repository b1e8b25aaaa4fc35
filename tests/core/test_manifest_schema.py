"""The schema and the reader come from one registry, and judge alike what a schema can judge."""

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from regraft.core.manifest_fields import ROOT
from regraft.core.manifest_reader import read_manifest
from regraft.core.manifest_schema import manifest_schema
from regraft.core.manifest_walk import every_field
from regraft.errors import InputError

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = (DOCS / "manifest.md").read_text("utf-8").partition("```toml\n")[2].partition("```")[0]
VALIDATOR = jsonschema.Draft202012Validator(manifest_schema())


def test_the_committed_schema_is_the_generated_one() -> None:
    assert (DOCS / "regraft.schema.json").read_text("utf-8") == json.dumps(manifest_schema(), indent=2) + "\n"


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(manifest_schema())


def test_both_accept_the_documented_example() -> None:
    assert read_manifest(EXAMPLE.encode()).name == "miles"
    assert list(VALIDATOR.iter_errors(tomllib.loads(EXAMPLE))) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[project]\nname", "[project]\nnmae"),
        ("branch =", "brnch ="),
        ("key = ", "keys = "),
        ("[suites.", "[suits."),
        ('name = "miles"\n', ""),
        ('url = "https://github.com/sgl-project/sglang" ', ""),
        ('path = "/root/Megatron-LM"\n', ""),
        ('image = "rocm"', ""),
        ('tag = "miles-rocm720-mi35x"\n', ""),
        ('repository = "rocm/sgl-dev" ', ""),
        ('name = "miles"', "name = 1"),
        ('name = "miles"', 'name = "a/b"'),
        ('"https://github.com/sgl-project/sglang"', '"http://github.com/sgl-project/sglang"'),
        ('"https://github.com/sgl-project/sglang"', '"https://token@github.com/sgl-project/sglang"'),
        ('"https://github.com/sgl-project/sglang"', '"ext::sh -c x"'),
        ('"https://github.com/sgl-project/sglang"', '"--upload-pack=x"'),
        ('"sglang-miles"', '"a..b"'),
        ('"sglang-miles"', '"refs/heads/x"'),
        ('"ci-sglang-pr"', '"Ci_Sglang"'),
        ('"sgl-project/*"', '"sgl-project"'),
        ('"UPSTREAM_TOKEN"', '"$TOKEN"'),
        ('"release-lock.json"', '"../release-lock.json"'),
        ('"/megatron_commit"', '"megatron_commit"'),
        ('"rocm/sgl-dev"', '"rocm/sgl-dev:tag"'),
        ('"miles-rocm720-mi35x"', '"a b"'),
        ('"docker/Dockerfile.rocm"', '"/docker/Dockerfile.rocm"'),
        ('["keep"]', "[]"),
        ('["keep"]', '["kept"]'),
        ('["keep"]', '["lock", "head", "lock"]'),
        ('"/opt/venv/bin/python"', '"bin/python"'),
        ('["/root/Megatron-LM"]', '["../Megatron-LM"]'),
        ('requirements = "report"', 'requirements = "ignore"'),
        ("SGLANG_USE_AITER =", "PYTHONPATH ="),
        ("SGLANG_USE_AITER =", "GIT_DIR ="),
        ("SGLANG_USE_AITER =", "A-B ="),
        ('SGLANG_USE_AITER = "1"', "SGLANG_USE_AITER = 1"),
        ("install-timeout = 1800", "install-timeout = 0"),
        ("install-timeout = 1800", "install-timeout = 604801"),
        ("install-timeout = 1800", "install-timeout = true"),
        ("install-timeout = 1800", "install-timeout = 1.5"),
        ("install-timeout = 1800", 'install-timeout = "1800"'),
        ('"/root/.triton"', '"../.triton"'),
        ('"/sgl-workspace/sglang"', '"/sgl-workspace/../sglang"'),
        ('install = [["python", "-m", "pip", "install", "-e", ".", "--no-deps"]]   #', 'install = "make" #'),
        ('install = [["python", "-m", "pip", "install", "-e", ".", "--no-deps"]]   #', 'install = ["make"] #'),
        ('install = [["python", "-m", "pip", "install", "-e", ".", "--no-deps"]]   #', "install = [[]] #"),
        ('install = [["python", "-m", "pip", "install", "-e", ".", "--no-deps"]]   #', 'install = [["-m"]] #'),
        ('install = [["python", "-m", "pip", "install", "-e", ".", "--no-deps"]]   #', 'install = [["a", ""]] #'),
        ('["sglang.srt"]', '["sgl-kernel"]'),
        ('distributions = ["sglang"]', 'distributions = ["sglang[all]"]'),
        ('["sgl-kernel/**"]', '["../sgl-kernel/**"]'),
        ('local-edits = "stop"', 'local-edits = "keep"'),
        ('"docker/amd_patch/latest/megatron.patch"', '"docker/../megatron.patch"'),
        ("[images.rocm]", '[images."a/b"]\n[images.rocm]'),
        ("[suites.stage-c-4-gpu-mi350]", "[[suites.stage-c-4-gpu-mi350]]"),
    ],
)
def test_both_refuse_the_same(old: str, new: str) -> None:
    assert old in EXAMPLE
    text = EXAMPLE.replace(old, new, 1)
    with pytest.raises(InputError):
        read_manifest(text.encode())
    assert list(VALIDATOR.iter_errors(tomllib.loads(text)))


def properties(schema: dict[str, Any], path: str) -> dict[str, Any]:
    for part in filter(None, path.split(".")):
        known: dict[str, Any] = schema.get("properties", {})
        schema = known[part] if part in known else schema["additionalProperties"]
        if schema.get("type") == "array":  # of strings or tables
            schema = schema["items"]["anyOf"][1]
    found: dict[str, Any] = schema["properties"]
    return found


@pytest.mark.parametrize(("path", "key"), [(path, one.key) for path, one in every_field(ROOT)])
def test_each_key_is_in_the_schema_and_on_the_page(path: str, key: str) -> None:
    one = next(field for table, field in every_field(ROOT) if (table, field.key) == (path, key))
    assert properties(manifest_schema(), path)[key]["description"].startswith(one.text)
    page = (DOCS / "manifest.md").read_text("utf-8")
    section = page.partition(f"\n## [{path}]\n" if path else "\n## The tables\n")[2].partition("\n## ")[0]
    default = "**required**" if one.required else one.default_text or f"`{json.dumps(one.default)}`"
    rows = [line for line in section.split("\n") if line.startswith(f"| `{key}` | ")]
    assert len(rows) == 1
    assert rows[0].endswith(f" | {default} | {one.text} |")


def test_the_page_has_no_key_that_is_gone() -> None:
    page = (DOCS / "manifest.md").read_text("utf-8")
    keys = {line.split("`")[1] for line in page.split("\n") if line.startswith("| `")}
    assert keys == {one.key for _, one in every_field(ROOT)}
