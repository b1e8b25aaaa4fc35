"""What feeds an image at one commit: instructions, files, base images, build arguments, pins; and what differs between two."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import SequenceMatcher

from msgspec import Struct

from regraft.core import dockerfile_args as args
from regraft.core.dockerfile_steps import Step, joined
from regraft.core.globs import matching
from regraft.core.image_loose import loose_of
from regraft.core.image_values import Explained, ImageInputs, Input, Loose, Moved, Place
from regraft.core.image_view import Missing, Recipe, View, bases, view
from regraft.core.objects import Commit
from regraft.core.patch_address import parse_address
from regraft.core.patterns import regex
from regraft.core.trees import Entry
from regraft.errors import InputError, raise_all

Read = Callable[[str], bytes | None]

# Labels that say when an image was made, and change with every build.
TIMES = frozenset({"org.opencontainers.image.created", "org.label-schema.build-date", "build-date"})

# What `.gitattributes` lets git make of a file at a checkout.
_REWRITES = regex(rb"(?m)^[^#\n]*\s-?!?(?:text|crlf|eol|filter|ident|export-subst|working-tree-encoding)(?:[\s=]|$)")
_NUMBERED = regex(r"(?s)(.*) #(\d+)")


class Added(Struct, frozen=True):
    """What the manifest adds. `generated` are patterns of files that a step before the build makes, and nobody commits.

    `addresses` are the patches that are no files here (`core.patch_address`), each with its checksum.
    """

    files: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()
    pins: Mapping[str, tuple[str, Place]] = {}  # dependency -> commit, and the file that says so
    addresses: tuple[str, ...] = ()


def inputs_of(recipe: Recipe, added: Added, tree: Mapping[str, Entry], read: Read, commit: Commit) -> ImageInputs:
    """All that feeds an image. Raises InputError, MistakesError: what `view` raises, and everything that is wrong in it."""
    found = view(recipe, tree, read)
    made = [one for one in found.missing if matching(added.generated, [_in_repository(one.source, recipe)])]
    mistakes = [*found.mistakes, *(_mistake(one, recipe) for one in found.missing if one not in made), *_bases(found)]
    mistakes += _not_there(added, tree)
    raise_all(_in_order(mistakes))
    inputs = [
        *_settings(recipe),
        *_arguments(found),
        *_instructions(found),
        *_base_inputs(found),
        *_files(found, added, tree, read),
        *(Input("pin", name, pin, place) for name, (pin, place) in added.pins.items()),
        *(Input("file", one.url, f"sha256 {one.sha256}", None) for one in map(parse_address, added.addresses)),
    ]
    unique = {(one.kind, one.name): one for one in reversed(inputs)}
    ordered = tuple(sorted(unique.values(), key=_key))
    derived = tuple(_derived(one) for one in made)
    notes = tuple(f"{recipe.dockerfile} declares no ARG {name}: its value is not used" for name in unused(found))
    return ImageInputs(
        recipe.image, commit, recipe.dockerfile, recipe.context, recipe.target, ordered, (*loose_of(found, read), *derived), notes
    )  # fmt: skip


def unused(found: View) -> tuple[str, ...]:
    """The build arguments that are given, and that no reached stage declares."""
    known = {name for name, _ in _declared(found)} | args.PLATFORM | args.PROXIES
    return tuple(sorted(one for one in found.recipe.arguments if one not in known and not args.BUILT_IN.fullmatch(one)))


def explained(image: str, before: ImageInputs | None, after: ImageInputs | None) -> Explained:
    """What differs between an image's inputs at two commits."""
    found = moved(before, after) if before is not None and after is not None else ()
    return Explained(image, before, after, found)


def moved(before: ImageInputs, after: ImageInputs) -> tuple[Moved, ...]:
    """Each input that differs. Instructions of a stage are compared as a list, so that an inserted one is one."""
    old = {(one.kind, one.name): one for one in before.inputs if one.kind != "instruction"}
    new = {(one.kind, one.name): one for one in after.inputs if one.kind != "instruction"}
    found = []
    for key in sorted(old.keys() | new.keys()):
        a, b = old.get(key), new.get(key)
        if (a and a.value) != (b and b.value):
            place = b.place if b else a.place if a else None
            found.append(Moved(key[0], key[1], a.value if a else None, b.value if b else None, place))
    return (*found, *_moved_instructions(before, after))


