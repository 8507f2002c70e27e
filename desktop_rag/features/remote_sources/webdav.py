"""Files of a WebDAV server: Nextcloud, ownCloud, Seafile, Synology, and others.

A server that can tell what changed since a token is asked for that (RFC 6578). Else the folders are
walked, one request each. Nextcloud and ownCloud change the ETag of a folder with anything below it,
and give ids: there, folders with the ETag of the last round are not looked into, and a file that
was moved keeps its id.
"""

import email.utils
import re
import threading
import unicodedata
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import BinaryIO
from urllib.parse import quote, unquote_to_bytes

from desktop_rag.core.domain import WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.setting_text import marked
from desktop_rag.features.remote_sources.http_place import (
    HttpPlace,
    PlaceLimits,
    Refused,
    basic,
    refuse_unencrypted,
)
from desktop_rag.features.remote_sources.remote import (
    Item,
    Part,
    Remote,
    RemoteKind,
    RemoteRefused,
    Told,
    Trouble,
)
from desktop_rag.features.web_pages.page_address import origin_of, parse_links, target_of
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


_PROPERTIES = "<d:resourcetype/><d:getetag/><d:getcontentlength/><d:getlastmodified/><oc:fileid/>"
_PROPFIND = (
    '<?xml version="1.0" encoding="utf-8"?>'
    '<d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:prop>'
    f"{_PROPERTIES}{{more}}</d:prop></d:propfind>"
)
_OF_ROOT = "<d:supported-report-set/>"
_SYNC = (
    '<?xml version="1.0" encoding="utf-8"?>'
    '<d:sync-collection xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns">'
    "<d:sync-token>{token}</d:sync-token><d:sync-level>infinite</d:sync-level>"
    f"<d:prop>{_PROPERTIES}</d:prop></d:sync-collection>"
)
_XML = {"Content-Type": "application/xml; charset=utf-8"}
_MISSING, _CUT = 404, 507
_GONE = frozenset({404, 410})
_FORBIDDEN = 403
_MOST_BYTES = 1 << 26
_MOST_DEPTH = 50
_SAFE = "%!$&'()*+,;=:@-._~"
_HREF = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//[^/]*", re.IGNORECASE)
_DAV_FOLDER = re.compile(r"(?:/index\.php)?/remote\.php/.*", re.DOTALL)
# A sync token among the tokens of folders, which are ETags.
_TOKEN = "sync "


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder on the way: its address and path, and what tells it from those around it."""

    url: str
    key: str
    marks: tuple[object, ...] = ()


class WebDav(Remote):
    """A folder of a WebDAV server."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        cancel: threading.Event,
        limits: PlaceLimits | None = None,
        resolve: Callable[[str, int], Sequence[str]] | None = None,
        chosen: Collection[str] = (),
    ) -> None:
        """`headers` log in; with `chosen`, other folders are not looked into."""
        self._chosen = chosen
        self._url = url if url.endswith("/") else f"{url}/"
        self._place = HttpPlace(url, headers, cancel, limits or PlaceLimits(), resolve)

    @property
    def requests(self) -> int:
        """How many requests were made."""
        return self._place.requests

    @property
    def received_bytes(self) -> int:
        """How many bytes came, headers aside."""
        return self._place.received_bytes

    def close(self) -> None:
        """Close the connection."""
        self._place.close()

    # --- the listing -----------------------------------------------------------------------------

    def parts(self, tokens: Mapping[str, str]) -> Iterator[Part]:
        """As `Remote.parts`."""
        root = self._root()
        if root.has_sync:
            token = tokens.get("", "")
            with suppress(_NoSyncError):
                yield self._synced(token.removeprefix(_TOKEN) if token.startswith(_TOKEN) else "")
                return
        etag = root.texts.get("etag", "") if root.texts.get("file_id") else ""
        if etag and tokens.get("") == etag:
            yield Part("", Told.SAME, token=etag)
            return
        yield from self._walked(tokens)

    def _root(self) -> Resource:
        try:
            found = self._listed("PROPFIND", self._url, _PROPFIND.format(more=_OF_ROOT), "0")
        except Refused as refused:
            raise _no_folder(refused) from refused
        if not found.resources or not found.resources[0].is_folder:
            raise _no_folder()
        return found.resources[0]

    def _walked(self, tokens: Mapping[str, str]) -> Iterator[Part]:
        """Each folder, those above first."""
        left = deque([_Folder(self._url, "")])
        while left:
            # Those above first: a preview of much has at least their names.
            folder = left.popleft()
            try:
                found = self._listed("PROPFIND", folder.url, _PROPFIND.format(more=""), "1")
            except Refused as refused:
                if not folder.key or refused.status not in (_FORBIDDEN, *_GONE):
                    raise _as_offline(refused) from refused
                if refused.status == _FORBIDDEN:
                    yield Part(folder.key, problem=refused.reason)
                # One that went away on the way is not named, and so it is gone.
                continue
            own, children = _children(found.resources, folder.url)
            if problem := _circle(folder, own, children):
                yield Part(folder.key, problem=problem)
                continue
            marks = (*folder.marks, _mark(own, children))
            items: list[Item] = []
            for name, url, each in children:
                if not each.is_folder:
                    items.append(self._item(f"{folder.key}{name}", url, each))
                    continue
                if self._chosen and not folder.key and name not in self._chosen:
                    continue
                key, etag = f"{folder.key}{name}/", each.texts.get("etag", "")
                if each.texts.get("file_id") and etag and tokens.get(key) == etag:
                    yield Part(key, Told.SAME, token=etag)
                else:
                    left.append(_Folder(f"{url}/", key, marks))
            token = own.texts.get("etag", "") if own.texts.get("file_id") else ""
            yield Part(folder.key, items=tuple(items), token=token)

    def _synced(self, token: str) -> Part:
        """All that changed since a token, or all there is; _NoSyncError if the server can't say."""
        items: list[Item] = []
        gone: list[str] = []
        following, is_cut = token, True
        while is_cut:
            body = _SYNC.format(token=following.replace("&", "&amp;").replace("<", "&lt;"))
            try:
                found = self._listed("REPORT", self._url, body, "0")
            except Refused as refused:
                if token and refused.status in (_FORBIDDEN, 409, 410):
                    # The server forgot what the token stands for.
                    return self._synced("")
                if refused.trouble is Trouble.FAILED and refused.status < 500:  # noqa: PLR2004
                    raise _NoSyncError from refused
                raise _as_offline(refused) from refused
            is_cut = any(each.status == _CUT for each in found.resources)
            if not found.sync_token or (is_cut and found.sync_token == following):
                raise _NoSyncError
            following = found.sync_token
            self._sort(found.resources, items, gone)
        told = Told.CHANGES if token else Told.ALL
        return Part("", told, tuple(items), tuple(gone), f"{_TOKEN}{following}")

    def _sort(self, resources: Sequence[Resource], items: list[Item], gone: list[str]) -> None:
        root = _decoded(target_of(self._url)).rstrip("/")
        for each in resources:
            path = _decoded(_path_of(each.href)).rstrip("/")
            if path == root or each.status == _CUT:
                continue
            if not path.startswith(f"{root}/"):
                raise _NoSyncError
            below = path.removeprefix(f"{root}/")
            if each.status in _GONE:
                gone.append(below)
            elif not each.is_folder:
                url = origin_of(self._url) + quote(_path_of(each.href), safe=f"/{_SAFE}")
                items.append(self._item(below, url, each))

    def _listed(self, method: str, url: str, body: str, depth: str) -> Multistatus:
        headers = {**_XML, "Depth": depth}
        _, _, answer = self._place.read(method, url, headers, body.encode(), _MOST_BYTES)
        try:
            return parse_multistatus(answer)
        except ListError as exc:
            raise RemoteRefused(
                Trouble.OFFLINE, f"The listing of the folder can't be read: {exc}.",
                "Check that the address is that of a WebDAV folder.",
            ) from exc  # fmt: skip

    def _item(self, path: str, url: str, found: Resource) -> Item:
        texts = found.texts
        size, file_id = texts.get("size", ""), texts.get("file_id", "")
        modified = texts.get("modified", "")
        return Item(
            item_id=file_id or path,
            path=path,
            version=_plain(texts.get("etag", "")) or f"{modified}/{size}",
            size=int(size) if size.isascii() and size.isdecimal() else -1,
            modified=_moment(modified),
            place=url,
            page=self._page(file_id),
        )

    def _page(self, file_id: str) -> str:
        """The page that shows a file in Nextcloud and ownCloud; "" elsewhere."""
        root, found = _DAV_FOLDER.subn("", self._url)
        return f"{root}/index.php/f/{quote(file_id, safe='')}" if file_id and found else ""

    # --- a file ----------------------------------------------------------------------------------

    def fetch(self, item: Item, target: BinaryIO, most_bytes: int) -> Item:
        """As `Remote.fetch`."""
        try:
            size, headers = self._place.save(item.place, target, item.size, most_bytes)
        except Refused as refused:
            if refused.trouble is Trouble.FAILED and refused.status in _GONE:
                hint = "It may have been moved or deleted just now."
                raise RemoteRefused(Trouble.FAILED, refused.title, hint) from refused
            raise
        version = _plain(headers.get("etag", ""))
        if version and version != item.version and not item.version.startswith("/"):
            return replace(item, version=version, size=size)
        if item.size not in (-1, size):
            raise RemoteRefused(
                Trouble.FAILED, f"Only {size:,} of {item.size:,} bytes came.",
                "The next round fetches it again.",
            )  # fmt: skip
        return item


