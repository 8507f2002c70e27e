"""A folder of rails as it was read, and topics of it that are not saved. Pure; any thread.

Imports nothing of the language, which the start of the window does without.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from desktop_rag.core.errors import AppError
from desktop_rag.features.rails.topics.rail_topic import RailTopic, TopicReply


@dataclass(frozen=True, slots=True)
class OpenedRails:
    """A folder as it was read.

    `topics` are None where the folder can only be shown: `fault` says why, with the place, and
    `shown` has the text of its files. `text` is that of the `file` that topics are written to;
    `others` are the files beside it, which stay as they are.
    """

    folder: Path
    file: Path
    text: str = ""
    topics: tuple[RailTopic, ...] | None = None
    others: tuple[str, ...] = ()
    shown: str = ""
    fault: AppError | None = None


@dataclass(frozen=True, slots=True)
class RailsDraft:
    """Topics of a folder that are not saved; `text` is that of the file they began with."""

    folder: Path
    text: str
    topics: tuple[RailTopic, ...]


def draft_to_json(draft: RailsDraft) -> dict[str, Any]:
    """What `draft_of` reads."""
    topics = [asdict(topic) for topic in draft.topics]
    return {"folder": str(draft.folder), "text": draft.text, "topics": topics}


def draft_of(kept: Mapping[str, Any]) -> RailsDraft | None:
    """The draft of what was kept; None for anything else."""
    try:
        topics = tuple(_topic(row) for row in kept["topics"])
        return RailsDraft(Path(str(kept["folder"])), str(kept["text"]), topics)
    except (KeyError, TypeError, ValueError):
        return None


def _topic(row: Mapping[str, Any]) -> RailTopic:
    texts = {
        key: tuple(map(str, cast("list[object]", row[key])))
        for key in ("examples", "texts", "then")
    }
    words = {key: str(row[key]) for key in ("name", "said_form", "then_form")}
    return RailTopic(reply=TopicReply(row["reply"]), **texts, **words)  # type: ignore[arg-type]
