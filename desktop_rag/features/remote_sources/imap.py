"""Mailboxes by IMAP: Gmail, Fastmail, iCloud, Dovecot and others. Each message is a file.

A folder whose next id and number of messages are those of the last round has the same messages, as
these never change. In another one, only the messages that are not known yet are listed. One that
was moved has another id, and is known again by the fields of its header and its size.
"""

import email
import email.errors
import email.utils
import hashlib
import ipaddress
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from email.header import decode_header, make_header
from time import gmtime, strftime
from typing import TYPE_CHECKING, BinaryIO

from desktop_rag.core.domain import WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.setting_text import marked
from desktop_rag.features.remote_sources.http_place import PlaceLimits
from desktop_rag.features.remote_sources.remote import (
    Item,
    Part,
    Remote,
    RemoteKind,
    RemoteRefused,
    Told,
    Trouble,
)
from desktop_rag.features.web_pages.page_address import MAIL_PORTS, PageRefused, host_of, normalise

if TYPE_CHECKING:
    from desktop_rag.features.remote_sources.imap_session import Head, MailFolder, MailSession

_BATCH = 250
_PIECE_BYTES = 1 << 20
_SUBJECT_CHARS, _SUBJECT_BYTES = 60, 70
_UNSAFE = re.compile(r'[\s\x00-\x1f\x7f<>:"|?*\\/\ud800-\udfff]+')
_PATH_UID = re.compile(r"\((\d+)\)\.eml\Z")
# Not read unless chosen: what nobody wants to find, and views of messages of other folders.
_UNWANTED = frozenset({"\\junk", "\\trash", "\\drafts", "\\flagged", "\\important"})
_ALL = "\\all"
_NAMED_FOLDERS = 8


class Mailbox(Remote):
    """The chosen folders of a login to a mail server."""

    def __init__(self, session: "MailSession", chosen: Sequence[str] = (), since: str = "") -> None:
        self._session = session
        self._chosen = chosen
        self._since = since

    @property
    def requests(self) -> int:
        """How many requests were made."""
        return self._session.requests

    def close(self) -> None:
        """Log out."""
        self._session.close()

    # --- the listing -----------------------------------------------------------------------------

    def parts(self, tokens: Mapping[str, str]) -> Iterator[Part]:
        """As `Remote.parts`: a folder comes in several, the newest messages first."""
        folders = _unlike(self._session.folders())
        # All to choose from, also in a preview that ends early.
        yield from (Part(f"{folder.shown}/") for folder in folders)
        for folder in self._wanted(folders):
            yield from self._folder(folder, tokens)
        # A server in trouble may leave out of its list what it still has.
        listed = {folder.name for folder in folders}
        for key, token in tokens.items():
            name = token.split(" ", 2)[2]
            if name not in listed and self._session.has(name):
                yield Part(key, Told.SAME, token=token)

    def _wanted(self, folders: Sequence["MailFolder"]) -> Sequence["MailFolder"]:
        if not self._chosen:
            # Where one folder has all messages, as that of Gmail, the others are views of it.
            whole = [folder for folder in folders if _ALL in folder.flags]
            return whole or [folder for folder in folders if not folder.flags & _UNWANTED]
        wanted = [folder for folder in folders if folder.shown in self._chosen]
        if not wanted:
            there = ", ".join(folder.shown for folder in folders[:_NAMED_FOLDERS])
            raise RemoteRefused(
                Trouble.REFUSED, "The mailbox has none of the chosen folders.",
                f"Its folders are {there}.",
            )  # fmt: skip
        return wanted

    def _folder(self, folder: "MailFolder", tokens: Mapping[str, str]) -> Iterator[Part]:
        try:
            state = self._session.examine(folder.name)
        except RemoteRefused as refused:
            if refused.trouble is not Trouble.FAILED:
                raise
            yield Part(f"{folder.shown}/", problem=refused.reason)
            return
        key = f"{folder.shown}/{state.validity}/"
        # Without the next id, as of old servers, the folder is listed in each round.
        numbers = f"{state.next_uid}:{state.messages}"
        token = f"{numbers} {self._since} {folder.name}"
        if state.next_uid and tokens.get(key) == token:
            yield Part(key, Told.SAME, token=token)
            return
        uids = self._session.search(self._since) if state.messages else []
        kept = {_uid_of(item.path): item for item in self.kept.get(key, ())}
        fresh = [uid for uid in uids if uid not in kept or not kept[uid].version]
        told = Told.CHANGES if kept else Told.ALL
        for end in range(len(fresh), 0, -_BATCH):
            heads = self._session.heads(fresh[max(0, end - _BATCH) : end])
            items = [_item(folder, state.validity, head) for head in heads]
            yield Part(key, told, tuple(reversed(items)))
        gone = kept.keys() - set(uids)
        yield Part(key, told, gone=tuple(kept[uid].path for uid in gone), token=token)

    # --- a message -------------------------------------------------------------------------------

    def fetch(self, item: Item, target: BinaryIO, most_bytes: int) -> Item:
        """As `Remote.fetch`, in pieces: after one, what was lost with the connection goes on."""
        size, is_whole = 0, False
        while not is_whole:
            piece = self._piece(item, size)
            target.write(piece)
            size += len(piece)
            if size > most_bytes:
                raise RemoteRefused(Trouble.LEFT_OUT, f"larger than {most_bytes >> 20} MB")
            # Some servers say a wrong size, others send less than was asked for.
            is_whole = not piece or (len(piece) < _PIECE_BYTES and size >= item.size)
        if not size:
            raise RemoteRefused(Trouble.FAILED, "The server sent nothing.")
        return item

    def _piece(self, item: Item, offset: int) -> bytes:
        from desktop_rag.features.remote_sources.imap_session import ConnectionLost  # noqa: PLC0415

        uid, validity, name = item.place.split(" ", 2)
        wanted = name, int(validity), int(uid), offset, _PIECE_BYTES
        with suppress(ConnectionLost):
            return self._session.piece(*wanted)
        try:
            return self._session.piece(*wanted)
        except ConnectionLost as lost:
            # It may be this message that the server fails at.
            hint = "The next round fetches it again."
            raise RemoteRefused(Trouble.FAILED, lost.title, hint) from lost


