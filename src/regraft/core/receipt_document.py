"""The receipt as a file, sealed like a plan."""

from msgspec.structs import replace

from regraft.core import document
from regraft.core.canonical import digest
from regraft.core.objects import Sha256
from regraft.core.receipt import SCHEMA, Receipt
from regraft.errors import InputError


def seal(receipt: Receipt) -> Receipt:
    """The same receipt with the digest that its content has."""
    return replace(receipt, digest=receipt_digest(receipt))


def receipt_digest(receipt: Receipt) -> Sha256:
    """The digest over what was planned and found: two machines that found the same have the same."""
    content = document.plain(receipt)
    for key in ("digest", "times", "outcome", "error"):
        del content[key]
    return digest(content)


def encode_receipt(receipt: Receipt) -> bytes:
    return document.encode(receipt)


def decode_receipt(data: bytes, name: str) -> Receipt:
    """The receipt in a file. Raises InputError: what `document.decode` raises, edited-receipt."""
    receipt = document.decode(data, Receipt, SCHEMA, name)
    if receipt_digest(receipt) != receipt.digest:
        raise InputError("edited-receipt", "the receipt does not have the digest that it names", where=name)
    return receipt
