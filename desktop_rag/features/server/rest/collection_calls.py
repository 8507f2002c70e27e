"""Collections, sources, access rules and saved prompts for other programs. Worker threads."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field

from desktop_rag.core.assistant import SavedPrompt, plain_name
from desktop_rag.core.domain import Collection, DocumentState, Source, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.features.server.access.access_rules import AccessRules
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.operations import (
    ADMIN,
    READ,
    WRITE,
    Answered,
    DeletedAnswer,
    Form,
    Id,
    Name,
    operation,
)
from desktop_rag.features.server.readable_library import (
    Calls,
    ReadableLibrary,
    need_every_collection,
    need_prompts,
    need_whole_rights,
    sees_all_of,
)
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.values.access_values import USUAL_ALGORITHMS, AccessRule, Algorithm
from desktop_rag.models.embedding.joined_embedding import BUNDLED, BUNDLED_MULTILINGUAL

_UNKNOWN: Mapping[str, DocumentCounts] = MappingProxyType({})


class Chunking(Form):
    """How documents become passages. `max_tokens` 0 means the limit of the embedding model."""

    method: Literal["structure", "tokens", "words"] = "structure"
    max_tokens: Annotated[int, Field(ge=0, le=8192)] = 0
    overlap_tokens: Annotated[int, Field(ge=0, le=128)] = 16


Embedder = Annotated[
    str,
    Field(
        max_length=2000,
        description="A model that another collection uses already: a folder, or the address of an"
        ' endpoint with # and a model. "" is the model of the settings, "bundled:multilingual" the'
        " bundled one for many languages.",
    ),
]


class NewCollection(Form):
    """A collection to be made."""

    name: Name
    chunking: Chunking | None = None
    embedder: Embedder | None = None


class CollectionChange(Form):
    """What is to change; what is left out stays."""

    name: Name | None = None
    chunking: Chunking | None = None
    embedder: Embedder | None = None


class Links(Form):
    """Web pages to be fetched; the address of a sitemap stands for the pages it lists."""

    urls: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=2048)]],
        Field(min_length=1, max_length=100),
    ]
    page_limit: Annotated[int, Field(ge=1, le=10_000)] = 100
    refresh_hours: Annotated[float, Field(ge=0, le=8760, allow_inf_nan=False)] = 24.0


class Remote(Form):
    """A place on another server, such as a cloud folder, read as a user of it."""

    kind: Annotated[str, Field(max_length=40, description="Such as `webdav`.")]
    address: Annotated[str, Field(min_length=1, max_length=2048)]
    user: Annotated[str, Field(max_length=256)] = ""
    password: Annotated[str, Field(max_length=4096, description="Kept in the keyring.")] = ""
    chosen: Annotated[
        list[str] | None, Field(max_length=1000, description="Only these folders.")
    ] = None
    since: Annotated[str, Field(max_length=10, description="Nothing older than this day.")] = ""
    file_limit: Annotated[int, Field(ge=1, le=1_000_000)] = 100_000
    refresh_hours: Annotated[float, Field(ge=0, le=8760, allow_inf_nan=False)] = 24.0


class Folder(Form):
    """A folder of the server's computer, by its whole path."""

    path: Annotated[str, Field(min_length=1, max_length=4096)]


class CollectionAnswer(Answered):
    """A collection. `answering_model` is the one whose vectors are searched now."""

    id: str
    name: str
    chunking: Chunking
    embedder: str
    answering_model: str
    documents: int
    states: dict[str, int]
    applications: list[str]


class CollectionList(Answered):
    """The collections that the token may read."""

    collections: list[CollectionAnswer]


class SourceAnswer(Answered):
    """A folder, links, or what an application sends."""

    id: str
    kind: str
    name: str
    state: str
    documents: int
    refreshed_at: float | None


class SourceList(Answered):
    """The sources of a collection."""

    sources: list[SourceAnswer]


