"""A real server that transcribes, on this computer, for tests; it speaks both dialects.

    with TranscriptionServer({"talk.wav": (Spoken(0.0, 2.5, "Hello."),)}) as server:
        ...

It answers by the name of the file, with the times inside the piece that was sent where `cuts`
says how pieces are cut. `mode` says how it misbehaves.
"""

import email.parser
import email.policy
import io
import json
import threading
import wave
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal

from desktop_rag.features.recordings.transcripts import Spoken
from tests.servers.loopback_server import LoopbackHandler, LoopbackServer

Mode = Literal["answer", "status", "silence", "page", "no times", "nothing said"]


@dataclass(frozen=True)
class Upload:
    """A recording as it arrived."""

    path: str
    name: str
    content: bytes
    fields: Mapping[str, str]
    key: str


class TranscriptionServer(LoopbackServer):
    """Knows what is said in each file by its name, from its first second on."""

    def __init__(self, known: Mapping[str, Sequence[Spoken]] | None = None) -> None:
        super().__init__(_Handler)
        self.known = dict(known or {})
        self.mode: Mode = "answer"
        self.status = 500
        self.language = "english"
        self.uploads: list[Upload] = []
        self.has_asked = threading.Event()
        # Set while answers are given at once.
        self.may_answer = threading.Event()
        self.may_answer.set()

    @property
    def base_url(self) -> str:
        """For OpenAI's dialect."""
        return f"{self.root}/v1"

    @property
    def root(self) -> str:
        """For whisper.cpp's."""
        return f"http://127.0.0.1:{self.port}"

    def said_in(self, upload: Upload) -> list[Spoken]:
        """What is said in a recording, or in the piece of one that was sent."""
        name, _, start = upload.name.removesuffix(".wav").partition("~")
        all_of_it = self.known.get(f"{name}.wav" if start else upload.name, ())
        if not start:
            return list(all_of_it)
        with wave.open(io.BytesIO(upload.content)) as sound:
            length_s = sound.getnframes() / sound.getframerate()
        begin = float(start)
        return [
            Spoken(s.start_s - begin, s.end_s - begin, s.text)
            for s in all_of_it
            if begin - 0.01 <= s.start_s < begin + length_s - 0.01
        ]


class _Handler(LoopbackHandler):
    owner: TranscriptionServer

    def do_POST(self) -> None:  # noqa: N802  the name that http.server calls
        owner = self.owner
        upload = self._upload()
        owner.uploads.append(upload)
        owner.has_asked.set()
        if owner.mode == "silence":
            owner.released.wait()
            return
        while not owner.may_answer.wait(0.02):
            if owner.released.is_set():
                return
        if self.path not in {"/v1/audio/transcriptions", "/inference"}:
            self._send(HTTPStatus.NOT_FOUND, {"error": {"message": "no such path"}})
        elif owner.mode == "status":
            self._send(owner.status, {"error": {"message": "not now"}})
        elif owner.mode == "page":
            self._send(HTTPStatus.OK, b"<html>Log in</html>")
        else:
            self._send(HTTPStatus.OK, self._transcript(upload))

    def _upload(self) -> Upload:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
        fields, name, content = dict[str, str](), "", b""
        for part in message.iter_parts():
            label = str(part.get_param("name", header="Content-Disposition"))
            payload = part.get_payload(decode=True)
            assert isinstance(payload, bytes)
            if label == "file":
                name, content = str(part.get_filename()), payload
            else:
                fields[label] = payload.decode()
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        return Upload(self.path, name, content, fields, key)

    def _transcript(self, upload: Upload) -> dict[str, Any]:
        owner = self.owner
        said = [] if owner.mode == "nothing said" else owner.said_in(upload)
        text = " ".join(spoken.text for spoken in said)
        if owner.mode == "no times":
            return {"text": text or "words"}
        segments = [
            {"id": n, "start": s.start_s, "end": s.end_s, "text": f" {s.text}"}
            for n, s in enumerate(said)
        ]
        return {"language": owner.language, "duration": 1.0, "text": text, "segments": segments}

    def _send(self, status: int, body: object) -> None:
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        kind = "text/html" if isinstance(body, bytes) else "application/json"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)
