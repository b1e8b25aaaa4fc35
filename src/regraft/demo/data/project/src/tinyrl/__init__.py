"""The project under test: it runs on an image that has `engine` and `trainer` baked in."""
