import hashlib

import pytest

from regraft.core.hashing import sha256


@pytest.mark.parametrize("data", [b"", b"abc", bytes(range(256)) * 300])
def test_it_is_the_sha256_that_everybody_knows(data: bytes) -> None:
    assert sha256(data) == hashlib.sha256(data).hexdigest()
