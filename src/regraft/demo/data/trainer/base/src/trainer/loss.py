def loss(expected, found):
    return sum(abs(left - right) for left, right in zip(expected, found, strict=True))
