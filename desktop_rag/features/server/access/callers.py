"""Who asks, what they sent, what they may read, and a question that can be answered. Pure."""

import time
import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from starlette.types import Scope

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.conversation import Image, Message, Role
from desktop_rag.core.question import Readable, SearchScope, Setup
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.features.server.access.access_tokens import Token, TokenScope
from desktop_rag.features.server.refusals import Refusal

_KEY = "desktop_rag.exchange"


@dataclass(slots=True)
class Exchange:
    """A request on its way through the server, filled by what it passes: one thread at a time.

    `headers` have names in lower case, and may have one name several times. `origin` is that of a
    foreign web page, "" for any other program. `refusal` is the message that the client got. Only
    one that `is_logged` gets into the log. `filters` are those that it passes.
    """

    method: str = ""
    path: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    address: str = ""
    origin: str = ""
    began_at: float = field(default_factory=time.time)
    caller: "Caller | None" = None
    model: str = ""
    question: str = ""
    answer: str = ""
    asked_chars: int = 0
    answer_chars: int = 0
    status: int = 0
    refusal: str = ""
    is_logged: bool = True
    filters: tuple[tuple[str, object], ...] = ()

    @classmethod
    def begun(cls, scope: Scope) -> "Exchange":
        """The exchange of a new request, which `of` then finds by its ASGI scope."""
        headers = tuple((n.decode("latin-1"), v.decode("latin-1")) for n, v in scope["headers"])
        address = (scope.get("client") or ("",))[0]
        scope[_KEY] = exchange = cls(scope["method"], scope["path"], headers, address)
        return exchange

    @classmethod
    def of(cls, scope: Scope) -> "Exchange":
        """The exchange of a request that is under way."""
        return scope[_KEY]

    def header(self, name: str) -> str:
        """The value of a header that was sent once; "" for none, or for several."""
        given = [value for known, value in self.headers if known == name]
        return given[0] if len(given) == 1 else ""


@dataclass(frozen=True, slots=True)
class Caller:
    """The program that sent a request, by its token, and what may be read through it.

    `user` is a short name for the person in another application that it asks for, "" for none,
    whose own token ends at `until` in Unix time.
    `open_ids` are the collections that may be read as a whole, None for all that the token covers.
    Of the `shared_ids` only the documents that `shared` gives may be read: it asks the application,
    and refuses when it can't tell. Nobody learns of the other collections that they exist.
    """

    token: Token
    address: str = ""
    origin: str = ""
    user: str = ""
    open_ids: tuple[str, ...] | None = None
    shared_ids: tuple[str, ...] = ()
    until: float = 0.0
    shared: Callable[[], Collection[str]] = field(default=tuple, compare=False, repr=False)
    exchange: Exchange = field(default_factory=Exchange, compare=False, repr=False)

    @property
    def sees_paths(self) -> bool:
        """True for an admin: others learn the names of files, not of the person's folders."""
        return self.token.allows(TokenScope.ADMIN)

    @property
    def keeper(self) -> str:
        """Whose things are kept apart from those of others: the program's, or its user's."""
        return f"{self.token.token_id}~{self.user}" if self.user else self.token.token_id

    @property
    def is_limited(self) -> bool:
        """True when there may be documents that the caller may not read."""
        return self._whole_ids is not None

    @property
    def sees_prompts(self) -> bool:
        """True for a token of all collections: prompts are in none, so no rule is about them."""
        return not (self.token.collection_ids or self.user or self.shared_ids)

    def need(self, scope: TokenScope) -> None:
        """Refuses a request that the token does not allow."""
        if not self.token.allows(scope):
            raise Refusal(403, f"This token does not allow “{scope}”.", code="insufficient_scope")

    def may_read_collection(self, collection_id: str) -> bool:
        """True for a collection of which the caller may read all or some documents."""
        whole = self._whole_ids
        return whole is None or collection_id in whole or collection_id in self.shared_ids

    def may_read(self, document_id: str, collection_id: str) -> bool:
        """True for a document that the caller may read; refuses when the application can't tell."""
        whole = self._whole_ids
        if whole is None or collection_id in whole:
            return True
        return collection_id in self.shared_ids and document_id in self.shared()

    def readable(self) -> Readable | None:
        """All that the caller may read, None for everything. Refuses when that can't be told."""
        whole = self._whole_ids
        if whole is None:
            return None
        return Readable(whole, tuple(self.shared()) if self.shared_ids else ())

    def limited(self, setup: Setup) -> Setup:
        """The setup limited to what the caller may read; refuses one limited to something else."""
        return replace(setup, reach=self.reach(setup.reach))

    def covers(self, wanted: SearchScope) -> bool:
        """True unless `wanted` is limited to collections of which the caller may read nothing."""
        named = wanted.collection_ids
        return not named or any(map(self.may_read_collection, named))

    def reach(self, wanted: SearchScope) -> SearchScope:
        """The part of `wanted` that the caller may read; refuses when there is none."""
        whole = self._whole_ids
        if whole is None:
            return wanted
        seen = (*whole, *self.shared_ids)
        named = wanted.collection_ids
        left = tuple(i for i in named if i in seen)
        if not self.covers(wanted):
            raise Refusal(403, "This token may not read these documents.", code="not_allowed")
        needs_documents = any(i in self.shared_ids for i in left or seen)
        readable = self.readable() if needs_documents else Readable(whole)
        # The words for "nothing found" tell how many collections were searched.
        searched = left or (seen if self.token.collection_ids else ())
        return replace(wanted, collection_ids=searched, readable=readable)

    @property
    def _whole_ids(self) -> tuple[str, ...] | None:
        return self.open_ids if self.open_ids is not None else self.token.collection_ids or None


# The window allows an assistant less, but programs that write code send long ones.
_LONGEST_INSTRUCTIONS = 32_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A conversation ending with a question and its images; the setup is limited for the caller."""

    caller: Caller
    model: str
    messages: tuple[Message, ...]
    setup: Setup
    images: tuple[Image, ...] = ()

    @property
    def question(self) -> str:
        """The text of the last message."""
        return self.messages[-1].text


def message_of(role: Role, text: str, scope: QuestionScope = ALL_DOCUMENTS) -> Message:
    """A message of a conversation that is not stored."""
    return Message(uuid.uuid4().hex, "", role, text, time.time(), scope=scope)


def with_instructions(setup: Setup, texts: Sequence[str]) -> Setup:
    """The setup with the caller's instructions too; the app's own rules take precedence."""
    given = [text.strip() for text in texts if text.strip()]
    if not given:
        return setup
    assistant = setup.assistant or Assistant("", "", uses_memory=False)
    whole = "\n\n".join([assistant.instructions, *given] if assistant.instructions else given)
    if len(whole) > _LONGEST_INSTRUCTIONS:
        said = f"The instructions are longer than {_LONGEST_INSTRUCTIONS:,} characters."
        raise Refusal(400, said)
    return replace(setup, assistant=replace(assistant, instructions=whole))
