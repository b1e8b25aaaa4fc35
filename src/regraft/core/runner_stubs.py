"""Programs that stand in for others, as texts for `/bin/sh`, and the record that they keep.

A stub writes its name, its folder, where its standard input is, and its arguments, each followed by a NUL byte. It reads
standard input only where an argument asks for it: a loop over lines that calls `pip` must not lose them.
"""

import shlex
from collections.abc import Collection, Mapping, Sequence

from regraft.core.runner_values import Call, Stub

STDIN_LIMIT = 64 * 1024
_SEPARATOR = "\x1f"
_PYTHONS = ("python", "python3")
_READING = "-|*=-|*@-|*stdin*"  # arguments that ask for standard input
_ATTACHED = dict.fromkeys(("docker", "podman", "nerdctl", "kubectl"), f"{_READING}|-i|-it|-ti|--interactive")


def stub_text(stub: Stub, record: str, real: str | None) -> str:
    """The program of a stub. `record` is the file that it adds to, `real` the program that it goes on to, if any."""
    quoted = shlex.quote
    taken = "cat" if real is not None else f"head -c {STDIN_LIMIT}"  # the real program needs all of it
    lines = [
        "#!/bin/sh",
        f"record={quoted(record)} input=",
        "for one do",
        f'  case $one in {_ATTACHED.get(stub.name, _READING)}) input=$record.$$; PATH=/usr/bin:/bin {taken} >"$input"; break;; esac',
        "done",
        f'printf \'%s\\0\' {quoted(stub.name)} "$PWD" "$input" "$#" "$@" >>"$record"',
    ]
    if stub.answers:
        lines += ["call=", f"for one do call=$call$one{quoted(_SEPARATOR)}; done", "case $call in"]
        for answer in stub.answers:
            begins = "".join(f"{one}{_SEPARATOR}" for one in answer.arguments)
            said = [
                f"printf %s {quoted(text)}{where}"
                for text, where in ((answer.stdout, ""), (answer.stderr, " >&2"))
                if text
            ]
            lines.append(f"{quoted(begins)}*) {'; '.join([*said, f'exit {answer.code}'])};;")
        lines.append("esac")
    if real is not None:
        lines.append(f'[ -z "$input" ] || exec {quoted(real)} "$@" <"$input"\nexec {quoted(real)} "$@"')
    return "\n".join([*lines, "exit 0", ""])


def python_text(modules: Collection[str], folder: str, real: str) -> str:
    """A Python whose `-m pip` is the stub `pip`, for each of `modules`; for all else it is `real`."""
    pattern = "|".join(shlex.quote(one) for one in sorted(modules))
    return f"""#!/bin/sh
skip=0 next=
for one do
  skip=$((skip + 1))
  case $next in
    module) case $one in {pattern}) shift "$skip"; exec {shlex.quote(folder)}/"$one" "$@";; esac; break;;
    value) next=; continue;;
  esac
  case $one in -m) next=module;; -X|-W) next=value;; -c*|-) break;; -?*) ;; *) break;; esac
done
exec {shlex.quote(real)} "$@"
"""


SUDO = """#!/bin/sh
while :; do
  case $1 in -u|-g|-C|-D|-h|-p) shift 2;; --) shift; break;; -*) shift;; [A-Za-z_]*=*) export "$1"; shift;; *) break;; esac
done
exec "$@"
"""


def programs(stubs: Sequence[Stub], folder: str, record: str, real: Mapping[str, str]) -> dict[str, str]:
    """The text of each program in the stubs' folder. `real` has what a name is on PATH otherwise."""
    found = {one.name: stub_text(one, record, real.get(one.name) if one.through else None) for one in stubs}
    modules = [one.name for one in stubs]
    for name in _PYTHONS:
        if modules and name not in found and name in real:
            found[name] = python_text(modules, folder, real[name])
    found.setdefault("sudo", SUDO)
    return found


def read_calls(record: bytes, inputs: Mapping[str, bytes]) -> tuple[Call, ...]:
    """The calls in a record. `inputs` holds what was read from standard inputs, by the files they are in."""
    fields = [one.decode("utf-8", "surrogateescape") for one in record.split(b"\0")[:-1]]
    found: list[Call] = []
    at = 0
    while at + 4 <= len(fields):
        name, place, given, count = fields[at : at + 4]
        if not count.isdecimal() or at + 4 + int(count) > len(fields):
            break  # cut off in the middle
        stop = at + 4 + int(count)
        stdin = inputs[given].decode("utf-8", "replace") if given in inputs else None
        found.append(Call(name, tuple(fields[at + 4 : stop]), place, stdin))
        at = stop
    return tuple(found)
