"""The local server as the bot asks it: with a token of its own, and for the people of a room.

The event loop of the bot. What the server refuses is a `LibraryRefusedError` with its own words.
"""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import httpx2

from desktop_rag.core.errors import AppError
from desktop_rag.core.waits import wait_s_in

_API = "/api/v1"
_USER_HEADER = "X-Desktop-Rag-User"
_TIMEOUT = httpx2.Timeout(10.0, read=600.0)
_LEAST_FAULT = 400
_TOO_MANY = 429


class LibraryRefusedError(AppError):
    """The server did not answer; `retry_after_s` is 0 unless it names a time."""

    def __init__(self, said: str, retry_after_s: float = 0.0) -> None:
        super().__init__(said)
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question after earlier turns (role, text), for people by token; no ids mean all."""

    text: str
    history: tuple[tuple[str, str], ...] = ()
    collection_ids: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


@dataclass(slots=True)
class LibraryAnswer:
    """A finished answer, in the fields of the API."""

    text: str
    sources: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    claims: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    notes: str = ""


class LibraryServer:
    """Asks the local server. `close` ends its connections."""

    def __init__(self, address: str, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}", "User-Agent": "desktop-rag-matrix"}
        # No proxy: questions and tokens are for this server alone.
        self._client = httpx2.AsyncClient(
            base_url=address, headers=headers, timeout=_TIMEOUT, trust_env=False
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def collections(self, people: Sequence[str] = ()) -> dict[str, str]:
        """The ids of the collections by their names, as these people together may see them."""
        listed = await self._json("GET", f"{_API}/collections", people)
        return {str(each["name"]): str(each["id"]) for each in listed["collections"]}

    async def ask(self, question: AskedQuestion) -> AsyncGenerator[str | LibraryAnswer]:
        """Pieces of the text as they come, then the answer."""
        body: dict[str, Any] = {
            "question": question.text,
            "history": [{"role": role, "content": text} for role, text in question.history],
            "stream": True,
        }
        if question.collection_ids:
            body["collection_ids"] = list(question.collection_ids)
        async with self._stream(f"{_API}/ask", body, question.people) as events:
            async for name, told in events:
                if name == "text":
                    yield str(told["text"])
                elif name == "answer":
                    yield LibraryAnswer(
                        str(told["text"]), told["sources"], told["claims"], str(told["notes"])
                    )
                elif name == "error":
                    raise LibraryRefusedError(_message(told))

    async def write_without_documents(
        self, model: str, messages: Sequence[Mapping[str, str]]
    ) -> str:
        """What a model of the server makes of these messages alone."""
        body = {"model": model, "messages": list(messages), "stream": False}
        answer = await self._json("POST", "/v1/chat/completions", (), body)
        return str(answer["choices"][0]["message"]["content"])

    async def store(self, collection_id: str, document: Mapping[str, Any]) -> None:
        """Send a document to a collection; with the same id it replaces the earlier one."""
        path = f"{_API}/collections/{collection_id}/documents"
        await self._json("POST", path, (), document)

    async def _json(
        self, method: str, path: str, people: Sequence[str], body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        try:
            answer = await self._client.request(method, path, json=body, headers=_for(people))
            if answer.status_code >= _LEAST_FAULT:
                raise _refusal(answer.status_code, answer.headers, answer.content)
            return cast("dict[str, Any]", answer.json())
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as exc:
            raise _unreachable(exc) from exc

    @asynccontextmanager
    async def _stream(
        self, path: str, body: Mapping[str, Any], people: Sequence[str]
    ) -> AsyncGenerator[AsyncGenerator[tuple[str, dict[str, Any]]]]:
        try:
            async with self._client.stream("POST", path, json=body, headers=_for(people)) as answer:
                if answer.status_code >= _LEAST_FAULT:
                    raise _refusal(answer.status_code, answer.headers, await answer.aread())
                yield _events(answer)
        except (httpx2.HTTPError, ValueError) as exc:
            raise _unreachable(exc) from exc


async def _events(answer: httpx2.Response) -> AsyncGenerator[tuple[str, dict[str, Any]]]:
    name = ""
    async for line in answer.aiter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))
            name = ""


def _for(people: Sequence[str]) -> dict[str, str]:
    return {_USER_HEADER: ",".join(people)} if people else {}


def _refusal(status: int, headers: Mapping[str, str], content: bytes) -> LibraryRefusedError:
    try:
        said = _message(json.loads(content))
    except (ValueError, AttributeError):
        said = f"The library answered with status {status}."
    wait_s = wait_s_in("", headers=headers) if status == _TOO_MANY else None
    return LibraryRefusedError(said, wait_s or 0.0)


def _message(told: Mapping[str, Any]) -> str:
    return str(told.get("error", {}).get("message", "The library gave no reason."))


def _unreachable(exc: Exception) -> LibraryRefusedError:
    refused = LibraryRefusedError("The library can't be reached now.")
    refused.hint = f"{type(exc).__name__}: is the server on?"
    return refused
