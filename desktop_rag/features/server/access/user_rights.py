"""What a caller may read where other applications decide. Worker threads.

A collection with a rule is there for the application's users only. For everybody else it does not
exist: no list and no answer shows it.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from desktop_rag.core.domain import Collection, Document, Source
from desktop_rag.core.errors import AppError
from desktop_rag.features.server.access.access_rules import AccessRules
from desktop_rag.features.server.access.access_tokens import Token, TokenScope
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.access.rights_address import AskedDocument, RightsAddress
from desktop_rag.features.server.access.user_tokens import User, UserTokens, is_meant_for
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.values.access_values import AccessRule
from desktop_rag.ingest.library import Library

# The header with the token of a user, beside the one of the program; with several, separated by
# commas, an answer is for all of these users, who read it together.
USER_HEADER = "x-desktop-rag-user"
MOST_USERS = 50
_BEARER = "bearer "
_UNAVAILABLE = 503


class UserRights:
    """Limits callers by the rules, and by what the applications say of their users."""

    def __init__(self, rules: AccessRules, library: Library, address: RightsAddress) -> None:
        self._rules = rules
        self._library = library
        self._tokens = UserTokens()
        self._address = address

    def of(self, caller: Caller) -> Caller:
        """The caller with what it may read; refuses the token of a user that is not valid.

        Such a token is refused whether there is a rule or not, so that nobody learns of one.
        """
        given = _tokens_in(caller.exchange.header(USER_HEADER))
        rules = self._known()
        if not rules and not given:
            return caller
        if not given and caller.token.is_for_admin:
            return caller
        only = caller.token.collection_ids
        covered = [
            c for c in self._library.collections.all() if not only or c.collection_id in only
        ]
        ruled = [c for c in covered if c.collection_id in rules]
        guarded = [c for c in ruled if given or not _keeps(caller.token, c)]
        if caller.login and not given and not caller.token.is_for_admin:
            own = [c for c in guarded if is_meant_for(caller.login, rules[c.collection_id])]
            given = (caller.login,) if own else ()
        users = self._users(given, [rules[c.collection_id] for c in guarded]) if given else {}
        if any(not found for found in users.values()):
            raise Refusal(401, "The token of the user is not valid.", code="invalid_user_token")
        if not guarded:
            return caller
        shared = [c for c in guarded if users and all(c.collection_id in u for u in users.values())]
        known = [user for found in users.values() for user in found.values()]
        return replace(
            caller,
            user=_name_of([next(iter(found.values())) for found in users.values()]) or caller.user,
            until=min((user.expires_at for user in known), default=0.0),
            open_ids=tuple(c.collection_id for c in covered if c not in guarded),
            shared_ids=tuple(c.collection_id for c in shared),
            shared=self._shared(given, [(rules[c.collection_id], c) for c in shared]),
        )

    def may_follow(self, token: Token, user: str, collection_id: str) -> bool:
        """True when a link made for this token and user may still show this collection's text."""
        is_covered = not token.collection_ids or collection_id in token.collection_ids
        is_whole = token.is_for_admin or collection_id not in self._known()
        return is_covered and (bool(user) or is_whole)

    def _known(self) -> dict[str, AccessRule]:
        try:
            return {rule.collection_id: rule for rule in self._rules.all()}
        except AppError as error:
            # What is protected is unknown now.
            raise Refusal.of_error(error, _UNAVAILABLE) from error

    def _users(
        self, given: Sequence[str], rules: Sequence[AccessRule]
    ) -> dict[str, dict[str, User]]:
        """By token, its user in each collection for which it is valid."""
        try:
            return {token: self._user(token, rules) for token in given}
        except AppError as error:
            raise Refusal.of_error(error, _UNAVAILABLE) from error

    def _user(self, token: str, rules: Sequence[AccessRule]) -> dict[str, User]:
        found = {rule.collection_id: self._tokens.user(token, rule) for rule in rules}
        return {collection_id: user for collection_id, user in found.items() if user}

    def _shared(
        self, tokens: Sequence[str], rules: Sequence[tuple[AccessRule, Collection]]
    ) -> Callable[[], dict[str, None]]:
        """Asks, once, which documents the users of all tokens may read."""

        @cache
        def ask() -> dict[str, None]:
            found: dict[str, None] = {}
            for rule, collection in rules:
                of_first, *of_others = (
                    self._documents(token, rule, collection) for token in tokens
                )
                for_all = set(of_first).intersection(*of_others)
                found |= dict.fromkeys(each for each in of_first if each in for_all)
            return found

        return ask

    def _documents(self, token: str, rule: AccessRule, collection: Collection) -> tuple[str, ...]:
        return self._address.readable(
            rule.address, rule.collection_id, collection.name, token,
            lambda: list(self._asked(collection)),
        )  # fmt: skip

    def _asked(self, collection: Collection) -> Iterator[AskedDocument]:
        every = self._library.sources.all()
        sources = [s for s in every if s.collection_id == collection.collection_id]
        found = self._library.documents.by_source([source.source_id for source in sources])
        for source in sources:
            rows, own_ids = found[source.source_id], self._own_ids(source)
            inside = defaultdict[Path, list[str]](list)
            for row in rows:
                if row.part:
                    inside[row.path].append(row.document_id)
            for row in rows:
                if not row.part:
                    own_id, path = own_ids.get(row.document_id, ""), path_in(source, row)
                    parts = tuple(inside.get(row.path, ()))
                    yield AskedDocument(row.document_id, own_id, path, row.address, parts)

    def _own_ids(self, source: Source) -> dict[str, str]:
        """The ids by which a program sent the documents of a source, by ours."""
        if not source.program:
            return {}
        sent = self._library.sent.of(source.source_id).values()
        return {each.document_id: each.own_id for each in sent}


def _keeps(token: Token, collection: Collection) -> bool:
    """True for the token with which an application keeps its collection in step.

    It names this collection, may write, and asks no questions, so no answer can reach a wrong user.
    """
    named = collection.collection_id in token.collection_ids
    return named and TokenScope.WRITE in token.scopes and not token.allows(TokenScope.ASK)


def _tokens_in(header: str) -> tuple[str, ...]:
    """The tokens of users, each once, without the word before them that some clients add."""
    given = [_bare(each.strip()) for each in header.split(",")]
    tokens = tuple(dict.fromkeys(token for token in given if token))
    if len(tokens) > MOST_USERS:
        said = f"An answer is for {MOST_USERS} users at most."
        raise Refusal(400, said, code="too_many_users")
    return tokens


def _bare(given: str) -> str:
    return given[len(_BEARER) :].strip() if given.lower().startswith(_BEARER) else given


def _name_of(users: Sequence[User]) -> str:
    """A short name for these users together; that of the user for one."""
    if len(users) <= 1:
        return "".join(user.name for user in users)
    names = "\0".join(sorted(user.name for user in users))
    return hashlib.sha256(names.encode()).hexdigest()[:16]


def path_in(source: Source, row: Document) -> str:
    """The path of a document below its source; "" for one that is no file of the person's."""
    if not source.is_on_disk:
        return ""
    if row.path.is_relative_to(source.path) and row.path != source.path:
        return row.path.relative_to(source.path).as_posix()
    return row.path.name
