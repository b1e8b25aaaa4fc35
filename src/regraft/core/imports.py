"""Is what an import takes the checkout's own, and is it the only copy?"""

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence

from regraft.core.findings import Finding, Witness
from regraft.core.manifest import Baked, Image
from regraft.core.observation import Checkout, Environment, Import, Module, Place, Portion, is_below, quoted
from regraft.core.requirements import normalized
from regraft.core.source_tree import SourceTree


def modules_of(baked: Baked) -> tuple[str, ...]:
    """The declared names and the packages above them, which may be shadowed too."""
    names = (*baked.imports, *baked.locate)
    parts = [name.split(".") for name in names]
    return tuple(dict.fromkeys(".".join(one[:length]) for one in parts for length in range(1, len(one) + 1)))


def judge_imports(
    baked: Baked, checkout: Checkout, environment: Environment, imports: Mapping[str, Import]
) -> Iterator[Finding]:
    """Each declared name, and the packages above it."""
    judge = _Judge(baked, SourceTree(checkout, environment, baked.rebuild_when), environment)
    for name in baked.imports:
        module = environment.modules.get(name)
        found = imports.get(name)
        if found is None or module is None:
            yield judge.finding("import-not-tried", f"{quoted(name)} was not tried")
            continue
        yield from judge.imported(found, module)
        yield from judge.copies(module)
    for name in baked.locate:
        module = environment.modules.get(name)
        if module is None:
            yield judge.finding("import-not-tried", f"{quoted(name)} was not looked for")
            continue
        yield from judge.located(module)
        yield from judge.copies(module)
    for name in modules_of(baked):
        yield from judge.portions(environment.modules.get(name))


_UNINSTALL = "uninstall the copy outside the checkout; it may need more than one `pip uninstall`"
_REMOVE = "remove what an older build left in the checkout, and what leads to it, then install again"


def judge_swallowed(image: Image, imports: Mapping[str, Import]) -> Iterator[Finding]:
    """An import that went well, and on whose way something of another dependency could not be imported.

    A back end that is left out so fails much later, or is not missed at all. A guard for several releases looks the same,
    so this is no error.
    """
    declared = {name: baked.dependency for baked in image.baked.values() for name in (*baked.imports, *baked.locate)}
    for baked in image.baked.values():
        for name in baked.imports:
            found = imports.get(name)
            for wanted, by in found.swallowed if found is not None and found.ok else ():
                owners = [owner for module, owner in declared.items() if is_parent(module, wanted)]
                if owners and baked.dependency not in owners and is_parent(name.partition(".")[0], by):
                    message = f"{quoted(by)} could not import {quoted(wanted)} of {owners[0]}, and went on without it"
                    fix = "look what is missing then, or whether this is a guard for several releases"
                    yield Finding("import-swallowed", "warning", message, baked.path, fix=fix)


