"""A provider of logins by OpenID Connect, which lets in whom it is told to, and can misbehave."""

import base64
import hashlib
import json
import time
from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.servers.loopback_server import LoopbackHandler, LoopbackServer

CLIENT, SECRET = "library", "s3cret/with:signs"


class LoginProvider(LoopbackServer):
    """`person` has the claims of who logs in; `claims` and `said` replace what it says else.

    As an application it says that everybody may read the document at the path `readable`.
    """

    def __init__(self) -> None:
        self.person: dict[str, Any] = {"sub": "ann"}
        self.claims: dict[str, Any] = {}
        self.said: dict[str, Any] = {}
        self.answer: dict[str, str] = {}
        self.readable = ""
        self.exchanged: list[dict[str, str]] = []
        self.issued: list[str] = []
        self.codes: dict[str, dict[str, str]] = {}
        self.new_key()
        super().__init__(_Handler)

    def new_key(self) -> None:
        """Sign with another key from now on."""
        self.key = rsa.generate_private_key(65_537, 2048)
        self.kid = str(time.monotonic_ns())

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.port}/realm"

    def id_token(self, asked: dict[str, str]) -> str:
        """What it says of the person, for the login that asked."""
        claims = {
            "iss": self.issuer, "aud": CLIENT, "exp": int(time.time()) + 300, "iat": 1,
            "nonce": asked["nonce"],
        } | self.person | self.claims  # fmt: skip
        kept = {name: value for name, value in claims.items() if value is not None}
        self.issued.append(jwt.encode(kept, self.key, "RS256", {"kid": self.kid}))
        return self.issued[-1]


class _Handler(LoopbackHandler):
    def do_GET(self) -> None:  # noqa: N802
        provider, url = self._provider, urlsplit(self.path)
        if url.path == "/realm/.well-known/openid-configuration":
            self._send(
                {
                    "issuer": provider.issuer,
                    "authorization_endpoint": f"{provider.issuer}/authorize?kept=1",
                    "token_endpoint": f"{provider.issuer}/token",
                    "jwks_uri": f"{provider.issuer}/keys",
                }
                | provider.said
            )
        elif url.path == "/realm/keys":
            key = jwt.get_algorithm_by_name("RS256").to_jwk(provider.key.public_key(), as_dict=True)
            self._send({"keys": [key | {"kid": provider.kid, "use": "sig", "alg": "RS256"}]})
        else:
            asked = {name: each[0] for name, each in parse_qs(url.query).items()}
            code = f"code-{len(provider.codes)}"
            provider.codes[code] = asked
            back = {"code": code, "state": asked["state"], "iss": provider.issuer} | provider.answer
            self.send_response(302)
            self.send_header("location", f"{asked['redirect_uri']}?{urlencode(back)}")
            self.send_header("content-length", "0")
            self.end_headers()

    def do_POST(self) -> None:  # noqa: N802
        provider = self._provider
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        if self.path.endswith("/rights"):
            bearer = self.headers["authorization"].removeprefix("Bearer ")
            jwt.decode(bearer, provider.key.public_key(), ["RS256"], audience=CLIENT)
            every = json.loads(body)["documents"]
            self._send({"readable": [d["id"] for d in every if d["path"] == provider.readable]})
            return
        form = dict(parse_qsl(body)) | {"authorization": self.headers["authorization"] or ""}
        provider.exchanged.append(form)
        asked = provider.codes.pop(form.get("code", ""), None)
        known = f"{CLIENT}:{quote(SECRET, safe='')}".encode()
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if (
            asked is None
            or form["authorization"] != f"Basic {base64.b64encode(known).decode()}"
            or form["redirect_uri"] != asked["redirect_uri"]
            or base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != asked["code_challenge"]
        ):
            self._send({"error": "invalid_grant"}, 400)
            return
        self._send(
            {"access_token": "x", "token_type": "Bearer", "id_token": provider.id_token(asked)}
        )

    @property
    def _provider(self) -> LoginProvider:
        assert isinstance(self.owner, LoginProvider)
        return self.owner

    def _send(self, answer: object, status: int = 200) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
