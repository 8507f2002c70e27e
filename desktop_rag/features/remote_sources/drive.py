"""Files of Google Drive, with Docs, Sheets and Slides as files of Office.

A person logs in at Google with a client ID of their own, as programs of a desktop do (RFC 8252):
the browser comes back to a port of this computer with a code, which only this program can use
(PKCE). What is kept, in the keyring, is the token that Google gives for it. The changes feed tells
whether anything changed; then all files are listed, a thousand by a request.
"""

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import BinaryIO
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from desktop_rag.core.domain import WebLinks
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.records import strict_json
from desktop_rag.core.setting_text import marked
from desktop_rag.features.remote_sources.http_place import HttpPlace, PlaceLimits, Refused
from desktop_rag.features.remote_sources.json_remote import (
    MOST_REQUESTS,
    JsonRemote,
    apart,
    checked_address,
    file_name,
    needed,
    needed_rows,
    rows_of,
    seconds_of,
    text_of,
    unreadable,
)
from desktop_rag.features.remote_sources.remote import (
    Item,
    Part,
    RemoteKind,
    RemoteRefused,
    Told,
    Trouble,
)
from desktop_rag.features.web_pages.page_address import host_of, origin_of

_SCOPE = "https://www.googleapis.com/auth/drive.readonly"
_FOLDER = "application/vnd.google-apps.folder"
_GOOGLE = "application/vnd.google-apps."
_OFFICE = "application/vnd.openxmlformats-officedocument."
# What Google's own kinds are exported as.
_EXPORTS = {
    "document": (".docx", f"{_OFFICE}wordprocessingml.document"),
    "spreadsheet": (".xlsx", f"{_OFFICE}spreadsheetml.sheet"),
    "presentation": (".pptx", f"{_OFFICE}presentationml.presentation"),
}
_FIELDS = (
    "nextPageToken,incompleteSearch,files(id,name,mimeType,md5Checksum,modifiedTime,size,parents,"
    "webViewLink,permissions(type,emailAddress,domain))"
)
_MOST_DEPTH = 50
_MOST_BYTES = 1 << 20
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
# A token is renewed before it ends, and a person has so long to log in.
_EARLY_S, _LOGIN_S, _POLL_S = 120.0, 300.0, 0.2
_STATE_BYTES = 32


@dataclass(frozen=True, slots=True)
class _Google:
    """The addresses of the service."""

    api: str
    login: str
    tokens: str


def _google(links: WebLinks) -> _Google:
    origin = origin_of(links.urls[0])
    if host_of(origin) == "drive.google.com":
        return _Google(
            "https://www.googleapis.com/drive/v3", "https://accounts.google.com/o/oauth2/v2/auth",
            "https://oauth2.googleapis.com/token",
        )  # fmt: skip
    return _Google(f"{origin}/drive/v3", f"{origin}/auth", f"{origin}/token")


