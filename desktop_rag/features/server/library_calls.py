"""Calls of programs without a stream: search, fetch, ask, lists. JSON in and out. Worker threads.

The tools of MCP, over HTTP and in a process of their own, use them. A document that the caller may
not read is answered as one that does not exist.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePath
from threading import Event
from typing import Annotated, Any

from pydantic import Field

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import (
    AnswerChanged,
    AnswerDone,
    AnswerStep,
    AnswerWaits,
    Message,
    MessageState,
    Role,
    SourceRef,
    StepTaken,
)
from desktop_rag.core.domain import Document, Passage, Source
from desktop_rag.core.errors import AppError
from desktop_rag.core.markup.inert_markdown import inert
from desktop_rag.features.server.access.access_tokens import TokenScope
from desktop_rag.features.server.access.callers import Asked, Caller, message_of
from desktop_rag.features.server.filters.filter_chain import FilterChain
from desktop_rag.features.server.filters.standard_filters import InertFilter, RetrieveFilter
from desktop_rag.features.server.model_names import COLLECTION, EVERYTHING, ModelName, slug_of
from desktop_rag.features.server.program_answers import Answers
from desktop_rag.features.server.readable_library import Calls, LinkTo
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.wire_sources import source_json, title_of
from desktop_rag.ingest.library import Library

OnlyIn = Annotated[str, Field(description="Only this collection.")]

# Is told of what happens while an answer is made.
Tell = Callable[[str], None]

_MOST_RESULTS = 50
_MOST_TEXT = 200_000
_PAGE = 100
_NOT_FOUND = 404


def tell_nobody(_said: str) -> None:
    """For callers that only want the result."""


class LibraryCalls(Calls):
    """Answers calls for a caller. AppError for what can't be done."""

    def __init__(
        self, chat: Chat, library: Library, link: LinkTo, chain: FilterChain | None = None
    ) -> None:
        """Without a `chain` only the rights of the caller limit the calls. Answers are inert."""
        super().__init__(chat, library, link)
        self._chain = chain or FilterChain([("*", InertFilter()), ("*", RetrieveFilter())])
        self._answers = Answers(chat, self._chain)

    def call(
        self, caller: Caller, name: str, arguments: dict[str, Any], tell: Tell = tell_nobody
    ) -> dict[str, Any]:
        """The result of the call of this name. Refuses what the caller's token does not allow."""
        caller.need(TokenScope.ASK if name == "ask" else TokenScope.READ)
        match name:
            case "search" | "fetch" | "list_collections" | "list_documents" | "list_prompts":
                return getattr(self, name)(caller, **arguments)
            case "ask":
                return self.ask(caller, **arguments, tell=tell)
            case _:
                raise AppError(f"There is no call “{name}”.")

    # Programs that speak MCP get the parameters and the docstrings of these as they are.

    def search(
        self,
        caller: Caller,
        query: Annotated[str, Field(description="A question or keywords.")],
        collection: OnlyIn = "",
        limit: Annotated[int, Field(description="The number of results.", ge=1, le=50)] = 10,
    ) -> dict[str, Any]:
        """Find the passages of the person's documents that fit best, one for each document.

        `results` names the documents for `fetch`, `passages` has their numbered passages.
        """
        message = message_of(Role.USER, query)
        setup = self._chat.set_up("", self._collection_id(caller, collection))
        asked = Asked(caller, _name_of(collection), (message,), setup)
        prepared = self._chain.prepared(asked)
        most = max(1, min(limit, _MOST_RESULTS))
        found = self._chat.search(prepared.question, limit=3 * most, reach=prepared.setup.reach)
        best = {passage.document_id: passage for passage in reversed(found)}
        order = list(dict.fromkeys(passage.document_id for passage in found))[:most]
        return {"results": [self._result(caller, best[each]) for each in order]}

    def fetch(
        self,
        caller: Caller,
        id: Annotated[str, Field(description="The id of a search result.")],  # noqa: A002  clients send it
    ) -> dict[str, Any]:
        """Give the whole text of one document, with its title, address and metadata."""
        document = self._document(caller, id)
        text = self._library.documents.text(id)
        return {
            "id": id,
            "title": document.title or document.name,
            "text": text[:_MOST_TEXT],
            "url": document.address or self._link(caller, id, 0, 0),
            # A very long text is cut.
            "metadata": _metadata(caller, document) | {"is_cut": len(text) > _MOST_TEXT},
        }

    def ask(
        self,
        caller: Caller,
        question: Annotated[str, Field(description="The question, complete in itself.")],
        collection: OnlyIn = "",
        assistant: Annotated[str, Field(description="The assistant of this name.")] = "",
        *,
        tell: Tell = tell_nobody,
    ) -> dict[str, Any]:
        """Answer a question from the person's documents, with numbered and checked sources."""
        assistant_id = self._assistant_id(caller, assistant)
        collection_id = self._collection_id(caller, collection)
        if not caller.token.exposes(ModelName("", "", assistant_id, collection_id).key):
            raise AppError("This token may not ask that.", "It is limited to certain models.")
        setup = self._chat.set_up(assistant_id, collection_id)
        name = slug_of(assistant) if assistant else _name_of(collection)
        asked, message = Asked(caller, name, (message_of(Role.USER, question),), setup), None
        for event in self._answers.events(asked, Event()):
            match event:
                case AnswerDone() | AnswerChanged():
                    message = event.message
                case AnswerWaits(reason=said) | StepTaken(step=AnswerStep(said=said)):
                    tell(inert(said))
                case _:
                    pass
        assert message is not None, "every answer ends with AnswerDone"
        if message.state is MessageState.FAILED:
            raise AppError(message.error_title, message.error_hint)
        return self._answer_json(caller, message)

    def list_collections(self, caller: Caller) -> dict[str, Any]:
        """List the collections of documents, with the number of documents in each."""
        counts = Counter[str]()
        for source, documents in self._found(caller):
            counts[source.collection_id] += len(documents)
        return {
            "collections": [
                {"name": collection.name, "documents": counts[collection.collection_id]}
                for collection in self._library.collections.all()
                if caller.may_read_collection(collection.collection_id)
            ]
        }

    def list_documents(
        self,
        caller: Caller,
        collection: OnlyIn = "",
        offset: Annotated[int, Field(description="Where the page begins.", ge=0)] = 0,
    ) -> dict[str, Any]:
        """List documents, a hundred at a time, with the offset of the next page."""
        wanted = self._collection_id(caller, collection)
        every = [d for _, documents in self._found(caller, wanted) for d in documents]
        page = every[max(0, offset) : max(0, offset) + _PAGE]
        end = max(0, offset) + len(page)
        return {
            "documents": [self._document_json(caller, document) for document in page],
            "total": len(every),
            "next_offset": end if end < len(every) else None,
        }

    def list_prompts(self, caller: Caller) -> dict[str, Any]:
        """The saved prompts by name; none for a token of some collections: they are in none."""
        saved = self._chat.prompts.all() if caller.sees_prompts else []
        return {"prompts": [{"name": prompt.name, "text": prompt.text} for prompt in saved]}

    # --- rights ----------------------------------------------------------------------------

    def _collection_id(self, caller: Caller, name: str) -> str:
        if not name:
            return ""
        for collection in self._library.collections.all():
            is_open = caller.may_read_collection(collection.collection_id)
            if is_open and collection.name.casefold() == name.casefold():
                return collection.collection_id
        raise AppError(f"There is no collection “{name}”.", "list_collections names all.")

    def _assistant_id(self, caller: Caller, name: str) -> str:
        """The id of an assistant; one with nothing that the caller may read does not exist."""
        if not name:
            return ""
        for assistant in self._chat.assistants.all():
            if assistant.name.casefold() == name.casefold():
                setup = self._chat.set_up(assistant.assistant_id)
                if caller.covers(setup.reach):
                    return assistant.assistant_id
        raise AppError(f"There is no assistant “{name}”.")

    def _found(
        self, caller: Caller, collection_id: str = ""
    ) -> Iterator[tuple[Source, list[Document]]]:
        """The sources of one collection or of all, with the documents that are searchable."""
        sources = self._readable.sources(caller, collection_id)
        for source, documents in self._readable.by_source(caller, sources):
            yield source, [document for document in documents if document.state.is_searchable]

    def _document(self, caller: Caller, document_id: str) -> Document:
        try:
            document, _ = self._readable.document(caller, document_id)
        except Refusal as refusal:
            if refusal.status != _NOT_FOUND:
                raise
        else:
            if document.state.is_searchable:
                return document
        raise AppError("There is no such document.", "search and list_documents name them.")

    # --- JSON ------------------------------------------------------------------------------

    def _result(self, caller: Caller, passage: Passage) -> dict[str, Any]:
        url = passage.url or self._link(caller, passage.document_id, passage.start, passage.end)
        return {
            "id": passage.document_id,
            "title": passage.title or PurePath(passage.path).name,
            "url": url,
            "text": passage.text,
            "place": passage.anchor.label(),
        }

    def _document_json(self, caller: Caller, document: Document) -> dict[str, Any]:
        url = document.address or self._link(caller, document.document_id, 0, 0)
        head = {"id": document.document_id, "title": document.title or document.name, "url": url}
        return head | _metadata(caller, document)

    def _answer_json(self, caller: Caller, message: Message) -> dict[str, Any]:
        def address(source: SourceRef) -> str:
            return source.url or self._link(caller, source.document_id, source.start, source.end)

        told = partial(source_json, address=address, sees_paths=caller.sees_paths)
        sources = [told(source, message.claims) for source in message.sources]
        return {
            "answer": message.text,
            "sources": sources,
            "follow_ups": list(message.follow_ups),
            "in_words": _with_sources(message, address),
        }


def _with_sources(message: Message, address: Callable[[SourceRef], str]) -> str:
    """The answer and its numbered sources as plain text: some programs show nothing else."""
    cited = [source for source in message.sources if source.is_cited] or list(message.sources)
    lines = [
        f"[{s.n}] {title_of(s)}{f', {place}' if (place := s.anchor.label()) else ''}: {address(s)}"
        for s in cited
    ]
    return "\n".join([message.text, "", "Sources:", *lines]) if lines else message.text


def _name_of(collection: str) -> str:
    return f"{COLLECTION}{collection}" if collection else EVERYTHING


def _metadata(caller: Caller, document: Document) -> dict[str, Any]:
    path = str(document.path) if caller.sees_paths else document.path.name
    return {
        "path": "" if document.url else path,
        "part": document.part,
        "format": document.format,
        "language": document.language,
        "tags": list(document.all_tags),
        "dated": document.dated,
    }
