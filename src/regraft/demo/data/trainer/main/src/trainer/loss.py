def loss(expected, found):
    return sum((left - right) ** 2 for left, right in zip(expected, found, strict=True))
