"""Which requests run together."""


def batches(requests, size=16):
    return [requests[start : start + size] for start in range(0, len(requests), size)]
