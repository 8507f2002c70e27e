"""What the rooms outside the window tell people is read from their code."""

from pathlib import Path

import pytest

from tests.words import told_texts

MODULE = """
from desktop_rag.core.errors import AppError

_WAY_OUT = "Try it later."

class Torn(AppError):
    pass

def _torn(why: str, hint: str = "") -> Torn:
    return Torn(f"The rope is torn: {why}", hint)

def read(path, log):
    log.info("not for people")
    many = len(path)
    hint = "Mend it." if many else _WAY_OUT
    if many > 2:
        raise AppError(f"{path.name} has {many:,} knots.", hint)
    raise _torn("it is old", hint=f"Ask {path!r}. {hint}")

def set_aside(row, replace):
    return replace(row, reason="Set aside by you")
"""


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "ropes.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setattr(told_texts, "PACKAGE", tmp_path)
    monkeypatch.setattr(told_texts, "_SOURCES", {})
    monkeypatch.setattr(told_texts, "_OF_THE_SYSTEM", ())
    return told_texts.told_texts()


def test_texts_are_followed_to_where_they_are_written(texts: list[str]) -> None:
    assert texts == [
        "Ask {path}.",
        "Mend it.",
        "Set aside by you",
        "The rope is torn: {why}",
        "Try it later.",
        "it is old",
        "{name} has {many:,} knots.",
    ]
