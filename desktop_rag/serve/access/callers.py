"""Who asks, and the documents that they may read. Frozen values, pure."""

from dataclasses import dataclass, replace

from desktop_rag.core.question import SearchScope, Setup
from desktop_rag.serve.access.access_tokens import Token, TokenScope
from desktop_rag.serve.refusals import Refusal


@dataclass(frozen=True, slots=True)
class Caller:
    """The program that sent a request, by its token, and where it is.

    With `document_ids` a user of it may read these documents only, in whatever collections.
    """

    token: Token
    address: str = ""
    origin: str = ""
    document_ids: tuple[str, ...] | None = None

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
