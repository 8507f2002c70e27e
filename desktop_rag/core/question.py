"""A question with what is chosen beside it, and the documents it may search. Frozen values."""

from dataclasses import dataclass

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.conversation import Attachment
from desktop_rag.core.errors import AppError
from desktop_rag.core.query import Query
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope, ScopeItem
from desktop_rag.core.settings import Settings

_NO_LIMITS = Query("")


@dataclass(frozen=True, slots=True)
class Question:
    """The text of a question, its collection ("" for all documents), its assistant ("" for none),
    its attachments and its scope, which a collection stands back for.
    """

    text: str
    collection_id: str = ""
    assistant_id: str = ""
    attachments: tuple[Attachment, ...] = ()
    scope: QuestionScope = ALL_DOCUMENTS


@dataclass(frozen=True, slots=True)
class Readable:
    """What whoever asks may read: the documents of these collections, and these documents.

    Others must have no effect on what they get: no passage, name, count, score or spelling.
    """

    collection_ids: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchScope:
    """The documents that a search may find, whatever the query itself says.

    Without `collection_ids` it covers every collection; with `document_ids` None, every document.
    The filters and exclusions of `limits` apply in addition to those of the query; `limits` has no
    words to search for. With `about` it covers only what one of these items stands for. With
    `attached` it covers the files of these sources and nothing else; with `but` it leaves out the
    files with these paths. `readable` is None for the person, who may read everything.
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

    `names` are shown to the person, with folders where several files have one name. `unread` gives
    the reason for each of them that has no text. With `asks_for_content` the question asks for
    nothing but what is in them.
    """

    names: tuple[str, ...]
    document_ids: tuple[str, ...] = ()
    asks_for_content: bool = False
    hints: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Setup:
    """The settings, documents and assistant that answer a question.

    `assistant_id` is the one that was asked, even when it no longer exists. `hints` are sentences
    to show with the answer. With a `refusal` the question must not be answered: it would go where
    the person did not want it to.
    """

    settings: Settings
    reach: SearchScope
    assistant_id: str = ""
    assistant: Assistant | None = None
    hints: tuple[str, ...] = ()
    refusal: AppError | None = None

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
