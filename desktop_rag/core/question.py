"""What a person asks, with what they chose beside it; what may be found for it. Frozen values."""

from dataclasses import dataclass

from desktop_rag.core.attachment import Attachment
from desktop_rag.core.query import Query

_NO_LIMITS = Query("")


@dataclass(frozen=True, slots=True)
class Question:
    """The words, the collection to ask ("" for all documents), the assistant ("" for none), and
    what is attached.
    """

    text: str
    collection_id: str = ""
    assistant_id: str = ""
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchScope:
    """What may be found, whatever the question itself says.

    Without `collection_ids` it is every collection, with None of `document_ids` every document. The
    filters of `limits` hold beside those of the question, and what it excludes is left out too; it
    has no words to search for. With `attached` it is the files of these sources, and nothing else.
    """

    collection_ids: tuple[str, ...] = ()
    limits: Query = _NO_LIMITS
    document_ids: tuple[str, ...] | None = None
    attached: tuple[str, ...] = ()

    @classmethod
    def of_collection(cls, collection_id: str) -> "SearchScope":
        """One collection; "" for everything."""
        return cls((collection_id,) if collection_id else ())


EVERYTHING = SearchScope()
