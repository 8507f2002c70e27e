"""Collections, sources, access rules and saved prompts for other programs. JSON; worker threads."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from desktop_rag.answer.chat import Chat
from desktop_rag.core.domain import Collection, DocumentState, Source, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.core.saved_prompts import SavedPrompt, plain_name
from desktop_rag.features.server.access.access_rules import AccessRules
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.rest.readable_library import (
    ReadableLibrary,
    need_every_collection,
    need_whole_rights,
    sees_all_of,
)
from desktop_rag.features.server.rest.rest_forms import (
    Access,
    Chunking,
    CollectionChange,
    Links,
    NewCollection,
)
from desktop_rag.features.server.values.access_values import AccessRule
from desktop_rag.ingest.library import Library
from desktop_rag.models.embedding.joined_embedding import BUNDLED, BUNDLED_MULTILINGUAL

_UNKNOWN: Mapping[str, DocumentCounts] = MappingProxyType({})


class CollectionCalls:
    """Lists, makes, changes and deletes collections."""

    def __init__(self, library: Library, readable: ReadableLibrary) -> None:
        self._library = library
        self._readable = readable

    def all(self, caller: Caller) -> dict[str, Any]:
        """The collections of the caller."""
        found = self._readable.collections(caller)
        sources, counts = self._readable.sources(caller), self._library.documents.counts_by_source()
        return {"collections": [self._json(caller, each, sources, counts) for each in found]}

    def one(self, caller: Caller, collection_id: str) -> dict[str, Any]:
        """One collection."""
        collection = self._readable.collection(caller, collection_id)
        return self._json(caller, collection, self._readable.sources(caller, collection_id))

    def add(self, caller: Caller, new: NewCollection) -> dict[str, Any]:
        """A new collection; refuses a name that is taken, and a model that can't be used."""
        need_every_collection(caller)
        collection = self._named(lambda: self._library.collections.add(new.name))
        try:
            self._set(collection.collection_id, new.chunking, new.embedder)
        except Refusal:
            self._library.collections.remove(collection.collection_id)
            raise
        return self.one(caller, collection.collection_id)

    def change(
        self, caller: Caller, collection_id: str, change: CollectionChange
    ) -> dict[str, Any]:
        """Rename it or change its settings; its documents follow in the background."""
        need_whole_rights(caller)
        self._readable.collection(caller, collection_id)
        if change.name is not None:
            name = change.name
            self._named(lambda: self._library.collections.rename(collection_id, name))
        self._set(collection_id, change.chunking, change.embedder)
        return self.one(caller, collection_id)

    def remove(self, caller: Caller, collection_id: str) -> dict[str, Any]:
        """Delete it with its sources; files of the person's stay, what programs sent does not."""
        need_whole_rights(caller)
        self._readable.collection(caller, collection_id)
        self._library.collections.remove(collection_id)
        return {"deleted": [collection_id]}

    def sources(self, caller: Caller, collection_id: str) -> dict[str, Any]:
        """Its folders and links, and the applications that send to it."""
        self._readable.collection(caller, collection_id)
        found = self._readable.sources(caller, collection_id)
        of_each = self._readable.by_source(caller, found)
        rows = [(source, len(documents)) for source, documents in of_each]
        is_whole = sees_all_of(caller, collection_id)
        shown = [(source, count) for source, count in rows if count or is_whole]
        return {"sources": [_source_json(source, count) for source, count in shown]}

    def remove_source(self, caller: Caller, collection_id: str, source_id: str) -> dict[str, Any]:
        """Take a source out of the library; files of the person's stay."""
        need_whole_rights(caller)
        known = self._readable.sources(caller, collection_id)
        if all(source.source_id != source_id for source in known):
            raise Refusal(404, "There is no such source.", code="no_such_source")
        self._library.sources.remove(source_id)
        return {"deleted": [source_id]}

    def add_links(self, caller: Caller, collection_id: str, links: Links) -> dict[str, Any]:
        """Queue web pages to be fetched; refuses what is no address, or is there already."""
        need_whole_rights(caller)
        self._readable.collection(caller, collection_id)
        wanted = WebLinks(tuple(links.urls), links.page_limit, links.refresh_hours)
        try:
            source = self._library.sources.add_links(wanted, collection_id)
        except AppError as error:
            raise Refusal.of_error(error) from error
        return _source_json(source, 0)

    def _set(self, collection_id: str, chunking: Chunking | None, embedder: str | None) -> None:
        collections = self._library.collections
        if embedder is not None:
            self._check_embedder(embedder)
        try:
            if embedder is not None:
                collections.set_embedder(collection_id, embedder)
            if chunking is not None:
                chosen = ChunkSettings(
                    chunking.method, chunking.max_tokens, chunking.overlap_tokens
                )
                collections.set_chunking(collection_id, chosen)
        except AppError as error:
            raise Refusal.of_error(error) from error

    def _check_embedder(self, embedder: str) -> None:
        """Refuses a model that the person has not chosen yet for some collection.

        An address would get the text of every document, and a folder would be opened.
        """
        used = {collection.embedder for collection in self._library.collections.all()}
        if embedder not in used | {BUNDLED, BUNDLED_MULTILINGUAL}:
            said = "This model is not in use. Choose it for a collection in the app first."
            raise Refusal(400, said, param="embedder", code="unknown_model")

    def _named(self, make: Any) -> Collection:  # noqa: ANN401  a call that may refuse the name
        try:
            return make()
        except AppError as error:
            refusal = Refusal.of_error(error, 409)
            refusal.param, refusal.code = "name", "name_taken"
            raise refusal from error

    def _json(
        self,
        caller: Caller,
        collection: Collection,
        every: Sequence[Source],
        counts: Mapping[str, DocumentCounts] = _UNKNOWN,
    ) -> dict[str, Any]:
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
        return {
            "id": collection.collection_id,
            "name": collection.name,
            "chunking": {
                "method": chunking.method,
                "max_tokens": min(chunking.max_tokens, 8192),
                "overlap_tokens": min(chunking.overlap_tokens, 128),
            },
            "embedder": collection.embedder,
            "answering_model": self._library.collections.answering_model(collection.collection_id),
            "documents": sum(states.values()),
            "states": states,
            "applications": sorted(programs),
        }

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


