"""What a script reads and sets."""

import pytest

from regraft.core.shell_text import syntax_tree
from regraft.core.shell_variables import Variables, variables


def of(script: str) -> Variables:
    return variables(syntax_tree(script.encode()), script.encode())


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ('echo $A ${B} "$C" "x ${D}" \'$E\' \\$F', ["A", "B", "C", "D"]),
        ("echo ${A:-x} ${B-} ${C:+y} ${D:?no} ${E:=z} ${!F}", []),
        ("echo ${A%.txt} ${B#x} ${C//a/b} ${#D} ${E[0]} ${F:0:7} ${G^^}", ["A", "B", "C", "D", "E", "F", "G"]),
        ("cat <<EOF\n$A\nEOF\ncat <<'EOF'\n$B\nEOF", ["A"]),
        ("awk '{print $NF}' x; echo $1 $@ $? $$ $#", []),
        ('X=$(cat $A)\necho "$(echo "$B")"', ["A", "B"]),
        ("echo $((A + 1))", []),
        ("echo ${____} $_", []),
    ],
)
def test_reads(script: str, expected: list[str]) -> None:
    assert [name for name, _ in of(script).reads] == expected


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ("A=1", "A"),
        ("export A=1", "A"),
        ("local A", "A"),
        ("declare -A A", "A"),
        ("A[0]=x", "A"),
        ("A+=x", "A"),
        ("A=(1 2)", "A"),
        ("for A in x; do :; done", "A"),
        ("for ((A=0; A<3; A++)); do :; done", "A"),
        ("while IFS=, read -r A b; do :; done < x", "A"),
        ("printf -v A '%s' x", "A"),
        ("mapfile -t A < x", "A"),
        ("while getopts 'x:' A; do :; done", "A"),
        ("(( A = 1 ))", "A"),
        ("let A=1", "A"),
        ('[ -n "$A" ] && echo', "A"),
        ("test -z $A", "A"),
        ("[[ -v A ]]", "A"),
        ('[[ "$A" ]]', "A"),
        (": ${A:=x}", "A"),
        ("A=1 cmd", "A"),
    ],
)
def test_sets(script: str, name: str) -> None:
    assert name in of(script).sets


def test_what_is_read_as_a_script() -> None:
    assert of("source a.sh\n. ./b.sh x").sources == ("a.sh", "./b.sh")
    assert of('eval "$(x)"').open
    assert not of("echo eval").open