class CollectionCalls(Calls):
    """Lists, makes, changes and deletes collections."""

    @operation("GET collections", READ)
    def list_collections(self, caller: Caller) -> CollectionList:
        """List the collections."""
        found = self._readable.collections(caller)
        sources, counts = self._readable.sources(caller), self._library.documents.counts_by_source()
        return CollectionList(collections=[self._shown(caller, c, sources, counts) for c in found])

    @operation("POST collections", ADMIN, 201)
    def make_collection(self, caller: Caller, body: NewCollection) -> CollectionAnswer:
        """Make a collection.

        Refuses a name that is taken, and a model that can't be used.
        """
        need_every_collection(caller)
        collection = _named(lambda: self._library.collections.add(body.name))
        try:
            self._set(collection.collection_id, body.chunking, body.embedder)
        except (AppError, Refusal):
            self._library.collections.remove(collection.collection_id)
            raise
        return self.get_collection(caller, collection.collection_id)

    @operation("GET collections/{collection_id}", READ)
    def get_collection(self, caller: Caller, collection_id: Id) -> CollectionAnswer:
        """Show a collection."""
        collection = self._readable.collection(caller, collection_id)
        return self._shown(caller, collection, self._readable.sources(caller, collection_id))

    @operation("PATCH collections/{collection_id}", ADMIN)
    def change_collection(
        self, caller: Caller, collection_id: Id, body: CollectionChange
    ) -> CollectionAnswer:
        """Rename a collection or change its settings.

        Its documents follow in the background.
        """
        self._readable.writable(caller, collection_id)
        if (name := body.name) is not None:
            _named(lambda: self._library.collections.rename(collection_id, name))
        self._set(collection_id, body.chunking, body.embedder)
        return self.get_collection(caller, collection_id)

    @operation("DELETE collections/{collection_id}", ADMIN)
    def delete_collection(self, caller: Caller, collection_id: Id) -> DeletedAnswer:
        """Delete a collection.

        Its sources go too: files of the person's stay, what programs sent does not.
        """
        self._readable.writable(caller, collection_id)
        self._library.collections.remove(collection_id)
        return DeletedAnswer(deleted=[collection_id])

    @operation("GET collections/{collection_id}/sources", READ)
    def list_sources(self, caller: Caller, collection_id: Id) -> SourceList:
        """List the folders, links and applications of a collection."""
        self._readable.collection(caller, collection_id)
        found = self._readable.sources(caller, collection_id)
        of_each = self._readable.by_source(caller, found)
        rows = [(source, len(documents)) for source, documents in of_each]
        is_whole = sees_all_of(caller, collection_id)
        shown = [(source, count) for source, count in rows if count or is_whole]
        return SourceList(sources=[_shown_source(source, count) for source, count in shown])

    @operation("POST collections/{collection_id}/links", WRITE, 202)
    def add_links(self, caller: Caller, collection_id: Id, body: Links) -> SourceAnswer:
        """Add web pages; they are fetched later.

        Refuses what is no address, or is there already.
        """
        self._readable.writable(caller, collection_id)
        wanted = WebLinks(tuple(body.urls), body.page_limit, body.refresh_hours)
        return _shown_source(self._library.sources.add_links(wanted, collection_id), 0)

    @operation("POST collections/{collection_id}/remotes", ADMIN, 202)
    def add_remote(self, caller: Caller, collection_id: Id, body: Remote) -> SourceAnswer:
        """Add a place on another server; its files are read from now on.

        Who may ask the collection may then read them. The host may be one of the local network.
        """
        need_every_collection(caller)
        self._readable.collection(caller, collection_id)
        links = WebLinks(
            (body.address,), body.file_limit, body.refresh_hours, remote=body.kind, user=body.user,
            chosen=tuple(body.chosen or ()), since=body.since,
        )  # fmt: skip
        sources = self._library.sources
        return _shown_source(sources.add_links(links, collection_id, password=body.password), 0)

    @operation("POST collections/{collection_id}/folders", ADMIN, 202)
    def add_folder(self, caller: Caller, collection_id: Id, body: Folder) -> SourceAnswer:
        """Add a folder of the server's computer; its files are read from now on.

        Who may ask the collection may then read them.
        """
        need_every_collection(caller)
        self._readable.collection(caller, collection_id)
        folder = Path(body.path)
        if not folder.is_absolute():
            raise Refusal(400, "Write the whole path of the folder.", param="path")
        return _shown_source(self._library.sources.add(folder, collection_id), 0)

    @operation("DELETE collections/{collection_id}/sources/{source_id}", ADMIN)
    def delete_source(self, caller: Caller, collection_id: Id, source_id: Id) -> DeletedAnswer:
        """Take a source out of the library.

        Files of the person's stay.
        """
        need_whole_rights(caller)
        known = self._readable.sources(caller, collection_id)
        if all(source.source_id != source_id for source in known):
            raise Refusal(404, "There is no such source.", code="no_such_source")
        self._library.sources.remove(source_id)
        return DeletedAnswer(deleted=[source_id])

    def _set(self, collection_id: str, chunking: Chunking | None, embedder: str | None) -> None:
        collections = self._library.collections
        if embedder is not None:
            self._check_embedder(embedder)
            collections.set_embedder(collection_id, embedder)
        if chunking is not None:
            collections.set_chunking(collection_id, ChunkSettings(**chunking.model_dump()))

    def _check_embedder(self, embedder: str) -> None:
        """Refuses a model that the person has not chosen yet for some collection.

        An address would get the text of every document, and a folder would be opened.
        """
        used = {collection.embedder for collection in self._library.collections.all()}
        if embedder not in used | {BUNDLED, BUNDLED_MULTILINGUAL}:
            said = "This model is not in use. Choose it for a collection in the app first."
            raise Refusal(400, said, param="embedder", code="unknown_model")

    def _shown(
        self,
        caller: Caller,
        collection: Collection,
        every: Sequence[Source],
        counts: Mapping[str, DocumentCounts] = _UNKNOWN,
    ) -> CollectionAnswer:
        """A collection, its sources among `every` one, and their `counts` where they are known."""
        states: dict[str, int] = {}
        sources = [each for each in every if each.collection_id == collection.collection_id]
        for source in sources:
            for state, count in self._counts(caller, source, counts).items():
                if count:
                    states[state.value] = states.get(state.value, 0) + count
        is_whole = sees_all_of(caller, collection.collection_id)
        programs = {source.program for source in sources if source.program and is_whole}
        chunking = collection.chunking
        return CollectionAnswer.of(
            collection,
            id=collection.collection_id,
            chunking={
                "method": chunking.method,
                "max_tokens": min(chunking.max_tokens, 8192),
                "overlap_tokens": min(chunking.overlap_tokens, 128),
            },
            answering_model=self._library.collections.answering_model(collection.collection_id),
            documents=sum(states.values()),
            states=states,
            applications=sorted(programs),
        )

    def _counts(
        self, caller: Caller, source: Source, known: Mapping[str, DocumentCounts]
    ) -> Mapping[DocumentState, int]:
        if sees_all_of(caller, source.collection_id):
            found = known.get(source.source_id)
            return (found or self._library.documents.counts(source.source_id)).by_state
        counts: dict[DocumentState, int] = {}
        for document in self._readable.of_source(caller, source):
            counts[document.state] = counts.get(document.state, 0) + 1
        return counts


