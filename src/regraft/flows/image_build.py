"""Build an image, look into it, and only then let anybody have it.

The order is the promise: build, probe and imports in the built image, push by digest, and the rolling tag last. A red step
leaves every tag where it was.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import PurePosixPath

from msgspec import Struct

from regraft.core import image_labels as labels
from regraft.core.baseline import Baseline
from regraft.core.baseline_document import decode_baseline, encode_baseline
from regraft.core.engine_commands import Job, Volume
from regraft.core.image_build import Built
from regraft.core.image_decision import moved_line
from regraft.core.image_labels import Pins
from regraft.core.image_published import Published, part_of
from regraft.core.image_reference import Reference, parse_image_tag, parse_repository
from regraft.core.image_values import ImageInputs, Moved
from regraft.core.manifest import Image
from regraft.core.objects import Commit, parse_commit
from regraft.errors import InputError, RefusedError, RegraftError
from regraft.flows.baselines import INSIDE
from regraft.flows.image_publish import Engine, Publisher, Publishing, Ran, Registry
from regraft.flows.image_steps import RedError, Steps

PROJECT = "/run/regraft/project"  # where the container sees the commit's files

_IMPORT = "import importlib, sys; importlib.import_module(sys.argv[1])"
_LOCATE = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"


class Ports(Struct, frozen=True):
    """`context` checks a commit out; `run` is a word that no other run has, for the names of what is on its way."""

    inputs: Callable[[Image, str], ImageInputs]
    compare: Callable[[ImageInputs, ImageInputs], Sequence[Moved]]
    pins: Callable[[ImageInputs, Image], Pins]
    context: Callable[[Commit], AbstractContextManager[str]]
    engine: Engine
    registry: Registry
    now: Callable[[], float]
    run: str


class Options(Struct, frozen=True):
    """`tags` are moved in the end, where `push` is wanted; `regraft` is how it is called in the image."""

    tags: tuple[str, ...]
    push: bool
    platform: str
    regraft: str = "regraft"
    volumes: tuple[Volume, ...] = ()
    source: str | None = None


def job_of(inputs: ImageInputs, pins: Pins, context: str, tag: str) -> Job:
    """The build of an image from the files below `context`, with every pin handed over."""
    top = PurePosixPath(context)
    settings = {one.name: one.value for one in inputs.inputs if one.kind == "setting"}
    arguments = {**inputs.build_arguments, **pins.arguments}
    return Job(
        dockerfile=str(top / inputs.dockerfile),
        context=str(top / inputs.context),
        tag=tag,
        target=inputs.target,
        platform=settings.get("platform"),
        arguments=tuple(sorted(arguments.items())),
    )


def build_image(image: Image, options: Options, ports: Ports) -> Built:
    """Raises InputError where there is nothing to build, OutsideError where the world failed; a red step is a result."""
    if options.push and image.repository is None:
        message = f"{image.name} has no `repository`: there is nowhere to push to"
        raise InputError("no-repository", message, where=f"images.{image.name}", hint="build without --push")
    inputs = ports.inputs(image, "HEAD")
    pins = ports.pins(inputs, image)
    with ports.context(inputs.commit) as context:
        return _Build(image, options, ports, inputs, pins, context).run()


class _Build:
    def __init__(  # noqa: PLR0913, PLR0917 - what one build is made of
        self, image: Image, options: Options, ports: Ports, inputs: ImageInputs, pins: Pins, context: str
    ) -> None:
        self._image, self._options, self._ports = image, options, ports
        self._inputs, self._pins, self._context = inputs, pins, context
        self._steps = Steps([*pins.unresolved, *pins.uncovered, *inputs.notes])
        word = f"{inputs.hash[:16]}-{ports.run}"
        self._raw = f"localhost/regraft-build/{labels.label_name(image.name)}:raw-{word}"
        self._sealed = f"localhost/regraft-build/{labels.label_name(image.name)}:{word}"
        self._candidate = f"regraft-{word}"

    def run(self) -> Built:
        sealed: str | None = None
        given: dict[str, str] = {}
        engine, published = self._ports.engine, Publishing()
        try:
            self._steps.act("build", lambda: engine.build(job_of(self._inputs, self._pins, self._context, self._raw)))
            try:
                baseline = self._probe()
                self._imports()
                given = self._labels(baseline)
                self._seal(baseline, given)
                sealed = self._sealed
            finally:
                engine.remove(self._raw)
            if self._options.push:
                self._publisher(sealed, baseline).run(given, published)
        except RedError:
            return self._built(sealed, published, given, tuple(self._since_green()))
        return self._built(sealed, published, given, ())

    def _publisher(self, sealed: str, baseline: Baseline) -> Publisher:
        assert self._image.repository is not None
        options = self._options
        return Publisher(
            self._steps, self._ports.engine, self._ports.registry, parse_repository(self._image.repository),
            self._candidate, options.tags, options.platform, sealed, encode_baseline(baseline),
        )  # fmt: skip

    def _built(
        self, local: str | None, published: Publishing, given: dict[str, str], changed: tuple[str, ...]
    ) -> Built:
        steps = self._steps
        notes = tuple(dict.fromkeys(steps.notes))
        return Built(
            self._image.name, tuple(steps.done), local, published.digest, tuple(published.moved), given, changed, notes
        )

    def _run(self, argv: Sequence[str], env: Mapping[str, str]) -> Ran:
        volumes = (Volume(self._context, PROJECT), *self._options.volumes)
        return self._ports.engine.run(self._raw, argv, volumes=volumes, env=env)

    def _probe(self) -> Baseline:
        """What the image holds, by its own word; and that it is what was asked for."""
        argv = [self._options.regraft, "image", "probe", "--project", PROJECT, "--image", self._image.name]
        done = self._run([*argv, "--format", "json"], {})
        if done.returncode:
            said = _last(done)
            self._steps.red(
                "probe", f"`{self._options.regraft} image probe` ended with {done.returncode} in the image: {said}"
            )
        try:
            baseline = decode_baseline(done.stdout, self._image.name, "what image probe says")
        except InputError as error:
            self._steps.red("probe", str(error))
        for pin in self._pins.pins:
            held = baseline.dependencies.get(pin.name)
            if held is not None and held.commit is not None and held.commit != pin.value:
                self._steps.red(
                    "probe", f"{pin.name} is at {held.commit} in the image, and {pin.ref} was resolved to {pin.value}"
                )
        count = len(baseline.dependencies)
        self._steps.did("probe", f"{count} dependencies, {len(baseline.environment)} distributions")
        return baseline

    def _imports(self) -> None:
        python = self._image.python
        folders = ":".join(path if path.startswith("/") else f"{PROJECT}/{path}" for path in self._image.python_path)
        env = dict(self._image.env) | ({"PYTHONPATH": folders} if folders else {})
        tried = [(_IMPORT, name) for one in self._image.baked.values() for name in one.imports]
        tried += [(_LOCATE, name) for one in self._image.baked.values() for name in one.locate]
        for code, name in dict.fromkeys(tried):
            done = self._run([python, "-c", code, name], env)
            if done.returncode:
                self._steps.red("imports", f"{name} is not imported in the image: {_last(done)}")
        self._steps.did("imports", f"{len(tried)} modules")

    def _labels(self, baseline: Baseline) -> dict[str, str]:
        """Every pin that is proved: handed over as an argument, or found in the image by the probe."""
        proved = []
        for pin in self._pins.pins:
            held = baseline.dependencies.get(pin.name)
            if pin.argument or (held is not None and held.commit == pin.value):
                proved.append(pin)
            else:
                self._steps.notes.append(
                    f"{pin.ref} is {pin.value} now, and nothing shows that the image has it: no label says so"
                )
        inputs = self._inputs
        given = labels.labels_of(
            self._image.name,
            inputs.hash,
            inputs.commit,
            pins=proved,
            source=self._options.source,
            now=self._ports.now(),
        )
        packed = labels.pack_baseline(baseline)
        if packed is None:
            self._steps.notes.append("the baseline is too large for a label: it is in the image only")
        return given | ({labels.BASELINE: packed} if packed else {})

    def _seal(self, baseline: Baseline, given: dict[str, str]) -> None:
        engine = self._ports.engine
        below = engine.layers(self._raw)
        given[labels.LAYERS] = labels.layers_label(below)
        place = f"{INSIDE}/{self._image.name}.json"

        def act() -> None:
            engine.seal(self._raw, self._sealed, baseline=encode_baseline(baseline), place=place, labels=given)
            if engine.layers(self._sealed)[:-1] != below:
                raise RefusedError("not-one-layer", "the engine did not put one layer on what was probed")

        self._steps.act("seal", act, f"{len(given)} labels, {place}")

    def _since_green(self) -> Iterator[str]:
        """What differs from the image that the first tag names: that one went through all of it."""
        if self._image.repository is None or not (tag := next(iter(self._options.tags), self._image.tag)):
            yield "nothing is published, so there is no last green image to compare with"
            return
        reference = Reference(parse_repository(self._image.repository), tag, None)
        found = self._ports.registry.find(reference)
        part = part_of(found, self._options.platform) if isinstance(found, Published) else None
        if part is None:
            yield f"the last green image, {reference.text}, cannot be read, so what changed since then is not known"
            return
        known = part.config.labels
        for pin in self._pins.pins:
            before = labels.pins_of(known).get(pin.name)
            if before is not None and before != pin.value:
                yield f"{pin.ref} was {before[:140]}, and is {pin.value}"
        yield from self._inputs_since(known)

    def _inputs_since(self, known: Mapping[str, str]) -> Iterator[str]:
        if known.get(labels.INPUTS) == self._inputs.hash:
            yield "no input that is hashed changed since the last green image"
            return
        revision = known.get(labels.REVISION, "")
        try:
            before = self._ports.inputs(self._image, parse_commit(revision))
        except (ValueError, RegraftError) as error:
            yield f"the inputs of the last green image, from {revision[:40]!r}, cannot be read: {str(error)[:200]}"
            return
        for one in self._ports.compare(before, self._inputs):
            yield moved_line(one)


def rolling_tags(image: Image, named: Sequence[str]) -> tuple[str, ...]:
    """The tags to move: those that were named, else the manifest's. Raises InputError `bad-tag`."""
    tags = tuple(dict.fromkeys(map(parse_image_tag, named)))
    return tags or ((image.tag,) if image.tag else ())


def _last(done: Ran) -> str:
    said = (done.stderr + b"\n" + done.stdout).decode("utf-8", "replace").strip().splitlines()
    try:
        document = json.loads(done.stdout)
        return str(document["error"]["message"])[:300]
    except (ValueError, TypeError, KeyError):
        lines = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()] or said
        return lines[-1][:300] if lines else "it said nothing"
