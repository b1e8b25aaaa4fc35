"""In which repository a ref is looked up: the dependency's own, or one beside it that the manifest allows."""

from regraft.core.manifest import Dependency
from regraft.core.refs import NameRef, PullRef, Ref, Repository
from regraft.core.repository_url import RepositoryUrl, allowed, parse_repository_url, public, same_repository
from regraft.errors import InputError


def url_of(ref: Ref, dependency: Dependency, where: str) -> str:
    """The URL to ask. InputError `not-allowed`: another host, or a repository that is not among `allow`."""
    url = parse_repository_url(dependency.url)
    if ref.host is not None and ref.host.lower().partition(":")[0] != url.host:
        place = url.host or public(dependency.url)
        message = f"{ref.text!r:.200} is on {ref.host!r:.200}, and {dependency.name} comes from {place}"
        raise InputError("not-allowed", message, where=where, hint="name a ref of that server")
    named = _named(ref, url)
    if named is None:
        return dependency.url
    found = url.beside(named)
    if found is None:
        message = (
            f"{ref.text!r:.200} names another repository, and {public(dependency.url)} has no owner and name to replace"
        )
        raise InputError("not-allowed", message, where=where, hint=f"name a branch, a tag or a hash{_as_branch(ref)}")
    own = url.repository
    if (own is not None and same_repository(own, named, url)) or allowed(named, dependency.allow, url):
        return found
    others = ", ".join(map(repr, dependency.allow)) or "none"
    message = f"{str(named)!r:.200} is not among the repositories that {dependency.name} may come from"
    hint = f"its own is {str(own)!r}; others that `allow` in the manifest names: {others}{_as_branch(ref)}"
    raise InputError("not-allowed", message, where=where, hint=hint)


def _as_branch(ref: Ref) -> str:
    """`feat/x#12` may be a branch, and is read as pull request 12 of a repository `feat/x`."""
    target = ref.target
    if ref.host is None and isinstance(target, PullRef) and target.repository is not None and target.head is None:
        return f"; if it is a branch, write refs/heads/{ref.text[:200]}"
    return ""


def _named(ref: Ref, url: RepositoryUrl) -> Repository | None:
    target = ref.target
    if isinstance(target, NameRef) and target.owner is not None:
        own = url.repository
        return Repository(target.owner, own.name if own else "")
    return target.repository
