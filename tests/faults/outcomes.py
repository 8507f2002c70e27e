"""The parser's outcome for a file, and the general requirements on it."""

from collections.abc import Callable
from pathlib import Path

from desktop_rag.core.parsed import ParsedDocument
from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess

Outcome = ParsedDocument | ParseFailed
Read = Callable[..., Outcome]

LIMIT_S = 20.0
MEGABYTE = 1 << 20


def read_one(parser: ParserProcess, folder: Path, name: str, content: bytes) -> Outcome:
    good, path = folder / "good.txt", folder / name
    good.write_text("good words")
    path.write_bytes(content)
    outcome = attempt(parser, path)
    assert parser.parse(good).text == "good words"
    return outcome


def attempt(parser: ParserProcess, path: Path) -> Outcome:
    try:
        return parser.parse(path)
    except ParseFailed as failed:
        return failed


def reason(outcome: Outcome) -> str:
    return outcome.reason if isinstance(outcome, ParseFailed) else ""


def text(outcome: Outcome) -> str:
    return outcome.text if isinstance(outcome, ParsedDocument) else ""


def is_ended(outcome: Outcome) -> bool:
    """True when there is a text, or a reason that holds until the file changes."""
    # Not because of a missing module.
    assert not (isinstance(outcome, ParseFailed) and "ModuleNotFound" in outcome.hint)
    lasting = {"unsupported", "encrypted", "empty", "damaged", "too large", "no text"}
    return bool(text(outcome).strip()) or reason(outcome) in lasting
