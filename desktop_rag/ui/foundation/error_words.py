"""Failures as the window shows them: in the person's language. Qt thread."""

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import told


def failure_in_words(error: AppError) -> str:
    """What happened and the way out, on one line."""
    return " ".join(part for part in (title_of(error), hint_of(error)) if part)


def title_of(error: AppError) -> str:
    """What happened."""
    return told(error.title)


def hint_of(error: AppError) -> str:
    """The way out, "" where there is none."""
    return told(error.hint)
