"""The manifest that a repository would have: every value with the line that shows it, every guess without one as a question."""

import posixpath
from collections.abc import Iterator, Sequence

from regraft.core.git_clones import HASH
from regraft.core.init_baked import baked_table
from regraft.core.init_found import Found, Upstream, clean_name, identity, image_names, locks_of, upstreams
from regraft.core.init_git import COMMIT
from regraft.core.init_images import image_table, suite_tables
from regraft.core.init_manifest import Entry, Proposal, Table
from regraft.core.init_values import Held, Install, Place, Ref
from regraft.core.manifest_links import default_directive
from regraft.core.manifest_texts import URL
from regraft.core.patterns import regex
from regraft.core.repository_url import parse_repository_url
from regraft.core.spelling import nearest

_VERSION = regex(r"(?:[A-Za-z]+[-_/]?)?v?\d+(?:[._-]\d+)+.*|v\d+.*|refs/tags/.*|tags/.*|.*(?:rc|alpha|beta|post)\d+")
_WHICH = regex(r"which patch|what does '.*' match|which series|what (?:does|follows)")
_PULL = regex(r"(?:refs/)?pull/.*")
_TESTS = frozenset({"test", "tests", "testdata", "fixtures", "golden", "node_modules", "third_party", "vendor"})
_SHOWN = 10


def propose(found: Found) -> Proposal:
    """Raises nothing: what is not known is asked."""
    held = [one for one in found.held if one.checkouts or one.from_git or one.outside]
    names = image_names([one.dockerfile for one in held])
    found.held = held
    every = upstreams(found, names)
    directives = _directives(every, found)
    proposal = Proposal([_project(found)])
    proposal.tables += [_dependency(found, one, directives) for one in every]
    suites: list[Table] = []
    for one in held:
        image = image_table(found, names[one.dockerfile], one, names)
        proposal.tables.append(image)
        proposal.tables += _baked(found, every, one)
        for up in every:
            _straight(up, names[one.dockerfile], image)
        suites += suite_tables(found, names[one.dockerfile], image, suites)
    proposal.tables += suites
    _remarks(found, proposal, every, directives)
    return proposal


def _baked(found: Found, every: Sequence[Upstream], held: Held) -> Iterator[Table]:
    """One table for each repository; a second checkout of one is asked about."""
    for upstream in every:
        uses = [use for use in upstream.uses if use.held is held]
        if not uses:
            continue
        table = baked_table(found, upstream, uses[0])
        if upstream.url is None or any(URL.judge(upstream.url.text) is not None for _ in uses):
            table.off = f": where is the repository of {upstream.name}? It is asked above"
        for other in uses[1:]:
            text = f"which of its checkouts is meant? {other.checkout.path} is another ({other.checkout.place})"
            table.ask("path", text)
        yield table


def _project(found: Found) -> Table:
    table = Table(("project",))
    if found.name is not None:
        table.put("name", found.name.text, found.name.place)
    else:
        table.put(
            "name",
            "".join(c if c.isalnum() or c in "._-" else "-" for c in found.folder).strip("-._") or "project",
            "the folder's name",
        )
    installs = found.workflows.installs or [one for held in found.held for one in held.project_installs]
    _install(table, installs)
    if found.name is not None and any(entry.key == "install" and entry.value for entry in table.entries):
        table.put("distributions", [found.name.text], f"{found.name.place}, which these commands install")
    return table


def _install(table: Table, installs: Sequence[Install]) -> None:
    sure = [one for one in installs if one.doubt is None and one.argv[0] == "python"]
    texts = list(dict.fromkeys(one.argv for one in sure))
    if len(texts) == 1 and len(sure) == len(installs):
        table.put("install", [list(texts[0])], sure[0].place)
    elif installs:
        lines = ", ".join(f"`{' '.join(one.argv)}` ({one.place})" for one in installs[:_SHOWN])
        table.ask("install", f"which commands install the project itself? {lines}")
    else:
        table.ask("install", "which commands install the project itself? No workflow and no Dockerfile here says it")


def _dependency(found: Found, one: Upstream, directives: dict[str, tuple[str, str]]) -> Table:
    table = Table(("dependencies", one.name))
    if one.url is None:
        place = one.uses[0].checkout.place
        base = one.uses[0].held.base
        brought = f"; {base.text} ({base.place}) brings it" if base else ""
        table.off = f".url: where is its repository? {one.uses[0].checkout.path} is used at {place}{brought}"
        table.entries.append(Entry("url", "https://…", "to be filled in"))
    else:
        table.put("url", one.url.text, one.url.place)
        if not any(entry.key == "url" and entry.value for entry in table.entries):
            table.entries.clear()
            table.off = f".url: where is its repository? What {one.url.place} says cannot stand here"
            table.entries.append(Entry("url", "https://…", "to be filled in"))
    _branch(table, one)
    if one.name in directives:
        key, why = directives[one.name]
        table.put("directive", key, why)
    _allow(table, one)
    _token(table, one)
    _lock(table, found, one)
    return table


