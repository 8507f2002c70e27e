"""N-10: keys and credentials are removed from log lines and tracebacks."""

import logging
from pathlib import Path

import pytest

from desktop_rag.core.log import RedactingFormatter, redact


@pytest.mark.parametrize(
    "secret",
    [
        "Authorization: Bearer canary-1234",
        "using sk-canary_1234567",
        "https://me:canary@example.org/v1",
        'api_key="canary-9"',
        "{'api-key': 'canary-9'}",
        "GET https://example.org/v1/models?a=1&key=canary-9",
        "?subscription-key=canary",
    ],
)
def test_keys_are_removed(secret: str) -> None:
    assert "canary" not in redact(secret)


def test_other_text_stays() -> None:
    assert redact("read 3 files in /home/x@y/a b") == "read 3 files in /home/x@y/a b"


def test_tracebacks_are_redacted_too(tmp_path: Path) -> None:
    handler = logging.FileHandler(tmp_path / "log")
    handler.setFormatter(RedactingFormatter("%(message)s"))
    logger = logging.getLogger("a test of the log")
    logger.addHandler(handler)
    logger.propagate = False
    try:
        raise ValueError("Bearer canary-77")
    except ValueError:
        logger.exception("it failed")
    handler.close()
    text = (tmp_path / "log").read_text()
    assert "ValueError" in text
    assert "canary" not in text
