"""The admin page: login, logout, and some of the pages behind it. The server's thread and workers.

For browsers of this server's own pages alone: a form counts only with the Origin of the server, the
cookie of a session and the key that the session's forms hold.
"""

import shutil
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from desktop_rag.core import server_state
from desktop_rag.core.assistant import LONGEST_PROMPT_NAME, SavedPrompt
from desktop_rag.core.domain import DocumentState
from desktop_rag.core.errors import AppError
from desktop_rag.core.query import strip_invalid_characters
from desktop_rag.features.server.access.access_tokens import Token, TokenScope
from desktop_rag.features.server.access.callers import Caller, Exchange
from desktop_rag.features.server.access.sessions import Session
from desktop_rag.features.server.admin import page_parts as parts
from desktop_rag.features.server.admin.access_pages import AccessAdmin, TokenAdmin
from desktop_rag.features.server.admin.assistant_pages import AssistantAdmin
from desktop_rag.features.server.admin.collection_pages import (
    CollectionAdmin,
    CrawlAdmin,
    DocumentAdmin,
)
from desktop_rag.features.server.admin.database_pages import DatabaseAdmin, LogAdmin
from desktop_rag.features.server.admin.page_parts import Answer, Handler, Moved, Shown, Visit, page
from desktop_rag.features.server.admin.settings_pages import EndpointAdmin, SettingsAdmin
from desktop_rag.features.server.guards.request_guard import Addresses
from desktop_rag.features.server.html_writer import Child, Html, joined, tag
from desktop_rag.features.server.model_names import ModelName
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.responses import retry_header, text_route, web_file
from desktop_rag.features.server.serving import Serving
from desktop_rag.features.server.values.access_values import DAY_S, Usage, usage_since

_USAGE_PATH = "/admin/usage"
_SPANS = {"7": "7 days", "30": "30 days", "90": "90 days", "1": "24 hours"}
_HEADS = ("Requests", "Answers", "Refused", "Errors", "Characters asked", "Characters answered",
          "Median time", "Slowest")  # fmt: skip
_NOTE = (
    "From the log, which keeps up to 90 days. Times are those of whole answers. Models count tokens"
    " each in their own way, so characters are shown; the tokens of calls to endpoints are in the"
    " log."
)


class UsageAdmin(parts.AdminPages):
    """Requests, answers, characters and times, by token and day."""

    @page(_USAGE_PATH)
    def _show(self, visit: Visit) -> Shown:
        days = visit.asked("days") if visit.asked("days") in _SPANS else "7"
        since = time.time() - int(days) * DAY_S
        used = usage_since(since, self._serving.requests.newest_first())
        whole = used.whole
        shown = [
            (f"{whole.requests:,}", "requests"),
            (f"{whole.answers:,}", "answers"),
            (_seconds(whole.median_ms), "median time"),
            (_seconds(whole.slowest_ms), "slowest"),
        ]
        body = joined(
            parts.filters(visit, parts.select("Time", "days", _SPANS, days)),
            parts.figures(*shown),
            parts.section("By day", _table("Day", used.days)),
            parts.section("By token", _table("Token", used.tokens)),
            parts.note(_NOTE),
        )
        return Shown("Usage", body)


def _table(what: str, rows: Sequence[Usage]) -> Child:
    most = max((row.requests for row in rows), default=0)
    return parts.table(
        (what, *_HEADS), [_row(row, most) for row in rows], empty="Nothing was asked yet."
    )


def _row(usage: Usage, most: int) -> Sequence[Child]:
    return [
        usage.label or "without a valid token",
        joined(f"{usage.requests:,} ", parts.bar(usage.requests / most)),
        f"{usage.answers:,}",
        f"{usage.refused:,}",
        f"{usage.errors:,}",
        f"{usage.asked_chars:,}",
        f"{usage.answer_chars:,}",
        _seconds(usage.median_ms),
        _seconds(usage.slowest_ms),
    ]


def _seconds(ms: int) -> str:
    return f"{ms / 1000:,.2f} s" if ms else "–"


_PROMPTS_PATH = "/admin/prompts"
_ONE_PROMPT = f"{_PROMPTS_PATH}/{{name}}"
_PREVIEW = 160


