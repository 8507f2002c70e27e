"""The chat as a page of this server, and the login by a provider before it. The server's thread."""

from collections.abc import Callable
from functools import partial

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from desktop_rag.core.errors import AppError
from desktop_rag.features.server.access.callers import Exchange
from desktop_rag.features.server.guards.request_guard import Addresses
from desktop_rag.features.server.html_writer import document, tag
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.responses import retry_header, text_route, web_file
from desktop_rag.features.server.serving import Serving
from desktop_rag.features.server.widget.widget_routes import PAGE_POLICY

CHAT, LOGIN = "/chat", "/login"
_BACK = f"{LOGIN}/back"
# Where a login may lead, by the word that its address has for it.
_PAGES = {"chat": CHAT, "admin": "/admin"}
_SEE_OTHER = 303
# So long a person may take at the provider.
_LOGIN_S = 600
_OF_PAGE = {
    "Content-Security-Policy": PAGE_POLICY.replace("form-action 'none'", "form-action 'self'"),
    # Without it a browser would say `Origin: null` with our own form.
    "Referrer-Policy": "same-origin",
}


class OwnPages:
    """The chat for people who have logged in, and their way in and out."""

    def __init__(self, serving: Serving, addresses: Callable[[], Addresses]) -> None:
        self._serving = serving
        self._addresses = addresses
        self._begun = f"{serving.sessions.cookie}-login"

    def routes(self) -> list[Route]:
        """The pages, which only lead to each other and to the provider."""
        return [
            text_route("/own_chat.js", partial(web_file, "own_chat.js"), "text/javascript"),
            Route(CHAT, self._chat, methods=["GET"]),
            Route(LOGIN, self._begin, methods=["GET"]),
            Route(_BACK, self._end, methods=["GET"]),
            Route("/logout", self._log_out, methods=["POST"]),
        ]

    async def _chat(self, request: Request) -> Response:
        if self._serving.sessions.of(Exchange.of(request.scope)) is None:
            return RedirectResponse(f"{LOGIN}?to=chat", _SEE_OTHER)
        return HTMLResponse(web_file("own_chat.html"), headers=_OF_PAGE)

    async def _begin(self, request: Request) -> Response:
        to = request.query_params.get("to", "")
        asked = partial(self._serving.login.begin, self._address(request, _BACK))
        try:
            address, secret = await self._serving.workers.call(asked)
        except (Refusal, AppError) as fault:
            return _refused(request, fault)
        response = RedirectResponse(address, _SEE_OTHER)
        response.set_cookie(
            self._begun, f"{to if to in _PAGES else 'chat'}.{secret}", _LOGIN_S, path=LOGIN,
            secure=self._is_secure(request), httponly=True, samesite="lax",
        )  # fmt: skip
        return response

    async def _end(self, request: Request) -> Response:
        serving, exchange = self._serving, Exchange.of(request.scope)
        to, _, secret = request.cookies.get(self._begun, "").partition(".")
        back, answer = self._address(request, _BACK), dict(request.query_params)
        try:
            session = await serving.workers.call(partial(serving.login.end, secret, back, answer))
        except (Refusal, AppError) as fault:
            return _refused(request, fault)
        if former := serving.sessions.of(exchange):
            serving.sessions.close(former)
        serving.uses.note(session.token.token_id)
        response = RedirectResponse(_PAGES.get(to, CHAT), _SEE_OTHER)
        response.set_cookie(
            serving.sessions.cookie, serving.sessions.open(session), path="/",
            secure=self._is_secure(request), httponly=True, samesite="lax",
        )  # fmt: skip
        response.delete_cookie(self._begun, LOGIN, httponly=True, samesite="lax")
        return response

    async def _log_out(self, request: Request) -> Response:
        sessions = self._serving.sessions
        if session := sessions.of(Exchange.of(request.scope)):
            sessions.close(session)
        response = RedirectResponse("/", _SEE_OTHER)
        response.delete_cookie(sessions.cookie, httponly=True, samesite="lax")
        return response

    def _is_secure(self, request: Request) -> bool:
        return self._address(request, "").startswith("https:")

    def _address(self, request: Request, path: str) -> str:
        """A page of this server by the name that the browser used, which the guard has checked."""
        host = request.headers["host"]
        return f"{self._addresses().scheme_for(host)}://{host}{path}"


def _refused(request: Request, fault: Refusal | AppError) -> Response:
    """A page that says why, without the hint, which may name a file of the server."""
    refusal = fault if isinstance(fault, Refusal) else Refusal(503, fault.title)
    Exchange.of(request.scope).refusal = refusal.message
    body = tag(
        "body",
        tag("h1", "Nobody is logged in"),
        tag("p", refusal.message, role="alert"),
        tag("p", tag("a", "Try again", href=f"{LOGIN}?to=chat"), " ", tag("a", "Back", href="/")),
    )
    page = document("Log in – desktop-rag", body, stylesheet="/source.css")
    return HTMLResponse(page, refusal.status, _OF_PAGE | retry_header(refusal))
