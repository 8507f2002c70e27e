"""The names under which other programs ask: everything, assistants, collections. Worker threads."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from desktop_rag.answer.chat import Chat
from desktop_rag.core.question import Setup
from desktop_rag.core.question_scope import ALL_DOCUMENTS, WITHOUT_DOCUMENTS, QuestionScope
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.ingest.library import Library

EVERYTHING = "desktop-rag"
COLLECTION = "collection:"
_NO_SLUG = re.compile(r"[^\w]+")


@dataclass(frozen=True, slots=True)
class ModelName:
    """A name that can be asked, what it stands for, and how a question to it is set up."""

    name: str
    title: str
    assistant_id: str = ""
    collection_id: str = ""
    endpoint: EndpointSettings | None = None

    @property
    def key(self) -> str:
        """What tokens are limited to: unlike the name, it stays when something is renamed."""
        if self.endpoint:
            return f"model:{self.endpoint.model}"
        if self.assistant_id:
            return f"assistant:{self.assistant_id}"
        return f"collection:{self.collection_id}" if self.collection_id else EVERYTHING

    @property
    def scope(self) -> QuestionScope:
        """What its questions are about: a plain model is asked without documents."""
        return WITHOUT_DOCUMENTS if self.endpoint else ALL_DOCUMENTS


class ModelNames:
    """Lists the names a caller may use, and sets up their questions."""

    def __init__(self, chat: Chat, library: Library, exposes_endpoints: Callable[[], bool]) -> None:
        """While `exposes_endpoints` is true, the endpoints' models need not be named by a token."""
        self._chat = chat
        self._library = library
        self._exposes_endpoints = exposes_endpoints

    def of(self, caller: Caller) -> list[ModelName]:
        """The names that this caller may ask, all documents first."""
        return [name for name in self.all() if self._is_open(name, caller)]

    def find(self, name: str, caller: Caller) -> ModelName:
        """The name that was asked; refuses one that is unknown, or not for this caller."""
        for known in self.of(caller):
            if known.name == name:
                return known
        raise Refusal(404, f"There is no model “{name}”.", param="model", code="model_not_found")

    def set_up(self, name: ModelName, caller: Caller) -> Setup:
        """The setup of a question to this name, limited to what the caller may read."""
        setup = self._chat.set_up(name.assistant_id, name.collection_id)
        if name.endpoint:
            used = setup.settings.using(name.endpoint.base_url, name.endpoint.model)
            return replace(setup, settings=used)
        return caller.limited(setup)

    def _is_open(self, name: ModelName, caller: Caller) -> bool:
        if not caller.token.exposes(name.key):
            return False
        if name.endpoint:
            return bool(caller.token.models) or self._exposes_endpoints()
        return caller.covers(self._chat.set_up(name.assistant_id, name.collection_id).reach)

    def all(self) -> Iterator[ModelName]:
        """Every name that a token may be limited to."""
        yield ModelName(EVERYTHING, "All documents")
        taken = {EVERYTHING}
        for assistant in self._chat.assistants.all():
            slug = free_name(slug_of(assistant.name), taken)
            yield ModelName(slug, assistant.name, assistant_id=assistant.assistant_id)
        for collection in self._library.collections.all():
            name = f"{COLLECTION}{collection.name}"
            yield ModelName(name, collection.name, collection_id=collection.collection_id)
        yield from self._of_endpoints(taken)

    def _of_endpoints(self, taken: set[str]) -> Iterator[ModelName]:
        for endpoint in self._chat.models.settings.endpoints:
            if endpoint.is_set and endpoint.model not in taken:
                taken.add(endpoint.model)
                yield ModelName(endpoint.model, endpoint.label, endpoint=endpoint)


def slug_of(name: str) -> str:
    """A name as part of an address: `Verträge 2026` becomes `vertrage-2026`."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    letters = "".join(char for char in plain if not unicodedata.combining(char))
    return _NO_SLUG.sub("-", letters).strip("-") or "assistant"


def free_name(slug: str, taken: set[str]) -> str:
    """The slug, or with a number where it is taken already; it is from then on."""
    number, name = 1, slug
    while name in taken:
        number += 1
        name = f"{slug}-{number}"
    taken.add(name)
    return name
