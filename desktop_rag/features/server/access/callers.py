"""Who asks, by their token, how often, what they sent and what they may read. Worker threads."""

import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from starlette.types import Scope

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.conversation import Image, Message, Role
from desktop_rag.core.errors import AppError
from desktop_rag.core.question import Readable, SearchScope, Setup
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.core.waits import MinuteLimits
from desktop_rag.features.server.access.access_tokens import Token, TokenBook, TokenScope
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.models.ports import ChatTurn, Tool

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
    whose own token ends at `until` in Unix time. `login` is the ID token of one who has logged in.
    `open_ids` are the collections that may be read as a whole, None for all that the token covers.
    Of the `shared_ids` only the documents that `shared` gives may be read: it asks the application,
    and refuses when it can't tell. Nobody learns of the other collections that they exist.
    """

    token: Token
    address: str = ""
    origin: str = ""
    user: str = ""
    login: str = field(default="", repr=False)
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

    @property
    def may_rewrite(self) -> bool:
        """True when a better answer of this caller becomes a document for all who ask."""
        return self.token.allows(TokenScope.WRITE) and not (self.user or self.is_limited)

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
class PassedOn:
    """A conversation for a model of an endpoint, as it is, with the tools of the program."""

    turns: tuple[ChatTurn, ...]
    tools: tuple[Tool, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A conversation ending with a question and its images; the setup is limited for the caller.

    What is `passed` takes the place of the messages.
    """

    caller: Caller
    model: str
    messages: tuple[Message, ...]
    setup: Setup
    images: tuple[Image, ...] = ()
    passed: PassedOn | None = None

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


# Failed attempts of one address in a minute, before it has to wait.
_MOST_FAILURES = 20


class RateLimits:
    """Limits the requests of a token in a sliding minute, and its streams at a time. Any thread."""

    def __init__(self, streams: int) -> None:
        """A token may have so many `streams` at a time."""
        self._streams = streams
        self._requests, self._failures = MinuteLimits(), MinuteLimits()
        self._running: dict[str, int] = defaultdict(int)
        self._lock = threading.Lock()

    def count_request(self, caller: Caller) -> None:
        """Refuses a request beyond the limit of its token, with the seconds to wait."""
        limit = caller.token.requests_per_minute
        if limit and (wait_s := self._requests.take(caller.token.token_id, limit)):
            raise _too_many(wait_s)

    def count_failure(self, address: str) -> None:
        """A request had no valid token; refuses an address that has tried too many."""
        if wait_s := self._failures.wait_s(address, _MOST_FAILURES):
            raise _too_many(wait_s)
        self._failures.count(address)

    @contextmanager
    def streaming(self, caller: Caller) -> Generator[None]:
        """An answer of this caller is under way; refuses one too many."""
        token_id = caller.token.token_id
        with self._lock:
            if self._running[token_id] >= self._streams:
                raise Refusal(429, f"At most {self._streams} answers at a time.", retry_after_s=1)
            self._running[token_id] += 1
        try:
            yield
        finally:
            with self._lock:
                self._running[token_id] -= 1


def _too_many(wait_s: float) -> Refusal:
    seconds = max(1, round(wait_s))
    said = f"Too many requests. Try again in {seconds} seconds."
    return Refusal(429, said, retry_after_s=seconds)


_BEARER = "bearer "


class Authority:
    """Checks the token of every request, local ones too: other people may use this computer."""

    def __init__(
        self, tokens: TokenBook, limits: RateLimits, origins: Callable[[], Iterable[str]]
    ) -> None:
        """`origins` may use every token, beside the origins that a token names."""
        self._tokens = tokens
        self._limits = limits
        self._origins = origins

    def allowed_origins(self) -> set[str]:
        """Every web origin that a token or the settings let in."""
        try:
            of_tokens = {origin for token in self._tokens.all() for origin in token.origins}
        except AppError:
            of_tokens = set[str]()
        return of_tokens | set(self._origins())

    def caller(self, exchange: Exchange) -> Caller:
        """Who sent a request; refuses one without a valid token."""
        token = self.token(_secret_in(exchange), exchange.address)
        if exchange.origin and exchange.origin not in {*token.origins, *self._origins()}:
            raise Refusal(403, "This token is not for this origin.", code="wrong_origin")
        return Caller(token, exchange.address, exchange.origin, exchange=exchange)

    def token(self, secret: str, address: str) -> Token:
        """The token with this secret; refuses a wrong one, and an address that tries too many."""
        try:
            token = self._tokens.find(secret) if secret else None
        except AppError as error:
            raise Refusal.of_error(error, 503) from error
        if token is None:
            # Only here: all programs of this computer share an address with the one that guesses.
            self._limits.count_failure(address)
            said = "A valid token is needed." if secret else "A token is needed: Bearer drag-…"
            raise Refusal(401, said, code="invalid_api_key")
        return token


def _secret_in(exchange: Exchange) -> str:
    """The secret of the one Authorization header; "" without one, or with several."""
    given = exchange.header("authorization")
    return given[len(_BEARER) :].strip() if given.lower().startswith(_BEARER) else ""
