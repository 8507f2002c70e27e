"""Exports a conversation with its sources as Markdown, HTML or JSON. Pure, any thread.

Untrusted text is escaped, and opening the file fetches nothing. A claim that its sources
don't back carries its sign in words.
"""

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from markdown_it import MarkdownIt

from desktop_rag.core.claims import with_signs
from desktop_rag.core.conversation import (
    OWN_KNOWLEDGE,
    Attachment,
    Conversation,
    Message,
    MessageState,
    Role,
    SourceRef,
    in_words,
)
from desktop_rag.core.markup.inert_markdown import inert_file, safe_address
from desktop_rag.core.markup.own_words import EXPORTED_CHAT
from desktop_rag.core.question_scope import ALL_DOCUMENTS

# The marks by which `conversation_import` recognises our files.
FORMAT = EXPORTED_CHAT
VERSION = 1


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802
        return safe_address(url) is not None


_parser = _Parser("commonmark", {"html": False}).enable(["table", "strikethrough"])
_parser.disable(["image", "html_block", "html_inline", "reference"])
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:46em;margin:2em auto;padding:0 1em}"
    "blockquote{margin:.3em 0 .3em 1em;color:#555}.who{color:#555;margin-top:2em}"
    "pre{overflow:auto;background:#f4f4f4;padding:.6em}table{border-collapse:collapse}"
    "td,th{border:1px solid #ccc;padding:.2em .5em}"
)
_STATES = {
    MessageState.STOPPED: "stopped",
    MessageState.FAILED: "failed",
    MessageState.CUT: "cut off",
}


def export_text(conversation: Conversation, messages: Sequence[Message], ending: str) -> str:
    """The text of a file with this ending: .html, .json, else Markdown."""
    match ending.casefold():
        case ".html" | ".htm":
            return _as_html(conversation, messages)
        case ".json":
            return _as_json(conversation, messages)
        case _:
            return _as_markdown(conversation, messages)


# --- Markdown --------------------------------------------------------------------------------


def _as_markdown(conversation: Conversation, messages: Sequence[Message]) -> str:
    parts = [f"---\ngenerator: {EXPORTED_CHAT}\n---", f"# {_plain(conversation.title)}"]
    for message in messages:
        parts.append(f"## {_plain(_speaker(message))}")
        parts.append(
            "  \n".join(_plain(line) for line in message.text.splitlines())
            if message.role is Role.USER
            else inert_file(with_signs(message.text, message.claims))
        )
        parts += map(_plain, _told(message))
        parts += ["\n\n".join(_markdown_source(s) for s in message.sources if s.is_cited)]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _markdown_source(source: SourceRef) -> str:
    lines = [f"\\[{source.n}\\] {_plain(source.where)}"]
    lines += [f"> {_plain(line)}" for line in source.quote.splitlines() if line.strip()]
    text = "  \n".join(lines[:1]) + ("\n\n" + "\n".join(lines[1:]) if lines[1:] else "")
    query = "\n".join(f"    {line}" for line in source.query.splitlines())
    return f"{text}\n\n{query}" if source.query else text


def _plain(text: str) -> str:
    """The text as one line of Markdown without formatting."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


# --- HTML ------------------------------------------------------------------------------------


def _as_html(conversation: Conversation, messages: Sequence[Message]) -> str:
    title = html.escape(" ".join(conversation.title.split()))
    body = "\n".join(part for message in messages for part in _html_message(message))
    return (
        '<!doctype html>\n<html><head><meta charset="utf-8">\n'
        f'<meta name="generator" content="{EXPORTED_CHAT}">\n'
        # Nothing is loaded, whatever a model or a document contains.
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>{title}</h1>\n{body}\n</body></html>\n"
    )


def _html_message(message: Message) -> Iterator[str]:
    yield f'<p class="who">{html.escape(_speaker(message))}</p>'
    if message.role is Role.USER:
        yield f'<p style="white-space:pre-wrap">{html.escape(message.text)}</p>'
    else:
        yield _parser.render(with_signs(message.text, message.claims))
    yield from (f"<p>{html.escape(line)}</p>" for line in _told(message) if line)
    for source in message.sources:
        if source.is_cited:
            quote = f"<blockquote>{html.escape(source.quote)}</blockquote>" if source.quote else ""
            query = f"<pre>{html.escape(source.query)}</pre>" if source.query else ""
            yield f"<div>[{source.n}] {html.escape(source.where)}{quote}{query}</div>"


# --- JSON ------------------------------------------------------------------------------------


def _as_json(conversation: Conversation, messages: Sequence[Message]) -> str:
    """All fields, so that an import restores the conversation."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "title": conversation.title,
        "updated_at": _exactly(conversation.updated_at),
        "messages": [message_to_json(message) for message in messages],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def message_to_json(message: Message) -> dict[str, Any]:
    """The message as an object, without its id and conversation."""
    fields: dict[str, Any] = {
        "role": message.role.value,
        "text": message.text,
        "created_at": _exactly(message.created_at),
    }
    fields |= {"scope": message.scope.to_json()} if message.scope != ALL_DOCUMENTS else {}
    if message.role is Role.USER:
        attached = [_json_attachment(attachment) for attachment in message.attachments]
        return fields | ({"attachments": attached} if attached else {})
    return fields | {
        "state": message.state.value,
        "model": message.model,
        "is_excerpts": message.is_excerpts,
        "is_own_knowledge": message.is_own_knowledge,
        "seconds": message.seconds,
        "error_title": message.error_title,
        "error_hint": message.error_hint,
        "thinking": message.thinking,
        "feedback": message.feedback.value,
        "notes": message.notes.to_json() if message.notes else None,
        "follow_ups": list(message.follow_ups),
        "claims": [claim.to_json() for claim in message.claims],
        "sources": [_json_source(source) for source in message.sources],
        "nearest": [_json_source(source) for source in message.nearest],
    }


def _json_attachment(attachment: Attachment) -> dict[str, Any]:
    return {
        "name": attachment.name,
        "kind": attachment.kind.value,
        "words": attachment.words,
        "pages": attachment.pages,
    }


def _json_source(source: SourceRef) -> dict[str, Any]:
    return asdict(source) | {"anchor": source.anchor.to_json()}


def _exactly(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


# --- in words --------------------------------------------------------------------------------


def _speaker(message: Message) -> str:
    who = "You" if message.role is Role.USER else message.model or "Excerpts from your documents"
    at = datetime.fromtimestamp(message.created_at, UTC).astimezone()
    parts = [who, f"{at:%Y-%m-%d %H:%M}", _STATES.get(message.state, "")]
    parts += [OWN_KNOWLEDGE] if message.is_own_knowledge else []
    return " · ".join(part for part in parts if part)


def _told(message: Message) -> list[str]:
    """What is said below a message: its scope, its attachments, why it failed."""
    failed = f"{message.error_title} {message.error_hint}".strip() if message.error_title else ""
    return [message.scope.in_words(), in_words(message.attachments), failed]