class _Judge:
    def __init__(self, baked: Baked, tree: SourceTree, environment: Environment) -> None:
        self._baked = baked
        self._tree = tree
        self._folder = tree.folder
        self._environment = environment
        self._doubled: list[str] = []
        names = {normalized(name) for name in baked.distributions}
        self._installed = [one for one in environment.distributions if one.name in names]

    def finding(self, rule: str, message: str, witnesses: Sequence[Witness] = (), fix: str | None = None) -> Finding:
        return Finding(rule, "error", message, self._baked.path, witnesses=tuple(witnesses), fix=fix)

    def imported(self, found: Import, module: Module) -> Iterator[Finding]:
        name = quoted(found.name)
        if found.ok:
            yield from self._place("imported", found.file, found.places, module)
        elif found.missing is not None and is_parent(found.missing, found.name):
            yield self._absent(found.name, module)
        else:
            frames = [_frame(frame) for frame in found.frames]
            yield self.finding("import-fails", f"import {name}: {quoted(found.error or '', 500)}", frames)

    def located(self, module: Module) -> Iterator[Finding]:
        if module.effective is None:
            yield self._absent(module.name, module)
        else:
            yield from self._place("found", module.effective.file, module.effective.paths, module)

    def copies(self, module: Module) -> Iterator[Finding]:
        """Namespace portions are no copies: several of them make one package. What lies in a doubled package is doubled too.

        Two files of the checkout are no two copies: which of them counts is asked elsewhere.
        """
        if any(is_parent(name, module.name) for name in self._doubled):
            return
        files = {copy.file: copy for copy in module.copies if copy.file is not None}
        others = [file for file in files if not self._tree.is_ours(file)]
        if len(files) > 1 and others:
            self._doubled.append(module.name)
            listed = " and ".join(quoted(file) for file in files)
            witnesses = [witness for copy in files.values() for witness in blame(copy, self._environment)]
            message = f"{quoted(module.name)} is there {len(files)} times: {listed}"
            yield self.finding("second-copy", message, witnesses, _UNINSTALL)
        elif len(files) > 1 and module.effective is not None:
            behind = [copy for file, copy in files.items() if file != module.effective.file]
            for copy in behind:
                if copy.file is not None and self._tree.standing(module.name, copy.file) == "stray":
                    yield self._stray("could be taken", copy.file, module, [copy])

    def portions(self, module: Module | None) -> Iterator[Finding]:
        """What another portion of a namespace has under the name of something that the checkout has."""
        if module is None or any(is_parent(name, module.name) for name in self._doubled):
            return
        ours = {}
        for portion in module.portions:
            if self._tree.holds(portion.location):
                ours.update(dict.fromkeys(self._tree.children(portion.location), portion))
        for portion in module.portions:
            if not self._tree.holds(portion.location):
                yield from self._portion(module, portion, ours)

    def _portion(self, module: Module, other: Portion, ours: Mapping[str, Portion]) -> Iterator[Finding]:
        above = {
            ".".join(child.split(".")[:length]): child for child in ours for length in range(1, child.count(".") + 2)
        }
        for child in sorted(above.keys() & set(other.children)):
            name = f"{module.name}.{child}"
            if any(is_parent(doubled, name) for doubled in self._doubled):
                continue
            self._doubled.append(name)
            places = [f"{one.location}/{child.replace('.', '/')}" for one in (ours[above[child]], other)]
            message = f"{quoted(name)} is in two portions of {quoted(module.name)}: {' and '.join(map(quoted, places))}"
            copies = [copy for copy in module.copies if other.location in copy.locations]
            witnesses = [witness for copy in copies for witness in blame(copy, self._environment)]
            if self._tree.is_ours(other.location):
                yield self.finding("import-untracked", message, witnesses, _REMOVE)
            else:
                yield self.finding("second-copy", message, witnesses, _UNINSTALL)
        if not other.whole and ours:
            message = (
                f"{quoted(module.name)} has a portion in {quoted(other.location)} with more modules than are listed"
            )
            yield Finding("not-looked-into", "warning", message, self._baked.path)

    def _place(self, verb: str, file: str | None, paths: Sequence[str], module: Module) -> Iterator[Finding]:
        if file is None:
            if not any(self._tree.holds(path) for path in paths if not self._tree.is_environments(path)):
                yield self._elsewhere(verb, paths, module)
            return
        match self._tree.standing(module.name, file):
            case "tracked" | "compiled" | "generated":
                return
            case "shadow":  # found for the whole checkout, whether it is declared or not
                return
            case "stray":
                yield self._stray(f"is {verb}", file, module, self._copies(module, [file]))
            case _:
                yield self._elsewhere(verb, paths, module)

    def _copies(self, module: Module, paths: Iterable[str]) -> list[Place]:
        wanted = set(paths)
        return [copy for copy in module.copies if wanted & set(copy.paths)]

    def _elsewhere(self, verb: str, paths: Sequence[str], module: Module) -> Finding:
        where = ", ".join(quoted(path) for path in paths) or "the interpreter itself"
        why = ": the planned tree has nothing there" if any(is_below(path, self._folder) for path in paths) else ""
        if any(self._tree.is_environments(path) for path in paths):
            why = ": that is the environment, which merely lies in the checkout"
        return self.finding(
            "import-elsewhere",
            f"{quoted(module.name)} is {verb} from {where}, not from the checkout {quoted(self._folder)}{why}",
            [one for copy in self._copies(module, paths) for one in blame(copy, self._environment)],
            "take that copy, or what leads to it, out of the environment, then install from the checkout",
        )

    def _stray(self, verb: str, file: str, module: Module, copies: Sequence[Place]) -> Finding:
        source = self._tree.origin(module.name)
        beside = f"; the planned source is {quoted(source)}" if source else ""
        return self.finding(
            "import-untracked",
            f"{quoted(module.name)} {verb} from {quoted(file)}, which lies in the checkout and is not of the planned tree{beside}",
            [one for copy in copies for one in blame(copy, self._environment)],
            _REMOVE,
        )

    def _absent(self, name: str, module: Module) -> Finding:
        here = [copy for copy in module.copies if any(self._tree.is_ours(path) for path in copy.paths)]
        parent = self._first_parent(name)
        if here and parent is not None:
            place = ", ".join(quoted(path) for path in parent[1].paths)
            return self.finding(
                "import-elsewhere",
                f"{quoted(name)} is in the checkout ({quoted(here[0].paths[0])}), and {quoted(parent[0])} above it is "
                f"taken from {place}",
                blame(self._copy_of(*parent), self._environment),
                "take the copy that stands in front out of the environment",
            )
        if parent is not None:
            place = ", ".join(quoted(path) for path in parent[1].paths)
            message = f"{quoted(name)} is not there: {quoted(parent[0])} is {place}, and has no such module"
            ours = any(self._tree.is_ours(path) for path in parent[1].paths)
            fix = "look whether the plan's commit still has it, or whether the install must build it"
            return self.finding("missing-package", message, fix=fix if ours else "install from the checkout")
        if self._installed:
            first = self._installed[0]
            return self.finding(
                "stale-metadata",
                f"{first.name} {quoted(first.version)} is installed by its metadata, and {quoted(name)} is not importable",
                [Witness(first.metadata, None, "the metadata, with nothing behind it")],
                "install by force: pip takes what is listed for present and does nothing",
            )
        return self.finding("missing-package", f"{quoted(name)} is not there, and no distribution that brings it")

    def _first_parent(self, name: str) -> tuple[str, Place] | None:
        """The nearest package above `name` that is found, and where."""
        while "." in name:
            name = name.rpartition(".")[0]
            module = self._environment.modules.get(name)
            if module is not None and module.effective is not None:
                return name, module.effective
        return None

    def _copy_of(self, name: str, place: Place) -> Place:
        """The same place as one of the copies, which know what leads to them."""
        copies = self._environment.modules[name].copies
        return next((copy for copy in copies if copy.paths == place.paths), place)