def _allow(table: Table, one: Upstream) -> None:
    """Other repositories of the same server that a build fetches into the very same checkout."""
    own = parse_repository_url(one.url.text) if one.url is not None else None
    if own is None or own.repository is None or one.url is None:
        return
    others: dict[str, Place] = {}
    for use in one.uses:
        for told in use.checkout.remotes.values():
            other = parse_repository_url(told.text)
            elsewhere = identity(told.text) != identity(one.url.text)
            if other.repository is not None and other.host == own.host and elsewhere:
                others.setdefault(f"{other.repository.owner}/{other.repository.name}", told.place)
    if others:
        places = ", ".join(dict.fromkeys(str(place) for place in others.values()))
        table.put("allow", list(others), f"{places}: the build takes from there too")


def _token(table: Table, one: Upstream) -> None:
    told = {use.checkout.token.text: use.checkout.token for use in one.uses if use.checkout.token is not None}
    names = [token for name, token in told.items() if name]
    if len(names) == 1 and len(told) == 1:
        table.put("token-env", names[0].text, f"{names[0].place} logs in with it")
    elif told:
        places = ", ".join(str(token.place) for token in told.values())
        table.ask("token-env", f"which variable holds a token for it? {places} logs in with a secret")


def _lock(table: Table, found: Found, one: Upstream) -> None:
    locks = locks_of(found, one)
    if len(locks) == 1 and found.locked.get((locks[0].file, locks[0].key)):
        table.put("lock", locks[0].value, f"{locks[0].place} reads the commit there")
    elif locks:
        lines = ", ".join(f"{lock.file}{f' at {lock.key}' if lock.key else ''} ({lock.place})" for lock in locks)
        why = "no full commit is there" if len(locks) == 1 else "they are several"
        table.ask("lock", f"where is the commit recorded that it is released with? It is read from {lines}: {why}")


def _refs(one: Upstream) -> Iterator[Ref]:
    for use in one.uses:
        ref = use.checkout.branch or use.checkout.ref
        if ref is not None:
            yield ref
    for _, straight in one.straight:
        if straight.ref is not None:
            yield Ref(straight.ref, straight.place)


def follows_branch(refs: Sequence[Ref]) -> Ref | None:
    """The first that is a branch by its name: no commit, no pull ref, and nothing that looks like a version."""
    for ref in refs:
        text = ref.text or ""
        if text and not any(one.fullmatch(text) for one in (COMMIT, HASH, _VERSION, _PULL)):
            return ref
    return None


def _branch(table: Table, one: Upstream) -> None:
    refs = list(_refs(one))
    texts = [ref for ref in refs if ref.text is not None and COMMIT.fullmatch(ref.text) is None]
    branches = [ref for ref in texts if follows_branch([ref]) is not None]
    different = {ref.text for ref in branches}
    if len(different) == 1:
        table.put("branch", branches[0].text, branches[0].place)
    elif different:
        lines = ", ".join(f"{ref.text!r:.120} ({ref.place})" for ref in branches[:_SHOWN])
        table.ask("branch", f"which one does the project follow? {lines}")
    elif texts:
        like = "a short hash" if HASH.fullmatch(texts[0].text or "") else "a tag"
        text = f"{texts[0].text!r:.120} ({texts[0].place}) looks like {like}"
        table.ask("branch", f"which one does the project follow? {text}")
    elif refs and refs[0].text is not None:
        table.ask("branch", f"which one does the project follow? {refs[0].place} has a commit")
    elif refs:
        table.ask(
            "branch", f"which one does the project follow? What {refs[0].place} checks out is not in the repository"
        )
    elif one.uses and one.uses[0].checkout.url is None:
        place = one.uses[0].checkout.place
        table.ask("branch", f"which one does the project follow? {place} uses a checkout that the base image brings")
    else:
        place = one.uses[0].checkout.place if one.uses else one.straight[0][1].place
        why = "no pin: what is built depends on the day"
        table.ask(
            "branch",
            f"which one does the project follow? {place} takes the default branch, whose name is not here ({why})",
        )