def _moved_instructions(before: ImageInputs, after: ImageInputs) -> Iterator[Moved]:
    old, new = _by_stage(before), _by_stage(after)
    for stage in sorted(old.keys() | new.keys()):
        a, b = old.get(stage, []), new.get(stage, [])
        matcher = SequenceMatcher(None, [one.value for one in a], [one.value for one in b], autojunk=False)
        for tag, a1, a2, b1, b2 in matcher.get_opcodes():
            if tag == "equal":
                continue
            for index in range(max(a2 - a1, b2 - b1)):
                was = a[a1 + index] if a1 + index < a2 else None
                now = b[b1 + index] if b1 + index < b2 else None
                one = now or was
                assert one is not None  # one of the two sides is that long
                yield Moved("instruction", one.name, was.value if was else None, now.value if now else None, one.place)


def _by_stage(inputs: ImageInputs) -> dict[str, list[Input]]:
    found: dict[str, list[Input]] = {}
    for one in inputs.inputs:
        if one.kind == "instruction":
            match = _NUMBERED.fullmatch(one.name)
            found.setdefault(match[1] if match else one.name, []).append(one)
    return found


def _key(one: Input) -> tuple[str, str, int]:
    match = _NUMBERED.fullmatch(one.name) if one.kind == "instruction" else None
    return (one.kind, match[1], int(match[2])) if match else (one.kind, one.name, 0)


def _in_repository(source: str, recipe: Recipe) -> str:
    return f"{recipe.context}/{source.removeprefix('./').lstrip('/')}".lstrip("/")


def _mistake(one: Missing, recipe: Recipe) -> InputError:
    message, hint = missing_message(one, recipe)
    return InputError("copy-missing", message, where=str(one.place), hint=hint)


def missing_message(one: Missing, recipe: Recipe) -> tuple[str, str | None]:
    """What to say of a source that is not there, and what to do."""
    context = f"the build context {recipe.context}" if recipe.context else "the repository"
    if one.ignored:
        return (
            f"{one.keyword} of {one.source!r:.200}, which .dockerignore leaves out",
            "except it there with `!`, or copy something else",
        )
    message = f"{one.keyword} of {one.source!r:.200}, which {context} does not have"
    if one.source.startswith(".."):
        return message, "nothing above the build context can be copied: build with one that holds it"
    untracked = "commit it, if it lies there untracked; if a step before the build makes it, name it in `generated`"
    return message, f"the nearest name is {one.near!r:.200}" if one.near else untracked


def _derived(one: Missing) -> Loose:
    what = f"{one.source!r:.200} is made before the build"
    return Loose("context", what, "name in `inputs` what it is made from", one.place)


def _bases(found: View) -> Iterator[InputError]:
    for base in bases(found):
        if base.unknown and base.unknown != ("?",) and base.pattern is None:
            name = base.unknown[0]
            where = f"{found.recipe.dockerfile}:{base.line}"
            hint = f"give it a value: [images.{found.recipe.image}] build-args = {{ {name} = … }}"
            message = f"the base image {base.text!r:.120} depends on {name}, which has no value here"
            yield InputError("no-value", message, where=where, hint=hint)


def _not_there(added: Added, tree: Mapping[str, Entry]) -> Iterator[InputError]:
    for pattern in added.patterns:
        if not matching([pattern], tree):
            yield InputError("no-such-input", f"`inputs`: nothing is tracked that {pattern!r:.200} matches")
    for path in added.files:
        if path not in tree:
            yield InputError("no-such-input", f"the manifest names {path!r:.200}, which is not there")


def _in_order(mistakes: Iterable[InputError]) -> list[InputError]:
    """By their places; each is said once, though several images of one Dockerfile may show it."""
    unique = {(one.where, one.message): one for one in mistakes}

    def key(one: InputError) -> tuple[str, int]:
        path, _, line = (one.where or "").rpartition(":")
        return (path, int(line)) if line.isdecimal() else (one.where or "", 0)

    return sorted(unique.values(), key=key)