class _NoSyncError(Exception):
    """The server can't tell what changed: the folders are walked."""


def _no_folder(refused: Refused | None = None) -> RemoteRefused:
    if refused and refused.trouble is not Trouble.FAILED:
        return refused
    if refused and refused.status not in (400, _FORBIDDEN, 405, 409, 415, 501, *_GONE):
        return _as_offline(refused)
    title = "There is no WebDAV folder at this address."
    if refused and refused.status == _FORBIDDEN:
        title = "The server does not let this user read the folder."
    return RemoteRefused(
        Trouble.REFUSED, title,
        "Nextcloud shows the address in its files, under Settings: it ends in"
        " /remote.php/dav/files/ and the user.",
    )  # fmt: skip


def _as_offline(refused: Refused) -> RemoteRefused:
    """Nothing is known of a folder that can't be listed, so the round ends."""
    if refused.trouble is not Trouble.FAILED:
        return refused
    return RemoteRefused(Trouble.OFFLINE, refused.title, refused.hint)


def _children(
    resources: Sequence[Resource], url: str
) -> tuple[Resource, list[tuple[str, str, Resource]]]:
    """The folder itself, and the name and address of each file and folder in it.

    A server may write addresses by another name of its own, so only what comes after the folder's
    own path counts, and addresses are built on the one that was asked for.
    """
    paths = [(_decoded(_path_of(each.href)).rstrip("/"), each) for each in resources]
    base, own = min(paths, key=lambda pair: len(pair[0]), default=("", Resource()))
    children: dict[str, tuple[str, str, Resource]] = {}
    for path, each in paths:
        name = path.removeprefix(f"{base}/")
        if each is own or path in {base, name} or "/" in name:
            continue
        if name not in (".", "..") and each.status < 400:  # noqa: PLR2004
            raw = _path_of(each.href).rstrip("/").rpartition("/")[2]
            children[name] = (name.replace("\0", "_"), f"{url}{quote(raw, safe=_SAFE)}", each)
    return own, list(children.values())


