"""Assistants: named sets of instructions, a model, collections and filters; and saved prompts.

Frozen values, pure.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from desktop_rag.core import records
from desktop_rag.core.errors import AppError
from desktop_rag.core.query import Query, parse_query, strip_invalid_characters
from desktop_rag.core.settings import RetrievalSettings

LONGEST_NAME = 80
LONGEST_INSTRUCTIONS = 4_000


@dataclass(frozen=True, slots=True)
class Assistant(records.Record):
    """A named way of answering; empty fields fall back to the behaviour without an assistant.

    `instructions` follow the app's own rules, which take precedence. The model is identified by its
    endpoint's address and its name. Without `collection_ids` all documents are searched; `filters`
    is a query without words that applies to every question. `retrieval` None means the general
    settings. An `is_open` assistant may answer from the model's own knowledge when no document is
    relevant. With `uses_memory` earlier answers may serve as examples. `own_collection_id` is the
    collection with its own documents, `rails` the name of a bundled set or the path of a folder;
    both may be empty. `changed_at` decides which of two backups is newer.
    """

    needed: ClassVar = frozenset({"collection_ids"})
    assistant_id: records.Id
    name: Annotated[str, records.Within(1, LONGEST_NAME), records.FILLED]
    instructions: Annotated[str, records.Within(0, LONGEST_INSTRUCTIONS)] = ""
    base_url: records.Address | Literal[""] = ""
    model: Annotated[str, records.Within(0, records.LONGEST_LABEL)] = ""
    collection_ids: tuple[records.Id, ...] = ()
    filters: str = ""
    retrieval: RetrievalSettings | None = None
    is_open: bool = False
    uses_memory: bool = True
    changed_at: records.Moment = 0.0
    own_collection_id: records.IdOrNone = ""
    rails: Annotated[str, records.Within(0, records.LONGEST_PATH)] = ""

    @property
    def has_model(self) -> bool:
        """True when the assistant names a model of its own."""
        return bool(self.base_url and self.model)


def validated_assistant(assistant: Assistant) -> Assistant:
    """The assistant ready for storing: texts trimmed, the name on one line.

    Raises AppError for a missing name, texts that are too long, or filters with search words.
    """
    kept = replace(
        assistant,
        name=" ".join(strip_invalid_characters(assistant.name).split()),
        instructions=strip_invalid_characters(assistant.instructions).strip(),
        filters=" ".join(strip_invalid_characters(assistant.filters).split()),
        rails=strip_invalid_characters(assistant.rails).strip(),
    )
    if not kept.name:
        raise AppError("The assistant has no name.", "Give it one to choose it by.")
    if len(kept.name) > LONGEST_NAME:
        raise AppError("The name is too long.", f"It may have {LONGEST_NAME} letters.")
    if len(kept.instructions) > LONGEST_INSTRUCTIONS:
        too_many = len(kept.instructions) - LONGEST_INSTRUCTIONS
        hint = f"Leave out {too_many:,} characters: every question would carry them."
        raise AppError("The instructions are too long.", hint)
    parse_filters(kept.filters)
    return kept


def parse_filters(filters: str) -> Query:
    """Parse an assistant's filters. Raises AppError for search words or an invalid date."""
    query = parse_query(filters)
    # Search words come from the question; here they can only be a mistake.
    if query.text:
        hint = (
            "Write type:pdf, folder:taxes, after:2024 or -word; what is asked stays the question."
        )
        raise AppError(f"“{query.text}” is not a filter.", hint)
    return query


LONGEST_PROMPT_NAME = 40
LONGEST_TEXT = 20_000
# A placeholder in a prompt, as a regular expression.
GAP = r"\{\{[^{}\n]{1,60}\}\}"
# File names that Windows reserves, whatever the ending.
_WINDOWS_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|(com|lpt)\d)")


@dataclass(frozen=True, slots=True)
class SavedPrompt:
    """A text with placeholders such as {{topic}}; `name` is typed after a slash."""

    name: str
    text: str


def plain_name(written: str) -> str:
    """The stored form of a name: letters, digits, - and _ only; "" when none are left."""
    composed = unicodedata.normalize("NFC", written.strip().lstrip("/"))
    kept = "".join(c if c in "-_" or unicodedata.category(c)[0] in "LMN" else " " for c in composed)
    # Case folding can lengthen a name.
    name = "-".join(kept.split()).casefold()[:LONGEST_PROMPT_NAME].strip("-_")
    return "" if _WINDOWS_DEVICES.fullmatch(name) else name


def matching(prompts: Sequence[SavedPrompt], typed: str) -> list[SavedPrompt]:
    """Prompts whose name starts with the typed text, then those that contain it in name or text."""
    wanted = unicodedata.normalize("NFC", typed).casefold()
    begin = [p for p in prompts if p.name.startswith(wanted)]
    hold = [p for p in prompts if wanted in p.name or wanted in p.text.casefold()]
    return [*begin, *(p for p in hold if p not in begin)]
