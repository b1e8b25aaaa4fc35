"""The training framework: the other upstream project that the image bakes in."""

from trainer.loss import loss

__all__ = ["loss"]
