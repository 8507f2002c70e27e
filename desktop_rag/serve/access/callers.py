"""Who asks, what they sent, and the documents that they may read. Pure."""

import time
from dataclasses import dataclass, field, replace

from starlette.types import Scope

from desktop_rag.core.question import SearchScope, Setup
from desktop_rag.serve.access.access_tokens import Token, TokenScope
from desktop_rag.serve.refusals import Refusal

_KEY = "desktop_rag.exchange"


@dataclass(slots=True)
class Exchange:
    """A request on its way through the server, filled by what it passes: one thread at a time.

    `headers` have names in lower case, and may have one name several times. `origin` is that of a
    foreign web page, "" for any other program. `refusal` is the message that the client got.
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
    status: int = 0
    refusal: str = ""

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
    """The program that sent a request, by its token, and where it is.

    With `document_ids` a user of it may read these documents only, in whatever collections.
    """

    token: Token
    address: str = ""
    origin: str = ""
    document_ids: tuple[str, ...] | None = None
    exchange: Exchange = field(default_factory=Exchange, compare=False, repr=False)

    def need(self, scope: TokenScope) -> None:
        """Refuses a request that the token does not allow."""
        if not self.token.allows(scope):
            raise Refusal(403, f"This token does not allow “{scope}”.", code="insufficient_scope")

    def may_read_collection(self, collection_id: str) -> bool:
        """True for a collection of the token's."""
        return not self.token.collection_ids or collection_id in self.token.collection_ids

    def limited(self, setup: Setup) -> Setup:
        """The setup of a question, limited to what the caller may read.

        Refuses when nothing is left: a search without collections would be one of all.
        """
        return replace(setup, reach=self.reach(setup.reach))

    def reach(self, wanted: SearchScope) -> SearchScope:
        """The part of `wanted` that the caller may read; refuses when there is none."""
        return self._of_documents(self._of_collections(wanted))

    def _of_collections(self, wanted: SearchScope) -> SearchScope:
        allowed = self.token.collection_ids
        if not allowed:
            return wanted
        left = tuple(i for i in wanted.collection_ids or allowed if i in allowed)
        if not left:
            raise Refusal(403, "This token may not read these documents.", code="not_allowed")
        return replace(wanted, collection_ids=left)

    def _of_documents(self, wanted: SearchScope) -> SearchScope:
        if self.document_ids is None:
            return wanted
        allowed = frozenset(self.document_ids)
        named = self.document_ids if wanted.document_ids is None else wanted.document_ids
        return replace(wanted, document_ids=tuple(i for i in named if i in allowed))
