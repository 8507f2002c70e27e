"""Models and assistants: which tokens may ask which. Worker threads."""

from collections.abc import Sequence
from dataclasses import replace

from desktop_rag.serve.access.access_tokens import Token, TokenScope
from desktop_rag.serve.access.callers import Caller
from desktop_rag.serve.admin.admin_visits import Handled, Moved, Shown, Visit
from desktop_rag.serve.admin.page_parts import button, form, note, section, stacked, table, ticks
from desktop_rag.serve.html_writer import tag
from desktop_rag.serve.model_names import ModelName
from desktop_rag.serve.refusals import Refusal
from desktop_rag.serve.serving import Serving

_PATH = "/admin/models"
_NAMED = note(
    "Models of your endpoints are answered without documents. They are exposed to the tokens that"
    " name them, or to all by the setting of the server."
)


class ModelAdmin:
    """The names that programs ask, by token."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    def handlers(self) -> Sequence[Handled]:
        """The list, and the choice for one token."""
        return [
            (_PATH, "GET", self._list),
            (f"{_PATH}/{{token_id}}", "GET", self._show),
            (f"{_PATH}/{{token_id}}", "POST", self._set),
        ]

    def _list(self, _visit: Visit) -> Shown:
        names = self._serving.names
        asking = [t for t in self._serving.tokens.all() if t.allows(TokenScope.ASK)]
        seen = {t.token_id: {name.key for name in names.of(Caller(t))} for t in asking}
        rows = [
            (tag("code", name.name), name.title, _kind(name),
             ", ".join(t.name for t in asking if name.key in seen[t.token_id]) or "nobody")
            for name in names.all()
        ]  # fmt: skip
        of_tokens = [
            (t.name, "certain ones" if t.models else "all that are exposed",
             f"{len(seen[t.token_id]):,}",
             tag("a", "Change", href=f"{_PATH}/{t.token_id}", aria_label=f"Change {t.name}"))
            for t in asking
        ]  # fmt: skip
        body = stacked(
            table(("Name", "Title", "Kind", "Asked by"), rows, empty="There are no models."),
            _NAMED,
            section(
                "By token",
                table(("Token", "May ask", "Models", ""), of_tokens, empty="No token may ask."),
            ),
        )
        return Shown("Models and assistants", body)

    def _show(self, visit: Visit) -> Shown:
        token = self._token(visit)
        choices = {n.key: f"{n.name} – {n.title} ({_kind(n)})" for n in self._serving.names.all()}
        gone = {key: f"{key} (gone)" for key in token.models if key not in choices}
        body = form(
            visit, f"{_PATH}/{token.token_id}",
            note("Without a tick it may ask all that are exposed, also those that come later."),
            ticks("It may ask only", "model", choices | gone, token.models),
            tag("p", button("Save"), " ", tag("a", "Cancel", href=_PATH)),
        )  # fmt: skip
        return Shown(f"What “{token.name}” may ask", body)

    def _set(self, visit: Visit) -> Moved:
        token = self._token(visit)
        known = {name.key for name in self._serving.names.all()} | set(token.models)
        chosen = tuple(key for key in visit.sent_all("model") if key in known)
        self._serving.tokens.change(token.token_id, lambda t: replace(t, models=chosen))
        said = f"{len(chosen):,} models" if chosen else "all models that are exposed"
        return Moved(_PATH, f"“{token.name}” may ask {said}.")

    def _token(self, visit: Visit) -> Token:
        for token in self._serving.tokens.all():
            if token.token_id == visit.parts["token_id"]:
                return token
        raise Refusal(404, "There is no such token.")


def _kind(name: ModelName) -> str:
    if name.endpoint:
        return "model without documents"
    if name.assistant_id:
        return "assistant"
    return "collection" if name.collection_id else "all documents"
