"""Reads files in three orders, holds the reasons against the manifests, and looks for garbage.

A manifest says of each file what it is: its kind, whether it is encrypted, whether its container is
broken. A reason that does not fit that, or that depends on the files read before, is wrong.

Garbage is text that no language has: of its different words fewer than a fifth are words. Words are
those that the vocabularies of the two bundled models hold whole, and those that four files of the
run have. Only text in languages of these models, or in none that can be told, is judged, and only
where twenty different words are written with spaces.
"""

import io
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_rag.core.errors import AppError
from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess

ORDERS = 3
_MODELS = Path(__file__).parents[1] / "resources" / "models"
_COVERED = frozenset(["de", "en", "es", "fr", "it", "nl", "pl", "pt", "ru", "tr"]) | {""}
_WORD = re.compile(r"[^\W\d_]{3,}")
_MIN_WORDS, _MIN_KNOWN = 20, 0.2
_ELSEWHERE = 4
_TEXT_KINDS = {"text", "html", "mail", "xml", "rtf"}
# Text to the eye, but of a format that is listed as not read, in the letters of mainframes, or the
# source of a PDF.
_TEXT_NOT_READ = {".eps", ".svg", ".ebc", ".fuzz", ".pdf"}
_MAIL_FORMATS = {"e-mail", "mailbox"}
_MARKS = ("unreadable", "may be wrong", "damaged")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome for one file: its text, or why there is none."""

    text: str = ""
    format: str = ""
    language: str = ""
    warnings: tuple[str, ...] = ()
    reason: str = ""
    shown: str = ""


def read_in_orders(paths: Iterable[Path]) -> list[dict[Path, Outcome]]:
    """The outcome of every file, once for each order, by words alone and without OCR."""
    ordered = sorted(paths)
    runs: list[dict[Path, Outcome]] = []
    for seed in range(ORDERS):
        parser = ParserProcess(uses_ocr=False)
        try:
            shuffled = random.Random(seed).sample(ordered, len(ordered))
            runs.append({path: _outcome(parser, path) for path in shuffled})
        finally:
            parser.close()
    return runs


def _outcome(parser: ParserProcess, path: Path) -> Outcome:
    try:
        found = parser.parse(path)
    except ParseFailed as failed:
        return Outcome(reason=failed.reason, shown=f"{failed.title}. {failed.hint}")
    except AppError as error:
        return Outcome(reason="app", shown=error.title)
    return Outcome(found.text, found.format, found.language, found.warnings)


def wrong_reasons(folder: Path, run: Mapping[Path, Outcome]) -> list[str]:
    """The files below the folder of a manifest whose outcome does not fit what it says."""
    wrong: list[str] = []
    for line in (folder / "manifest.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        path = folder / row["path"]
        if path in run and (why := _misfit(row, path, run[path])):
            wrong.append(f"{path.name}: {why} [{run[path].shown or run[path].format}]")
    return wrong


def _misfit(row: Mapping[str, Any], path: Path, found: Outcome) -> str:
    kind, flags = row.get("kind", ""), set(row.get("flags", ()))
    is_encrypted = bool(flags & {"pdf-encrypted", "office-encrypted", "zip-encrypted"})
    is_read_as_text = kind in _TEXT_KINDS and path.suffix not in _TEXT_NOT_READ
    said = found.shown + " ".join(found.warnings)
    checks = {
        "it took the reader down": found.reason in {"app", "crashed", "timeout"},
        "called encrypted, and is not": found.reason == "encrypted"
        and not (is_encrypted or _is_locked(path, kind)),
        "encrypted, and not called so": bool(row.get("password"))
        and found.reason not in {"", "encrypted"},
        "damaged, and not called so": found.reason not in {"", "damaged"}
        and any(flag.startswith("zip-broken") for flag in flags),
        "asks for what is installed": "install the extra" in said and _has_ocr(),
        # Markup may hold no words; nothing else is wrong with a text.
        "a text that is not read": is_read_as_text and found.reason not in {"", "no text"},
        "mail that is not known as such": kind == "mail" and found.format not in _MAIL_FORMATS,
        "a PDF that is not known as such": kind == "pdf" and found.reason == "unsupported",
    }
    return next((why for why, is_so in checks.items() if is_so), "")


def _is_locked(path: Path, kind: str) -> bool:
    """True when an old Office file is encrypted, which the manifests do not say."""
    if kind != "ole2":
        return False
    import msoffcrypto

    try:
        return bool(msoffcrypto.OfficeFile(io.BytesIO(path.read_bytes())).is_encrypted())
    except Exception:  # of a damaged file
        return False


def _has_ocr() -> bool:
    from desktop_rag.ingest.read.foundation.ocr import is_ocr_installed

    return is_ocr_installed()


def differing(runs: list[dict[Path, Outcome]]) -> list[Path]:
    """The files whose outcome is another one in another order."""
    return sorted(p for p in runs[0] if any(run[p] != runs[0][p] for run in runs[1:]))


def garbage(run: Mapping[Path, Outcome]) -> tuple[list[Path], list[Path]]:
    """The files whose text is no language and says so; and those that do not say so."""
    vocabulary = _vocabulary()
    words = {path: _different(found.text) for path, found in run.items() if found.text}
    files_with = Counter(word for found in words.values() for word in found)
    marked: list[Path] = []
    unmarked: list[Path] = []
    for path, different in sorted(words.items()):
        if len(different) < _MIN_WORDS or run[path].language not in _COVERED:
            continue
        known = sum(word in vocabulary or files_with[word] >= _ELSEWHERE for word in different)
        if known < len(different) * _MIN_KNOWN:
            is_marked = any(mark in warning for warning in run[path].warnings for mark in _MARKS)
            (marked if is_marked else unmarked).append(path)
    return marked, unmarked


def _different(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}


def _vocabulary() -> set[str]:
    english = json.loads((_MODELS / "all-MiniLM-L6-v2" / "tokenizer.json").read_text("utf-8"))
    several = json.loads((_MODELS / "use-multilingual-3" / "tokenizer.json").read_text("utf-8"))
    pieces = (piece for piece, _ in several["model"]["vocab"])
    whole = {piece[1:].lower() for piece in pieces if piece.startswith("\u2581")}
    return whole | {word for word in english["model"]["vocab"] if word.isalpha()}
