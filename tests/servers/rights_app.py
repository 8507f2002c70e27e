"""A small application of another maker: it signs tokens for its users, and says what they may read.

A user may read the files below the folder with the user's name. It runs in a process of its own,
or, to misbehave on request, in a thread of a test:

    with RightsApp(folder) as app:
        app.mode = "silence"
        app.token("ann")
"""

import argparse
import functools
import json
import subprocess
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal, Self, get_args

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.servers.loopback_server import LoopbackHandler, LoopbackServer

ISSUER = "https://people.example"
AUDIENCE = "library"
PUBLIC, PRIVATE = "public.pem", "private.pem"
Mode = Literal[
    "answer", "error", "refusal", "redirect", "text", "list", "others", "numbers", "huge", "silence"
]
MODES: tuple[Mode, ...] = get_args(Mode)


@functools.cache
def _key() -> rsa.RSAPrivateKey:
    """Made once in a process, which takes a tenth of a second."""
    return rsa.generate_private_key(65_537, 2048)


def make_keys(folder: Path) -> rsa.RSAPrivateKey:
    """A pair of keys, written as PEM files."""
    key = _key()
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    (folder / PRIVATE).write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    public = key.public_key()
    (folder / PUBLIC).write_bytes(
        public.public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    return key


def signed(
    key: Any,
    user: str,
    *,
    algorithm: str = "RS256",
    headers: dict[str, Any] | None = None,
    **changes: Any,
) -> str:
    """A token of a user for an hour."""
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": user, "exp": int(time.time()) + 3600} | changes
    kept = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(kept, key, algorithm, headers)


class RightsApp(LoopbackServer):
    """Answers on a thread. `asked` holds the bodies of the requests."""

    def __init__(self, folder: Path) -> None:
        self.key = make_keys(folder)
        self.public_key = folder / PUBLIC
        self.mode: Mode = "answer"
        self.asked: list[dict[str, Any]] = []
        super().__init__(_Handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/rights"

    def token(self, user: str, **changes: Any) -> str:
        return signed(self.key, user, **changes)


class _Handler(LoopbackHandler):
    def do_POST(self) -> None:  # noqa: N802
        app = self.owner
        assert isinstance(app, RightsApp)
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        app.asked.append(body)
        bearer = self.headers["authorization"].removeprefix("Bearer ")
        claims = jwt.decode(
            bearer, app.key.public_key(), ["RS256"], audience=AUDIENCE, issuer=ISSUER
        )
        own = f"{claims['sub']}/"
        ids = [each["id"] for each in body["documents"] if each["path"].startswith(own)]
        every = [each["id"] for each in body["documents"]]
        answers: dict[str, tuple[int, Any]] = {
            "answer": (200, {"readable": ids}),
            "error": (500, {"readable": every}),
            "refusal": (403, {}),
            "redirect": (302, {"readable": every}),
            "text": (200, "readable: all"),
            "list": (200, every),
            "others": (200, {"readable": [*every, "another"]}),
            "numbers": (200, {"readable": [1, None]}),
            "huge": (200, {"readable": every, "more": "x" * 2_000_000}),
        }
        if app.mode == "silence":
            app.released.wait()
            return
        status, answer = answers[app.mode]
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        if app.mode == "redirect":
            self.send_header("location", app.address)
        self.end_headers()
        self.wfile.write(content)


class RightsProcess(AbstractContextManager["RightsProcess"]):
    """The application in a process of its own; the keys are below `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self.address = ""
        self.public_key = folder / PUBLIC

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "tests.servers.rights_app", str(self._folder)]
        root = Path(__file__).parents[2]
        self._process = subprocess.Popen(
            command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout
        self.address = self._process.stdout.readline().strip()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process
        self._process.communicate()

    def token(self, user: str, **changes: Any) -> str:
        """A token as the application signs it: its key is in the folder."""
        return signed((self._folder / PRIVATE).read_bytes(), user, **changes)


def main() -> None:
    """Answer until standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    with RightsApp(parser.parse_args().folder) as app:
        sys.stdout.write(f"{app.address}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
