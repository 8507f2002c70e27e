"""Plays a row of the table to the real client over HTTP on this computer."""

from contextlib import closing
from dataclasses import dataclass
from threading import Event

from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.models.endpoints.client.allowances import ProfileBook
from desktop_rag.models.endpoints.client.chat_client import ChatClient
from desktop_rag.models.ports import ChatTurn, HeardAnswer
from tests.dialects.row import ANSWER, EVENTS, KEY, Reply, Row
from tests.servers.loopback_server import LoopbackHandler, LoopbackServer

TURNS = (ChatTurn("system", "Be brief."), ChatTurn("user", "When is the lamp lit?"))


@dataclass(slots=True)
class Outcome:
    """What the person got: the answer, its end, and the notices on the way."""

    text: str = ""
    title: str = ""
    hint: str = ""
    notices: tuple[str, ...] = ()
    requests: int = 0

    def wrongs(self, row: Row) -> list[str]:
        """What is not as the row says, in words."""
        told = f"{self.title} {self.hint}"
        kept = row.text or (ANSWER if row.is_answered else "")
        wrongs: list[str] = []
        if row.told not in self.title or (self.title and not row.told):
            wrongs.append(f"told “{self.title}” instead of “{row.told}”")
        if kept not in self.text or (row.is_answered and self.text.strip() != kept):
            wrongs.append(f"kept “{self.text}” of “{kept}”")
        wrongs += [f"lacks “{part}”" for part in (row.says, row.advice) if part not in self.hint]
        wrongs += [f"says “{part}”" for part in row.never if part in told]
        wrongs += ["repeats the key"] if KEY in told else []
        if row.notice and not any(row.notice in notice for notice in self.notices):
            wrongs.append(f"no notice “{row.notice}” in {self.notices}")
        return wrongs


class DialectServer(LoopbackServer):
    """Sends the replies of a row, whatever is asked."""

    def __init__(self, replies: tuple[Reply, ...]) -> None:
        self.replies = replies
        self.requests = 0
        super().__init__(_Handler)

    def endpoint(self, timeout_s: float) -> EndpointSettings:
        return EndpointSettings(f"http://127.0.0.1:{self.port}/v1", "a-model", timeout_s=timeout_s)


class _Handler(LoopbackHandler):
    def do_POST(self) -> None:  # noqa: N802
        self.rfile.read(int(self.headers["Content-Length"]))
        script = self.owner
        assert isinstance(script, DialectServer)
        reply = script.replies[min(script.requests, len(script.replies) - 1)]
        script.requests += 1
        try:
            self._send(reply)
        except OSError:
            self.close_connection = True

    def _send(self, reply: Reply) -> None:
        is_chunked = reply.kind == EVENTS or reply.breaks or reply.hangs
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.kind)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if is_chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(sum(map(len, reply.parts))))
        self.end_headers()
        for part in reply.parts:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part) if is_chunked else part)
        if reply.hangs:
            self.owner.released.wait()
        self.close_connection = reply.breaks or reply.hangs
        if is_chunked and not self.close_connection:
            self.wfile.write(b"0\r\n\r\n")


def play(row: Row) -> Outcome:
    """Ask once, as a person does, and hear the answer to its end."""
    got, heard = Outcome(), HeardAnswer()
    with DialectServer(row.replies) as server:
        client = ChatClient(server.endpoint(row.timeout_s), KEY, ProfileBook())
        with closing(client), closing(client.stream(TURNS, Event())) as answer:
            try:
                for piece in answer:
                    got.notices += (piece.status,) if piece.status else ()
                    heard.add(piece)
                    got.text = heard.text
                    if piece.status and row.notice and len(row.replies) == 1:
                        break
            except AppError as error:
                got.title, got.hint = error.title, error.hint
        got.requests = server.requests
    return got
