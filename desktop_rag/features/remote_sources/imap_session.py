"""A login to a mail server by IMAP, which reads and changes nothing. On one thread.

Folders are opened by EXAMINE and messages read by BODY.PEEK, so none is ever marked as read. The
connection is that of web pages: to public addresses, and to the one host that was typed.
"""

import binascii
import imaplib
import re
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Any

from desktop_rag.core.errors import Cancelled
from desktop_rag.features.remote_sources.remote import RemoteRefused, Trouble
from desktop_rag.features.web_pages.intranet_hosts import intranet_hosts_of
from desktop_rag.features.web_pages.page_address import PageRefused, RefusalKind, host_of, port_of
from desktop_rag.features.web_pages.transport import WebTransport, resolve_host
from desktop_rag.models.endpoints.client.interruptible_sockets import SocketStream

# What a server may send as one line or literal; messages come in smaller pieces.
_MOST_BYTES = 1 << 24
_READ_BYTES = 1 << 16
_LOGOUT_S = 2.0
_FOLDER = re.compile(rb'\((?P<flags>[^)]*)\) (?P<mark>"\\?.?"|NIL) (?P<name>.+)\Z', re.DOTALL)
_UID = re.compile(rb"\bUID (\d+)")
_SIZE = re.compile(rb"\bRFC822\.SIZE (\d+)")
_ARRIVED = re.compile(rb'\bINTERNALDATE "([^"]*)"')
_QUOTED_BODY = re.compile(rb'BODY\[\]<\d+> "((?:[^"\\]|\\.)*)"', re.DOTALL)
_FIELDS = "MESSAGE-ID DATE FROM SUBJECT"
# A day as IMAP writes it, whatever the language of this computer.
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
# A refused login that is no matter of the password (RFC 5530).
_LATER = re.compile(r"\[(?:UNAVAILABLE|INUSE|SERVERBUG|LIMIT)\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MailFolder:
    """A folder: its name on the wire and as people read it, and its flags in lower case."""

    name: str
    shown: str
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FolderState:
    """What tells whether a folder changed; ids of messages hold as long as `validity` does."""

    validity: int
    next_uid: int
    messages: int


@dataclass(frozen=True, slots=True)
class Head:
    """A message as it is listed, with the wanted fields of its header as they were sent."""

    uid: int
    size: int
    arrived: str
    fields: bytes


class ConnectionLost(RemoteRefused):
    """The connection of a login ended; the next request makes another."""


class MailSession:
    """Requests to one mail server, connected at the first one. Must be closed."""

    def __init__(
        self,
        url: str,
        user: str,
        password: str,
        cancel: threading.Event,
        seconds: float = 60.0,
        resolve: Callable[[str, int], Sequence[str]] | None = None,
    ) -> None:
        """`seconds` for each request; `resolve` replaces the system's resolver."""
        self.requests = 0
        self._host, self._port = host_of(url), port_of(url)
        self._is_encrypted = url.startswith("imaps:")
        self._login_by = user, password
        self._seconds = seconds
        typed = f"[{self._host}]" if ":" in self._host else self._host
        self._transport = WebTransport(
            cancel,
            intranet=intranet_hosts_of([f"{typed}:{self._port}"]),
            resolve=resolve or resolve_host,
        )
        self._client: _Client | None = None
        self._open: tuple[str, FolderState] | None = None

    def close(self) -> None:
        """Log out and close the connection."""
        if client := self._client:
            with (
                suppress(PageRefused, Cancelled, imaplib.IMAP4.error),
                self._transport.within(self._host, _LOGOUT_S),
            ):
                client.logout()
            client.shutdown()
        self._client = None
        self._transport.close()

    def folders(self) -> list[MailFolder]:
        """All folders that hold messages."""
        found: list[MailFolder] = []
        for line in self._asked("LIST", lambda client: client.list('""', '"*"')):
            text = b"".join(line) if isinstance(line, tuple) else line
            if not text or not (match := _FOLDER.search(text)):
                continue
            flags = frozenset(match["flags"].decode("latin-1").lower().split())
            raw = line[1] if isinstance(line, tuple) else _unquoted(match["name"])
            name = raw.decode("utf-8", "replace")
            mark = match["mark"].strip(b'"').removeprefix(b"\\").decode("latin-1")
            if not flags & {"\\noselect", "\\nonexistent"}:
                found.append(MailFolder(name, _shown(name, mark), flags))
        return found

    def examine(self, name: str) -> FolderState:
        """Open a folder for reading, unless it is."""
        if self._client and self._open and self._open[0] == name:
            return self._open[1]
        return self._examined(name)

    def has(self, name: str) -> bool:
        """True when a folder can be opened."""
        try:
            self.examine(name)
        except RemoteRefused as refused:
            if refused.trouble is not Trouble.FAILED:
                raise
            return False
        return True

    def _examined(self, name: str) -> FolderState:
        self._open = None
        [messages, *_] = self._asked(
            "EXAMINE", lambda client: client.select(_quoted(name), readonly=True)
        )
        assert self._client, "it was asked just now"
        numbers = [self._client.response(code)[1][0] for code in ("UIDVALIDITY", "UIDNEXT")]
        state = FolderState(*(int(number or 0) for number in (*numbers, messages)))
        self._open = name, state
        return state

    def search(self, since: str) -> list[int]:
        """The ids of all messages of the open folder that came on a day (ISO) or later."""
        wanted = ["ALL"]
        if since:
            day = date.fromisoformat(since)
            wanted = ["SINCE", f"{day.day}-{_MONTHS[day.month - 1]}-{day.year}"]
        lines = self._asked("SEARCH", lambda client: client.uid("SEARCH", *wanted))
        return sorted({int(each) for line in lines for each in (line or b"").split()})

    def heads(self, uids: Sequence[int]) -> Iterator[Head]:
        """What is listed of messages of the open folder; those that went away are not given."""
        wanted = f"(UID RFC822.SIZE INTERNALDATE BODY.PEEK[HEADER.FIELDS ({_FIELDS})])"
        said = self._asked("FETCH", lambda client: client.uid("FETCH", _ranges(uids), wanted))
        for about, fields in _answers(said):
            uid, size, arrived = _UID.search(about), _SIZE.search(about), _ARRIVED.search(about)
            if uid and size:
                came = arrived[1].decode("latin-1") if arrived else ""
                yield Head(int(uid[1]), int(size[1]), came, fields)

    def piece(self, name: str, validity: int, uid: int, offset: int, size: int) -> bytes:
        """Some bytes of a message, b"" after its end. RemoteRefused when it is not there any more.

        Makes a new connection where the last one was lost.
        """
        if self.examine(name).validity == validity:
            wanted = f"(BODY.PEEK[]<{offset}.{size}>)"
            for about, content in _answers(
                self._asked("FETCH", lambda client: client.uid("FETCH", str(uid), wanted))
            ):
                if b"BODY[]" in about:
                    quoted = _QUOTED_BODY.search(about)
                    return content or (re.sub(rb"\\(.)", rb"\1", quoted[1]) if quoted else b"")
        raise RemoteRefused(
            Trouble.FAILED, "It is not on the server.",
            "It may have been moved or deleted just now.",
        )  # fmt: skip

    # --- the connection --------------------------------------------------------------------------

    def _asked(self, verb: str, command: Callable[["_Client"], tuple[str, list[Any]]]) -> list[Any]:
        """The answer to a command; RemoteRefused for any but OK."""
        client = self._client or self._connected()
        with self._request(ConnectionLost):
            status, lines = command(client)
            if status != "OK":
                is_later = any(_LATER.search(str(line)) for line in lines)
                is_offline = is_later or verb in ("LIST", "SEARCH")
                trouble = Trouble.OFFLINE if is_offline else Trouble.FAILED
                raise RemoteRefused(trouble, f"The server refused to read it ({verb}).")
        return lines

    def _connected(self) -> "_Client":
        self._open = None
        with self._request(RemoteRefused):
            stream = self._transport.open_stream(
                self._host, self._port, is_encrypted=self._is_encrypted
            )
            self._client = client = _Client(stream)
            try:
                self._log_in(client)
            except imaplib.IMAP4.abort:
                raise
            except imaplib.IMAP4.error as exc:
                if _LATER.search(str(exc)):
                    title = f"{self._host} asks to come back later."
                    raise RemoteRefused(Trouble.OFFLINE, title) from exc
                raise RemoteRefused(
                    Trouble.REFUSED, "The server refused the password.",
                    "Enter user and password again in the options of the source. Most providers"
                    " want an app password, which their page makes in the settings for security.",
                ) from exc  # fmt: skip
        return client

    def _log_in(self, client: "_Client") -> None:
        user, password = self._login_by
        if "AUTH=PLAIN" in client.capabilities:
            client.authenticate("PLAIN", lambda _: f"\0{user}\0{password}".encode())
        elif "LOGINDISABLED" in client.capabilities:
            raise RemoteRefused(Trouble.REFUSED, "The server takes no passwords.")
        else:
            client.log_in(user, password)

    @contextmanager
    def _request(self, lost: type[RemoteRefused]) -> Generator[None]:
        """Make one request; whatever leaves the connection in doubt ends it."""
        self.requests += 1
        is_whole = False
        try:
            with self._transport.within(self._host, self._seconds):
                yield
            is_whole = True
        except RemoteRefused as refused:
            is_whole = refused.trouble is Trouble.FAILED
            raise
        except PageRefused as refused:
            is_blocked = refused.kind is RefusalKind.BLOCKED
            trouble = Trouble.REFUSED if is_blocked else Trouble.OFFLINE
            raise lost(trouble, refused.title, "" if is_blocked else refused.hint) from refused
        except (imaplib.IMAP4.error, ValueError) as exc:
            title = f"{self._host} ended the connection in the middle of its answer."
            raise lost(Trouble.OFFLINE, title) from exc
        finally:
            if not is_whole and self._client:
                self._client.shutdown()
                self._client = None


class _Client(imaplib.IMAP4):
    """The protocol, over a connection that can be interrupted and is checked."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._received = bytearray()
        super().__init__()
        self._encoding = "utf-8"

    def open(self, host: str = "", port: int = 0, timeout: float | None = None) -> None:
        """The connection is open already."""

    def log_in(self, user: str, password: str) -> None:
        """By the older command; raises `error` when it is refused."""
        status, said = self._simple_command("LOGIN", _quoted(user), _quoted(password))
        if status != "OK":
            raise self.error(said[-1].decode("utf-8", "replace"))
        self.state = "AUTH"

    def read(self, size: int) -> bytes:
        """So many bytes; `abort` when they don't come."""
        if size > _MOST_BYTES:
            raise self.abort("too long")
        while len(self._received) < size:
            self._receive()
        return self._taken(size)

    def readline(self) -> bytes:
        """The next line with its end."""
        seen = 0
        while (end := self._received.find(b"\n", seen)) < 0:
            seen = len(self._received)
            if seen > _MOST_BYTES:
                raise self.abort("too long")
            self._receive()
        return self._taken(end + 1)

    def send(self, data: Any) -> None:  # noqa: ANN401  any buffer
        """Send all of it."""
        self._stream.write(bytes(data))

    def shutdown(self) -> None:
        """Close the connection."""
        self._stream.close()

    def _receive(self) -> None:
        data = self._stream.read(_READ_BYTES)
        if not data:
            raise self.abort("end of the connection")
        self._received += data

    def _taken(self, size: int) -> bytes:
        taken = bytes(self._received[:size])
        del self._received[:size]
        return taken


def _answers(said: Sequence[Any]) -> Iterator[tuple[bytes, bytes]]:
    """What is said of each message, and the content that was sent with it, b"" for none."""
    about, content = b"", b""
    for each in said:
        if isinstance(each, tuple):
            about, content = about + each[0], each[1]
        elif each is not None:
            yield about + b" " + each, content
            about, content = b"", b""


def _ranges(uids: Sequence[int]) -> str:
    """Ids in ascending order as IMAP writes them, such as 1:3,7."""
    ends = [(a, b) for a, b in pairwise(uids) if b != a + 1]
    firsts, lasts = [uids[0], *(b for _, b in ends)], [*(a for a, _ in ends), uids[-1]]
    both = zip(firsts, lasts, strict=True)
    return ",".join(f"{a}:{b}" if a != b else str(a) for a, b in both)


def _quoted(text: str) -> str:
    """A string of the protocol. `_Client` lets other than ASCII letters through as UTF-8."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _unquoted(raw: bytes) -> bytes:
    return re.sub(rb"\\(.)", rb"\1", raw[1:-1]) if raw.startswith(b'"') else raw


def _shown(name: str, mark: str) -> str:
    """A folder as people read it: one name, with a dot between those it is made of."""
    if name.upper() == "INBOX":
        return "INBOX"
    text = decoded(name)
    return (text.replace(mark, ".") if mark else text).replace("/", "_").strip() or "_"


_PACKED = re.compile(r"&([^-]*)-")


def decoded(name: str) -> str:
    """The name of a folder from the UTF-7 of IMAP; as it is when that is wrong."""

    def unpacked(match: re.Match[str]) -> str:
        if not match[1]:
            return "&"
        packed = match[1].replace(",", "/")
        raw = binascii.a2b_base64(packed + "=" * (-len(packed) % 4))
        return raw.decode("utf-16-be")

    with suppress(ValueError):
        return _PACKED.sub(unpacked, name)
    return name