def _source_json(source: Source, documents: int) -> dict[str, Any]:
    kind = "application" if source.program else "links" if source.links else "folder"
    return {
        "id": source.source_id,
        "kind": kind,
        "name": source.name,
        "state": source.state.value,
        "documents": documents,
        "refreshed_at": source.refreshed_at or None,
    }


class AccessCalls:
    """Says which application decides about the readers of a collection."""

    def __init__(self, rules: AccessRules, readable: ReadableLibrary) -> None:
        self._rules = rules
        self._readable = readable

    def one(self, caller: Caller, collection_id: str) -> dict[str, Any]:
        """The rule of a collection."""
        rule = self._known(caller, collection_id)
        if rule is None:
            raise Refusal(404, "Its readers need no other application.", code="no_access_rule")
        return _rule_json(rule)

    def set(self, caller: Caller, collection_id: str, given: Access) -> dict[str, Any]:
        """Let an application decide from now on; without a key, the known one stays."""
        known = self._known(caller, collection_id)
        if not (given.key or known):
            raise Refusal(400, "The public key is needed.", param="key", code="missing_field")
        rule = AccessRule(
            collection_id, known.key_file if known else "", tuple(given.algorithms),
            given.issuer, given.audience, given.address,
        )  # fmt: skip
        try:
            self._rules.set(rule, given.key)
        except AppError as error:
            raise Refusal.of_error(error) from error
        return _rule_json(rule)

    def remove(self, caller: Caller, collection_id: str) -> dict[str, Any]:
        """Let every token for the collection read it again."""
        self._known(caller, collection_id)
        self._rules.remove(collection_id)
        return {"deleted": [collection_id]}

    def _known(self, caller: Caller, collection_id: str) -> AccessRule | None:
        need_every_collection(caller)
        self._readable.collection(caller, collection_id)
        return self._rules.of(collection_id)


def _rule_json(rule: AccessRule) -> dict[str, Any]:
    """Without the path of the key, which is of this computer."""
    return {
        "collection_id": rule.collection_id,
        "algorithms": list(rule.algorithms),
        "issuer": rule.issuer,
        "audience": rule.audience,
        "address": rule.address,
    }


class PromptCalls:
    """Lists, saves and deletes prompts, which are in no collection."""

    def __init__(self, chat: Chat) -> None:
        self._prompts = chat.prompts

    def all(self, caller: Caller) -> dict[str, Any]:
        """The prompts by name; none for a token of some collections."""
        saved = [] if caller.is_limited else self._prompts.all()
        return {"prompts": [_json(prompt) for prompt in saved]}

    def put(self, caller: Caller, name: str, text: str) -> dict[str, Any]:
        """Save a prompt, in place of one of this name."""
        need_every_collection(caller)
        plain = plain_name(name)
        try:
            return _json(self._prompts.save(SavedPrompt(plain, text), former=plain))
        except AppError as error:
            raise Refusal.of_error(error) from error

    def remove(self, caller: Caller, name: str) -> dict[str, Any]:
        """Delete a prompt."""
        need_every_collection(caller)
        plain = plain_name(name)
        if not plain or all(prompt.name != plain for prompt in self._prompts.all()):
            raise Refusal(404, "There is no such prompt.", code="no_such_prompt")
        self._prompts.delete(plain)
        return {"deleted": [plain]}


def _json(prompt: SavedPrompt) -> dict[str, Any]:
    return {"name": prompt.name, "text": prompt.text}
