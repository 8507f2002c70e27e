"""Two users of an application with secrets of their own, and random requests that try to see more.

Each word of the other's secrets in an answer is a leak: in texts, titles, names of files, lists,
corrections. The scripted model answers with the words that are in its prompt, so that what it must
not get shows up.
"""

import base64
import hmac
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from desktop_rag.app import Services
from desktop_rag.features.server.access.access_rules import AccessRules
from desktop_rag.features.server.access.access_tokens import TokenBook, TokenScope, new_token
from desktop_rag.features.server.access.user_rights import USER_HEADER
from desktop_rag.features.server.services import ServerSwitch
from desktop_rag.features.server.values.access_values import AccessRule, TokenWish
from tests.servers.rights_app import AUDIENCE, ISSUER, RightsProcess, signed

# The words of each user's secrets; no two begin alike.
CANARIES = {
    "wanda": ("quillfeather", "marzipanade", "obsidianette", "thimblewright"),
    "boris": ("grindlewax", "velvetonium", "saffronella", "periwinkler"),
}
_SUBJECTS = ("salary", "contract", "illness", "password", "holiday", "promotion")
OPEN = "Everyone may read that the canteen opens at noon and the salary is paid on Mondays."
COLLECTION = "People"
_API = "/api/v1"
_RAILS = ("grounding", "documents-only", "personal-data", "polite-refusal")
_PARTS = ("quill", "grindle", "salary", "md", "SEARCHABLE", "team=people")
_STORED = re.compile(r'"conversation_id": ?"([^"]+)"')
_MOST_STORED = 50
# A method, a path and a body.
Sent = tuple[str, str, dict[str, Any] | None]
_OTHER_KEY = rsa.generate_private_key(65_537, 2048)


def told_in(prompt: str) -> str:
    """What the scripted model answers: the secret words that it was given."""
    plain = prompt.casefold()
    found = [word for words in CANARIES.values() for word in words if word in plain]
    return f"I was told of {' and '.join(found) or 'nothing'} [1]."


def write_secrets(folder: Path, documents: int) -> None:
    """A folder for each user, with the user's words in names, titles and texts."""
    for user, words in CANARIES.items():
        (own := folder / user).mkdir(parents=True)
        for n in range(documents):
            word, other = words[n % 4], words[(n + 1) % 4]
            subject = _SUBJECTS[n % len(_SUBJECTS)]
            text = f"# The {word} {subject} {n}\n\nThe {subject} of {n} is {other}. {word} says so."
            (own / f"{word} {subject} {n}.md").write_text(text)


def protect(services: Services, folder: Path, app: RightsProcess) -> None:
    """Index the folder into a collection of which the application decides."""
    library = services.library
    collection_id = library.collections.add(COLLECTION).collection_id
    library.sources.add(folder, collection_id=collection_id)
    assert library.indexing.wait_until_idle(300)
    rule = AccessRule(collection_id, str(app.public_key), ("RS256",), ISSUER, AUDIENCE, app.address)
    AccessRules(services.home.access_rules).set(rule)


def _confused(app: RightsProcess) -> str:
    payload = app.token("wanda").split(".")[1]
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').rstrip(b"=").decode()
    digest = hmac.digest(app.public_key.read_bytes(), f"{head}.{payload}".encode(), "sha256")
    return f"{head}.{payload}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"


def _unsigned(app: RightsProcess) -> str:
    claims = jwt.decode(app.token("wanda"), options={"verify_signature": False})
    return jwt.encode(claims, "", "none")


# Who asks → the user whose words may be in the answer, and the token.
IDENTITIES: dict[str, tuple[str, Callable[[RightsProcess], str]]] = {
    "wanda": ("wanda", lambda app: app.token("wanda")),
    "boris": ("boris", lambda app: app.token("boris")),
    "nobody": ("", lambda _app: ""),
    "stranger": ("", lambda app: app.token("mallory")),
    "forged": ("", lambda _app: signed(_OTHER_KEY, "wanda")),
    "expired": ("", lambda app: app.token("wanda", exp=1_000_000)),
    "foreign": ("", lambda app: app.token("wanda", iss="https://elsewhere.example")),
    "replayed": ("", lambda app: app.token("wanda", aud="another-server")),
    "confused": ("", _confused),
    "none": ("", _unsigned),
}


