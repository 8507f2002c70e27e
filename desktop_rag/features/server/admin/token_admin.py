"""Tokens: made, shown once, and revoked. Worker threads."""

import time
from collections.abc import Sequence

from desktop_rag.features.server.access.access_tokens import (
    DEFAULT_REQUESTS_PER_MINUTE,
    Token,
    TokenScope,
    new_token,
)
from desktop_rag.features.server.admin.admin_visits import Handled, Moved, Shown, Visit
from desktop_rag.features.server.admin.page_parts import (
    button,
    chip,
    form,
    form_field,
    note,
    question,
    section,
    stacked,
    table,
    text_area,
    ticks,
    when,
)
from desktop_rag.features.server.html_writer import Html, tag
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.serving import Serving

_PATH = "/admin/tokens"
_DAY_S = 86_400.0
_MOST_DAYS = 36_500
_MOST_PER_MINUTE = 1_000_000
_ALLOWED = {
    TokenScope.ASK: "ask questions",
    TokenScope.READ: "search and read documents",
    TokenScope.WRITE: "change documents",
    TokenScope.ADMIN: "everything, this page included",
}
_LIST = "list"
_ONCE = "Enter it in the program as the key. It is shown this once and kept nowhere."


class TokenAdmin:
    """The tokens of the server."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    def handlers(self) -> Sequence[Handled]:
        """The list, and what can be done."""
        return [
            (_PATH, "GET", self._list),
            (_PATH, "POST", self._make),
            (f"{_PATH}/{{token_id}}/revoke", "GET", self._ask_to_revoke),
            (f"{_PATH}/{{token_id}}/revoke", "POST", self._revoke),
        ]

    def _list(self, visit: Visit) -> Shown:
        uses = self._serving.uses.all()
        names = self._collections()
        rows = [_row(t, uses.get(t.token_id, 0.0), names) for t in self._serving.tokens.all()]
        heads = ("Token", "Allows", "Collections", "Web origins", "Rate", "Made", "Last used",
                 "Ends", "")  # fmt: skip
        body = stacked(
            table(heads, rows, empty="There are no tokens yet."),
            section("New token", self._form(visit, names)),
        )
        return Shown("Tokens", body)

    def _form(self, visit: Visit, collections: dict[str, str]) -> Html:
        return form(
            visit, _PATH,
            form_field("The program that will use it", "name", required=True, maxlength=80),
            ticks("It may", "scope", {s.value: said for s, said in _ALLOWED.items()}, ["ask"]),
            ticks("Only in these collections (none: all)", "collection", collections),
            text_area("Web origins whose pages may use it", "origins",
                      hint="One in each line, such as https://wiki.example", rows=2),
            form_field("Most requests in a minute (0: no limit)", "rate",
                  str(DEFAULT_REQUESTS_PER_MINUTE), kind="number", min=0, max=_MOST_PER_MINUTE),
            form_field("Ends after so many days (0: never)", "days", "0", kind="number", min=0,
                  max=_MOST_DAYS),
            ticks("Answers", "answers", {_LIST: "end with a list of their sources"}),
            tag("p", button("Make token")),
        )  # fmt: skip

    def _make(self, visit: Visit) -> Shown:
        scopes = [TokenScope(s) for s in visit.sent_all("scope") if s in list(TokenScope)]
        if not scopes:
            raise Refusal(400, "Tick what the token may do.")
        names = self._collections()
        days = _number(visit, "days", _MOST_DAYS)
        token, secret = new_token(
            visit.sent("name"),
            scopes,
            collection_ids=[i for i in visit.sent_all("collection") if i in names],
            origins=visit.sent_lines("origins"),
            requests_per_minute=_number(visit, "rate", _MOST_PER_MINUTE),
            expires_at=time.time() + days * _DAY_S if days else 0.0,
            lists_sources=_LIST in visit.sent_all("answers"),
        )
        self._serving.tokens.add(token)
        body = stacked(
            tag("p", f"The token of “{token.name}”:"),
            tag("p", tag("code", secret, class_="secret")),
            note(_ONCE),
            tag("p", tag("a", "Back to the tokens", href=_PATH)),
        )
        return Shown("A new token", body)

    def _ask_to_revoke(self, visit: Visit) -> Shown:
        token = self._token(visit)
        said = f"Refuse “{token.name}” from now on? The program needs a new token to ask again."
        if token.token_id == visit.session.token.token_id:
            said += " You are logged in with this token: you will be logged out."
        path = f"{_PATH}/{token.token_id}/revoke"
        return Shown("Revoke a token", question(visit, path, said, "Revoke", _PATH))

    def _revoke(self, visit: Visit) -> Moved:
        token = self._token(visit)
        self._serving.tokens.revoke(token.token_id)
        return Moved(_PATH, f"“{token.name}” is refused from now on.")

    def _collections(self) -> dict[str, str]:
        return {c.collection_id: c.name for c in self._serving.library.collections.all()}

    def _token(self, visit: Visit) -> Token:
        for token in self._serving.tokens.all():
            if token.token_id == visit.parts["token_id"]:
                return token
        raise Refusal(404, "There is no such token.")


def _row(token: Token, used_at: float, collections: dict[str, str]) -> list[Html | str]:
    is_over = token.is_expired(time.time())
    return [
        token.name,
        ", ".join(s.value for s in TokenScope if s in token.scopes),
        ", ".join(collections.get(i, "gone") for i in token.collection_ids) or "all",
        ", ".join(token.origins) or "none",
        f"{token.requests_per_minute:,} a minute" if token.requests_per_minute else "no limit",
        when(token.created_at),
        when(used_at),
        chip("expired", "bad") if is_over else when(token.expires_at),
        tag("a", "Revoke…", href=f"{_PATH}/{token.token_id}/revoke",
            aria_label=f"Revoke {token.name}"),
    ]  # fmt: skip


def _number(visit: Visit, name: str, most: int) -> int:
    text = visit.sent(name) or "0"
    if not (text.isascii() and text.isdecimal() and int(text[:12]) <= most):
        raise Refusal(400, f"“{text[:40]}” is not a number up to {most:,}.")
    return int(text)
