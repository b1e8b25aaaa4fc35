"""One image as its Dockerfile makes it from a tree of files: stages, sources, where they land, scripts that run."""

import posixpath
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from msgspec import Struct, field

from regraft.core import dockerfile_args as args
from regraft.core.copy_sources import Context, LinkOutError, Taken, is_pattern, with_parents
from regraft.core.dockerfile_args import BadSubstitutionError, expand
from regraft.core.dockerfile_stages import Stages, read_stages
from regraft.core.dockerfile_steps import From, Stage, Step, joined
from regraft.core.dockerfile_text import read_dockerfile
from regraft.core.dockerignore import BadPatternError, Ignored, read_dockerignore
from regraft.core.image_scripts import Followed, follow, scripts_of
from regraft.core.image_values import Place
from regraft.core.patterns import regex
from regraft.core.stage_files import StageFiles, Written
from regraft.core.trees import LINK, Entry
from regraft.errors import InputError

LIMIT = 4 * 1024 * 1024  # bytes of a Dockerfile, a .dockerignore or a script

_URL = regex(r"(?:https?|git|ssh|ftp)://.*|git@[^:]+:.*")

Read = Callable[[str], bytes | None]


class Recipe(Struct, frozen=True):
    """How an image is built. Paths are relative to the project; `context` is "" for its top.

    `repository`: the project is the top of its repository, where `.git` lies.
    """

    image: str
    dockerfile: str
    context: str = ""
    target: str | None = None
    arguments: Mapping[str, str] = {}
    repository: bool = True


class Use(Struct, frozen=True):
    """A source of a COPY, an ADD or a bind mount that lies in the build context."""

    place: Place
    source: str
    taken: Taken


class Missing(Struct, frozen=True):
    place: Place
    keyword: str
    source: str
    near: str | None
    ignored: bool  # it is there, and .dockerignore hides it


class Remote(Struct, frozen=True):
    """An address that an ADD gets."""

    place: Place
    url: str
    checksum: bool


class View(Struct):
    recipe: Recipe
    stages: Stages
    reached: tuple[Stage, ...]
    context: Context
    uses: list[Use] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    remotes: list[Remote] = field(default_factory=list)
    mistakes: list[InputError] = field(default_factory=list)
    followed: Followed = field(default_factory=lambda: Followed([]))
    started: Followed = field(default_factory=lambda: Followed([]))  # by ENTRYPOINT or CMD, when a container starts
    files: dict[int, StageFiles] = field(default_factory=dict)  # at the end of each stage
    everything: Place | None = None  # a source that is the whole context
    history: bool = False  # `.git` is in that
    history_taken: Place | None = None  # a source that is `.git`, which is in the context and tracked nowhere

    @property
    def steps(self) -> Iterator[tuple[Stage, Step]]:
        for stage in self.reached:
            for step in stage.steps:
                yield stage, step

    def place(self, step: Step) -> Place:
        return Place(self.recipe.dockerfile, step.line)


def view(recipe: Recipe, tree: Mapping[str, Entry], read: Read) -> View:
    """What a Dockerfile makes of a tree. Raises InputError: no-dockerfile, no-such-stage, bad-pattern."""
    data = read(recipe.dockerfile)
    if data is None:
        hint = "name the Dockerfile in the manifest as it is tracked"
        raise InputError("no-dockerfile", "there is no such file", where=recipe.dockerfile, hint=hint)
    stages = read_stages(read_dockerfile(data), recipe.dockerfile, recipe.arguments)
    links = {path: read(path) or b"" for path, entry in tree.items() if entry.mode == LINK}
    context = Context(tree, recipe.context, _ignored(recipe, tree, read), links)
    found = View(recipe, stages, stages.reached(recipe.target), context)
    found.mistakes += stages.mistakes
    looking = _Looking(found, read)
    for stage in found.reached:
        looking.stage(stage)
    return found