def _directives(every: Sequence[Upstream], found: Found) -> dict[str, tuple[str, str]]:
    """Which of the directives that workflows read belongs to which dependency."""
    matched: dict[str, tuple[str, str]] = {}
    for key, place in found.workflows.directives.items():
        if not key.endswith("-pr"):
            continue
        word = key.removeprefix("ci-").removesuffix("-pr")
        exact = [one for one in every if default_directive(one.name) == key]
        begins = [one for one in every if one.name.replace("_", "-").replace(".", "-").startswith(f"{word}-")]
        near = exact or begins
        if len(near) == 1 and near[0].name not in matched:
            why = str(place) if exact else f"{place}; no other dependency's name begins so"
            matched[near[0].name] = (key, why)
    return matched


def _straight(one: Upstream, image: str, table: Table) -> None:
    """What pip installs from a repository has no checkout that a run could move."""
    if any(use.image == image for use in one.uses):
        return
    for where, straight in one.straight:
        if where == image:
            pinned = straight.ref is not None and COMMIT.fullmatch(straight.ref) is not None
            told = f"at {straight.ref}" if straight.ref else "without a pin: what is built depends on the day"
            what = (
                f"pip installs it from git ({straight.place}), {told}"
                if not pinned
                else f"pip installs it from git at a commit ({straight.place})"
            )
            table.ask(
                f"baked.{one.name}.path", f"where is its checkout? {what}; a run replaces only what is a checkout"
            )


def _remarks(
    found: Found, proposal: Proposal, every: Sequence[Upstream], directives: dict[str, tuple[str, str]]
) -> None:
    say = proposal.remarks.append
    if not found.held:
        say(("images", "which images do suites run on? No Dockerfile here bakes a dependency"))
    if not every:
        say(("dependencies", "what is baked? Nothing here clones a repository or installs one by pip"))
    if found.held and not any(table.path[0] == "suites" for table in proposal.tables):
        say(("suites", "which jobs run on which image? No workflow here starts one of these images by name"))
    _untold(found, proposal)
    for key, place in found.workflows.directives.items():
        if key.endswith("-pr") and key not in {one for one, _ in directives.values()}:
            meant = nearest(key, [default_directive(one.name) for one in every])
            hint = f"; {meant} is near" if meant else ""
            say((key, f"whose directive is it? {place} reads it{hint}"))
    for one in every:
        for image, straight in one.straight:
            if image is None and not one.uses:
                say((f"images.IMAGE.baked.{one.name}", f"which image has it? {straight.place} installs it from git"))
    for place in found.workflows.unread:
        say((None, f"{place.path} is no YAML, and was not read but for directives"))
    _unused(found, proposal)


def _untold(found: Found, proposal: Proposal) -> None:
    """Jobs that run on an image of a repository here, by a digest or by a tag that is not written there."""
    ours = {entry.value for table in proposal.tables for entry in table.entries if entry.key == "repository"}
    suites = {table.path[1] for table in proposal.tables if table.path[0] == "suites"}
    for job, (text, place) in found.workflows.untold.items():
        name = clean_name(job) or "suite"
        if any(one and text.startswith((f"{one}:", f"{one}@")) for one in ours) and name not in suites:
            proposal.remarks.append((f"suites.{name}.image", f"which image? {place} runs it on {text!r:.120}"))


def _unclear(held: Held) -> Iterator[Place]:
    """The lines that apply patches of which nobody can tell which."""
    remarks = [*held.remarks, *(remark for one in held.checkouts.values() for remark in one.remarks)]
    yield from (one.place for one in remarks if one.question and _WHICH.search(one.text))
    yield from (patch.place for one in held.checkouts.values() for patch in one.patches if patch.doubt is not None)


def _unused(found: Found, proposal: Proposal) -> None:
    """Patch files that no image applies."""
    applied = {patch.path for held in found.held for one in held.checkouts.values() for patch in one.patches}
    applied |= {one.patch.path for held in found.held for one in held.outside}
    applied |= {path for paths in found.series.values() for path in paths}
    left = [
        path
        for path in sorted(found.tracked)
        if path.endswith((".patch", ".diff")) and path not in applied and not _TESTS & {*path.split("/")[:-1]}
    ]
    unclear = [place for held in found.held for place in _unclear(held)]
    doubt = f", as far as that can be followed: which ones {unclear[0]} applies is asked" if unclear else ""
    commented = [told for held in found.held for told in held.commented]
    for path in left[:_SHOWN]:
        name = posixpath.basename(path)
        line = next((told for told in commented if name in told.text), None)
        why = f"; {line.place} has it in a comment" if line else ""
        proposal.remarks.append((path, f"is it retired? No Dockerfile here applies it{why}{doubt}"))
    if len(left) > _SHOWN:
        proposal.remarks.append(
            ("patches", f"and {len(left) - _SHOWN} more patch files that no Dockerfile here applies?")
        )
