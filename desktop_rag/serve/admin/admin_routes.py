"""The admin page: login, logout, and the pages behind it. The server's thread and its workers.

For browsers of this server's own pages alone: a form counts only with the Origin of the server, the
cookie of a session and the key that the session's forms hold.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import resources_dir
from desktop_rag.serve.access.callers import Caller, Exchange
from desktop_rag.serve.admin.admin_login import login_page
from desktop_rag.serve.admin.admin_pages import AdminPages
from desktop_rag.serve.admin.admin_sessions import AdminSessions
from desktop_rag.serve.admin.admin_visits import Handler, Moved, Shown, Visit
from desktop_rag.serve.admin.page_parts import STYLESHEET, framed
from desktop_rag.serve.guards.hosts import Addresses
from desktop_rag.serve.html_writer import tag
from desktop_rag.serve.refusals import Refusal
from desktop_rag.serve.serving import Serving

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
_FORM_TYPE = "application/x-www-form-urlencoded"
_MOST_FIELDS = 2_000
_SEE_OTHER = 303
Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a request says, read before a worker takes it."""

    exchange: Exchange
    session_id: str
    query: Mapping[str, str]
    parts: Mapping[str, str]
    form: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    is_post: bool = False


class AdminRoutes:
    """Lets those with an admin token in, and shows them the pages."""

    def __init__(self, serving: Serving, addresses: Addresses) -> None:
        self._serving = serving
        self._is_secure = addresses.scheme == "https"
        # Browsers send a cookie to every port of a host: two servers must not share a name.
        self._cookie = f"desktop-rag-admin-{addresses.port}"
        self._sessions = AdminSessions(serving.authority.is_admin)
        self._pages = AdminPages(serving)

    def routes(self) -> list[Route]:
        """All routes below `/admin`."""
        pages = [
            Route(path, self._endpoint(partial(self._behind_login, handler)), methods=[method])
            for path, method, handler in self._pages.handlers()
        ]
        unknown = self._endpoint(partial(self._behind_login, _unknown))
        return [
            Route(STYLESHEET, _style, methods=["GET"]),
            Route(_LOGIN, self._endpoint(self._log_in), methods=["GET", "POST"]),
            Route("/admin/logout", self._endpoint(self._log_out), methods=["POST"]),
            *pages,
            Route("/admin/{rest:path}", unknown, methods=["GET", "POST"]),
        ]

    def _endpoint(self, answer: Callable[[_Asked], Response]) -> Endpoint:
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

    async def _read(self, request: Request) -> _Asked:
        is_post = request.method == "POST"
        exchange = Exchange.of(request.scope)
        if exchange.origin or (is_post and "origin" not in request.headers):
            raise Refusal(403, "Only the pages of this server may use the admin page.")
        return _Asked(
            exchange,
            request.cookies.get(self._cookie, ""),
            dict(request.query_params),
            {name: str(value) for name, value in request.path_params.items()},
            await _form_of(request) if is_post else {},
            is_post,
        )

    # --- on a worker -----------------------------------------------------------------------

    def _behind_login(self, handler: Handler, asked: _Asked) -> Response:
        session = self._sessions.find(asked.session_id) if asked.session_id else None
        if session is None:
            return RedirectResponse(_LOGIN, _SEE_OTHER)
        # What an admin does is logged, but not each look at a page.
        asked.exchange.is_logged = asked.is_post
        asked.exchange.caller = Caller(session.token, asked.exchange.address)
        visit = Visit(session, asked.exchange.path, asked.query, asked.form, asked.parts)
        try:
            if asked.is_post:
                visit.check_form_key()
            answer = handler(visit)
        except Refusal as refusal:
            return self._refused(refusal, visit, asked)
        except AppError as error:
            return self._refused(Refusal.of_error(error), visit, asked)
        if isinstance(answer, Moved):
            if answer.said:
                session.said.append(answer.said)
            return RedirectResponse(answer.path, _SEE_OTHER)
        page = framed(answer.title, answer.body, visit, self._pages.listed)
        return HTMLResponse(page, answer.status)

    def _refused(self, refusal: Refusal, visit: Visit, asked: _Asked) -> Response:
        asked.exchange.refusal = refusal.message
        asked.exchange.is_logged = True
        return _refused(refusal, visit, self._pages.listed)

    def _log_in(self, asked: _Asked) -> Response:
        if not asked.is_post:
            return HTMLResponse(login_page())
        try:
            secret = next(iter(asked.form.get("token", ())), "").strip()
            token = self._serving.authority.token(secret, asked.exchange.address)
        except Refusal as refusal:
            asked.exchange.refusal = refusal.message
            return HTMLResponse(login_page(refusal.message), refusal.status)
        if not token.is_for_admin:
            said = "This token is not for administration: it takes one that allows everything."
            asked.exchange.refusal = said
            return HTMLResponse(login_page(said), 403)
        asked.exchange.caller = Caller(token, asked.exchange.address)
        self._sessions.close(asked.session_id)
        self._serving.uses.note(token.token_id)
        session_id, _ = self._sessions.open(token)
        response = RedirectResponse("/admin", _SEE_OTHER)
        response.set_cookie(
            self._cookie, session_id,
            path="/admin", secure=self._is_secure, httponly=True, samesite="strict",
        )  # fmt: skip
        return response

    def _log_out(self, asked: _Asked) -> Response:
        def end(visit: Visit) -> Moved:
            self._sessions.close(asked.session_id)
            return Moved(_LOGIN)

        response = self._behind_login(end, asked)
        response.delete_cookie(
            self._cookie, "/admin", secure=self._is_secure, httponly=True, samesite="strict"
        )
        return response


def _refused(
    refusal: Refusal, visit: Visit | None = None, pages: Sequence[tuple[str, str]] = ()
) -> Response:
    body = tag("p", refusal.message, class_="said bad", role="alert")
    page = framed("This can’t be done", body, visit, pages)
    return HTMLResponse(page, refusal.status)


def _unknown(_visit: Visit) -> Shown:
    raise Refusal(404, "There is no such page.")


async def _style(request: Request) -> Response:
    Exchange.of(request.scope).is_logged = False
    return FileResponse(resources_dir() / "web" / "admin.css", media_type="text/css")


async def _form_of(request: Request) -> Mapping[str, Sequence[str]]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _FORM_TYPE:
        raise Refusal(415, "This is not a form.")
    try:
        text = (await request.body()).decode("utf-8")
        return parse_qs(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError as exc:
        raise Refusal(400, "This form can't be read.") from exc
