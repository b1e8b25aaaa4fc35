"""The functions of GitHub's expressions."""

MOST = 255  # arguments of one call

ARITIES = {
    "case": (3, MOST),
    "contains": (2, 2),
    "endswith": (2, 2),
    "format": (1, MOST),
    "fromjson": (1, 1),
    "join": (1, 2),
    "startswith": (2, 2),
    "tojson": (1, 1),
    "always": (0, 0),
    "cancelled": (0, 0),
    "failure": (0, MOST),
    "success": (0, MOST),
    "hashfiles": (1, MOST),
}
