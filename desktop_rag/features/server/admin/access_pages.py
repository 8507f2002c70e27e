"""Admin pages for the rules about users of other applications, and for tokens. Worker threads."""

import time

from desktop_rag.features.server.access.access_tokens import (
    DEFAULT_REQUESTS_PER_MINUTE,
    Token,
    TokenScope,
    new_token,
)
from desktop_rag.features.server.admin import page_parts as parts
from desktop_rag.features.server.admin.page_parts import Answer, Moved, Shown, Visit, page
from desktop_rag.features.server.html_writer import Html, joined, tag
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.values.access_values import (
    ALGORITHMS,
    USUAL_ALGORITHMS,
    AccessRule,
    TokenWish,
)

_PATH = "/admin/users"
_ONE = f"{_PATH}/{{collection_id}}"
_ABOUT = (
    "An application with users of its own decides which documents of a collection each of them may"
    " read. Its requests carry a signed token of the user. For everybody else the collection does"
    " not exist."
)
_KEY = "A public key in PEM, or a JWKS with several. Left empty, the key that is known stays."
_ADDRESS = "The server asks there what a user may read: https, or http on its own computer."

_NEW_RULE = AccessRule("", "", USUAL_ALGORITHMS, "", "", "")


class AccessAdmin(parts.AdminPages):
    """The rules that say which application decides about the readers of a collection."""

    @page(_PATH)
    def _list(self, visit: Visit) -> Shown:
        names, rules = parts.collection_names(self._library), self._serving.access_rules.all()
        ruled = {rule.collection_id for rule in rules}
        free = {key: name for key, name in names.items() if key not in ruled}
        rows = [_row(rule, names.get(rule.collection_id, "gone")) for rule in rules]
        heads = ("Collection", "Issuer", "Audience", "Algorithms", "Asked at", "")
        added = self._form(visit, free) if free else parts.note("Every collection has a rule.")
        body = joined(
            parts.note(_ABOUT),
            parts.table(heads, rows, empty="Every token reads the collections that it is for."),
            parts.section("New rule", added),
        )
        return Shown("Users of other applications", body)

    @page(_ONE)
    def _show(self, visit: Visit) -> Shown:
        rule, name = self._rule(visit)
        removed = tag("a", "Remove this rule…", href=f"{_PATH}/{rule.collection_id}/remove")
        body = joined(self._form(visit, {rule.collection_id: name}, rule), tag("p", removed))
        return Shown(f"Users who read “{name}”", body)

    def _form(
        self, visit: Visit, collections: dict[str, str], rule: AccessRule = _NEW_RULE
    ) -> Html:
        algorithms = {name: name for name in ALGORITHMS}
        return parts.form(
            visit, _PATH,
            parts.select("Collection", "collection", collections),
            parts.form_field("Issuer of the users’ tokens (iss)", "issuer", rule.issuer,
                             required=True, maxlength=1000),
            parts.form_field("Audience of the users’ tokens (aud)", "audience", rule.audience,
                             required=True, maxlength=1000),
            parts.form_field("Address of the application", "address", rule.address,
                             hint=_ADDRESS, required=True, maxlength=2000),
            parts.text_area("Public key of the users’ tokens", "key", hint=_KEY, rows=6),
            parts.ticks("Algorithms", "algorithm", algorithms, rule.algorithms),
            tag("p", parts.button("Save")),
        )  # fmt: skip

    @page(_PATH, "POST")
    def _set(self, visit: Visit) -> Moved:
        collection_id, names = visit.sent("collection"), parts.collection_names(self._library)
        if collection_id not in names:
            raise Refusal(400, "Choose a collection.")
        known = self._serving.access_rules.of(collection_id)
        # Browsers send forms with CRLF.
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
        self._serving.access_rules.set(rule, key)
        said = f"“{names[collection_id]}” is there for users of {rule.issuer} only, from now on."
        return Moved(_PATH, said)

    @page(f"{_ONE}/remove", "GET", "POST")
    def _remove(self, visit: Visit) -> Answer:
        rule, name = self._rule(visit)
        if not visit.is_post:
            said = f"Let every token for “{name}” read all its documents again?"
            return parts.question(visit, "Remove a rule", said, "Remove", _PATH)
        self._serving.access_rules.remove(rule.collection_id)
        return Moved(_PATH, f"Every token for “{name}” reads it again.")

    def _rule(self, visit: Visit) -> tuple[AccessRule, str]:
        rules = self._serving.access_rules.all()
        rule = visit.one_of(rules, "collection_id", "There is no such rule.")
        names = parts.collection_names(self._library)
        return rule, names.get(rule.collection_id, "a collection that is gone")


def _row(rule: AccessRule, name: str) -> list[Html | str]:
    link = tag("a", "Change…", href=f"{_PATH}/{rule.collection_id}",
               aria_label=f"Change the rule of {name}")  # fmt: skip
    return [name, rule.issuer, rule.audience, ", ".join(rule.algorithms), rule.address, link]