class PromptAdmin(parts.AdminPages):
    """Adds, changes and deletes the prompts that people and programs use by name."""

    @page(_PROMPTS_PATH)
    def _list(self, visit: Visit) -> Shown:
        rows = [
            (tag("a", f"/{p.name}", href=f"{_PROMPTS_PATH}/{p.name}"), _preview(p.text))
            for p in self._chat.prompts.all()
        ]
        body = joined(
            parts.table(("Name", "Text"), rows, empty="There are no prompts."),
            parts.section("New prompt", _form(visit, SavedPrompt("", ""))),
        )
        return Shown("Prompts", body)

    @page(_ONE_PROMPT)
    def _show(self, visit: Visit) -> Shown:
        prompt = self._of(visit)
        body = joined(
            _form(visit, prompt),
            tag("p", tag("a", "Delete this prompt…", href=f"{_PROMPTS_PATH}/{prompt.name}/delete")),
        )
        return Shown(f"/{prompt.name}", body)

    @page(_PROMPTS_PATH, "POST")
    def _save(self, visit: Visit) -> Moved:
        given = SavedPrompt(visit.sent("name"), visit.sent("text").replace("\r\n", "\n"))
        saved = self._chat.prompts.save(given, former=visit.sent("former"))
        return Moved(_PROMPTS_PATH, f"/{saved.name} was saved.")

    @page(f"{_ONE_PROMPT}/delete", "GET", "POST")
    def _delete(self, visit: Visit) -> Answer:
        name = self._of(visit).name
        if not visit.is_post:
            said, back = f"Delete /{name} for good?", f"{_PROMPTS_PATH}/{name}"
            return parts.question(visit, "Delete a prompt", said, "Delete", back)
        self._chat.prompts.delete(name)
        return Moved(_PROMPTS_PATH, f"/{name} was deleted.")

    def _of(self, visit: Visit) -> SavedPrompt:
        return visit.one_of(self._chat.prompts.all(), "name", "There is no such prompt.")


def _form(visit: Visit, prompt: SavedPrompt) -> Html:
    return parts.form(
        visit, _PROMPTS_PATH,
        tag("input", type="hidden", name="former", value=prompt.name),
        parts.form_field("Name", "name", prompt.name, required=True, maxlength=LONGEST_PROMPT_NAME),
        parts.text_area("Text", "text", prompt.text, rows=8),
        parts.note("A word in double braces, as {{topic}}, is asked for when the prompt is used."),
        tag("p", parts.button("Save")),
    )  # fmt: skip


def _preview(text: str) -> str:
    line = " ".join(text.split())
    return f"{line[:_PREVIEW]} …" if len(line) > _PREVIEW else line


class OverviewAdmin(parts.AdminPages):
    """The first page: figures of the library, and what is being done."""

    @page("/admin")
    def _show(self, _visit: Visit) -> Shown:
        library = self._library
        counts, progress = library.documents.counts(), library.indexing.progress()
        numbers = [
            ("Collections", len(library.collections.all()), "/admin/collections"),
            ("Documents", counts.total, "/admin/documents"),
            ("Tokens", len(self._serving.tokens.all()), "/admin/tokens"),
            ("Prompts", len(self._chat.prompts.all()), "/admin/prompts"),
        ]
        states = [
            (tag("a", state.value, href=f"/admin/documents?state={state.name}"), f"{number:,}")
            for state in DocumentState
            if (number := counts.of(state))
        ]
        doing = f"Indexing: {progress.stage.value}"
        if progress.files_total and progress.step:
            doing += f", {progress.files_done:,} of {progress.files_total:,} files"
        body = joined(
            tag("ul", [_figure(*figure) for figure in numbers], class_="figures"),
            parts.section("What it stands on", parts.table(("", ""), self._base(), empty="")),
            parts.section(
                "Documents by state",
                tag("p", doing + "."),
                parts.table(("State", "Documents"), states, empty="There are no documents yet."),
            ),
        )
        return Shown("Overview", body)

    def _base(self) -> list[tuple[Child, Child]]:
        """The endpoint, the store and the disk."""
        endpoint, serving = self._chat.models.endpoint, self._serving
        model = f"{endpoint.model} at {endpoint.label}" if endpoint.is_set else "none: excerpts"
        link = tag("a", model, href="/admin/endpoints")
        stored = "a PostgreSQL server" if self._library.is_on_server else "a file of this computer"
        free = shutil.disk_usage(serving.home).free
        return [
            ("Answers", link),
            ("Library", stored),
            ("Free on its disk", server_state.size_in_words(free)),
        ]