def _named(make: Callable[[], Collection]) -> Collection:
    """What is made; refuses a name that is taken."""
    try:
        return make()
    except AppError as error:
        raise Refusal.of_error(error, 409, param="name", code="name_taken") from error


def _shown_source(source: Source, documents: int) -> SourceAnswer:
    kind = "application" if source.program else source.kind if source.links else "folder"
    return SourceAnswer.of(
        source,
        id=source.source_id,
        kind=kind,
        state=source.state.value,
        documents=documents,
        refreshed_at=source.refreshed_at or None,
    )


class Access(Form):
    """The application that decides which of its users may read what in a collection."""

    key: Annotated[
        str,
        Field(
            max_length=100_000,
            description="The public key of the users' tokens, PEM or JWKS; empty keeps the known.",
        ),
    ] = ""
    algorithms: list[Algorithm] = Field(list(USUAL_ALGORITHMS), min_length=1)
    issuer: Annotated[str, Field(min_length=1, max_length=1000)]
    audience: Annotated[str, Field(min_length=1, max_length=1000)]
    address: Annotated[str, Field(max_length=2000, description="Asked what a user may read.")]


class AccessAnswer(Answered):
    """The application that decides about the readers of a collection, without its key."""

    collection_id: str
    algorithms: list[str]
    issuer: str
    audience: str
    address: str