class Drive(JsonRemote):
    """The Drive of a person: their own files and those that others share with them."""

    def __init__(
        self, links: WebLinks, login: str, cancel: threading.Event,
        limits: PlaceLimits | None = None,
    ) -> None:  # fmt: skip
        """`login` is what `log_in` gave."""
        self._google = _google(links)
        super().__init__(links, self._google.api, {}, cancel, limits)
        self._login = login
        self._tokens = HttpPlace(self._google.tokens, {}, cancel, limits or PlaceLimits())
        self._ends_at = 0.0

    def close(self) -> None:
        """Close the connections."""
        super().close()
        self._tokens.close()

    def _renew(self) -> None:
        """Have a token for the next request."""
        if time.monotonic() < self._ends_at:
            return
        try:
            kept = strict_json(self._login)
        except ValueError:
            raise _logged_out() from None
        fields = {
            "client_id": self._links.user, "client_secret": text_of(kept, "client_secret"),
            "refresh_token": text_of(kept, "refresh_token"), "grant_type": "refresh_token",
        }  # fmt: skip
        found = _token(self._tokens, self._google.tokens, fields)
        self._place.set_header("Authorization", f"Bearer {needed(found, 'access_token')}")
        self._ends_at = time.monotonic() + float(text_of(found, "expires_in") or 0) - _EARLY_S

    # --- the listing -----------------------------------------------------------------------------

    def parts(self, tokens: Mapping[str, str]) -> Iterator[Part]:
        """As `Remote.parts`: the Drive is one part."""
        self._renew()
        if following := self._token_if_same(tokens.get("", "")):
            yield Part("", Told.SAME, token=following)
            return
        token = needed(self.listed("changes/startPageToken").value, "startPageToken")
        rows = list(self._files())
        folders = {needed(r, "id"): r for r in rows if text_of(r, "mimeType") == _FOLDER}
        items = [item for row in rows if (item := _item(row, folders))]
        yield Part("", items=apart(items), token=token)

    def _token_if_same(self, token: str) -> str:
        """The token for the next time if nothing changed; "" if something did."""
        if not token:
            return ""
        fields = "newStartPageToken,nextPageToken,changes(fileId)"
        try:
            found = self.listed("changes", pageToken=token, pageSize=1, fields=fields).value
        except Refused as refused:
            if refused.status not in (400, 404, 410):
                raise
            # Too old.
            return ""
        has_changes = needed_rows(found, "changes") or text_of(found, "nextPageToken")
        return "" if has_changes else needed(found, "newStartPageToken")

    def _files(self) -> Iterator[object]:
        query: dict[str, str | int] = {
            "q": "trashed = false", "pageSize": 1000, "fields": _FIELDS, "spaces": "drive"
        }  # fmt: skip
        for _ in range(MOST_REQUESTS):
            self._renew()
            found = self.listed("files", "", **query).value
            if text_of(found, "incompleteSearch") == "True":
                raise unreadable()
            yield from needed_rows(found, "files")
            if not (following := text_of(found, "nextPageToken")):
                return
            query["pageToken"] = following
        raise unreadable()

    # --- a file ----------------------------------------------------------------------------------

    def written(self, item: Item) -> tuple[Item, str]:
        """Nothing is written here: files are fetched as they are."""
        raise AssertionError(item.item_id)

    def fetch(self, item: Item, target: BinaryIO, most_bytes: int) -> Item:
        """As `Remote.fetch`."""
        self._renew()
        size, _ = self._place.save(f"{self._api}/{item.place}", target, item.size, most_bytes)
        if item.size not in (-1, size):
            raise RemoteRefused(
                Trouble.FAILED, f"Only {size:,} of {item.size:,} bytes came.",
                "The next round fetches it again.",
            )  # fmt: skip
        return item


def _item(row: object, folders: Mapping[str, object]) -> Item | None:
    """A file as it is listed; None for a folder, and for what has no content, such as a link."""
    file_id, kind, name = needed(row, "id"), text_of(row, "mimeType"), text_of(row, "name")
    suffix, export = _EXPORTS.get(kind.removeprefix(_GOOGLE), ("", ""))
    if kind.startswith(_GOOGLE) and not export:
        return None
    place = f"files/{quote(file_id, safe='')}"
    size, changed = text_of(row, "size"), text_of(row, "modifiedTime")
    readers = {
        text_of(each, "emailAddress") or text_of(each, "domain") or text_of(each, "type")
        for each in rows_of(row, "permissions")
    }
    stem, dot, ending = name.rpartition(".")
    shown = file_name(stem, f".{file_name(ending)}") if dot and stem and not export else ""
    return Item(
        file_id,
        "/".join((*_above(row, folders), shown or file_name(name, suffix))),
        text_of(row, "md5Checksum") or changed,
        -1 if export or not size.isdecimal() else int(size),
        seconds_of(changed),
        f"{place}/export?{urlencode({'mimeType': export})}" if export else f"{place}?alt=media",
        text_of(row, "webViewLink"),
        tuple(sorted(readers)),
    )


def _above(row: object, folders: Mapping[str, object]) -> list[str]:
    """The names of the folders around a file, the outermost first."""
    names: list[str] = []
    parents = rows_of(row, "parents")
    if not parents:
        return [_SHARED]
    while parents and len(names) < _MOST_DEPTH:
        folder = folders.get(str(parents[0]))
        if folder is None:
            # The Drive itself.
            break
        names.insert(0, file_name(text_of(folder, "name")))
        parents = rows_of(folder, "parents")
    return names


_SHARED = "Shared with me"


# --- the login ------------------------------------------------------------------------------------


