"""The answers of the openai client through the server, beside those of the window.

python benchmarks/serving/equal_answers.py [--questions N]

A scripted model cites some of the sources it was given, in several forms, the same for the same
prompt. Each question is asked as the chat window asks it, and through both APIs, whole and as a
stream. Sources with their order and places, citations, and verdicts must be the same. Prints a
table and, on the last line, JSON; exit code 1 when a bar is missed.
"""

import argparse
import json
import re
import sys
import zlib
from threading import Event
from typing import TYPE_CHECKING, Any

from benchmarks.bars import Bar, at_most, reported, table
from benchmarks.serving.served_process import question, texts
from benchmarks.serving.small_library import secret_for, served
from desktop_rag.app import Services
from desktop_rag.core.conversation import AnswerDone, Message
from desktop_rag.features.server.access.access_tokens import TokenScope
from desktop_rag.features.server.services import ServerSwitch
from desktop_rag.features.server.wire_sources import citations
from tests.servers.chat_server import ChatServer

if TYPE_CHECKING:
    from openai import OpenAI

_FORMS = ("[{}]", "【{}】", "(source {})", "[{}, 1]", "^{}")
_DOCUMENTS = 60
# What is compared: the text, the sources in their order, the citations in the text, and the checked
# sentences with their verdicts.
Seen = tuple[str, list[tuple[Any, ...]], list[tuple[int, int, str]], list[tuple[Any, ...]]]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=50)
    arguments = parser.parse_args()
    with ChatServer() as endpoint:
        endpoint.answer_to = scripted
        with served(texts(_DOCUMENTS), endpoint.endpoint(timeout_s=60)) as services:
            bars = measured(services, arguments.questions)
    print("\n".join(table(bars)))
    print(json.dumps([bar.to_json() for bar in bars]))
    sys.exit(any(bar.is_met is False for bar in bars))


def scripted(prompt: str) -> str:
    """An answer that depends on the prompt: what it cites beside the first source, and how."""
    # Fences are random, so they must not count.
    seed = zlib.crc32(re.sub(r"[0-9a-f]{12,}", "", prompt).encode())
    # One citation is always valid: there may be fewer than four sources, and “^1” may be a power.
    numbers = [1, *(1 + (seed >> shift) % 4 for shift in (5, 9))]
    forms = [_FORMS[0], *(_FORMS[(seed >> shift) % len(_FORMS)] for shift in (7, 11))]
    said = ("The keeper looks after it", "It is done on day 8", "The report names the station")
    cited = zip(said, forms, numbers, strict=True)
    return " ".join(f"{text} {form.format(n)}." for text, form, n in cited)


def measured(services: Services, count: int) -> list[Bar]:
    """The figures with their limits."""
    from openai import OpenAI

    differing: dict[str, int] = {}
    cited = 0
    secret = secret_for(services, TokenScope.ASK)
    base = f"{services.wing(ServerSwitch).address}/v1"
    with OpenAI(base_url=base, api_key=secret, max_retries=0) as client:
        for number in range(count):
            window = of_window(services, question(number))
            cited += bool(window[2])
            for name, seen in of_client(client, question(number)).items():
                differing[name] = differing.get(name, 0) + (seen != window)
    return [
        reported("questions", count),
        reported("answers with citations", cited),
        *(at_most(f"{name}: different from the window", 0, n) for name, n in differing.items()),
    ]


def of_window(services: Services, asked: str) -> Seen:
    """The answer as the window gets it: stored, and checked afterwards."""
    chat, message = services.chat, None
    for event in chat.ask(asked, cancel=Event()):
        if isinstance(event, AnswerDone):
            message = event.message
    assert message
    for change in chat.go_on(message, cancel=Event()):
        changed = getattr(change, "message", None)
        message = changed if isinstance(changed, Message) else message
    sources = [(s.n, s.document_id, s.start, s.end, s.quote, s.is_cited) for s in message.sources]
    found = citations(message.text, [s for s in message.sources if s.is_cited])
    marks = [(c.start, c.end, c.source.document_id) for c in found]
    checked = [(c.checked.claim, c.verdict.value, c.n or None) for c in message.claims]
    return message.text, sources, marks, checked


def of_client(client: "OpenAI", asked: str) -> dict[str, Seen]:
    """The answers through both APIs, in both modes."""
    messages: Any = [{"role": "user", "content": asked}]
    chat = client.chat.completions
    whole: Any = chat.create(model="desktop-rag", messages=messages)
    chunks: list[Any] = list(chat.create(model="desktop-rag", messages=messages, stream=True))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    marks = [
        m for c in chunks for m in (c.choices[0].delta.model_extra or {}).get("annotations", [])
    ]
    response: Any = client.responses.create(model="desktop-rag", input=asked)
    events: list[Any] = list(client.responses.create(model="desktop-rag", input=asked, stream=True))
    message, done = whole.choices[0].message, events[-1].response
    return {
        "chat completion": seen(
            message.content, whole.desktop_rag, [a.url_citation for a in message.annotations]
        ),
        "chat completion, streamed": seen(
            text, chunks[-1].model_extra["desktop_rag"], [a["url_citation"] for a in marks]
        ),
        "response": seen(
            response.output_text, response.desktop_rag, response.output[0].content[0].annotations
        ),
        "response, streamed": seen(
            done.output_text, done.desktop_rag, done.output[0].content[0].annotations
        ),
    }


def seen(text: str, extra: dict[str, Any], annotations: list[Any]) -> Seen:
    """What a client sees."""
    rows = extra["sources"]
    sources = [(r["n"], r["id"], *_span(r["url"]), r["quote"], r["is_cited"]) for r in rows]
    plain = [a if isinstance(a, dict) else a.model_dump() for a in annotations]
    marks = [(a["start_index"], a["end_index"], _document(a["url"])) for a in plain]
    checked = [(c["text"], c["verdict"], c["source"]) for c in extra["claims"]]
    return text, sources, marks, checked


def _span(url: str) -> tuple[int, int]:
    start, _, end = url.split("/")[-2].partition("-")
    return int(start), int(end)


def _document(url: str) -> str:
    return url.split("/")[-3]


if __name__ == "__main__":
    main()
