"""`regraft replay RECEIPT`: the same pins, planned and applied on this machine."""

import argparse

from regraft.cli.apply import apply_plan, configure_apply
from regraft.cli.receipts import check_receipt, read_document
from regraft.cli.wiring import open_project


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("receipt_file", metavar="RECEIPT", help="the receipt's file; - is standard input")
    configure_apply(parser)


def run(args: argparse.Namespace) -> int:
    from regraft.core.apply_replay import plan_of  # noqa: PLC0415
    from regraft.core.receipt_document import decode_receipt  # noqa: PLC0415

    check_receipt(args.receipt, args.receipt_file)
    receipt = decode_receipt(*read_document(args.receipt_file))
    return apply_plan(plan_of(receipt), open_project(args.project), args)
