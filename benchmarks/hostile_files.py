"""The expected result of each hostile file, for `files.py`."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from desktop_rag.core.domain import DocumentState
from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess

FOUND = {DocumentState.SEARCHABLE, DocumentState.SEARCHABLE_BY_WORDS}
FINAL = FOUND | {DocumentState.SKIPPED, DocumentState.FAILED}


def good_file_fails_after(folder: Path, scratch: Path) -> list[str]:
    """The hostile files after which the same parser could not read a good one."""
    good = scratch / "good.txt"
    good.write_text("good words", "utf-8")
    failed: list[str] = []
    parser = ParserProcess()
    for path in sorted(folder.iterdir()):
        with suppress(ParseFailed):
            parser.parse(path)
        try:
            is_read = parser.parse(good).text == "good words"
        except ParseFailed:
            is_read = False
        if not is_read:
            failed.append(path.name)
    parser.close()
    return failed


Check = Callable[[str, DocumentState], bool]


def anything(_text: str, state: DocumentState) -> bool:
    """For a file that only has to reach a final state."""
    return state in FINAL


def _refused(_text: str, state: DocumentState) -> bool:
    return state in FINAL - FOUND


def _holds(*wanted: str) -> Check:
    """Searchable, with all of these in its text, and without NULs."""
    return lambda text, state: (
        state in FOUND and "\0" not in text and all(word in text for word in wanted)
    )


def _never(*forbidden: str) -> Check:
    return lambda text, state: state in FINAL and not any(word in text for word in forbidden)


EXPECTED: dict[str, Check] = {
    "far_cell.xlsx": lambda text, state: state in FOUND and len(text) < 10_000,
    "entities.docx": _refused,
    "xxe.docx": _never("root:", "/bin/"),
    "bomb_300MB.epub": _refused,
    "traversal.epub": _never("root:", "/bin/"),
    "nested_40.zip": _refused,
    "unclosed.html": lambda text, state: state in FOUND and "SCRIPTTEXT" not in text,
    "utf16be_nobom.txt": _holds("plain words in big endian"),
    "shift_jis.txt": lambda text, state: (
        state in FOUND and any("\u3040" <= char <= "\u30ff" for char in text)
    ),
    "bad_utf8.md": _holds("ok text", "more text", "end"),
    "nul_bytes.md": _holds("before", "after"),
    "rtl_override.txt": _holds("invoice"),
    "empty.pdf": _refused,
    "truncated.pdf": _refused,
    "exe_named.txt": _refused,
    "bad_charset.eml": _holds(),
    "html_only.eml": _holds("Visible words"),
    "prompt_injection.md": _holds("PWNED"),
    "markdown_xss.md": _holds("Title"),
}
