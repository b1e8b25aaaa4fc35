"""What stands for the suite: it needs nothing but the image."""

import unittest

import engine
import tinyrl  # noqa: F401 - that it is installed is the point
import trainer


class Smoke(unittest.TestCase):
    def test_the_engine_batches(self):
        self.assertEqual(engine.batches([1, 2]), [[1, 2]])

    def test_the_trainer_has_a_loss(self):
        self.assertEqual(trainer.loss([1], [1]), 0)