def is_parent(name: str, module: str) -> bool:
    return module == name or module.startswith(name + ".")


def blame(place: Place, environment: Environment) -> tuple[Witness, ...]:
    """What puts a place where an import finds it: a finder, a `.pth` file, python-path, an egg-link, an installation."""
    paths = ", ".join(quoted(path) for path in place.paths)
    for finder in environment.finders:
        for name, folder in finder.mapping:
            if any(is_below(path, folder) for path in place.paths) and place.via.startswith(finder.name):
                message = f"{quoted(finder.name)} maps {quoted(name)} to {quoted(folder)}"
                return (Witness(place.paths[0], None, message),)
    for file in environment.path_files:
        for number, line in enumerate(file.lines, 1):
            if leads_to(line, posixpath.dirname(file.path), place.via):
                return (Witness(file.path, number, f"{quoted(line)} leads to {paths}"),)
    if _same(place.via, environment.python_path):
        return (Witness(place.via, None, f"in front by python-path: {paths}"),)
    if _same(place.via, (environment.purelib, environment.platlib)):
        return (Witness(place.via, None, f"installed in the environment: {paths}"),)
    return (Witness(place.via, None, f"on the search path: {paths}"),) if place.via else ()


def leads_to(line: str, folder: str, entry: str) -> bool:
    """Whether a line of a `.pth` file in `folder` puts `entry` on the search path."""
    text = line.strip()
    if not text or text.startswith("#") or not entry:
        return False
    if text.startswith(("import ", "import\t")):
        return f"'{entry}'" in text or f'"{entry}"' in text
    return posixpath.normpath(posixpath.join(folder, text)) == posixpath.normpath(entry)


def _same(entry: str, others: Sequence[str]) -> bool:
    return bool(entry) and posixpath.normpath(entry) in {posixpath.normpath(other) for other in others}


def _frame(frame: str) -> Witness:
    place, _, function = frame.partition(" in ")
    path, _, line = place.rpartition(":")
    return Witness(path, int(line) if line.isdigit() else None, f"in {function}")
