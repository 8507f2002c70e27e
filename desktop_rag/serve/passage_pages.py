"""The page behind a link to a source: the passage, marked in the text around it."""

from functools import partial

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.serve.html_writer import document as html_document
from desktop_rag.serve.html_writer import tag
from desktop_rag.serve.serving import Serving
from desktop_rag.serve.source_links import LinkedPassage

_AROUND_CHARS = 4_000
_NOT_FOUND = 404
_STYLE = """\
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 46rem; padding: 2rem 1rem; font: 1rem/1.6 system-ui, sans-serif; }
h1 { font-size: 1.25rem; margin: 0; overflow-wrap: anywhere; }
.path { color: GrayText; overflow-wrap: anywhere; margin: 0 0 1.5rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; }
mark { background: #ffe08a; color: #1b1b1b; }
"""
_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'"
_GONE = "This link has expired, or the document is no longer in the library."


class SourcePages:
    """Shows passages to whoever has a valid link. All text of documents is escaped."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    def routes(self) -> list[Route]:
        """The page and its style."""
        path = "/source/{keeper}/{document_id}/{start:int}-{end:int}/{expires_at:int}"
        return [
            Route("/source.css", self._style, methods=["GET"]),
            Route(path, self._page, methods=["GET"]),
        ]

    async def _style(self, _request: Request) -> Response:
        return PlainTextResponse(_STYLE, media_type="text/css")

    async def _page(self, request: Request) -> Response:
        passage = LinkedPassage(**request.path_params)
        signature = request.query_params.get("s", "")
        read = partial(self._read, passage, signature)
        found = await self._serving.workers.call(read)
        if found is None:
            return PlainTextResponse(_GONE, _NOT_FOUND)
        document, text = found
        headers = {"Content-Security-Policy": _POLICY}
        return HTMLResponse(_html(document, text, passage), headers=headers)

    def _read(self, passage: LinkedPassage, signature: str) -> tuple[Document, str] | None:
        """The document and its text; None for a link that is not valid, or no longer."""
        serving = self._serving
        if not serving.links.is_valid(passage, signature):
            return None
        token_id, _, user = passage.keeper.partition("~")
        token = serving.authority.valid(token_id)
        document = serving.library.documents.get(passage.document_id)
        if token is None or document is None or document.state is DocumentState.GONE:
            return None
        sources = {s.source_id: s.collection_id for s in serving.library.sources.all()}
        collection_id = sources.get(document.source_id, "")
        if not serving.rights.may_follow(token, user, collection_id):
            return None
        return document, serving.library.documents.text(passage.document_id)


def _html(document: Document, text: str, passage: LinkedPassage) -> str:
    start, end = max(0, passage.start), min(len(text), passage.end)
    first, last = max(0, start - _AROUND_CHARS), end + _AROUND_CHARS
    before, marked, after = text[first:start], text[start:end], text[end:last]
    name = document.title or document.name
    body = tag(
        "body",
        tag("h1", name),
        tag("p", document.address or f"{document.path}", class_="path"),
        tag(
            "pre",
            "… " if first else "",
            before,
            tag("mark", marked),
            after,
            " …" if last < len(text) else "",
        ),
    )
    return html_document(name, body, stylesheet="/source.css")