class AccessCalls:
    """Says which application decides about the readers of a collection."""

    def __init__(self, rules: AccessRules, readable: ReadableLibrary) -> None:
        self._rules = rules
        self._readable = readable

    @operation("GET collections/{collection_id}/access", ADMIN)
    def get_access(self, caller: Caller, collection_id: Id) -> AccessAnswer:
        """Show which application decides about the readers."""
        rule = self._known(caller, collection_id)
        if rule is None:
            raise Refusal(404, "Its readers need no other application.", code="no_access_rule")
        return AccessAnswer.of(rule)

    @operation("PUT collections/{collection_id}/access", ADMIN)
    def set_access(self, caller: Caller, collection_id: Id, body: Access) -> AccessAnswer:
        """Let an application decide which users read what.

        Without a key, the known one stays.
        """
        known = self._known(caller, collection_id)
        if not (body.key or known):
            raise Refusal(400, "The public key is needed.", param="key", code="missing_field")
        rule = AccessRule(
            collection_id, known.key_file if known else "", tuple(body.algorithms),
            body.issuer, body.audience, body.address,
        )  # fmt: skip
        self._rules.set(rule, body.key)
        return AccessAnswer.of(rule)

    @operation("DELETE collections/{collection_id}/access", ADMIN)
    def delete_access(self, caller: Caller, collection_id: Id) -> DeletedAnswer:
        """Let every token for the collection read it again."""
        self._known(caller, collection_id)
        self._rules.remove(collection_id)
        return DeletedAnswer(deleted=[collection_id])

    def _known(self, caller: Caller, collection_id: str) -> AccessRule | None:
        need_every_collection(caller)
        self._readable.collection(caller, collection_id)
        return self._rules.of(collection_id)


class PromptText(Form):
    """The text of a prompt; {{name}} is a gap to be filled in."""

    text: Annotated[str, Field(min_length=1, max_length=20_000, pattern=r"\S")]


class PromptAnswer(Answered):
    """A saved prompt."""

    name: str
    text: str


class PromptList(Answered):
    """The saved prompts."""

    prompts: list[PromptAnswer]


PromptName = Annotated[str, Field(min_length=1, max_length=100)]


class PromptCalls(Calls):
    """Lists, saves and deletes prompts, which are in no collection."""

    @operation("GET prompts", READ)
    def list_prompts(self, caller: Caller) -> PromptList:
        """List the saved prompts.

        There are none for a token of some collections.
        """
        saved = self._chat.prompts.all() if caller.sees_prompts else []
        return PromptList(prompts=[PromptAnswer.of(prompt) for prompt in saved])

    @operation("PUT prompts/{name}", WRITE)
    def put_prompt(self, caller: Caller, name: PromptName, body: PromptText) -> PromptAnswer:
        """Save a prompt."""
        need_prompts(caller)
        plain = plain_name(name)
        return PromptAnswer.of(self._chat.prompts.save(SavedPrompt(plain, body.text), former=plain))

    @operation("DELETE prompts/{name}", WRITE)
    def delete_prompt(self, caller: Caller, name: PromptName) -> DeletedAnswer:
        """Delete a prompt."""
        need_prompts(caller)
        plain = plain_name(name)
        if not plain or all(prompt.name != plain for prompt in self._chat.prompts.all()):
            raise Refusal(404, "There is no such prompt.", code="no_such_prompt")
        self._chat.prompts.delete(plain)
        return DeletedAnswer(deleted=[plain])
