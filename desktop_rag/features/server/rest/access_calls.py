"""The rules of users of another application, by REST. JSON values out; worker threads."""

from typing import Any

from desktop_rag.core.errors import AppError
from desktop_rag.features.server.access.access_rules import AccessRules
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.programs.access_rule import AccessRule
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.rest.readable_library import ReadableLibrary, need_every_collection
from desktop_rag.features.server.rest.rest_forms import Access


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
