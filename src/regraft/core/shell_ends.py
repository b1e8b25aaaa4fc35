"""The ways in which a script that is run in thought ends before its last statement. None of them is an error."""


class Left(Exception):  # noqa: N818 - not an error
    """The shell ends."""

    def __init__(self, status: int) -> None:
        self.status = status


class Returned(Left):
    """The function ends, or the file that `.` reads."""


class Killed(Exception):  # noqa: N818 - likewise
    """The shell above all subshells ends."""


class Turned(Exception):  # noqa: N818 - likewise
    """The loop ends, or its turn."""

    def __init__(self, how: str) -> None:
        self.how = how


class Unclear(Exception):  # noqa: N818 - likewise
    """Nobody can tell how it goes on."""
