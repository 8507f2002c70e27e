"""The log file, its redaction, and telemetry switches. Set up before any thread starts."""

import logging
import os
import re
import sys
from logging.handlers import RotatingFileHandler
from pathlib import Path

_SECRETS = re.compile(
    r"(?i)(bearer\s+|api[-_]?key[\"']?\s*[:=]\s*[\"']?)[^\s\"',}]+"
    r"|\bsk-[A-Za-z0-9_-]{6,}"
    r"|([?&](?:\w+[-_])?(?:key|token|sig|signature|code)=)[^&\s\"'”’»]+"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
)


def redact(text: str) -> str:
    """The text without bearer tokens, API keys and credentials in URLs."""
    return _SECRETS.sub(lambda match: f"{match.group(1) or match.group(2) or ''}[removed]", text)


class RedactingFormatter(logging.Formatter):
    """Formats a record, traceback included, without anything that looks like a key."""

    def format(self, record: logging.LogRecord) -> str:
        """The finished line; runs on the thread that logs."""
        return redact(super().format(record))


class _LogFile(RotatingFileHandler):
    """A disk that refuses costs the record, and not a traceback on stderr for each of them."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        if not isinstance(sys.exception(), OSError):
            super().handleError(record)


def start_logging(folder: Path) -> None:
    """Write this package's records, and warnings of other packages, to a rotating file."""
    # Opened with the first record: a folder that refuses must not end the start.
    handler = _LogFile(
        folder / "desktop-rag.log", maxBytes=2_000_000, backupCount=10, encoding="utf-8", delay=True
    )
    handler.setFormatter(
        RedactingFormatter("%(asctime)s %(levelname)s %(threadName)s %(name)s: %(message)s")
    )
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("desktop_rag").setLevel(logging.INFO)


# ONNX Runtime reads its switch once, during import: calling disable_telemetry_events() later is too
# late, because the first host look-ups have already happened.
_SWITCHES = {"ORT_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}


def disable_telemetry() -> None:
    """Set every known switch for this process and its children, before libraries are imported."""
    os.environ.update(_SWITCHES)
