"""What `git` commands make of an image's folders: where a checkout comes from, what is checked out, what is applied."""

from collections.abc import Sequence

from regraft.core.init_expand import Value
from regraft.core.init_locks import read_by, token_of
from regraft.core.init_shell import Shell
from regraft.core.init_values import Checkout, Place, Ref, Remark, Told
from regraft.core.init_words import Parted, parted
from regraft.core.patterns import regex
from regraft.core.repository_url import public

_GLOBAL = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"})
_CLONE = frozenset(
    {
        *("-b", "--branch", "-o", "--origin", "-c", "--config", "-j", "--jobs", "--depth", "--filter", "--reference"),
        *("--template", "-u", "--upload-pack", "--shallow-since", "--shallow-exclude", "--separate-git-dir"),
    }
)
_FETCH = frozenset(
    {"--depth", "--deepen", "-j", "--jobs", "--filter", "-o", "--refmap", "--shallow-since", "--upload-pack"}
)
_CHECKOUT = frozenset({"-b", "-B", "-c", "-C", "--orphan", "--conflict", "--pathspec-from-file"})
_REMOTE_BRANCH = regex(r"(?:refs/remotes/)?([^/]+)/(.+)")
READ = "$reads:"  # before the name of a shell's variable: the command that its value is read by
COMMIT = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
_URL = regex(r"[A-Za-z][\w+.-]*://.+|[\w.-]+@[\w.-]+:.+|/.+|\.\.?/.+", 16)  # DOTALL
_LOGIN = regex(r"(https?://)(?:[^/@$]|\$\([^()@]*\)|\$\{?\w+\}?)*@(.*)", 16)  # DOTALL


def run_git(shell: Shell, words: Sequence[Value], place: Place) -> bool | None:
    """Follow one git command; `words` are those after `git`."""
    folder = shell.folder
    at = 0
    while at < len(words) and words[at].text.startswith("-"):
        if words[at].text == "-C" and at + 1 < len(words):
            folder = shell.path(words[at + 1].text) if folder == shell.folder else folder
        at += 2 if words[at].text in _GLOBAL else 1
    if at >= len(words):
        return True
    name, rest = words[at].text, words[at + 1 :]
    match name:
        case "clone":
            _clone(shell, parted(rest, _CLONE, "bjo"), folder, place)
        case "init":
            operands = parted(rest, frozenset({"-b", "--initial-branch", "--template"})).operands
            checkout_at(shell, shell.path(operands[0].text) if operands else folder, place)
        case "remote":
            _remote(shell, [one for one in rest if not one.text.startswith("-")], folder, place)
        case "fetch" | "pull":
            _fetch(shell, parted(rest, _FETCH, "j"), folder, place, pull=name == "pull")
        case "checkout" | "switch" | "reset":
            _check_out(shell, name, parted(rest, _CHECKOUT if name != "reset" else frozenset()), folder, place)
        case "branch":
            _branch(shell, [one for one in rest if not one.text.startswith("-")], folder)
        case "cherry-pick" | "merge" | "rebase" | "revert":
            one = enclosing(shell, folder)
            if one is not None:
                text = f"`git {name}` changes the commit that is checked out; which patch file is it?"
                shell.ask(f"{one.path}: {text}", place)
        case _:
            return None if name in ("diff", "grep", "show-ref", "rev-parse", "ls-files", "merge-base") else True
    return True


def checkout_at(shell: Shell, path: str, place: Place) -> Checkout:
    """The checkout at a path, which is one from here on."""
    found = shell.held.checkouts.get(path)
    if found is None:
        found = shell.held.checkouts[path] = Checkout(path, place, doubt=shell.doubt)
    return found


def enclosing(shell: Shell, path: str) -> Checkout | None:
    """The checkout in which a path lies."""
    holding = [one for one in shell.held.checkouts if path == one or path.startswith(f"{one.rstrip('/')}/")]
    return shell.held.checkouts[max(holding, key=len)] if holding else None


def below(one: Checkout, path: str) -> str:
    """A path relative to the checkout that it lies in; "" for its top."""
    return path[len(one.path) :].strip("/")


def told_url(value: Value, place: Place) -> Told | None:
    """Where a repository is; without a login, which in an image's build is a secret or a variable."""
    text = _LOGIN.sub(r"\1\2", value.text)
    return Told(public(text), place) if "$" not in text and "`" not in text else None


