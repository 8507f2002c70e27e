"""The kinds of precious things: those of the core, then those of its features. Any thread.

A library or a backup may hold others, of an absent feature; they stay as they are.
"""

from collections.abc import Mapping
from functools import cache

from desktop_rag.registry import hooks
from desktop_rag.store.contract.precious import BackupRules, Kept, Kind

_OF_CORE: Mapping[str, Kind] = {
    "collection": Kind({"collections": "collection_id"}, derived=frozenset({"answering"})),
    "source": Kind({"sources": "source_id"}, ("collection_id", "collection")),
    "tagging": Kind({"file_tags": "tagging_id"}),
    "assistant": Kind({"assistants": "assistant_id"}),
    "conversation": Kind({"conversations": "conversation_id"}),
    "message": Kind(
        {"messages": "message_id", "citations": "message_id"}, ("conversation_id", "conversation")
    ),
    "feedback": Kind({"feedback": "message_id"}),
    "answer": Kind(
        {"interactions": "interaction_id"},
        ("conversation_id", "conversation"),
        frozenset({"embedder", "vector"}),
    ),
    "image": Kind({"attached_images": "attachment_id"}),
}


@cache
def kept() -> tuple[Kept, ...]:
    """What the features keep in the library and in backups."""
    return tuple(hook() for hook in hooks("kept").values())


@cache
def kinds() -> Mapping[str, Kind]:
    """Every kind by its name."""
    return {**_OF_CORE, **kinds_of_features()}


@cache
def kinds_of_features() -> Mapping[str, Kind]:
    """The kinds that features keep."""
    return {name: kind for each in kept() for name, kind in each.kinds.items()}


def precious_tables() -> list[str]:
    """The tables of all kinds."""
    return [table for kind in kinds().values() for table in kind.tables]


def tables_of_features() -> list[str]:
    """The statements that create the tables of each feature."""
    return [each.tables.read_text("utf-8") for each in kept() if each.tables]


@cache
def nouns_of_features() -> Mapping[str, tuple[str, str]]:
    """Singular and plural nouns for what features keep, by kind."""
    return {kind: nouns for each in kept() for kind, nouns in each.nouns.items()}


@cache
def backup_rules() -> list[BackupRules]:
    """How backups treat what each feature keeps."""
    return [each.backups() for each in kept()]
