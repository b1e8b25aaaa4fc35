"""The serving engine: an upstream project that the image bakes in from a checkout."""

from engine.kernels import LANES
from engine.scheduler import batches

__all__ = ["LANES", "batches"]
