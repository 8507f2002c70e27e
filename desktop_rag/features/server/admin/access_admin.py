"""Users of other applications: the rules that say who decides about readers. Worker threads."""

from collections.abc import Sequence

from desktop_rag.features.server.admin.admin_visits import Handled, Moved, Shown, Visit
from desktop_rag.features.server.admin.page_parts import (
    button,
    form,
    form_field,
    note,
    question,
    section,
    select,
    stacked,
    table,
    text_area,
    ticks,
)
from desktop_rag.features.server.html_writer import Html, tag
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.serving import Serving
from desktop_rag.features.server.values.access_values import (
    ALGORITHMS,
    USUAL_ALGORITHMS,
    AccessRule,
)

_PATH = "/admin/users"
_ABOUT = (
    "An application with users of its own decides which documents of a collection each of them may"
    " read. Its requests carry a signed token of the user. For everybody else the collection does"
    " not exist."
)
_KEY = "A public key in PEM, or a JWKS with several. Left empty, the key that is known stays."
_ADDRESS = "The server asks there what a user may read: https, or http on its own computer."


class AccessAdmin:
    """The rules, one for each collection that has one."""

    def __init__(self, serving: Serving) -> None:
        self._library = serving.library
        self._rules = serving.access_rules

    def handlers(self) -> Sequence[Handled]:
        """The list, one rule, and what can be done to it."""
        one = f"{_PATH}/{{collection_id}}"
        return [
            (_PATH, "GET", self._list),
            (_PATH, "POST", self._set),
            (one, "GET", self._show),
            (f"{one}/remove", "GET", self._ask_to_remove),
            (f"{one}/remove", "POST", self._remove),
        ]

    def _list(self, visit: Visit) -> Shown:
        names, rules = self._collections(), self._rules.all()
        ruled = {rule.collection_id for rule in rules}
        free = {key: name for key, name in names.items() if key not in ruled}
        rows = [_row(rule, names.get(rule.collection_id, "gone")) for rule in rules]
        heads = ("Collection", "Issuer", "Audience", "Algorithms", "Asked at", "")
        added = self._form(visit, free) if free else note("Every collection has a rule.")
        body = stacked(
            note(_ABOUT),
            table(heads, rows, empty="Every token reads the collections that it is for."),
            section("New rule", added),
        )
        return Shown("Users of other applications", body)

    def _show(self, visit: Visit) -> Shown:
        rule, name = self._rule(visit)
        removed = tag("a", "Remove this rule…", href=f"{_PATH}/{rule.collection_id}/remove")
        body = stacked(self._form(visit, {rule.collection_id: name}, rule), tag("p", removed))
        return Shown(f"Users who read “{name}”", body)

    def _form(
        self, visit: Visit, collections: dict[str, str], rule: AccessRule | None = None
    ) -> Html:
        algorithms = {name: name for name in ALGORITHMS}
        return form(
            visit, _PATH,
            select("Collection", "collection", collections),
            form_field("Issuer of the users’ tokens (iss)", "issuer", rule.issuer if rule else "",
                  required=True, maxlength=1000),
            form_field("Audience of the users’ tokens (aud)", "audience",
                  rule.audience if rule else "",
                  required=True, maxlength=1000),
            form_field("Address of the application", "address", rule.address if rule else "",
                  hint=_ADDRESS, required=True, maxlength=2000),
            text_area("Public key of the users’ tokens", "key", hint=_KEY, rows=6),
            ticks("Algorithms", "algorithm", algorithms,
                  rule.algorithms if rule else USUAL_ALGORITHMS),
            tag("p", button("Save")),
        )  # fmt: skip

    def _set(self, visit: Visit) -> Moved:
        collection_id, names = visit.sent("collection"), self._collections()
        if collection_id not in names:
            raise Refusal(400, "Choose a collection.")
        known = self._rules.of(collection_id)
        # Fields of a form end their lines as no file of ours does.
        key = visit.sent("key").replace("\r\n", "\n")
        if not (key or known):
            raise Refusal(400, "The public key is needed.")
        rule = AccessRule(
            collection_id,
            known.key_file if known else "",
            tuple(visit.sent_all("algorithm")),
            visit.sent("issuer"),
            visit.sent("audience"),
            visit.sent("address"),
        )
        self._rules.set(rule, key)
        said = f"“{names[collection_id]}” is there for users of {rule.issuer} only, from now on."
        return Moved(_PATH, said)

    def _ask_to_remove(self, visit: Visit) -> Shown:
        rule, name = self._rule(visit)
        said = f"Let every token for “{name}” read all its documents again?"
        path = f"{_PATH}/{rule.collection_id}/remove"
        return Shown("Remove a rule", question(visit, path, said, "Remove", _PATH))

    def _remove(self, visit: Visit) -> Moved:
        rule, name = self._rule(visit)
        self._rules.remove(rule.collection_id)
        return Moved(_PATH, f"Every token for “{name}” reads it again.")

    def _rule(self, visit: Visit) -> tuple[AccessRule, str]:
        rule = self._rules.of(visit.parts["collection_id"])
        if rule is None:
            raise Refusal(404, "There is no such rule.")
        return rule, self._collections().get(rule.collection_id, "a collection that is gone")

    def _collections(self) -> dict[str, str]:
        return {c.collection_id: c.name for c in self._library.collections.all()}


def _row(rule: AccessRule, name: str) -> list[Html | str]:
    link = tag("a", "Change…", href=f"{_PATH}/{rule.collection_id}",
               aria_label=f"Change the rule of {name}")  # fmt: skip
    return [name, rule.issuer, rule.audience, ", ".join(rule.algorithms), rule.address, link]