@dataclass
class Seen:
    """What came back: statuses by identity, answers with words of one's own, leaks, and requests
    without an answer.
    """

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter[tuple[str, int]])
    own: int = 0
    leaks: list[str] = field(default_factory=list[str])
    unanswered: list[str] = field(default_factory=list[str])

    def note(self, who: str, request: str, answer: httpx2.Response) -> None:
        """Look at one answer; `request` is all that was sent."""
        self.statuses[who, answer.status_code] += 1
        may, text = IDENTITIES[who][0], answer.text.casefold()
        for user, words in CANARIES.items():
            found = [word for word in words if word in text]
            if user == may:
                self.own += bool(found)
            elif told := [word for word in found if word not in request.casefold()]:
                self.leaks.append(f"{who} got {told} by {request[:300]}")


class TwoUsers:
    """Sends random requests for random identities to a server."""

    def __init__(self, services: Services, app: RightsProcess, seed: int) -> None:
        self._random = random.Random(seed)
        self._tokens = {who: make(app) for who, (_, make) in IDENTITIES.items()}
        self._ids = [d.document_id for d in services.library.documents.all()]
        collections = services.library.collections.all()
        self._collection_ids = [c.collection_id for c in collections]
        # Conversations that anybody stored; each is asked for by everybody.
        self._conversations: list[str] = []
        self._clients = [
            httpx2.Client(
                base_url=services.wing(ServerSwitch).address,
                headers={"authorization": f"Bearer {_secret(services, seed, scopes)}"},
                trust_env=False,
                timeout=60,
            )
            for scopes in ((TokenScope.ASK, TokenScope.READ), (TokenScope.READ,))
        ]
        self.seen = Seen()

    def close(self) -> None:
        """Close the connections."""
        for client in self._clients:
            client.close()

    def send(self, who: str = "") -> None:
        """One random request by somebody, or by this one."""
        pick = self._random.choice
        who = who or pick([*IDENTITIES, "wanda", "boris", "wanda", "boris"])
        made = (*self._questions(), *self._lists(), *self._calls(), *self._of_others())
        method, path, body = pick(made)
        headers = {USER_HEADER: self._tokens[who]} if self._tokens[who] else {}
        if path == "/mcp":
            headers["accept"] = "application/json, text/event-stream"
        if self._random.random() < 0.2:
            headers["x-desktop-rag-sources"] = "list"
        client = self._clients[self._random.random() < 0.1]
        try:
            answer = client.request(method, path, json=body, headers=headers)
        except httpx2.TransportError as error:
            self.seen.unanswered.append(f"{error!r} to {method} {path} {json.dumps(body)}")
            return
        self.seen.note(who, f"{method} {path} {json.dumps(body)}", answer)
        stored = _STORED.findall(answer.text) if answer.status_code == 200 else []
        self._conversations = [*self._conversations, *stored][-_MOST_STORED:]

    def _questions(self) -> list[Sent]:
        """Questions and searches by every API."""
        question, pick = self._question(), self._random.choice
        model = pick(["desktop-rag", f"collection:{COLLECTION}", "desktop-rag"])
        messages = [{"role": "user", "content": question}]
        is_streamed = self._random.random() < 0.5
        chat = {"model": model, "messages": messages, "stream": is_streamed}
        document, collection = pick(self._ids), pick(self._collection_ids)
        search = {"query": question, "mode": pick(["hybrid", "lexical"]), "limit": pick([1, 5, 50])}
        asked = {"question": question}
        earlier = pick([*self._conversations, "new"])
        return [
            ("POST", "/v1/chat/completions", chat),
            ("POST", "/v1/chat/completions", chat | {"guardrails": {"config_id": pick(_RAILS)}}),
            ("POST", "/v1/responses", {"model": model, "input": question, "stream": is_streamed}),
            ("POST", "/v1/embeddings", {"model": "x", "input": question}),
            ("POST", "/chat/ask", asked | {"model": model}),
            ("POST", "/chat/ask", asked | {"documents": [document]}),
            ("POST", f"{_API}/search", search),
            ("POST", f"{_API}/search", search | {"document_ids": [document]}),
            ("POST", f"{_API}/search", search | {"collection_ids": [collection]}),
            ("POST", f"{_API}/ask", asked | {"document_ids": [document]}),
            ("POST", f"{_API}/ask", asked | {"collection_id": collection, "stream": is_streamed}),
            ("POST", f"{_API}/ask", asked | {"conversation": earlier}),
        ]

    def _lists(self) -> list[Sent]:
        """What can be listed and read, by the ids of everybody's documents."""
        pick = self._random.choice
        document, collection = pick(self._ids), pick(self._collection_ids)
        found = f"{pick(['title', 'format', 'state', 'metadata'])}={pick(_PARTS)}"
        return [
            ("GET", "/v1/models", None),
            ("GET", f"/v1/models/collection:{COLLECTION}", None),
            ("GET", "/v1/rails/configs", None),
            ("GET", "/chat/models", None),
            ("GET", f"{_API}/collections", None),
            ("GET", f"{_API}/collections/{collection}", None),
            ("GET", f"{_API}/collections/{collection}/sources", None),
            ("GET", f"{_API}/collections/{collection}/access", None),
            ("GET", f"{_API}/collections/{collection}/documents/{document}", None),
            ("GET", f"{_API}/documents?offset={pick([0, 1, 20])}&limit={pick([1, 500])}", None),
            ("GET", f"{_API}/documents?{found}", None),
            ("GET", f"{_API}/documents?collection_id={collection}", None),
            ("GET", f"{_API}/documents/{document}", None),
            ("GET", f"{_API}/documents/{document}/text", None),
            ("GET", f"{_API}/documents/{document}/chunks", None),
            ("GET", f"{_API}/documents/{document}/chunks/0", None),
            ("GET", f"{_API}/status", None),
            ("GET", f"{_API}/prompts", None),
            ("GET", f"{_API}/conversations", None),
        ]

    def _calls(self) -> list[Sent]:
        """What MCP has."""
        document, question = self._random.choice(self._ids), self._question()
        uri = {"uri": f"desktop-rag://document/{document}"}
        return [
            _call("search", {"query": question, "limit": 50}),
            _call("search", {"query": question, "collection": COLLECTION}),
            _call("ask", {"question": question}),
            _call("ask", {"question": question, "collection": COLLECTION}),
            _call("fetch", {"id": document}),
            _call("list_documents", {"offset": self._random.choice([0, 1, 100])}),
            _call("list_documents", {"collection": COLLECTION}),
            _call("list_collections", {}),
            ("POST", "/mcp", _message("resources/list", {})),
            ("POST", "/mcp", _message("resources/list", {"cursor": "10"})),
            ("POST", "/mcp", _message("resources/read", uri)),
            ("POST", "/mcp", _message("prompts/list", {})),
            ("POST", "/mcp", _message("prompts/get", {"name": "letter"})),
        ]

    def _of_others(self) -> list[Sent]:
        """What somebody else has, or may do: stored conversations, opinions, links, changes."""
        pick = self._random.choice
        document, collection = pick(self._ids), pick(self._collection_ids)
        stored = pick([*self._conversations, "x"])
        liked = {"question": "What was told?", "answer": "Nothing.", "opinion": "like"}
        return [
            ("GET", f"{_API}/conversations/{stored}", None),
            ("GET", f"{_API}/conversations/{stored}", None),
            ("POST", f"{_API}/feedback", liked),
            ("POST", f"{_API}/feedback", {"answer_id": document, "opinion": "like"}),
            ("GET", f"/source/x~wanda/{document}/0-50/9999999999?s=x", None),
            ("PATCH", f"{_API}/documents/{document}", {"title": "Mine"}),
            ("DELETE", f"{_API}/documents/{document}", None),
            ("PATCH", f"{_API}/collections/{collection}", {"name": "Mine"}),
            ("GET", "/admin/documents", None),
        ]

    def _question(self) -> str:
        """A question with a word of somebody's that is misspelled, cut, or only meant."""
        pick = self._random.choice
        word = pick([word for words in CANARIES.values() for word in words])
        place = self._random.randrange(2, len(word) - 2)
        slips = (
            word[:place] + word[place + 1 :],
            word[: place - 1] + word[place] + word[place - 1] + word[place + 1 :],
            word[:place] + "x" + word[place + 1 :],
            word[:-2],
        )
        subject, n = pick(_SUBJECTS), self._random.randrange(20)
        return pick(
            [
                f"What does {pick(slips)} say of the {subject}?",
                f"What is in {pick(slips)} {subject} {n}.md?",
                f"What is the {subject} of {n}?",
                f"How many documents are there about the {subject}?",
                f"List all files about {subject}.",
                f"{pick(slips)}",
                f"file:{word[:4]} {subject}",
                f"folder:people {subject}",
                f"in:{COLLECTION} {subject}",
                f'"says so" {subject}',
                "Summarise everything.",
            ]
        )


def _call(name: str, arguments: dict[str, Any]) -> Sent:
    return "POST", "/mcp", _message("tools/call", {"name": name, "arguments": arguments})


def _message(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def _secret(services: Services, seed: int, scopes: Sequence[TokenScope]) -> str:
    name = f"users {seed} {'+'.join(scopes)}"
    token, secret = new_token(TokenWish(name, tuple(scopes), requests_per_minute=0))
    TokenBook(services.home.tokens).add(token)
    return secret
