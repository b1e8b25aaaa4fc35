"""The table of one dependency in one image: its path, its install commands, its patches in their order."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from regraft.core.init_found import Found, Upstream, Use
from regraft.core.init_git import COMMIT
from regraft.core.init_manifest import Entry, Table, toml
from regraft.core.init_values import Applied, Checkout, Install
from regraft.core.manifest_texts import BAKED_PATH
from regraft.core.patterns import regex
from regraft.core.requirements import normalized

_NUMBERED = regex(r"(\d+)[-_. ].*")


def baked_table(found: Found, upstream: Upstream, use: Use) -> Table:
    one = use.checkout
    table = Table(("images", use.image, "baked", upstream.name))
    _path(table, one, upstream)
    _commit(table, one)
    _install(table, one, use)
    _named(table, found, upstream)
    _patches(table, one, found)
    for remark in [*one.remarks, *(r for r in use.held.remarks if r.text.startswith(f"{one.path}: "))]:
        text = remark.text.removeprefix(f"{one.path}: ")
        if remark.question:
            table.ask("local-edits" if "edits" in text else "path", f"{text} ({remark.place})")
        else:
            table.note(f"{remark.place}: {text}")
    return table


def _path(table: Table, one: Checkout, upstream: Upstream) -> None:
    known = (
        one.path.startswith("/") and "$" not in one.path and "`" not in one.path and BAKED_PATH.judge(one.path) is None
    )
    if not known:
        shown = one.path.replace("$:workdir", "<the folder that the base image begins in>")
        table.off = f".path: where is it? {one.place} says {shown!r:.200}"
        table.entries.append(Entry("path", "/…", "to be filled in"))
        return
    table.put("path", one.path, one.place)
    if one.doubt is not None:
        table.off = f": is it in this image? {one.place} is followed {one.doubt}"
    elif one.url is None:
        table.off = f": which repository does {one.path} come from? {one.place} uses it, and nothing here clones it"
        if upstream.url is not None:
            table.off = None
            table.note(f"{upstream.url.place} says where {one.path} comes from")


def _commit(table: Table, one: Checkout) -> None:
    ref = one.ref
    if ref is None and one.url is None:
        table.note(f"{one.place} takes the commit that the base image has")
    elif ref is None:
        table.note(f"{one.place} has no pin: what is built depends on the day")
    elif ref.text is not None and COMMIT.fullmatch(ref.text):
        by = f" ({ref.argument})" if ref.argument else ""
        table.note(f"{ref.place} checks out {ref.text}{by}")
    elif ref.text is not None:
        table.note(f"{ref.place} checks out {ref.text!r:.120}, whatever that is on the day")
    else:
        table.note(f"what {ref.place} checks out is not in the repository")


def _install(table: Table, one: Checkout, use: Use) -> None:
    doubtful = next((install for install in one.installs if install.doubt is not None), None)
    other = next((install for install in one.installs if install.argv[0] != "python"), None)
    if doubtful is not None:
        table.ask("install", f"which commands? `{_line(doubtful)}` ({doubtful.place}) is not sure: {doubtful.doubt}")
    elif other is not None:
        table.ask(
            "install",
            f"which commands? `{_line(other)}` ({other.place}) does not say which interpreter it installs for",
        )
    elif one.installs:
        argvs = list(dict.fromkeys(install.argv for install in one.installs))
        table.put("install", [list(argv) for argv in argvs], one.installs[0].place)
        _not_brought(table, one.installs)
    else:
        on_path = next((told for told in use.held.python_path if f"{told.text}/".startswith(f"{one.path}/")), None)
        if on_path is not None:
            table.put("install", [], f"{on_path.place} has it on PYTHONPATH: moving the checkout is enough")
        else:
            table.ask(
                "install", f"which commands install it? None after {one.place} does, as far as this can be followed"
            )


def _not_brought(table: Table, installs: Sequence[Install]) -> None:
    """What an editable install leaves as it was: only the upstream's own tree says whether there is any."""
    for one in installs:
        words = list(one.argv)
        editable = next((at for at, word in enumerate(words) if word in ("-e", "--editable")), None)
        if editable is None or editable + 1 >= len(words):
            continue
        folder = words[editable + 1].partition("[")[0].strip("/").removeprefix("./")
        why = f"`{_line(one)}` ({one.place}) is editable, and its repository is not here"
        table.ask("rebuild-when", f"which files does it compile (*.cu, *.cpp, *.rs)? {why}")
        if folder not in ("", "."):
            table.ask("not-installed", f"which folders besides {folder}/ does the image use? {why}")
        return