def _path_of(href: str) -> str:
    return _HREF.sub("", href, count=1) if _HREF.match(href) else href


def _decoded(path: str) -> str:
    """A path as text: escapes of UTF-8, else of Latin-1; a slash in a name stays escaped."""
    raw = unquote_to_bytes(re.sub("%2f", "%252F", path, flags=re.IGNORECASE))
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return text


def _mark(own: Resource, children: Sequence[tuple[str, str, Resource]]) -> object:
    """What tells a folder from others: its id, or what is in it."""
    if file_id := own.texts.get("file_id"):
        return file_id
    return tuple(sorted((name, str(each.texts)) for name, _, each in children))


def _circle(folder: _Folder, own: Resource, children: Sequence[tuple[str, str, Resource]]) -> str:
    """Why a folder is not looked into: it is inside itself, or too deep; "" if it is."""
    has_folders = any(each.is_folder for _, _, each in children)
    if has_folders and _mark(own, children) in folder.marks:
        return "This folder contains itself."
    return "Too many folders inside each other." if len(folder.marks) > _MOST_DEPTH else ""


def _plain(etag: str) -> str:
    """An ETag without the marks of a packed or weak one."""
    return etag.strip().removeprefix("W/").strip('"').removesuffix("-gzip")


def _moment(text: str) -> float:
    parts = email.utils.parsedate_tz(text)
    with suppress(OverflowError, ValueError):
        return float(email.utils.mktime_tz(parts)) if parts else 0.0
    return 0.0


def checked(links: WebLinks) -> WebLinks:
    """One address, that of the chosen folder below if there is one. AppError for anything else."""
    urls = parse_links("\n".join(links.urls))
    if len(urls) != 1 or "?" in urls[0]:
        raise AppError(
            "Write the address of one folder.",
            "It is like https://cloud.example.org/remote.php/dav/files/ann/Documents/.",
        )
    # A folder alone is a place of its own.
    alone = links.chosen[0] if len(links.chosen) == 1 else ""
    folder = quote(alone, safe=f"/{_SAFE.replace('%', '')}")
    url = "".join(f"{part}/" for part in (urls[0].rstrip("/"), folder) if part)
    user = unicodedata.normalize("NFC", links.user.strip())
    if user:
        refuse_unencrypted(url)
    return replace(links, urls=(url,), user=user, chosen=() if alone else links.chosen)


def _open(
    links: WebLinks, password: str, cancel: threading.Event, limits: PlaceLimits | None = None
) -> WebDav:
    login = basic(links.user, password)
    return WebDav(links.urls[0], login, cancel, limits, chosen=links.chosen)


WEBDAV = RemoteKind(
    "webdav",
    marked("Cloud folder (WebDAV)"),
    checked,
    _open,
    example="https://cloud.example.org/remote.php/dav/files/ann/",
    user=marked("User"),
    secret=marked("App password"),
    folders=marked("Folders"),
    note=marked(
        "Nextcloud shows the address in its files, under Settings, and makes app passwords in its"
        " settings, under Security."
    ),
)