def _settings(recipe: Recipe) -> Iterator[Input]:
    yield Input("setting", "context", recipe.context or ".")
    if recipe.target is not None:
        yield Input("setting", "target", recipe.target)


def _declared(found: View) -> Iterator[tuple[str, Step]]:
    """The ARGs that count: those of reached stages, and those before the first FROM that these or a FROM go back to."""
    steps = [step for _, step in found.steps if step.keyword == "ARG"]
    inner = [(name, step) for step in steps for name in names_of(step)]
    needed = {name for name, _ in inner}
    needed |= {name for stage in found.reached for name in stage.base.used}
    outer: list[tuple[str, Step]] = []
    for step in reversed(found.stages.arguments):
        names = names_of(step)
        if needed & set(names):
            text = joined(step.instruction)
            needed |= set(_VARIABLE.findall(text))
            outer += [(name, step) for name in reversed(names)]
    yield from reversed(outer)
    yield from inner


_VARIABLE = regex(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)")


def names_of(step: Step) -> list[str]:
    """The names that an ARG declares."""
    return [word.partition("=")[0] for word in args.split_words(joined(step.instruction))]


def _arguments(found: View) -> Iterator[Input]:
    steps = dict(reversed([*_declared(found)]))
    for name, value in found.recipe.arguments.items():
        if name in steps:
            yield Input("build-argument", name, value, found.place(steps[name]))
        elif name in args.PLATFORM or args.BUILT_IN.fullmatch(name):
            yield Input("build-argument", name, value)


def _instructions(found: View) -> Iterator[Input]:
    path = found.recipe.dockerfile
    for one in found.stages.directives:
        if one.name in ("escape", "syntax"):
            yield Input("instruction", f"{path} # {one.name}", f"# {one.name}={one.value}", Place(path, one.line))
    lines = {step.line for _, step in _declared(found)}
    before = [step for step in found.stages.arguments if step.line in lines]
    for number, step in enumerate(before, 1):
        yield Input("instruction", f"{path} before FROM #{number}", step.logical(), found.place(step))
    told: Counter[str] = Counter()
    for position, stage in enumerate(found.reached):
        name = f"{path} stage {stage.name or position}"
        told[name] += 1
        if told[name] > 1:  # BuildKit only warns of two stages of one name
            name = f"{name} ({told[name]})"
        yield Input(
            "instruction", f"{name} #0", " ".join(["FROM", *stage.flags, stage.base.text]), Place(path, stage.line)
        )
        for number, step in enumerate(stage.steps, 1):
            text = _without_times(step)
            if text is not None:
                yield Input("instruction", f"{name} #{number}", text, found.place(step))


def _without_times(step: Step) -> str | None:
    """The instruction, of a LABEL what does not say when the image was made; None where nothing is left."""
    if step.keyword != "LABEL":
        return step.logical()
    try:
        pairs = args.environment_words(joined(step.instruction))
    except ValueError:
        return step.logical()
    kept = [f"{name}={value}" for name, value in pairs if name.strip("\"'") not in TIMES]
    return f"LABEL {' '.join(kept)}" if kept else None


def _base_inputs(found: View) -> Iterator[Input]:
    for base in bases(found):
        yield Input("base", base.text, base.text, Place(found.recipe.dockerfile, base.line))


def _files(found: View, added: Added, tree: Mapping[str, Entry], read: Read) -> Iterator[Input]:
    folders = {""}
    for use in found.uses:
        for path in (*(one for one, _ in use.taken.files), *use.taken.links):
            yield _file(path, tree[path], use.place)
            above = path.rpartition("/")[0]
            while above not in folders:
                folders.add(above)
                above = above.rpartition("/")[0]
    for path in (f"{folder}/.gitattributes".lstrip("/") for folder in folders if found.uses):
        if path in tree and _REWRITES.search(read(path) or b""):
            yield _file(path, tree[path], None)
    for path in (*added.files, *matching(added.patterns, tree)):
        yield _file(path, tree[path], None)


def _file(path: str, entry: Entry, place: Place | None) -> Input:
    return Input("file", path, f"{entry.mode} {entry.oid}", place)
