"""What `regraft init` finds in a repository, as values: facts with the place that shows each of them."""

from msgspec import Struct, field


class Place(Struct, frozen=True, order=True):
    """A line of a file of the project; lines start at 1."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class Told(Struct, frozen=True):
    """A text that was found, and where."""

    text: str
    place: Place


class Remark(Struct, frozen=True):
    """Something that is to be known of an image and is no key of the manifest; `question` where somebody has to answer."""

    text: str
    place: Place
    question: bool = True


class Ref(Struct, frozen=True):
    """What is checked out: a name or a commit as it is at that line, and the build argument that it came from.

    `named`: git was told that it is a branch (or a tag); `text` is None where nobody can tell what it is.
    """

    text: str | None
    place: Place
    argument: str | None = None
    named: bool = False
    reads: tuple[str, str | None] | None = None  # the project's file that it is read from, and the JSON pointer


class Install(Struct, frozen=True):
    """One install command as an argument list, run at the top of the checkout.

    `doubt` says why the list cannot be taken as it stands.
    """

    argv: tuple[str, ...]
    place: Place
    env: tuple[tuple[str, str], ...] = ()
    doubt: str | None = None
    python: str | None = None  # the interpreter's absolute path, where that is told


class Applied(Struct, frozen=True):
    """One patch file of the project that a build applies. `pattern` is the glob that it came from, with others."""

    path: str
    place: Place
    strip: int | None = None
    root: str = ""
    merges: bool = False
    pattern: str | None = None
    doubt: str | None = None


class Checkout(Struct):
    """A folder of an image that git was run in. `url` is None where another image brought it."""

    path: str
    place: Place
    url: Told | None = None
    ref: Ref | None = None
    branch: Ref | None = None
    remotes: dict[str, Told] = field(default_factory=dict)
    fetched: Ref | None = None
    local: dict[str, Ref | None] = field(default_factory=dict)  # branches that only this checkout has, and what of
    installs: list[Install] = field(default_factory=list)
    patches: list[Applied] = field(default_factory=list)
    series: Told | None = None
    egg: Told | None = None
    token: Told | None = None  # the variable that its address has for a login; "" where that is no variable
    doubt: str | None = None
    remarks: list[Remark] = field(default_factory=list)


class FromGit(Struct, frozen=True):
    """A distribution that pip installs straight from a repository, without a checkout that stays."""

    name: str | None
    url: str
    ref: str | None
    place: Place
    editable: bool = False


class Outside(Struct, frozen=True):
    """A patch of the project that is applied in a folder which no checkout here is."""

    patch: Applied
    folder: str


class Context(Struct, frozen=True):
    """Where a build's context is by the COPY lines: one folder that alone has what they name, `told` being one of them.

    Several folders: each of them has it. "" is the project's top.
    """

    folders: tuple[str, ...]
    told: Told


class Held(Struct):
    """What the last stage of a Dockerfile holds, as far as its text says."""

    dockerfile: str
    base: Told | None = None
    context: Context | None = None
    declared: frozenset[str] = frozenset()  # every build argument that it has an ARG for
    checkouts: dict[str, Checkout] = field(default_factory=dict)
    from_git: list[FromGit] = field(default_factory=list)
    python_path: list[Told] = field(default_factory=list)
    outside: list[Outside] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    project_installs: list[Install] = field(default_factory=list)
    commented: list[Told] = field(default_factory=list)


class Reference(Struct, frozen=True):
    """An image's name and tag. `job` is what runs in it, `dockerfile` what it is built from, where a workflow says so.

    `pushed`: what builds it publishes it too.
    """

    repository: str
    tag: str
    place: Place
    job: str | None = None
    dockerfile: str | None = None
    pushed: bool = False


class Build(Struct, frozen=True):
    """How a workflow builds a Dockerfile. `context` is a folder of the project, "" for its top; an argument without a value
    that is written there is None. `unsure` are "context", "target" and "tags", where the line does not tell them.
    """

    place: Place
    context: str = ""
    target: str | None = None
    arguments: tuple[tuple[str, str | None], ...] = ()
    unsure: tuple[str, ...] = ()


class Workflows(Struct):
    """What the workflows and scripts of a project say."""

    references: list[Reference] = field(default_factory=list)
    pushed: set[str] = field(default_factory=set)  # names that a command publishes, with or without a tag
    untold: dict[str, tuple[str, Place]] = field(
        default_factory=dict
    )  # job -> an image whose tag is not told, the line
    built: dict[str, list[Build]] = field(default_factory=dict)  # by the Dockerfile
    directives: dict[str, Place] = field(default_factory=dict)
    installs: list[Install] = field(default_factory=list)
    unread: list[Place] = field(default_factory=list)  # those that are no YAML
    locked: dict[str, tuple[str, str | None, Place]] = field(
        default_factory=dict
    )  # build argument -> file, pointer, line
    urls: dict[str, Told] = field(default_factory=dict)  # by the path of a checkout in an image

    def build_of(self, dockerfile: str) -> Build | None:
        """What all ways in which a Dockerfile is built have in common; None where nothing builds it."""
        ways = self.built.get(dockerfile, ())
        if not ways:
            return None
        first = ways[0]
        context = all(one.context == first.context and "context" not in one.unsure for one in ways)
        target = all(one.target == first.target and "target" not in one.unsure for one in ways)
        unsure = tuple(key for key, sure in (("context", context), ("target", target)) if not sure)
        shared = tuple(one for one in first.arguments if all(one in other.arguments for other in ways))
        return Build(first.place, first.context if context else "", first.target if target else None, shared, unsure)

    def differ(self, dockerfile: str) -> bool:
        """Whether there is more than one way."""
        return len({(one.context, one.target, one.arguments) for one in self.built.get(dockerfile, ())}) > 1
