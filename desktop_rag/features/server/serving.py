"""What every route of the server works with. Made once, on the server's thread."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request

from desktop_rag.activity.activity import Activity
from desktop_rag.answer.chat import Chat
from desktop_rag.core.settings import ServerSettings
from desktop_rag.features.server.access.access_rules import AccessRules
from desktop_rag.features.server.access.access_tokens import TokenScope
from desktop_rag.features.server.access.authority import Authority
from desktop_rag.features.server.access.callers import Caller, Exchange
from desktop_rag.features.server.access.token_book import TokenBook
from desktop_rag.features.server.access.token_uses import TokenUses
from desktop_rag.features.server.access.user_rights import UserRights
from desktop_rag.features.server.filters.filter_chain import FilterChain
from desktop_rag.features.server.filters.request_log import RequestLog
from desktop_rag.features.server.model_names import ModelNames
from desktop_rag.features.server.program_answers import Answers
from desktop_rag.features.server.source_links import SourceLinks
from desktop_rag.features.server.worker_events import Workers
from desktop_rag.ingest.library import Library
from desktop_rag.models.ports import Embedder


@dataclass(frozen=True, slots=True)
class Serving:
    """The two faces, and what stands between them and the clients."""

    chat: Chat
    library: Library
    embedder: Embedder | None
    authority: Authority
    access_rules: AccessRules
    rights: UserRights
    chain: FilterChain
    links: SourceLinks
    names: ModelNames
    answers: Answers
    workers: Workers
    tokens: TokenBook
    uses: TokenUses
    requests: RequestLog
    activity: Activity
    settings: Callable[[], ServerSettings]

    async def caller(self, request: Request, scope: TokenScope | None = None) -> Caller:
        """Who sent the request; refuses one without a valid token, or whose token is for less.

        Without a `scope` the caller is asked later for what it may do.
        """
        exchange = Exchange.of(request.scope)
        caller = await self.workers.call(lambda: self.chain.admit(exchange))
        if scope is not None:
            caller.need(scope)
        return caller