def _line(install: Install) -> str:
    return " ".join(install.argv)


def _named(table: Table, found: Found, upstream: Upstream) -> None:
    """Distributions and modules, where something says their names."""
    egg = next((one for _, one in upstream.straight if one.name), None)
    required = found.requires.get(normalized(upstream.name))
    if egg is not None and egg.name is not None:
        table.put("distributions", [normalized(egg.name)], egg.place)
    elif required is not None:
        table.put("distributions", [normalized(upstream.name)], f"{required} requires it")
    else:
        table.ask("distributions", "which distributions does installing it change?")
    module = upstream.name.replace("-", "_").replace(".", "_")
    imported = found.imported.get(module)
    if imported is not None:
        table.put("locate", [module], f"{imported} imports it")
    else:
        table.ask("imports", "which modules show that it is found? (`locate` for those that need an accelerator)")


def _patches(table: Table, one: Checkout, found: Found) -> None:
    if one.series is not None:
        table.put("series", one.series.text, one.series.place)
        if one.patches:
            table.ask("patches", f"{one.patches[0].place} applies others besides the series; in which order?")
        return
    if not one.patches:
        return
    doubtful = [patch for patch in one.patches if patch.doubt is not None]
    offer = f"patches = {toml([_item(patch) for patch in one.patches])}"
    if doubtful:
        said = ", ".join(f"{patch.path} ({patch.place}) is applied {patch.doubt}" for patch in doubtful[:6])
        table.ask("patches", f"which ones? {said}", offer)
        return
    clash = _clash(one.patches, found)
    if clash is not None:
        first, second, shared = clash
        text = f"in which order? {first.place} goes over {first.pattern}, in the order of its shell's locale, and {first.path} and {second.path} {shared}"
        table.ask("patches", text, offer)
        return
    places = list(dict.fromkeys(str(patch.place) for patch in one.patches))
    why = ", ".join(places[:6])
    if any(patch.pattern for patch in one.patches):
        why += "; in the order of their numbers" if _numbered(one.patches) else "; in any order: no two edit one file"
    table.put("patches", [_item(patch) for patch in one.patches], why)
    merging = {patch.merges for patch in one.patches}
    if merging == {True}:
        table.put("apply", "3way", one.patches[0].place)
    elif len(merging) == 2:
        table.ask("apply", "are they merged three-way? Some of the lines that apply them say so, and others do not")


def _item(patch: Applied) -> Any:
    item: dict[str, Any] = {"file": patch.path}
    if patch.strip not in (None, 1):
        item["strip"] = patch.strip
    if patch.root:
        item["root"] = patch.root
    return item if len(item) > 1 else patch.path


def _numbered(patches: Sequence[Applied]) -> bool:
    """Whether those of one pattern have numbers of one width, all different, so that every locale has them in one order."""
    matches = [_NUMBERED.fullmatch(one.path.rpartition("/")[2]) for one in patches if one.pattern]
    numbers = [match[1] for match in matches if match is not None]
    return len(numbers) == len(matches) == len(set(numbers)) and len({len(one) for one in numbers}) == 1


def _clash(patches: Sequence[Applied], found: Found) -> tuple[Applied, Applied, str] | None:
    """Two patches that come from one pattern, whose order counts and is declared nowhere."""
    listed = [one for one in patches if one.pattern]
    if _numbered(patches):
        return None
    for one, other in combinations(listed, 2):
        if one.pattern != other.pattern:
            continue
        here, there = found.touched.get(one.path), found.touched.get(other.path)
        if here is None or there is None:
            return one, other, "cannot both be read"
        if shared := here & there:
            return one, other, f"both edit {min(shared).decode('utf-8', 'replace')}"
    return None