_TOKENS_PATH = "/admin/tokens"
_MOST_DAYS = 36_500
_MOST_PER_MINUTE = 1_000_000
_ALLOWED: dict[str, str] = {
    TokenScope.ASK: "ask questions",
    TokenScope.READ: "search and read documents",
    TokenScope.WRITE: "change documents",
    TokenScope.ADMIN: "everything, this page included",
}
_LIST, _MARKUP = "list", "markup"
_ANSWERS = {_LIST: "end with a list of their sources", _MARKUP: "keep images and HTML"}
_LOGINS = "One in each line: a confirmed e-mail address, claim=value, or * for all of the provider"
_ONCE = "Enter it in the program as the key. It is shown this once and kept nowhere."


class TokenAdmin(parts.AdminPages):
    """Makes tokens, shows the secret of each once, and revokes them."""

    @page(_TOKENS_PATH)
    def _list(self, visit: Visit) -> Shown:
        uses = self._serving.uses.all()
        names = parts.collection_names(self._library)
        rows = [_token_row(t, uses.get(t.token_id, 0.0), names) for t in self._serving.tokens.all()]
        heads = ("Token", "Allows", "Collections", "Web origins", "Logins", "Rate", "Made",
                 "Last used", "Ends", "")  # fmt: skip
        added = parts.section("New token", self._form(visit, names))
        body = joined(parts.table(heads, rows, empty="There are no tokens yet."), added)
        return Shown("Tokens", body)

    def _form(self, visit: Visit, collections: dict[str, str]) -> Html:
        return parts.form(
            visit, _TOKENS_PATH,
            parts.form_field("The program that will use it", "name", required=True, maxlength=80),
            parts.ticks("It may", "scope", _ALLOWED, [TokenScope.ASK]),
            parts.ticks("Only in these collections (none: all)", "collection", collections),
            parts.text_area("Web origins whose pages may use it", "origins",
                      hint="One in each line, such as https://wiki.example", rows=2),
            parts.text_area("People who log in with it", "logins", hint=_LOGINS, rows=2),
            parts.form_field("Most requests in a minute (0: no limit)", "rate",
                  str(DEFAULT_REQUESTS_PER_MINUTE), kind="number", min=0, max=_MOST_PER_MINUTE),
            parts.form_field("Ends after so many days (0: never)", "days", "0",
                             kind="number", min=0, max=_MOST_DAYS),
            parts.ticks("Answers", "answers", _ANSWERS),
            tag("p", parts.button("Make token")),
        )  # fmt: skip

    @page(_TOKENS_PATH, "POST")
    def _make(self, visit: Visit) -> Shown:
        scopes = tuple(s for s in visit.sent_all("scope") if s in list(TokenScope))
        if not scopes:
            raise Refusal(400, "Tick what the token may do.")
        names = parts.collection_names(self._library)
        answers = visit.sent_all("answers")
        wish = TokenWish(
            visit.sent("name"), scopes,
            tuple(i for i in visit.sent_all("collection") if i in names),
            visit.sent_lines("origins"), visit.number("rate", _MOST_PER_MINUTE),
            visit.number("days", _MOST_DAYS), _LIST in answers, _MARKUP in answers,
            visit.sent_lines("logins"),
        )  # fmt: skip
        token, secret = new_token(wish)
        self._serving.tokens.add(token)
        body = joined(
            tag("p", f"The token of “{token.name}”:"),
            tag("p", tag("code", secret, class_="secret")),
            parts.note(_ONCE),
            tag("p", tag("a", "Back to the tokens", href=_TOKENS_PATH)),
        )
        return Shown("A new token", body)

    @page(f"{_TOKENS_PATH}/{{token_id}}/revoke", "GET", "POST")
    def _revoke(self, visit: Visit) -> Answer:
        token = visit.one_of(self._serving.tokens.all(), "token_id", "There is no such token.")
        if not visit.is_post:
            said = f"Refuse “{token.name}” from now on? The program needs a new token to ask again."
            if token.token_id == visit.session.token.token_id:
                said += " You are logged in with this token: you will be logged out."
            return parts.question(visit, "Revoke a token", said, "Revoke", _TOKENS_PATH)
        self._serving.tokens.revoke(token.token_id)
        return Moved(_TOKENS_PATH, f"“{token.name}” is refused from now on.")


def _token_row(token: Token, used_at: float, collections: dict[str, str]) -> list[Html | str]:
    is_over = token.is_expired(time.time())
    return [
        token.name,
        ", ".join(s.value for s in TokenScope if s in token.scopes),
        ", ".join(collections.get(i, "gone") for i in token.collection_ids) or "all",
        ", ".join(token.origins) or "none",
        ", ".join(token.logins) or "none",
        f"{token.requests_per_minute:,} a minute" if token.requests_per_minute else "no limit",
        parts.when(token.created_at),
        parts.when(used_at),
        parts.chip("expired", "bad") if is_over else parts.when(token.expires_at),
        tag("a", "Revoke…", href=f"{_TOKENS_PATH}/{token.token_id}/revoke",
            aria_label=f"Revoke {token.name}"),
    ]  # fmt: skip
