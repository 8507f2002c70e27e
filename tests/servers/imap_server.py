"""A small IMAP server for tests: it lists, opens and reads, remembers all it was asked, and fails.

    with ImapServer() as mail:
        mail.put("INBOX", message("Subject", "Text"))
        mail.url()

`folders` may be changed at any time. `asked` holds the commands as they came. For IMAP as another
program has it there is Dovecot; this one is for what that can't do.
"""

import base64
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers.loopback_server import LoopbackHandler, LoopbackServer, tls_context

_FIELDS = {b"message-id", b"date", b"from", b"subject"}


def message(subject: str, text: str, number: int = 0) -> bytes:
    """A message with an id of its own."""
    lines = (
        "From: Ann <ann@example.org>", "To: Ben <ben@example.org>", f"Subject: {subject}",
        "Date: Tue, 14 May 2024 10:00:00 +0000", f"Message-ID: <{number}-{subject}@example.org>",
        "Content-Type: text/plain; charset=utf-8", "", text, "",
    )  # fmt: skip
    return "\r\n".join(lines).encode()


@dataclass
class Mail:
    content: bytes
    arrived: str = "14-May-2024 10:00:00 +0000"
    declared: int | None = None


@dataclass
class Folder:
    """Messages by their ids."""

    validity: int = 7
    next_uid: int = 1
    flags: str = ""
    is_listed: bool = True
    mails: dict[int, Mail] = field(default_factory=dict[int, Mail])


@dataclass
class ImapServer(LoopbackServer):
    """Listens between `__enter__` and `__exit__`."""

    password: str = "secret"
    capabilities: str = "IMAP4rev1 AUTH=PLAIN"
    folders: dict[str, Folder] = field(default_factory=dict[str, Folder])
    asked: list[str] = field(default_factory=list[str])
    # The messages whose text was asked for, such as INBOX/1.
    read: list[str] = field(default_factory=list[str])
    # By the id of a message, or the name of a command: answers in place of the server.
    faults: dict[str, Callable[["Handler", str], None]] = field(
        default_factory=dict[str, Callable[["Handler", str], None]]
    )
    sent_bytes: int = 0

    certificate: Path | None = None

    def __post_init__(self) -> None:
        super().__init__(Handler, tls_context(self.certificate) if self.certificate else None)
        self.lock = threading.RLock()

    def url(self) -> str:
        scheme, host = ("imaps", "localhost") if self.certificate else ("imap", "127.0.0.1")
        return f"{scheme}://{host}:{self.port}/"

    def put(self, name: str, content: bytes, **more: str | int) -> int:
        with self.lock:
            folder = self.folders.setdefault(name, Folder())
            uid = folder.next_uid
            folder.next_uid += 1
            folder.mails[uid] = Mail(content, **more)  # type: ignore[arg-type]
            return uid

    def move(self, name: str, uid: int, target: str) -> int:
        with self.lock:
            mail = self.folders[name].mails.pop(uid)
            return self.put(target, mail.content, arrived=mail.arrived)


