"""Workflow commands in a log."""

from regraft.core.runner_commands import Command, read_commands


def test_name_properties_and_data() -> None:
    found = read_commands(["plain", "  ::error file=a%2Cb.py,line=3::50%25 is%0Atoo much"])
    assert found == (Command("error", {"file": "a,b.py", "line": "3"}, "50% is\ntoo much", 2),)


def test_what_is_no_command_of_the_runner_is_text() -> None:
    assert read_commands(["::nothing::x", "::error", "see ::error::x", ":: ::"]) == ()


def test_the_old_form_counts_anywhere_in_a_line() -> None:
    (found,) = read_commands(["text ##[warning file=a%3Bb;line=1]careful %5D"])
    assert found == Command("warning", {"file": "a;b", "line": "1"}, "careful ]", 1)


def test_nothing_counts_while_commands_are_stopped() -> None:
    lines = ["::stop-commands::halt", "::error::not this", "::halt::", "::notice::this"]
    assert [one.name for one in read_commands(lines)] == ["stop-commands", "notice"]