def _unlike(folders: Sequence["MailFolder"]) -> list["MailFolder"]:
    """The folders in the order of their names, no two of which are shown alike."""
    found: dict[str, MailFolder] = {}
    for folder in sorted(folders, key=lambda each: each.name):
        shown = folder.shown
        while shown in found:
            shown += "~"
        found[shown] = replace(folder, shown=shown)
    return list(found.values())


def _item(folder: "MailFolder", validity: int, head: "Head") -> Item:
    fields = email.message_from_string(_text(head.fields))
    modified, day = _arrival(head.arrived or str(fields.get("date", "")))
    name = " ".join(part for part in (day, _subject(str(fields.get("subject", "")))) if part)
    item_id = f"{folder.shown}/{validity}/{head.uid}"
    # The same in any folder; its size is compared as well. Without an id of its own, as programs
    # write them, a message may be like another one.
    known_by = head.fields.strip() if fields.get("message-id") else item_id.encode()
    return Item(
        item_id=item_id,
        path=f"{folder.shown}/{name} ({head.uid}).eml",
        version=hashlib.blake2b(known_by, digest_size=16).hexdigest(),
        size=head.size,
        modified=modified,
        place=f"{head.uid} {validity} {folder.name}",
    )


def _text(header: bytes) -> str:
    """Many write their letters as they are, in UTF-8 or another encoding."""
    try:
        return header.decode()
    except UnicodeDecodeError:
        return header.decode("cp1252", "replace")


def _uid_of(path: str) -> int:
    found = _PATH_UID.search(path)
    return int(found[1]) if found else -1


def _arrival(text: str) -> tuple[float, str]:
    """When a message came, and the day as it was there."""
    parts = email.utils.parsedate_tz(text)
    with suppress(OverflowError, ValueError):
        if parts:
            moment = float(email.utils.mktime_tz(parts))
            return moment, strftime("%Y-%m-%d", gmtime(moment + (parts[9] or 0)))
    return 0.0, ""


def _subject(text: str) -> str:
    """A subject as part of the name of a file."""
    with suppress(ValueError, LookupError, email.errors.MessageError):
        text = str(make_header(decode_header(text)))
    safe = _UNSAFE.sub(" ", text).strip(" .")[:_SUBJECT_CHARS]
    return safe.encode()[:_SUBJECT_BYTES].decode(errors="ignore").strip(" .")


# --- the kind ------------------------------------------------------------------------------------

_EXAMPLE = "imaps://imap.example.org"


def checked(links: WebLinks) -> WebLinks:
    """The address of the server; the folders in its path are chosen. AppError for any other."""
    [typed, *others] = [url.strip() for url in links.urls]
    typed = typed if "://" in typed else f"imaps://{typed}"
    server, _, folders = typed.partition("://")[2].partition("/")
    try:
        url = normalise(f"{typed.partition('://')[0]}://{server}/", MAIL_PORTS)
    except PageRefused as refused:
        url, reason = "", refused.reason
    else:
        reason = ""
    if not url or others:
        hint = f"{reason} It is like {_EXAMPLE}, or {_EXAMPLE}/INBOX,Sent.".strip()
        raise AppError("Write the address of one mail server.", hint)
    if url.startswith("imap:") and not _is_this_computer(host_of(url)):
        raise AppError(
            "The password would go over the network unencrypted.",
            f"Write the address with imaps://, such as {_EXAMPLE}.",
        )
    if not links.user.strip():
        raise AppError("Enter the user name of the mailbox.", "Mostly it is the address of mail.")
    chosen = [*links.chosen, *(name.strip() for name in folders.split(","))]
    names = [name.replace("/", ".") for name in chosen if name]
    shown = ["INBOX" if name.upper() == "INBOX" else name for name in names]
    return replace(links, urls=(url,), user=links.user.strip(), chosen=tuple(dict.fromkeys(shown)))


def _is_this_computer(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def _open(
    links: WebLinks, password: str, cancel: threading.Event, limits: PlaceLimits | None = None
) -> Mailbox:
    # Importing the network libraries takes a while; the window opens without them.
    from desktop_rag.features.remote_sources.imap_session import MailSession  # noqa: PLC0415

    seconds = (limits or PlaceLimits()).seconds
    session = MailSession(links.urls[0], links.user, password, cancel, seconds)
    return Mailbox(session, links.chosen, links.since)


IMAP = RemoteKind(
    "imap",
    marked("Mailbox (IMAP)"),
    checked,
    _open,
    example=_EXAMPLE,
    user=marked("User"),
    secret=marked("App password"),
    folders=marked("Folders"),
    takes_since=True,
    note=marked(
        "For Gmail write imap.gmail.com. Gmail, iCloud, Yahoo and Fastmail make app passwords in"
        " the settings of the account, under security. Nothing is marked as read."
    ),
)