class _Comeback(BaseHTTPRequestHandler):
    """Takes the one request with which the browser comes back."""

    def do_GET(self) -> None:
        assert isinstance(self.server, _ComebackServer)
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        is_ours = hmac.compare_digest(query.get("state", "").encode(), self.server.state.encode())
        if is_ours:
            self.server.answer = query
        words = "You can close this page." if is_ours else "This page belongs to another login."
        self.send_response(200 if is_ours else 400)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.end_headers()
        self.wfile.write(words.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: the code is in the address."""


class _ComebackServer(HTTPServer):
    timeout = _POLL_S

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Comeback)
        self.state = secrets.token_urlsafe(_STATE_BYTES)
        self.answer: Mapping[str, str] = {}


def log_in(
    links: WebLinks, secret: str, cancel: threading.Event,
    show: Callable[[str], bool] = webbrowser.open, limits: PlaceLimits | None = None,
) -> str:  # fmt: skip
    """Have the person log in in their browser, which `show` opens; what `Drive` takes.

    A `secret` that is a login already stays as it is. AppError when the person does not agree.
    """
    if secret.startswith("{"):
        return secret
    verifier = secrets.token_urlsafe(_STATE_BYTES)
    digest = hashlib.sha256(verifier.encode()).digest()
    with _ComebackServer() as server:
        here = f"http://127.0.0.1:{server.server_address[1]}"
        query = {
            "client_id": links.user, "redirect_uri": here, "response_type": "code",
            "scope": _SCOPE, "state": server.state, "access_type": "offline", "prompt": "consent",
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }  # fmt: skip
        if not show(f"{_google(links).login}?{urlencode(query)}"):
            raise AppError("No browser could be opened.", "Log in on a computer that has one.")
        ends_at = time.monotonic() + _LOGIN_S
        while not server.answer:
            if cancel.is_set():
                raise Cancelled
            if time.monotonic() > ends_at:
                raise AppError("Nobody logged in within five minutes.", "Try it again.")
            server.handle_request()
        answer = server.answer
    if not answer.get("code"):
        raise AppError("Google did not let the app read the Drive.", answer.get("error", "")[:80])
    fields = {
        "client_id": links.user, "client_secret": secret, "code": answer["code"],
        "code_verifier": verifier, "grant_type": "authorization_code", "redirect_uri": here,
    }  # fmt: skip
    place = HttpPlace(_google(links).tokens, {}, cancel, limits or PlaceLimits())
    try:
        found = _token(place, _google(links).tokens, fields)
    finally:
        place.close()
    return json.dumps({"refresh_token": needed(found, "refresh_token"), "client_secret": secret})


def _token(place: HttpPlace, url: str, fields: Mapping[str, str]) -> object:
    try:
        _, _, body = place.read("POST", url, _FORM, urlencode(fields).encode(), _MOST_BYTES)
        return strict_json(body)
    except Refused as refused:
        if refused.status in (400, 401, 403):
            raise _logged_out() from refused
        raise
    except ValueError as exc:
        raise unreadable() from exc


def _logged_out() -> RemoteRefused:
    return RemoteRefused(
        Trouble.REFUSED, "Google no longer accepts the login.",
        "Enter the client secret again in the options of the source, which opens Google's page.",
    )  # fmt: skip


_EXAMPLE = "https://drive.google.com/"


def checked(links: WebLinks) -> WebLinks:
    """The address of the service, with a client ID. AppError without one."""
    links = checked_address(links, has_secret=True, example=_EXAMPLE)
    if not links.user:
        raise AppError(
            "Write the client ID.", "docs/google-docs-and-gmail.md says how one is made."
        )
    return replace(links, urls=(f"{origin_of(links.urls[0])}/",))


def _open(
    links: WebLinks, login: str, cancel: threading.Event, limits: PlaceLimits | None = None
) -> Drive:
    return Drive(links, login, cancel, limits)


DRIVE = RemoteKind(
    "drive", marked("Google Drive"), checked, _open, address=_EXAMPLE,
    user=marked("Client ID"), secret=marked("Client secret"), folders=marked("Folders"),
    note=marked(
        "Both are made once in Google's console, for a desktop app. Then a page of Google opens in"
        " your browser, where you let this app read your Drive."
    ),
    log_in=log_in,
)  # fmt: skip
