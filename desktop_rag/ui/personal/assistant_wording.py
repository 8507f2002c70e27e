"""A one-line summary of an assistant. Pure; any thread."""

from collections.abc import Mapping

from desktop_rag.core.assistant import Assistant, parse_filters
from desktop_rag.core.search_syntax import limits_in_words
from desktop_rag.ui.foundation.wording import count_of, one_line


def summary_of(assistant: Assistant, collections: Mapping[str, str]) -> str:
    """The assistant's model, documents and options on one line; `collections` maps ids to names."""
    parts = [assistant.model if assistant.has_model else "Same model as the chat"]
    names = [collections[i] for i in assistant.collection_ids if i in collections]
    parts += names or [
        "all documents" if not assistant.collection_ids else "its collections were removed"
    ]
    if gone := len(assistant.collection_ids) - len(names):
        parts += [f"{count_of(gone, 'collection')} removed"] if names else []
    if limits := limits_in_words(parse_filters(assistant.filters)):
        parts.append(limits[0].lower() + limits[1:])
    if assistant.is_open:
        parts.append("may answer from its own knowledge")
    return one_line(" · ".join(parts))
