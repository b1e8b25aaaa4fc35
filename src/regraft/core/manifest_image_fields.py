"""The keys of `[images.NAME]` that say how the image is built, and what feeds it."""

from regraft.core import manifest_texts as texts
from regraft.core.manifest_shapes import Field, ListOf, MapOf, Text

_ARGUMENT = Text("the name of a build argument", r"[A-Za-z_][A-Za-z0-9_]*")
_VALUE = Text("text on one line", r"[^\x00\r\n]*", longest=32_768, secret=True)  # it goes on as a line NAME=VALUE
_STAGE = Text("the name of a stage, or its number", r"[A-Za-z0-9][A-Za-z0-9._-]*")
_GLOBS = ListOf(texts.GLOB, unique=True)

BUILD = (
    Field("context", texts.PATH, "The build context, a folder of the project.", default_text="absent: the project's top"),
    Field("target", _STAGE, "The stage that is built.", default_text="absent: the last one"),
    Field("build-args", MapOf(_ARGUMENT, _VALUE), "The build arguments that the build passes, each on one line.", default={}),
    Field(
        "inputs", _GLOBS, "Tracked files that feed the image beside those that its Dockerfile copies and mounts.", default=[]
    ),
    Field(
        "inputs-within",
        _GLOBS,
        "Where all that feeds it should lie: a file that its Dockerfile uses outside of these is an error of `image check`.",
        default=[],
    ),
    Field(
        "generated",
        _GLOBS,
        "Files of the build context that a step before the build makes, and nobody commits. They are not covered by the inputs' hash.",
        default=[],
    ),
)  # fmt: skip

NEEDS = {field.key: ("dockerfile",) for field in BUILD}