def _clone(shell: Shell, options: Parted, folder: str, place: Place) -> None:
    operands = [*options.operands, *options.after]
    if not operands:
        return
    url = operands[0]
    name = url.text.rstrip("/").removesuffix(".git").rpartition("/")[2].rpartition(":")[2]
    path = shell.path(operands[1].text) if len(operands) > 1 else shell.path(f"{folder.rstrip('/')}/{name}")
    made = Checkout(path, place, told_url(url, place), doubt=shell.doubt, token=token_of(url.text, place))
    if made.url is not None:
        made.remotes["origin"] = made.url
    elif not url.known:
        made.remarks.append(Remark(f"where is {url.text!r:.200}? Its value is not in the repository", place))
    if (branch := options.last("-b", "--branch")) is not None:
        made.ref = _ref(shell, branch, place, named=True)
        made.branch = made.ref
    shell.held.checkouts[path] = made


def _ref(shell: Shell, value: Value, place: Place, *, named: bool = False) -> Ref:
    name = value.names[-1] if value.names else None
    if value.known:
        return Ref(value.text, place, name, named)
    read = read_by(value.text) or read_by(shell.variables.get(f"{READ}{name}") or "")
    path = shell.files.find(shell.path(read[0])) if read is not None else None
    return Ref(None, place, name, named, (path, read[1]) if read is not None and path is not None else None)


def _remote(shell: Shell, words: Sequence[Value], folder: str, place: Place) -> None:
    if len(words) < 3 or words[0].text not in ("add", "set-url"):
        return
    one = checkout_at(shell, folder, place)
    url = told_url(words[-1], place)
    one.token = one.token or token_of(words[-1].text, place)
    if url is not None:
        one.remotes[words[-2].text] = url
        if one.url is None or words[-2].text == "origin":
            one.url = url


def _fetch(shell: Shell, options: Parted, folder: str, place: Place, *, pull: bool) -> None:
    one = enclosing(shell, folder) or checkout_at(shell, folder, place)
    operands = [*options.operands, *options.after]
    if not operands:
        return
    where = operands[0]
    one.token = one.token or token_of(where.text, place)
    if _URL.fullmatch(where.text) and (url := told_url(where, place)) is not None:
        one.remotes["FETCH_HEAD"] = url
    elif where.text in one.remotes:
        one.remotes["FETCH_HEAD"] = one.remotes[where.text]
    else:
        one.remotes.pop("FETCH_HEAD", None)
    one.fetched = None
    for spec in operands[1:]:
        source, _, target = spec.text.lstrip("+").partition(":")
        ref = _ref(shell, Value(source.removeprefix("refs/heads/"), spec.known, spec.names), place)
        one.fetched = one.fetched or ref
        if target and spec.known:
            one.local[target.removeprefix("refs/heads/")] = ref
    if pull and one.fetched is not None:
        one.ref = one.fetched


def _branch(shell: Shell, words: Sequence[Value], folder: str) -> None:
    """`git branch NAME [START]`: a name of this checkout's own."""
    one = enclosing(shell, folder)
    if one is not None and words and words[0].known:
        start = words[1].text if len(words) > 1 else "HEAD"
        known = {"HEAD": one.ref, "FETCH_HEAD": one.fetched, **one.local}
        one.local[words[0].text] = known.get(start)


def _check_out(shell: Shell, name: str, options: Parted, folder: str, place: Place) -> None:
    one = enclosing(shell, folder) or checkout_at(shell, folder, place)
    starts = [value for value in options.operands if value.text != "."]
    files = bool(options.after) or len(starts) < len(options.operands)  # `git checkout -- .`
    if one.patches and (files or options.has("--hard", "-f", "--force")):
        shell.say(f"{one.path}: what was applied before this line is taken back by it", place)
        one.patches.clear()
    if not files and len(starts) == 1 and not (name == "reset" and options.has("--soft", "--mixed")):
        _move(shell, one, starts[0], place)
    made = options.last("-b", "-B", "-c", "-C", "--orphan")
    if made is not None and made.known:
        one.local[made.text] = one.ref


def _move(shell: Shell, one: Checkout, to: Value, place: Place) -> None:
    if to.text == "HEAD" or to.text.startswith("HEAD"):
        return
    if to.text == "FETCH_HEAD":
        one.ref = one.fetched or Ref(None, place)
        if (url := one.remotes.get("FETCH_HEAD")) is not None:
            one.url = url
    elif to.text in one.local:
        one.ref = one.local[to.text] or Ref(None, place)
    else:
        remote = _REMOTE_BRANCH.fullmatch(to.text)
        if remote and to.known and (remote[1] in one.remotes or remote[1] == "origin"):
            one.ref = Ref(remote[2], place, to.names[-1] if to.names else None, named=True)
            one.url = one.remotes.get(remote[1], one.url)
        else:
            one.ref = _ref(shell, to, place)
    if shell.doubt:
        shell.ask(f"{one.path}: which commit? This line is followed {shell.doubt}", place)
        one.ref = Ref(None, place)
    if one.ref.text is not None and COMMIT.fullmatch(one.ref.text) is None:
        one.branch = one.ref