class Handler(LoopbackHandler):
    """One connection."""

    owner: ImapServer

    def handle(self) -> None:
        self.folder = ""
        self.is_known = False
        self.say(f"* OK [CAPABILITY {self.owner.capabilities}] ready")
        while line := self.rfile.readline():
            tag, _, command = line.decode().strip().partition(" ")
            verb = command.removeprefix("UID ").split(" ")[0].upper()
            secret = verb in ("LOGIN", "AUTHENTICATE")
            self.owner.asked.append(verb if secret else command)
            if fault := self.owner.faults.get(verb):
                fault(self, tag)
                continue
            if verb == "LOGOUT":
                self.say("* BYE", f"{tag} OK done")
                return
            with self.owner.lock:
                self.answer(tag, verb, command)

    def answer(self, tag: str, verb: str, command: str) -> None:
        match verb:
            case "CAPABILITY":
                self.say(f"* CAPABILITY {self.owner.capabilities}", f"{tag} OK done")
            case "AUTHENTICATE":
                self.say("+ ")
                said = base64.b64decode(self.rfile.readline()).decode().split("\0")
                self.log_in(tag, said[1:])
            case "LOGIN":
                self.log_in(tag, [each.replace('\\"', '"') for each in _strings(command)])
            case _ if not self.is_known:
                self.say(f"{tag} BAD log in first")
            case "LIST":
                listed = ((n, f) for n, f in self.owner.folders.items() if f.is_listed)
                for name, folder in listed:
                    self.say(f'* LIST ({folder.flags}) "/" "{name}"')
                self.say(f"{tag} OK done")
            case "EXAMINE":
                self.examine(tag, command.partition(" ")[2].strip('"'))
            case "SEARCH":
                self.search(tag, command)
            case "FETCH":
                self.fetch(tag, command)
            case _:
                self.say(f"{tag} BAD what is {verb}")

    def log_in(self, tag: str, said: list[str]) -> None:
        self.is_known = said == ["ann", self.owner.password]
        words = "OK welcome" if self.is_known else "NO [AUTHENTICATIONFAILED] no"
        self.say(f"{tag} {words}")

    def examine(self, tag: str, name: str) -> None:
        folder = self.owner.folders.get(name)
        if folder is None:
            self.say(f"{tag} NO there is none")
            return
        self.folder = name
        self.say(
            f"* {len(folder.mails)} EXISTS", "* 0 RECENT",
            f"* OK [UIDVALIDITY {folder.validity}] ok", f"* OK [UIDNEXT {folder.next_uid}] ok",
            f"{tag} OK [READ-ONLY] done",
        )  # fmt: skip

    def search(self, tag: str, command: str) -> None:
        since = re.search(r"SINCE \d+-\w+-(\d+)", command)
        mails = self.owner.folders[self.folder].mails.items()
        found = [uid for uid, m in mails if not since or m.arrived[7:11] >= since[1]]
        self.say(f"* SEARCH {' '.join(map(str, found))}", f"{tag} OK done")

    def fetch(self, tag: str, command: str) -> None:
        _, _, ids, wanted = command.split(" ", 3)
        mails = self.owner.folders[self.folder].mails
        piece = re.search(r"BODY\.PEEK\[\]<(\d+)\.(\d+)>", wanted)
        for number, (uid, mail) in enumerate(list(mails.items()), start=1):
            if not _is_in(uid, ids):
                continue
            if piece is None:
                size = len(mail.content) if mail.declared is None else mail.declared
                fields = _header(mail.content)
                self.say(
                    f'* {number} FETCH (UID {uid} RFC822.SIZE {size} INTERNALDATE "{mail.arrived}"'
                    f" BODY[HEADER.FIELDS (MESSAGE-ID)] {{{len(fields)}}}"
                )
                self.write(fields + b")\r\n")
                continue
            offset, size = int(piece[1]), int(piece[2])
            if not offset:
                self.owner.read.append(f"{self.folder}/{uid}")
            if fault := self.owner.faults.get(str(uid)):
                fault(self, tag)
                return
            content = mail.content[offset : offset + size]
            # As some do, with the id behind the content, and flags of another message between.
            self.say("* 1 FETCH (FLAGS (\\Seen))")
            self.say(f"* {number} FETCH (BODY[]<{offset}> {{{len(content)}}}")
            self.write(content + f" UID {uid})\r\n".encode())
        self.say(f"{tag} OK done")

    def say(self, *lines: str) -> None:
        self.write("".join(f"{line}\r\n" for line in lines).encode())

    def write(self, data: bytes) -> None:
        self.owner.sent_bytes += len(data)
        self.wfile.write(data)


def _header(content: bytes) -> bytes:
    lines = content.partition(b"\r\n\r\n")[0].split(b"\r\n")
    wanted = [each for each in lines if each.partition(b":")[0].lower() in _FIELDS]
    return b"".join(line + b"\r\n" for line in wanted) + b"\r\n"


def _strings(command: str) -> list[str]:
    return re.findall(r'"((?:[^"\\]|\\.)*)"', command)


def _is_in(uid: int, ids: str) -> bool:
    ends = (each.partition(":") for each in ids.split(","))
    return any(int(first) <= uid <= int(last or first) for first, _, last in ends)