def _figure(label: str, number: int, path: str) -> Html:
    return tag("li", tag("a", tag("strong", f"{number:,}"), " ", label, href=path))


_MODELS_PATH = "/admin/models"
_MODELS_OF = f"{_MODELS_PATH}/{{token_id}}"
_WITHOUT_TICK = "Without a tick it may ask all that are exposed, also those that come later."
_NAMED = parts.note(
    "Models of your endpoints are answered without documents. They are exposed to the tokens that"
    " name them, or to all by the setting of the server."
)


class ModelAdmin(parts.AdminPages):
    """The models and assistants, and which tokens may ask which."""

    @page(_MODELS_PATH)
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
             tag("a", "Change", href=f"{_MODELS_PATH}/{t.token_id}", aria_label=f"Change {t.name}"))
            for t in asking
        ]  # fmt: skip
        body = joined(
            parts.table(("Name", "Title", "Kind", "Asked by"), rows, empty="There are no models."),
            _NAMED,
            parts.section(
                "By token",
                parts.table(
                    ("Token", "May ask", "Models", ""), of_tokens, empty="No token may ask."
                ),
            ),
        )
        return Shown("Models and assistants", body)

    @page(_MODELS_OF)
    def _show(self, visit: Visit) -> Shown:
        token = self._token(visit)
        choices = {n.key: f"{n.name} – {n.title} ({_kind(n)})" for n in self._serving.names.all()}
        gone = {key: f"{key} (gone)" for key in token.models if key not in choices}
        body = parts.form(
            visit, f"{_MODELS_PATH}/{token.token_id}",
            parts.note(_WITHOUT_TICK),
            parts.ticks("It may ask only", "model", choices | gone, token.models),
            tag("p", parts.button("Save"), " ", tag("a", "Cancel", href=_MODELS_PATH)),
        )  # fmt: skip
        return Shown(f"What “{token.name}” may ask", body)

    @page(_MODELS_OF, "POST")
    def _set(self, visit: Visit) -> Moved:
        token = self._token(visit)
        known = {name.key for name in self._serving.names.all()} | set(token.models)
        chosen = tuple(key for key in visit.sent_all("model") if key in known)
        self._serving.tokens.change(token.token_id, lambda t: replace(t, models=chosen))
        said = f"{len(chosen):,} models" if chosen else "all models that are exposed"
        return Moved(_MODELS_PATH, f"“{token.name}” may ask {said}.")

    def _token(self, visit: Visit) -> Token:
        return visit.one_of(self._serving.tokens.all(), "token_id", "There is no such token.")


def _kind(name: ModelName) -> str:
    if name.endpoint:
        return "model without documents"
    if name.assistant_id:
        return "assistant"
    return "collection" if name.collection_id else "all documents"


_PATH = "/admin/feedback"
_KINDS = {"liked": "good", "disliked": "bad", "rewritten": "", "withdrawn": ""}


class FeedbackAdmin(parts.AdminPages):
    """Likes, dislikes and rewrites of answers, by model and one by one."""

    @page(_PATH)
    def _show(self, visit: Visit) -> Shown:
        given = self._chat.history.feedback.newest_first()
        titles = self._chat.history.titles()
        numbers = Counter((event.model or "without a model", event.subject) for event in given)
        models = [
            [model, *(f"{numbers[model, kind]:,}" for kind in _KINDS)]
            for model in sorted({model for model, _ in numbers})
        ]
        rows = [
            (parts.when(e.at), parts.chip(e.subject, _KINDS.get(e.subject, "")),
             titles.get(e.chat_id, ""), e.model)
            for e in given[parts.rows_of_page(visit, given)]
        ]  # fmt: skip
        body = joined(
            parts.table(("Model", *(kind.capitalize() for kind in _KINDS)), models,
                  empty="Nobody has said anything about answers yet."),
            parts.section(
                "One by one",
                parts.table(("When", "Said", "Chat", "Model"), rows, empty="Nothing yet."),
                parts.pager(visit, len(given)),
            ),
            parts.note("Every change is listed; the last one about an answer counts."),
        )  # fmt: skip
        return Shown("Feedback", body)


