"""Reads what a WebDAV server lists: XML of a multistatus response (RFC 4918, RFC 6578). Pure."""

from dataclasses import dataclass, field

from desktop_rag.features.web_pages.sitemap_walk import ListError, parse_xml

_OK = 200
_DAV, _OWNCLOUD = "DAV: ", "http://owncloud.org/ns "
_WANTED = {
    f"{_DAV}getetag": "etag", f"{_DAV}getcontentlength": "size",
    f"{_DAV}getlastmodified": "modified", f"{_OWNCLOUD}fileid": "file_id",
    f"{_DAV}sync-token": "sync_token",
}  # fmt: skip
_MOST_CHARS = 4_000


@dataclass
class Resource:
    """A file or folder as it is listed; texts are as the server writes them."""

    href: str = ""
    status: int = _OK
    is_folder: bool = False
    has_sync: bool = False
    texts: dict[str, str] = field(default_factory=dict[str, str])


@dataclass
class Multistatus:
    """All resources of a response, and the token of a synchronisation."""

    resources: list[Resource] = field(default_factory=list[Resource])
    sync_token: str = ""


def parse_multistatus(body: bytes) -> Multistatus:
    """The listed resources. ListError for anything else, also for XML with entities of its own."""
    handler = _Handler()
    parse_xml(body, handler)
    if not handler.is_multistatus:
        raise ListError("it is not of WebDAV")
    return handler.found


class _Handler:
    """Collects the properties that a server has (propstats with another status are left out)."""

    def __init__(self) -> None:
        self.found = Multistatus()
        self.is_multistatus = False
        self._path: list[str] = []
        self._text: list[str] = []
        self._resource = Resource()
        self._props = Resource()
        self._status = ""

    def start(self, name: str, _attributes: dict[str, str], /) -> None:
        self._path.append(name)
        self._text.clear()
        if name == f"{_DAV}multistatus":
            self.is_multistatus = len(self._path) == 1
        elif name == f"{_DAV}response":
            self._resource = Resource()
        elif name == f"{_DAV}propstat":
            self._props, self._status = Resource(), ""
        elif name == f"{_DAV}collection":
            self._props.is_folder |= f"{_DAV}resourcetype" in self._path
        elif name == f"{_DAV}sync-collection":
            self._props.has_sync |= f"{_DAV}supported-report-set" in self._path

    def text(self, text: str, /) -> None:
        self._text.append(text)

    def end(self, name: str, /) -> None:
        self._path.pop()
        text = "".join(self._text).strip()[:_MOST_CHARS]
        self._text.clear()
        parent = self._path[-1] if self._path else ""
        if name == f"{_DAV}href" and parent == f"{_DAV}response":
            self._resource.href = text
        elif name == f"{_DAV}status":
            self._status = text
            if parent == f"{_DAV}response":
                self._resource.status = _code(text)
        elif name == f"{_DAV}sync-token" and parent == f"{_DAV}multistatus":
            self.found.sync_token = text
        elif parent == f"{_DAV}prop" and name in _WANTED:
            self._props.texts[_WANTED[name]] = text
        elif name == f"{_DAV}propstat" and _code(self._status or "HTTP/1.1 200") == _OK:
            self._resource.texts |= self._props.texts
            self._resource.is_folder |= self._props.is_folder
            self._resource.has_sync |= self._props.has_sync
        elif name == f"{_DAV}response" and self._resource.href:
            self.found.resources.append(self._resource)


def _code(status: str) -> int:
    """The number of `HTTP/1.1 404 Not Found`; 0 for what is none."""
    words = status.split()
    return int(words[1]) if len(words) > 1 and words[1].isascii() and words[1].isdecimal() else 0
