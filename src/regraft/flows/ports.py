"""What the flows need from outside, in the outside world's own verbs. Adapters satisfy these; tests bring fakes."""
