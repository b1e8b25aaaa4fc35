"""What depends on the accelerator."""


def padded(size):
    """The smallest multiple of LANES that holds `size` rows."""
    return -(-size // LANES) * LANES


def groups(size):
    """How many groups of LANES `size` rows make."""
    return padded(size) // LANES


LANES = 32
