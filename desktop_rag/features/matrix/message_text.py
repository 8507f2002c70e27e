"""Answers as messages: plain text, and HTML in which nothing foreign is markup. Pure.

What models and documents write is data: raw HTML, links and images in it stay text. The only links
are those of sources, which the bot makes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.token import Token

# An event has at most 64 KB, with both forms and its encryption.
_MOST_CHARS = 12_000
_CUT = "\n\n… The rest is too long for a message."
_MARKER = re.compile(r"\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\]")
_parser = (
    MarkdownIt("commonmark", {"html": False})
    .enable("table")
    .disable(["link", "autolink", "image", "reference"])
)


@dataclass(frozen=True, slots=True)
class LinkedSource:
    """A source by its number, title, place, and an address that the room can open, or ""."""

    n: int
    title: str
    place: str = ""
    address: str = ""

    @property
    def name(self) -> str:
        """Title and place on one line."""
        title = " ".join(self.title.split())
        return f"{title}, {self.place}" if self.place else title


@dataclass(frozen=True, slots=True)
class MessageText:
    """The two forms of a message."""

    body: str
    html: str


def plain(text: str) -> MessageText:
    """A text of the bot's own."""
    return MessageText(text, "<br>".join(escape(line) for line in text.split("\n")))


def answer_text(
    text: str, sources: Sequence[LinkedSource], lines: Sequence[str] = (), *, title: str = "Sources"
) -> MessageText:
    """An answer with its numbered sources below, and `lines` about it at the end."""
    shown = text if len(text) <= _MOST_CHARS else text[:_MOST_CHARS].rstrip() + _CUT
    by_number = {each.n: each for each in sources}
    body, html = [shown], [_html(shown, by_number)]
    if sources:
        body.append("\n".join([f"{title}:", *map(_source_line, sources)]))
        html.append("<br>".join([f"<strong>{escape(title)}</strong>", *map(_source_html, sources)]))
    if lines:
        body.append("\n".join(lines))
        html.append("<br>".join(f"<em>{escape(line)}</em>" for line in lines))
    paragraphs = [html[0], *(f"<p>{each}</p>" for each in html[1:])]
    return MessageText("\n\n".join(body), "".join(paragraphs))


def content_of(text: MessageText) -> dict[str, Any]:
    """The content of an event. It mentions nobody: a name in an answer wakes no one."""
    return {
        "msgtype": "m.notice",
        "body": text.body,
        "format": "org.matrix.custom.html",
        "formatted_body": text.html,
        "m.mentions": {},
    }


def in_thread(content: Mapping[str, Any], thread_id: str, replied_id: str) -> dict[str, Any]:
    """The content as an answer in a thread; programs without threads show a reply."""
    relation = {
        "rel_type": "m.thread",
        "event_id": thread_id,
        "is_falling_back": True,
        "m.in_reply_to": {"event_id": replied_id},
    }
    return {**content, "m.relates_to": relation}


def edit_of(content: Mapping[str, Any], event_id: str) -> dict[str, Any]:
    """The content in place of that of an earlier message."""
    return {
        **content,
        "body": f"* {content['body']}",
        "formatted_body": f"* {content['formatted_body']}",
        "m.new_content": dict(content),
        "m.relates_to": {"rel_type": "m.replace", "event_id": event_id},
    }


def reaction_to(event_id: str, key: str) -> dict[str, Any]:
    """The content of a reaction."""
    return {"m.relates_to": {"rel_type": "m.annotation", "event_id": event_id, "key": key}}


def message_link(room_id: str, event_id: str) -> str:
    """The address of a message, which opens in the program of the person."""
    server = room_id.partition(":")[2]
    via = f"?via={quote(server, safe='')}" if server else ""
    return f"https://matrix.to/#/{quote(room_id, safe='')}/{quote(event_id, safe='')}{via}"


def _html(text: str, sources: Mapping[int, LinkedSource]) -> str:
    tokens = _parser.parse(text)
    for token in tokens:
        if token.type == "inline":
            token.children = [
                part for child in token.children or [] for part in _linked(child, sources)
            ]
    return str(_parser.renderer.render(tokens, _parser.options, {})).strip()


def _linked(token: Token, sources: Mapping[int, LinkedSource]) -> list[Token]:
    """The token with its [n] as links to the sources that have addresses."""
    if token.type != "text":
        return [token]
    parts: list[Token] = []
    end = 0
    for found in _MARKER.finditer(token.content):
        parts.append(_text(token.content[end : found.start()]))
        for n in map(int, found[1].split(",")):
            parts += _number(n, sources.get(n))
        end = found.end()
    return [*parts, _text(token.content[end:])]


def _number(n: int, source: LinkedSource | None) -> list[Token]:
    if source is None or not source.address:
        return [_text(f"[{n}]")]
    begin = Token("link_open", "a", 1, attrs={"href": source.address})
    return [begin, _text(f"[{n}]"), Token("link_close", "a", -1)]


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _source_line(source: LinkedSource) -> str:
    where = f" – {source.address}" if source.address else ""
    return f"[{source.n}] {source.name}{where}"


def _source_html(source: LinkedSource) -> str:
    name = escape(source.name)
    if source.address:
        name = f'<a href="{escape(source.address)}">{name}</a>'
    return f"[{source.n}] {name}"
