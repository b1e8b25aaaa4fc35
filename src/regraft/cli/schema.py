"""`regraft schema`: the JSON schema of the manifest."""

import argparse
import json


def configure(parser: argparse.ArgumentParser) -> None:
    """The shared options are all there are; the answer is JSON in every format."""


def run(args: argparse.Namespace) -> int:  # noqa: ARG001 - every command has this signature
    from regraft.core.manifest_schema import manifest_schema  # noqa: PLC0415 - `--help` pays for nothing

    print(json.dumps(manifest_schema(), indent=2))
    return 0
