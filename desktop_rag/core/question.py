"""A question with what is chosen beside it, and the documents it may search. Frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.conversation import Attachment
from desktop_rag.core.errors import AppError
from desktop_rag.core.query import Query
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope, ScopeItem
from desktop_rag.core.settings import Settings

_NO_LIMITS = Query("")


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its collection ("" for all documents), assistant ("" for none) and
    attachments.

    Its scope takes precedence over the collection.
    """

    text: str
    collection_id: str = ""
    assistant_id: str = ""
    attachments: tuple[Attachment, ...] = ()
    scope: QuestionScope = ALL_DOCUMENTS


@dataclass(frozen=True, slots=True)
class Readable:
    """What the asking user may read: these collections and these documents.

    Other documents must not affect what they get: no passage, name, count, score or spelling.
    """

    collection_ids: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchScope:
    """The documents that a search may find, whatever the query itself says.

    Empty `collection_ids` mean every collection, `document_ids` None every document. The filters
    and exclusions of `limits`, which has no search words, apply in addition to the query's. `about`
    limits it to these items, `attached` to the files of these sources; `but` excludes these paths.
    `readable` is None for the person, who may read everything.
    """

    collection_ids: tuple[str, ...] = ()
    limits: Query = _NO_LIMITS
    document_ids: tuple[str, ...] | None = None
    attached: tuple[str, ...] = ()
    about: tuple[ScopeItem, ...] = ()
    but: tuple[str, ...] = ()
    readable: Readable | None = None

    @classmethod
    def of_collection(cls, collection_id: str) -> "SearchScope":
        """A single collection, or everything for ""."""
        return cls((collection_id,) if collection_id else ())


EVERYTHING = SearchScope()


@dataclass(frozen=True, slots=True)
class NamedFiles:
    """Files and folders that a question names; the answer is based on nothing else.

    `names` are shown, with folders where several files share a name. `unread` gives the reason for
    each without text. With `asks_for_content` the question asks only for their content.
    """

    names: tuple[str, ...]
    document_ids: tuple[str, ...] = ()
    asks_for_content: bool = False
    hints: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request as it went to a model: at Unix time `at`, with its whole text."""

    at: float
    model: str
    host: str
    text: str


@dataclass(frozen=True, slots=True)
class Setup:
    """The settings, documents and assistant that answer a question.

    `assistant_id` is as requested, even if it no longer exists. `hints` are shown with the answer.
    A `refusal` forbids answering, since the question would go where the person did not want it.
    `schema` is the JSON Schema of an answer without documents, None for text. Models add to `sent`
    what they are sent, where it is to be kept.
    """

    settings: Settings
    reach: SearchScope
    assistant_id: str = ""
    assistant: Assistant | None = None
    hints: tuple[str, ...] = ()
    refusal: AppError | None = None
    schema: Mapping[str, Any] | None = field(default=None, compare=False)
    sent: list[SentRequest] | None = field(default=None, compare=False)

    @property
    def instructions(self) -> str:
        """The assistant's instructions, "" for none."""
        return self.assistant.instructions if self.assistant else ""

    @property
    def is_open(self) -> bool:
        """True when the model may answer from its own knowledge."""
        return self.assistant is not None and self.assistant.is_open

    @property
    def uses_memory(self) -> bool:
        """True when earlier answers may be examples, and this one may be remembered."""
        is_allowed = self.assistant is None or self.assistant.uses_memory
        return is_allowed and self.settings.answers.uses_memory