def admin_pages(serving: Serving) -> list[tuple[str, object]]:
    """The pages in their order, each with its title."""
    pages = (
        ("Overview", OverviewAdmin),
        ("Collections", CollectionAdmin),
        ("Documents", DocumentAdmin),
        ("Assistants", AssistantAdmin),
        ("Endpoints", EndpointAdmin),
        ("Models", ModelAdmin),
        ("Tokens", TokenAdmin),
        ("Users", AccessAdmin),
        ("Prompts", PromptAdmin),
        ("Crawls", CrawlAdmin),
        ("Log", LogAdmin),
        ("Feedback", FeedbackAdmin),
        ("Usage", UsageAdmin),
        ("Settings", SettingsAdmin),
        *([("Database", DatabaseAdmin)] if serving.library.is_on_server else []),
    )
    return [(title, made(serving)) for title, made in pages]


def login_page(fault: str = "", *, has_provider: bool) -> Html:
    """The page that asks for an admin token, with what was wrong with the last one."""
    said = tag("p", fault, class_="said bad", role="alert") if fault else None
    asked = tag(
        "form",
        parts.form_field("Admin token", "token", kind="password", autocomplete="off", required=True,
              maxlength=200),
        tag("p", parts.button("Log in")),
        method="post", action="/admin/login", class_="login",
    )  # fmt: skip
    hint = parts.note(
        "A token that allows everything. Make one on the server's computer: ",
        tag("code", "desktop-rag token add NAME --allow admin"),
    )
    other = tag("p", tag("a", "Log in with the provider", href="/login?to=admin"))
    return parts.framed("Log in", joined(said, asked, hint, other if has_provider else None), None)


_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    # Without it a browser would say `Origin: null` with our own forms.
    "Referrer-Policy": "same-origin",
}
_LOGIN = "/admin/login"
_FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")
_MOST_FIELDS = 2_000
_MOST_FILES = 200
_SEE_OTHER = 303
Endpoint = Callable[[Request], Awaitable[Response]]


