"""Makes a set for `eval answers` of the feedback that the person gave. Worker threads.

The file stays on this computer, readable by its owner only.
"""

import json
from pathlib import Path
from typing import Any

from desktop_rag.answer.chat import Chat
from desktop_rag.core.errors import AppError
from desktop_rag.features.evaluation.experiments.feedback_questions import feedback_rows

_PRIVATE = 0o600


def write_feedback_set(chat: Chat, file: Path) -> dict[str, Any]:
    """Write the set to a new file; returns what is in it.

    AppError when there is no feedback, or the file exists or can't be written.
    """
    rows = feedback_rows(chat)
    if not rows:
        hint = "Press 👍 or 👎 below answers, or write your own version, and come back."
        raise AppError("There is no feedback on answers yet.", hint)
    try:
        file.touch(_PRIVATE, exist_ok=False)
        with file.open("w", encoding="utf-8") as opened:
            opened.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    except FileExistsError as exc:
        raise AppError(f"{file} exists.", "Choose another name; nothing was written.") from exc
    except OSError as exc:
        raise AppError(f"{file} cannot be written.", f"{exc.strerror}.") from exc
    return {
        "file": str(file),
        "questions": len(rows),
        "expected": sum("answer" in row for row in rows),
        "wrong": sum("wrong" in row for row in rows),
    }
