"""Everything that was found in a repository, and the dependencies that it makes: one for each upstream repository."""

from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from regraft.core.init_locks import Lock
from regraft.core.init_values import Checkout, FromGit, Held, Place, Told, Workflows
from regraft.core.patterns import regex
from regraft.core.repository_url import parse_repository_url

_ODD = regex(r"[^a-z0-9._-]+")
_DOCKERFILE = regex(r"(?:(?:Docker|Container)file[._-](?P<after>.+)|(?P<before>.+)\.(?:docker|container)file|(?:Docker|Container)file)", 2)  # IGNORECASE  # fmt: skip
_GENERIC = frozenset(
    {"", "docker", "dockerfiles", "dockerfile", "build", "ci", "container", "containers", ".devcontainer", "deploy", "images", "image"}
)  # fmt: skip


class Found(Struct):
    """`requires` are the distributions that the project itself requires, `imported` the modules that its sources import.

    `touched` are the files that each patch edits, None where it cannot be read.
    """

    name: Told | None
    folder: str
    tracked: frozenset[str]
    held: list[Held]
    workflows: Workflows
    requires: dict[str, Place] = field(default_factory=dict)
    imported: dict[str, Place] = field(default_factory=dict)
    touched: dict[str, frozenset[bytes] | None] = field(default_factory=dict)
    from_git: list[FromGit] = field(default_factory=list)
    series: dict[str, tuple[str, ...]] = field(default_factory=dict)
    locked: dict[tuple[str, str | None], bool] = field(
        default_factory=dict
    )  # file and pointer: whether a commit is there


class Use(Struct, frozen=True):
    image: str
    held: Held
    checkout: Checkout


class Upstream(Struct):
    """One upstream repository. `url` is None where nobody says where it is."""

    name: str
    url: Told | None
    uses: list[Use] = field(default_factory=list)
    straight: list[tuple[str | None, FromGit]] = field(default_factory=list)  # image (None: the project's requirements)


def locks_of(found: Found, upstream: Upstream) -> list[Lock]:
    """The files that its commit is read from, each once."""
    locks: dict[tuple[str, str | None], Lock] = {}
    for use in upstream.uses:
        ref = use.checkout.ref
        if ref is None or ref.text is not None:
            continue
        if ref.reads is not None:
            locks.setdefault(ref.reads, Lock(*ref.reads, ref.place))
        elif ref.argument is not None and (told := found.workflows.locked.get(ref.argument)) is not None:
            locks.setdefault(told[:2], Lock(*told))
    return list(locks.values())


def image_names(dockerfiles: Sequence[str]) -> dict[str, str]:
    """A name for each Dockerfile: what its own name adds, else its folder's, else `default`."""
    found: dict[str, str] = {}
    for path in dockerfiles:
        folder, _, name = path.rpartition("/")
        match = _DOCKERFILE.fullmatch(name)
        own = (match["after"] or match["before"] or "") if match else ""
        parts = [one for one in folder.split("/") if one.lower() not in _GENERIC]
        wanted = own or (parts[-1] if parts else "default")
        options = [wanted, "-".join([*parts, own]) if own else "-".join(parts), path.replace("/", "-")]
        names = [clean for one in options if (clean := clean_name(one))]
        found[path] = next((one for one in names if one not in found.values()), f"image-{len(found) + 1}")
    return found


def clean_name(text: str) -> str:
    return _ODD.sub("-", text.lower()).strip("-._")[:64]


def identity(url: str) -> str:
    """Two addresses of one repository have the same."""
    parsed = parse_repository_url(url)
    path = parsed.path.strip("/").removesuffix(".git")
    return path if parsed.local else f"{parsed.host}/{path.lower()}"


def upstreams(found: Found, names: dict[str, str]) -> list[Upstream]:
    """Every upstream repository, in the order in which the files name them."""
    by: dict[str, Upstream] = {}
    for held in found.held:
        for one in held.checkouts.values():
            url = one.url or found.workflows.urls.get(one.path)
            key = identity(url.text) if url else f"?{one.path.rpartition('/')[2].lower()}"
            upstream = by.setdefault(key, Upstream("", url))
            upstream.uses.append(Use(names[held.dockerfile], held, one))
    for image, straight in _straight(found, names):
        upstream = by.setdefault(identity(straight.url), Upstream("", Told(straight.url, straight.place)))
        upstream.straight.append((image, straight))
    _named(list(by.values()))
    return list(by.values())


def _straight(found: Found, names: dict[str, str]) -> Iterator[tuple[str | None, FromGit]]:
    seen = set()
    for held in found.held:
        for one in held.from_git:
            seen.add(one.place)
            yield names[held.dockerfile], one
    for one in found.from_git:
        if one.place not in seen:
            yield None, one


def _named(all_of_them: Sequence[Upstream]) -> None:
    taken: set[str] = set()
    for one in all_of_them:
        repository = parse_repository_url(one.url.text).repository if one.url else None
        path = one.uses[0].checkout.path if one.uses else ""
        last = repository.name if repository else (one.url.text if one.url else path).rstrip("/").rpartition("/")[2]
        options = [
            clean_name(last.removesuffix(".git")),
            clean_name(f"{repository.owner}-{repository.name}" if repository else path),
        ]
        one.name = next((name for name in options if name and name not in taken), f"dependency-{len(taken) + 1}")
        taken.add(one.name)
