"""What an assistant is, in a few words. Pure; any thread."""

from collections.abc import Mapping

from desktop_rag.core.assistant import Assistant, parse_filters
from desktop_rag.core.search_syntax import limits_in_words
from desktop_rag.ui.foundation.wording import count_of, one_line


def summary_of(assistant: Assistant, collections: Mapping[str, str]) -> str:
    """Its model, documents and ways on one line; `collections` has the names by their ids."""
    parts = [assistant.model if assistant.has_model else "The model of the chat"]
    names = [collections[i] for i in assistant.collection_ids if i in collections]
    parts += names or ["all documents" if not assistant.collection_ids else "no collection is left"]
    if gone := len(assistant.collection_ids) - len(names):
        parts += [f"{count_of(gone, 'collection')} gone"] if names else []
    if limits := limits_in_words(parse_filters(assistant.filters)):
        parts.append(limits[0].lower() + limits[1:])
    if assistant.is_open:
        parts.append("may answer from its own knowledge")
    return one_line(" · ".join(parts))
