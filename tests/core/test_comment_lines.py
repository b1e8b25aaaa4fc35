"""Which lines are surely comments: by the file that they stand in."""

import pytest

from regraft.core.comment_lines import is_comment


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.py", "  # lanes"),
        ("a.py", "# import lanes"),
        ("a.yml", "# lanes"),
        ("Makefile", "# lanes"),
        ("docker/Dockerfile.rocm", "# lanes"),
        ("CMakeLists.txt", "# lanes"),
        ("bin/run", "# lanes"),
        ("a.c", "  // lanes"),
        ("a.cu", "/// lanes"),
        ("a.el", ";; lanes"),
        ("a.html", "<!-- lanes -->"),
    ],
)
def test_lines_that_are_comments_there(path: str, line: str) -> None:
    assert is_comment(path.encode(), line.encode())


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.c", "#include <lanes.h>"),
        ("a.c", "#  include <lanes.h>"),
        ("a.cuh", '# include "lanes.h"'),
        ("a.h", "# define X lanes(1)"),
        ("a.c", "# ifdef lanes"),
        ("include/vector", "# ifdef lanes"),
        ("kernels.py", '#include "lanes.h"'),  # a string that is compiled at run time
        ("kernels.py", "  # include <lanes.h>"),
        ("a.css", "#lanes { color: red }"),
        ("a.unknown", "# lanes"),
        ("run.py", "#!/usr/bin/env lanes"),
        ("a.pyx", "# distutils: sources = lanes.c"),
        ("a.go", "//go:embed lanes.txt"),
        ("a.go", "// #include <lanes.h>"),
        ("a.ts", '/// <reference path="lanes.ts" />'),
        ("a.py", "    // lanes"),  # the rest of an expression
        ("a.c", "    * lanes(x);"),
        ("a.py", "    * lanes"),
        ("a.py", "x = 1  # lanes"),
    ],
)
def test_lines_that_something_may_read(path: str, line: str) -> None:
    assert not is_comment(path.encode(), line.encode())