class AdminRoutes:
    """Lets those with an admin token in, and shows them the pages."""

    def __init__(self, serving: Serving, addresses: Callable[[], Addresses]) -> None:
        self._serving = serving
        self._addresses = addresses
        # Browsers send a cookie to every port of a host: two servers must not share a name.
        self._cookie = f"desktop-rag-admin-{addresses().port}"
        self._sessions = serving.sessions
        pages = [(title, parts.handlers_of(page)) for title, page in admin_pages(serving)]
        self._handlers = [each for _, handlers in pages for each in handlers]
        # The first that a page answers is the page itself.
        self._listed = [(handlers[0][0], title) for title, handlers in pages]

    def routes(self) -> list[Route]:
        """All routes below `/admin`."""
        pages = [
            Route(path, self._endpoint(partial(self._behind_login, handler)), methods=[*methods])
            for path, methods, handler in self._handlers
        ]
        unknown = self._endpoint(partial(self._behind_login, _unknown))
        return [
            text_route(parts.STYLESHEET, partial(web_file, "admin.css"), "text/css"),
            Route(_LOGIN, self._endpoint(self._log_in), methods=["GET", "POST"]),
            Route("/admin/logout", self._endpoint(self._log_out), methods=["POST"]),
            *pages,
            Route("/admin/{rest:path}", unknown, methods=["GET", "POST"]),
        ]

    def _endpoint(self, answer: Callable[[Visit], Response]) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            try:
                asked = await self._read(request)
                response = await self._serving.workers.call(partial(answer, asked))
            except Refusal as refusal:
                Exchange.of(request.scope).refusal = refusal.message
                response = _refused(refusal)
            response.headers.update(_HEADERS)
            return response

        return endpoint

    async def _read(self, request: Request) -> Visit:
        is_post = request.method == "POST"
        exchange = Exchange.of(request.scope)
        if exchange.origin or (is_post and "origin" not in request.headers):
            raise Refusal(403, "Only the pages of this server may use the admin page.")
        form, files = await _form_of(request) if is_post else ({}, ())
        return Visit(
            exchange,
            request.cookies.get(self._cookie, ""),
            dict(request.query_params),
            {name: str(value) for name, value in request.path_params.items()},
            form,
            is_post,
            files,
            parts.NOBODY,
        )

    # --- on a worker -----------------------------------------------------------------------

    def _behind_login(self, handler: Handler, asked: Visit) -> Response:
        session = self._session(asked)
        if session is None:
            return RedirectResponse(_LOGIN, _SEE_OTHER)
        # What an admin does is logged, but not each look at a page.
        asked.exchange.is_logged = asked.is_post
        asked.exchange.caller = Caller(session.token, asked.exchange.address)
        visit = replace(asked, session=session)
        try:
            if asked.is_post:
                visit.check_form_key()
            answer = handler(visit)
        except Refusal as refusal:
            return self._refused(refusal, visit)
        except AppError as error:
            return self._refused(Refusal.of_error(error), visit)
        if isinstance(answer, Moved):
            if answer.said:
                session.said.append(answer.said)
            return RedirectResponse(answer.path, _SEE_OTHER)
        page = parts.framed(answer.title, answer.body, visit, self._listed)
        return HTMLResponse(page, answer.status)

    def _is_secure(self, asked: Visit) -> bool:
        return self._addresses().scheme_for(asked.exchange.header("host")) == "https"

    def _session(self, asked: Visit) -> Session | None:
        """The session of an admin, by a token or by the provider of logins."""
        by_token = self._sessions.find(asked.session_id) if asked.session_id else None
        found = by_token or self._sessions.of(asked.exchange)
        return found if found and found.token.is_for_admin else None

    def _refused(self, refusal: Refusal, visit: Visit) -> Response:
        visit.exchange.refusal = refusal.message
        visit.exchange.is_logged = True
        return _refused(refusal, visit, self._listed)

    def _log_in(self, asked: Visit) -> Response:
        has_provider = self._serving.login.is_set
        if not asked.is_post:
            return HTMLResponse(login_page(has_provider=has_provider))
        try:
            token = self._serving.authority.token(asked.sent("token"), asked.exchange.address)
        except Refusal as refusal:
            asked.exchange.refusal = refusal.message
            return HTMLResponse(
                login_page(refusal.message, has_provider=has_provider), refusal.status
            )
        if not token.is_for_admin:
            said = "This token is not for administration: it takes one that allows everything."
            asked.exchange.refusal = said
            return HTMLResponse(login_page(said, has_provider=has_provider), 403)
        asked.exchange.caller = Caller(token, asked.exchange.address)
        if former := self._session(asked):
            self._sessions.close(former)
        self._serving.uses.note(token.token_id)
        session_id = self._sessions.open(Session(token))
        response = RedirectResponse("/admin", _SEE_OTHER)
        response.set_cookie(
            self._cookie, session_id,
            path="/admin", secure=self._is_secure(asked), httponly=True, samesite="strict",
        )  # fmt: skip
        return response

    def _log_out(self, asked: Visit) -> Response:
        def end(visit: Visit) -> Moved:
            self._sessions.close(visit.session)
            return Moved(_LOGIN)

        response = self._behind_login(end, asked)
        response.delete_cookie(self._sessions.cookie, httponly=True, samesite="lax")
        response.delete_cookie(
            self._cookie, "/admin", secure=self._is_secure(asked), httponly=True, samesite="strict"
        )
        return response


def _refused(
    refusal: Refusal, visit: Visit | None = None, pages: Sequence[tuple[str, str]] = ()
) -> Response:
    body = tag("p", refusal.message, class_="said bad", role="alert")
    page = parts.framed("This can’t be done", body, visit, pages)
    return HTMLResponse(page, refusal.status, retry_header(refusal))


def _unknown(_visit: Visit) -> Shown:
    raise Refusal(404, "There is no such page.")


async def _form_of(
    request: Request,
) -> tuple[Mapping[str, Sequence[str]], Sequence[tuple[str, bytes]]]:
    """The fields of a form, and the names and contents of its files."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _FORM_TYPES:
        raise Refusal(415, "This is not a form.")
    fields: dict[str, list[str]] = {}
    files: list[tuple[str, bytes]] = []
    try:
        async with request.form(max_fields=_MOST_FIELDS, max_files=_MOST_FILES) as form:
            for name, value in form.multi_items():
                if isinstance(value, UploadFile):
                    called = strip_invalid_characters(PurePosixPath(value.filename or "").name)
                    files.append((called, await value.read()))
                else:
                    fields.setdefault(name, []).append(value)
    except (HTTPException, ValueError) as exc:
        raise Refusal(400, "This form can't be read.") from exc
    return fields, files
