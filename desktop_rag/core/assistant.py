"""Assistants: what a person wants of certain answers, kept by name. Frozen values, pure."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from desktop_rag.core.errors import AppError
from desktop_rag.core.query import Query, parse_query, strip_invalid_characters
from desktop_rag.core.settings import LaterSources, RetrievalSettings

LONGEST_NAME = 80
LONGEST_INSTRUCTIONS = 4_000


@dataclass(frozen=True, slots=True)
class Assistant:
    """Who answers, from what, and how; what is empty is as it is without an assistant.

    `instructions` come after the app's own, which win. The model is named by the address of its
    endpoint and its name. Without `collection_ids` all documents are asked; `filters`, as in a
    search but without words, hold for every question. `retrieval` None is that of the settings. One
    that `is_open` may answer from what the model knows when nothing in the documents is about a
    question; any other one says so. `uses_memory`: earlier questions and answers may help.
    """

    assistant_id: str
    name: str
    instructions: str = ""
    base_url: str = ""
    model: str = ""
    collection_ids: tuple[str, ...] = ()
    filters: str = ""
    retrieval: RetrievalSettings | None = None
    is_open: bool = False
    uses_memory: bool = True

    @property
    def has_model(self) -> bool:
        """Whether a model of its own answers."""
        return bool(self.base_url and self.model)

    def to_json(self) -> dict[str, Any]:
        """The fields by name."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> "Assistant":
        """The inverse of `to_json`; of fields added since, the defaults."""
        values: dict[str, Any] = dict(fields)
        values["collection_ids"] = tuple(fields["collection_ids"])
        if retrieval := fields.get("retrieval"):
            later = LaterSources(retrieval["later_sources"])
            values["retrieval"] = RetrievalSettings(**retrieval | {"later_sources": later})
        return cls(**values)


def validated_assistant(assistant: Assistant) -> Assistant:
    """The assistant as it can be kept: its texts trimmed, its name on one line.

    AppError, with what to do about it, when it has no name, says too much, or filters by words.
    """
    kept = replace(
        assistant,
        name=" ".join(strip_invalid_characters(assistant.name).split()),
        instructions=strip_invalid_characters(assistant.instructions).strip(),
        filters=" ".join(strip_invalid_characters(assistant.filters).split()),
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
    """What is asked, by an assistant's filters. AppError for words to search for, or a wrong date.

    A question has words of its own: those here could only be a mistake.
    """
    query = parse_query(filters)
    if query.text:
        hint = (
            "Write type:pdf, folder:taxes, after:2024 or -word; what is asked stays the question."
        )
        raise AppError(f"“{query.text}” is not a filter.", hint)
    return query
