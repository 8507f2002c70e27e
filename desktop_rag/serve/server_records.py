"""What the local server keeps, for people who look after it: tokens, exposure, log, usage.

Worker threads. It works whether the server is on or off.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from desktop_rag.core.programs.access_rule import AccessRule
from desktop_rag.core.programs.request_record import RequestRecord, RequestSearch
from desktop_rag.core.programs.token_facts import TokenFacts, TokenWish
from desktop_rag.core.programs.usage_figures import UsageFigures, usage_since
from desktop_rag.serve.access.access_rules import AccessRules
from desktop_rag.serve.access.access_tokens import TokenScope, new_token
from desktop_rag.serve.access.token_book import TokenBook
from desktop_rag.serve.access.token_uses import TokenUses
from desktop_rag.serve.filters.request_log import RequestLog
from desktop_rag.serve.served import Served

_DAY_S = 86_400.0


class ServerRecords:
    """Reads and changes the files of the server."""

    def __init__(self, served: Served, exposes_models: Callable[[], bool]) -> None:
        """`exposes_models` says whether the models of endpoints are exposed to every token."""
        self._served = served
        self._exposes_models = exposes_models
        self._tokens = TokenBook(served.home.tokens)
        self._uses = TokenUses(served.home.token_uses)
        self._rules = AccessRules(served.home.access_rules)
        self._log = RequestLog(served.home.requests)

    # --- tokens ----------------------------------------------------------------------------

    def tokens(self) -> Sequence[TokenFacts]:
        """All tokens, the oldest first. AppError when they can't be read."""
        known = self._tokens.all()
        if not known:
            return []
        uses, collections, models = self._uses.all(), self.collections(), self.models()
        return [
            TokenFacts(
                token.token_id,
                token.name,
                tuple(scope.value for scope in TokenScope if scope in token.scopes),
                tuple(collections.get(each, each) for each in token.collection_ids),
                token.origins,
                token.requests_per_minute,
                token.created_at,
                uses.get(token.token_id, 0.0),
                token.expires_at,
                tuple(models.get(key, key) for key in token.models),
                token.models,
                token.lists_sources,
            )
            for token in known
        ]

    def add_token(self, wish: TokenWish) -> str:
        """Make a token and return its secret, which is kept nowhere. AppError for a taken name."""
        token, secret = new_token(
            wish.name,
            [TokenScope(each) for each in wish.allows],
            collection_ids=wish.collection_ids,
            origins=wish.origins,
            requests_per_minute=wish.requests_per_minute,
            expires_at=time.time() + wish.days * _DAY_S if wish.days else 0.0,
            lists_sources=wish.lists_sources,
        )
        self._tokens.add(token)
        return secret

    def revoke(self, token_id: str) -> None:
        """Refuse this token from now on."""
        self._tokens.revoke(token_id)

    # --- what may be asked -----------------------------------------------------------------

    def collections(self) -> Mapping[str, str]:
        """The names of all collections by id."""
        return {c.collection_id: c.name for c in self._served.library.collections.all()}

    def models(self) -> Mapping[str, str]:
        """The names of everything that a token may be limited to, by key."""
        from desktop_rag.serve.model_names import ModelNames

        names = ModelNames(self._served.chat, self._served.library, self._exposes_models)
        return {name.key: name.name for name in names.all()}

    def set_models(self, token_id: str, keys: Sequence[str]) -> None:
        """Limit a token to these models and assistants; none of them means all."""
        self._tokens.change(token_id, lambda token: replace(token, models=tuple(keys)))

    # --- users of other applications -------------------------------------------------------

    def access_rules(self) -> Sequence[AccessRule]:
        """The rules that say which applications decide about readers. AppError as `AccessRules`."""
        return self._rules.all()

    def set_access_rule(self, rule: AccessRule) -> None:
        """Keep a rule in place of an earlier one. AppError for one that can't be kept to."""
        self._rules.set(rule)

    def remove_access_rule(self, collection_id: str) -> None:
        """Let every token for the collection read it again."""
        self._rules.remove(collection_id)

    # --- filters of one's own --------------------------------------------------------------

    def filters(self) -> Sequence[str]:
        """The names of the filters of installed packages."""
        from desktop_rag.serve.filters.own_filters import installed_filters

        return installed_filters()

    # --- what was asked --------------------------------------------------------------------

    def requests(self, wanted: RequestSearch, most: int) -> list[RequestRecord]:
        """The newest requests that fit, the newest first."""
        fitting = (each for each in self._log.newest_first() if each.fits(wanted))
        return list(islice(fitting, most))

    def usage(self, days: int) -> UsageFigures:
        """The figures of the last days."""
        return usage_since(time.time() - days * _DAY_S, self._log.newest_first())

    def delete_requests(self) -> None:
        """Forget every request. AppError when a file can't be removed."""
        self._log.delete_all()
