"""regraft proves what a CI run on a baked container image really tests."""

__version__ = "0.1.0"
