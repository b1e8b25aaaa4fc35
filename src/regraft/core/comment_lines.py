"""Whether a line of a file is surely a comment, by what the file is called: what starts one in Python is an instruction in C."""

from regraft.core.patterns import regex

_HASH = frozenset(
    b"py pyi pyx pxd pxi sh bash zsh fish rb pl pm r jl yaml yml toml cfg ini conf cmake mk nix tcl awk bzl bazel star tf properties env dockerfile".split()
)
_SLASHES = frozenset(
    b"c h cc cpp cxx hh hpp hxx inl ipp cu cuh m mm hip cl metal glsl hlsl java kt scala groovy gradle js jsx mjs cjs ts tsx go rs swift cs proto fbs php scss less dart v sv zig".split()
)
_SEMICOLONS = frozenset(b"lisp el clj scm asm".split())
_MARKUP = frozenset(b"html htm xhtml xml svg vue".split())
_BY_NAME = regex(
    rb"(?i)(?:gnu)?makefile|justfile|build|workspace|cmakelists\.txt|(?:[\w-]*requirements|constraints)[\w-]*\.txt|(?:docker|container)file(?:[._-].*)?|\.(?:git|docker)(?:ignore|attributes|modules)"
)
_TELLS = regex(  # a comment that something reads all the same, or a line of C in a string or in a header without an ending
    rb"#!|#\s*(?:include\s*[<\"]|define\s+\w)|#(?:include|define|if|import)|#\s*(?:distutils|cython):|//go:|//\s*#|///\s*<"
)
_INSTRUCTION = regex(rb"#\s*(?:undef|if|ifdef|ifndef|elif|else|endif|import|pragma|error|warning|line)\b")


def is_comment(path: bytes, line: bytes) -> bool:
    """Where that is not sure, it is none: an instruction of the preprocessor, a rule of a style sheet, a line of an unknown language."""
    text = line.lstrip()
    if _TELLS.match(text):
        return False
    name = path.rpartition(b"/")[2]
    ending = name.rpartition(b".")[2].lower() if b"." in name else None
    if text.startswith(b"#"):
        return ending in _HASH or bool(_BY_NAME.fullmatch(name)) or (ending is None and not _INSTRUCTION.match(text))
    if text.startswith(b"//"):
        return ending in _SLASHES
    if text.startswith(b";;"):
        return ending in _SEMICOLONS
    return text.startswith(b"<!--") and ending in _MARKUP
