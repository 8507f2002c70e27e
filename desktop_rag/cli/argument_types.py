"""What arguments of the command line may be. Wrong values are wrong usage."""

import argparse


def not_empty(text: str) -> str:
    """A text with something in it."""
    if not text.strip():
        raise argparse.ArgumentTypeError("must not be empty")
    return text


def positive(text: str) -> int:
    """A whole number from 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option that every verb with a result has."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")
