"""The project under test: it runs on images that have `engine` and `trainer` baked in."""