def _ignored(recipe: Recipe, tree: Mapping[str, Entry], read: Read) -> Ignored:
    """The file beside the Dockerfile goes before the one at the top of the context."""
    for path in (f"{recipe.dockerfile}.dockerignore", f"{recipe.context}/.dockerignore".lstrip("/")):
        data = read(path) if path in tree else None
        if data is not None:
            try:
                return Ignored(read_dockerignore(data))
            except BadPatternError as error:
                raise InputError("bad-pattern", str(error), where=f"{path}:{error.line}") from None
    return Ignored(())


class _Looking:
    def __init__(self, found: View, read: Read) -> None:
        self._view = found
        self._read = read
        self._top = found.recipe.repository and not found.recipe.context

    def stage(self, stage: Stage) -> None:
        below = self._view.files.get(stage.base.stage) if stage.base.kind == "stage" else None
        files = below.copy() if below is not None else StageFiles()
        self._view.files[stage.index] = files
        for step in stage.steps:
            if step.keyword in ("COPY", "ADD"):
                self._copy(step, files)
            elif step.keyword == "RUN":
                self._run(stage, step, files)
            elif step.keyword in ("ENTRYPOINT", "CMD") and stage is self._view.reached[-1]:
                for script in scripts_of(self._view.recipe.dockerfile, stage, step, files):
                    follow(script, self._read, self._view.started)

    def _wrong(self, step: Step, code: str, message: str, hint: str | None = None) -> None:
        self._view.mistakes.append(InputError(code, message, where=str(self._view.place(step)), hint=hint))

    def _copy(self, step: Step, files: StageFiles) -> None:
        flags = [flag.text for flag in step.instruction.flags]
        words = [word.text for word in step.instruction.words]
        docs = {f"<<{'-' if doc.chomp else ''}{doc.name.decode()}" for doc in step.instruction.heredocs}
        if len(words) < 2:
            self._wrong(step, "bad-dockerfile", f"{step.keyword} takes a source and a destination")
            return
        target = self._expanded(words[-1], step)
        sources = [one for one in words[:-1] if one.replace('"', "").replace("'", "") not in docs]
        excludes = [flag[10:] for flag in flags if flag.startswith("--exclude=")]
        many = len(words) > 2
        parents = "--parents" in flags or "--parents=true" in flags
        for doc in step.instruction.heredocs:
            line = step.data.count(b"\n", 0, doc.body.start) + 1
            files.write(
                doc.name.decode("utf-8", "surrogateescape"),
                Written(step.body(doc), line),
                target,
                step.folder,
                many=many,
            )
        for word in sources:
            source = self._expanded(word, step)
            if any(flag.startswith("--from=") for flag in flags):
                if step.sources and step.sources[0].kind == "stage" and not (parents and is_pattern(source)):
                    other = self._view.files.get(step.sources[0].stage, StageFiles())
                    files.take_over(other, source, with_parents(source, target) if parents else target, step.folder)
                continue
            source = self._everywhere(word, step) or source
            if "$" in source:
                self._unknown(step, word)
            elif step.keyword == "ADD" and _URL.fullmatch(source):
                checked = any(flag.startswith("--checksum=") for flag in flags)
                self._view.remotes.append(Remote(self._view.place(step), source, checked))
            else:
                put = partial(files.put, target=target, folder=step.folder, many=many)
                take = self._view.context.take_with_parents if parents else self._view.context.take
                self._take(step, source, partial(take, source, excludes), put)

    def _expanded(self, word: str, step: Step) -> str:
        try:
            return expand(word, step.scope).text
        except BadSubstitutionError as error:
            self._wrong(step, "bad-substitution", str(error))
            return word

    def _everywhere(self, word: str, step: Step) -> str | None:
        """A pattern of what a source is on all platforms, where only the platform decides."""
        try:
            return args.on_every_platform(expand(word, step.scope))
        except BadSubstitutionError:
            return None  # said where it was expanded

    def _unknown(self, step: Step, word: str) -> None:
        try:
            names = expand(word, step.scope).unknown
        except BadSubstitutionError:
            return  # said where it was expanded
        if names:
            name = names[0]
            hint = f"give it a value: [images.{self._view.recipe.image}] build-args = {{ {name} = … }}"
            self._wrong(step, "no-value", f"what {word!r:.120} is depends on {name}, which has no value here", hint)
        else:
            self._wrong(step, "bad-dockerfile", f"{word!r:.120} holds a `$`")

    def _take(
        self, step: Step, source: str, take: Callable[[], tuple[Taken, ...]], put: Callable[[Taken], None]
    ) -> None:
        place, context = self._view.place(step), self._view.context
        try:
            taken = take()
        except LinkOutError as error:
            self._wrong(step, "link-out", str(error), "copy the file itself to that place, and commit it")
            return
        except BadPatternError as error:
            self._wrong(step, "bad-pattern", f"{step.keyword} of {source!r:.120}: {error}")
            return
        if not taken and self._top and _is_history(source) and not context.hides(".git"):
            self._view.history_taken = self._view.history_taken or place
            return
        if not taken:
            near, hidden = context.near(source), context.is_ignored(source)
            self._view.missing.append(Missing(place, step.keyword, source, near, hidden))
        for one in taken:
            if one.folder and one.source == "":
                self._view.everything = self._view.everything or place
                self._view.history |= self._top and not context.hides(".git")
            self._view.uses.append(Use(place, source, one))
            put(one)

    def _run(self, stage: Stage, step: Step, files: StageFiles) -> None:
        mounted = files
        for flag in step.instruction.flags:
            if flag.text.startswith("--mount="):
                if mounted is files:
                    mounted = files.copy()
                self._mount(step, flag.text[8:], mounted)
        for script in scripts_of(self._view.recipe.dockerfile, stage, step, mounted):
            follow(script, self._read, self._view.followed)

    def _mount(self, step: Step, text: str, files: StageFiles) -> None:
        given = {key.lower(): value for key, _, value in (pair.partition("=") for pair in text.split(","))}
        if given.get("type", "bind") != "bind":
            return
        written = given.get("source", given.get("src", "")).strip("\"'")
        source = self._everywhere(written, step) or self._expanded(written, step)
        target = given.get("target", given.get("dst", given.get("destination")))
        if target is None:
            self._wrong(step, "bad-dockerfile", "--mount=type=bind names no target")
            return
        target = self._expanded(target.strip("\"'"), step)
        origin = next((one for one in step.sources if one.text == given.get("from", "").strip("\"'").lower()), None)
        if "from" in given:
            if origin is not None and origin.kind == "stage":
                files.take_over(self._view.files.get(origin.stage, StageFiles()), source, target, step.folder)
        elif "$" in source:
            self._unknown(step, source)
        else:
            put = partial(files.put, target=target, folder=step.folder, many=False)
            self._take(step, source, partial(self._view.context.take, source), put)


def _is_history(source: str) -> bool:
    return posixpath.normpath(f"/{source}").split("/")[1] == ".git"


def bases(found: View) -> Iterator[From]:
    """Every image from elsewhere that a reached stage is built on, copies from or mounts."""
    for stage in found.reached:
        for one in (stage.base, *(source for step in stage.steps for source in step.sources)):
            if one.kind == "image":
                yield one


def unvalued(found: View) -> Iterator[tuple[str, Place]]:
    """The ARGs that a reached stage declares and nothing gives a value: what they are is asked at the build."""
    told: set[str] = set()
    steps = [*found.stages.arguments, *(step for _, step in found.steps)]
    for step in steps:
        if step.keyword != "ARG":
            continue
        for word in args.split_words(joined(step.instruction)):
            name, equals, _ = word.partition("=")
            before = found.stages.before.arguments
            valued = equals or name in found.recipe.arguments or before.get(name) is not None
            if not valued and name not in told | args.PLATFORM | args.PROXIES:
                told.add(name)
                yield name, found.place(step)
