"""Repairs what servers do to the messages of one stream, before it is read. Pure.

A character split over two events, as halves or as bytes, becomes one again, and a last event that
repeats the whole answer beside its delta adds nothing.
"""

import codecs
import re
from typing import Any, cast

# Bytes that are no UTF-8, as the decoder of events passes them on.
_BYTES = re.compile("[\udc80-\udcff]")


class MessageRepairs:
    """One per stream: it remembers what has come."""

    def __init__(self) -> None:
        self._half = ""
        self._has_content = False

    def repair(self, event: object) -> None:
        """Change the event in place."""
        choice = _first_choice(event)
        if choice is None:
            return
        if self._has_content:
            choice.pop("message", None)
        delta = choice.get("delta")
        if isinstance(delta, dict):
            self._join_halves(cast("dict[str, Any]", delta))
        if choice.get("finish_reason") is not None and _BYTES.match(self._half):
            # Its other bytes do not come any more.
            self._half = ""
            ending = cast("dict[str, Any]", choice.setdefault("delta", {}))
            ending["content"] = (ending.get("content") or "") + "\N{REPLACEMENT CHARACTER}"

    def _join_halves(self, delta: dict[str, Any]) -> None:
        content = delta.get("content")
        if not isinstance(content, str) or not content:
            return
        self._has_content = True
        content, self._half = self._half + content, ""
        if "\ud800" <= content[-1] <= "\udbff":
            content, self._half = content[:-1], content[-1]
        # Half a character that stays alone is removed by the reader.
        halves = content.encode("utf-16-le", "surrogatepass")
        delta["content"] = self._joined_bytes(halves.decode("utf-16-le", "surrogatepass"))

    def _joined_bytes(self, content: str) -> str:
        """The text with the bytes of split characters joined; those of an unfinished one wait."""
        try:
            raw = content.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            return content
        if raw.isascii() or not _BYTES.search(content):
            return content
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = decoder.decode(raw)
        self._half = decoder.getstate()[0].decode("utf-8", "surrogateescape")
        return text


def _first_choice(event: object) -> dict[str, Any] | None:
    choices = cast("dict[str, Any]", event).get("choices") if isinstance(event, dict) else None
    first = cast("list[Any]", choices)[0] if isinstance(choices, list) and choices else None
    return cast("dict[str, Any]", first) if isinstance(first, dict) else None
