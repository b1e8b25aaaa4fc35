"""A dependency that is a package: what the manifest takes, and that no run takes it for a checkout."""

import jsonschema
import pytest

from regraft.core.directive_reader import read_body, read_inputs
from regraft.core.manifest import Manifest
from regraft.core.manifest_reader import read_manifest
from regraft.core.manifest_schema import manifest_schema
from regraft.core.vocabulary import vocabulary
from regraft.errors import InputError, MistakesError

MANIFEST = """\
[project]
name = "p"

[dependencies.kernels]
package = "Tile_Kernels"

[dependencies.dep]
url = "../dep"
branch = "main"

[images.i]
unnamed = ["head"]

[images.i.baked.kernels]
path = "/opt/venv/lib/python3.12/site-packages"
patches = ["a.patch"]

[images.i.baked.dep]
path = "/dep"
"""


def manifest(text: str = MANIFEST) -> Manifest:
    return read_manifest(text.encode(), "regraft.toml")


def mistakes(text: str) -> list[tuple[str, str]]:
    with pytest.raises(InputError) as caught:
        manifest(text)
    found = caught.value.mistakes if isinstance(caught.value, MistakesError) else (caught.value,)
    return [(one.code, one.message) for one in found]


def test_a_package_is_known_by_its_normalized_name_and_stands_apart_from_checkouts() -> None:
    read = manifest()
    assert read.packages["kernels"].package == "tile-kernels"
    assert read.packages["kernels"].files is None
    assert list(read.dependencies) == ["dep"]
    image = read.images["i"]
    assert (list(image.baked), list(image.packages), list(image.carried)) == (["dep"], ["kernels"], ["dep", "kernels"])


@pytest.mark.parametrize(
    ("old", "new", "code", "part"),
    [
        ('package = "Tile_Kernels"', "", "missing-key", "has no `url` or `package`"),
        ('package = "Tile_Kernels"', 'package = "a"\nurl = "../x"', "excluded-key", "has a `url` and a `package`"),
        (
            'package = "Tile_Kernels"',
            'package = "a"\nbranch = "main"',
            "excluded-key",
            "branch means nothing beside `package`",
        ),
        (
            'package = "Tile_Kernels"',
            'package = "a"\nlock = { file = "x" }',
            "excluded-key",
            "lock means nothing beside `package`",
        ),
        ('package = "Tile_Kernels"', 'package = "-x"', "bad-value", "must be the name of a distribution"),
        ('package = "Tile_Kernels"', 'package = "a"\nfiles = "egg"', "bad-value", "must be one of wheel, sdist"),
        ('url = "../dep"', 'url = "../dep"\nfiles = "wheel"', "missing-key", "files means nothing without `package`"),
        ('patches = ["a.patch"]', 'imports = ["a"]', "excluded-key", "imports means nothing for a package"),
    ],
)
def test_what_cannot_stand_together_is_one_mistake(old: str, new: str, code: str, part: str) -> None:
    [(found, message)] = mistakes(MANIFEST.replace('unnamed = ["head"]\n', "").replace(old, new))
    assert found == code
    assert part in message


def test_the_schema_says_the_same() -> None:
    import tomllib

    schema = manifest_schema()
    jsonschema.validate(tomllib.loads(MANIFEST), schema)
    for wrong in ("", 'package = "a"\nurl = "../x"', 'package = "a"\nbranch = "main"'):
        text = MANIFEST.replace('package = "Tile_Kernels"', wrong)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(tomllib.loads(text), schema)


@pytest.mark.parametrize("line", ["ci-kernels-pr: 2.0", "ci-kernels-pr: #12", "ci-kernels-pr[i]: 2.0"])
def test_a_directive_that_names_a_package_is_refused_with_what_to_ask_instead(line: str) -> None:
    [mistake] = read_body(line, vocabulary(manifest())).mistakes
    assert (mistake.code, mistake.where) == ("package-dependency", "body:1:1")
    assert "regraft patch status --dependency kernels --at VERSION" in (mistake.hint or "")


def test_an_input_that_names_a_package_is_refused_too() -> None:
    [mistake] = read_inputs([("ci_kernels_pr", "2.0")], vocabulary(manifest()), strict=False).mistakes
    assert mistake.code == "package-dependency"
