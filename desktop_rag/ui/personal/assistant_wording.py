"""A one-line summary of an assistant. Pure; any thread."""

from collections.abc import Mapping
from pathlib import Path

from desktop_rag.assistant_rails.rail_names import BUILT_IN
from desktop_rag.core.assistant import Assistant, parse_filters
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.search_syntax import limits_in_words
from desktop_rag.ui.foundation.wording import one_line


def summary_of(assistant: Assistant, collections: Mapping[str, str]) -> str:
    """The assistant's model, documents and options on one line; `collections` maps ids to names."""
    parts = [assistant.model if assistant.has_model else tr("Same model as the chat")]
    names = [collections[i] for i in assistant.collection_ids if i in collections]
    parts += names or [
        tr("all documents") if not assistant.collection_ids else tr("its collections were removed")
    ]
    if gone := len(assistant.collection_ids) - len(names):
        parts += (
            [tr("{count_of} removed", count_of=count_of(gone, tr("collection"), tr("collections")))]
            if names
            else []
        )
    if limits := limits_in_words(parse_filters(assistant.filters)):
        parts.append(limits[0].lower() + limits[1:])
    if assistant.is_open:
        parts.append(tr("may answer from its own knowledge"))
    if assistant.rails:
        titles = {known.name: known.title for known in BUILT_IN}
        title = titles.get(assistant.rails) or Path(assistant.rails).name
        parts.append(tr("rails: {title}", title=title))
    return one_line(" · ".join(parts))
