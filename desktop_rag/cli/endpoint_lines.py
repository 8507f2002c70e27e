"""What the verbs about endpoints print for people. Pure."""

from collections.abc import Sequence
from typing import Any

_STATES = {"no model": "no model is chosen", "no key": "it has no key"}


def listed(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each endpoint, a star before the one in use, and its address below."""
    if not rows:
        return ["No endpoint: answers are excerpts. Add one: desktop-rag endpoint add NAME"]
    return [line for row in rows for line in _row(row)]


def added(row: dict[str, Any]) -> list[str]:
    """The endpoint as it is now, and what is missing."""
    step = ""
    if row["state"] == "no model":
        step = "Choose a model of `endpoint test` with `endpoint use NAME --model MODEL`."
    return [*_row(row), *([step] if step else [])]


def used(row: dict[str, Any]) -> list[str]:
    """The endpoint that answers now."""
    return [f"{row['name']} answers from now on, with {row['model']}."]


def removed(row: dict[str, Any]) -> list[str]:
    """What was removed, and what was not."""
    lines = [f"{row['name']} was removed."]
    if row["was_used"]:
        lines.append("Answers are excerpts until another endpoint is used.")
    if row["keeps_key"]:
        lines.append("Its key is still in the keyring; --forget-key removes it.")
    return lines


def tested(report: dict[str, Any]) -> list[str]:
    """The report as the window shows it, and the models."""
    lines = [f"{report['name']}: {report['title']}", report["hint"]]
    lines += [f"    {name}" for name in report["models"]]
    return [line for line in lines if line]


def _row(row: dict[str, Any]) -> list[str]:
    mark = "*" if row["is_used"] else " "
    words = [row["model"] or "–", _STATES.get(row["state"], "ready")]
    words += [f"{row['context_tokens']:,} tokens"] if row["context_tokens"] else []
    words += ["in use"] if row["is_used"] else []
    return [f"{mark} {row['name']}: {', '.join(words)}", f"    {row['base_url']}"]
