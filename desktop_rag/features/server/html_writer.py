"""HTML that escapes what it is given, unless this module made it. Pure.

Every page of the server is written with it, so that no text of a document, a question or a program
can become markup.
"""

from collections.abc import Iterable
from html import escape

_VOID = frozenset({"br", "hr", "input", "link", "meta"})
_ADDRESSES = frozenset({"action", "formaction", "href", "src"})
_SAFE_BEGINNINGS = ("http://", "https://", "/", "?", "#")


class Html(str):
    """Markup that `tag`, `joined` or `document` made. Nothing else may construct it.

    Combined with a string it becomes plain text again, which is escaped where it is used.
    """

    __slots__ = ()


Child = str | Iterable[str] | None
Attribute = str | int | bool | None


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """An element. A final underscore of an attribute is dropped, others become hyphens.

    True stands for an attribute without a value; one that is False or None is left out, as is an
    address that is not of the web or of this server.
    """
    if name in ("script", "style") or any(a.startswith(("on", "style")) for a in attributes):
        raise ValueError(f"the pages have no {name} of this kind")
    start = "".join(_attribute(key.rstrip("_"), value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{start}>")
    return Html(f"<{name}{start}>{joined(*children)}</{name}>")


def joined(*children: Child) -> Html:
    """Several pieces one after the other; plain strings are escaped, None is left out."""
    return Html("".join(_written(child) for child in children if child is not None))


def document(title: str, body: Html, *, stylesheet: str) -> Html:
    """A whole page in English with one stylesheet of this server."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("title", title),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("link", rel="stylesheet", href=stylesheet),
    )
    return Html("<!doctype html>" + tag("html", head, body, lang="en"))


def _written(child: str | Iterable[str]) -> str:
    if isinstance(child, Html):
        return child
    if isinstance(child, str):
        return escape(child)
    return "".join(_written(each) for each in child)


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.replace("_", "-")
    if value is True:
        return f" {name}"
    text = str(value)
    is_safe = text.lower().startswith(_SAFE_BEGINNINGS) and not text.startswith(("//", "/\\"))
    if name in _ADDRESSES and not is_safe:
        return ""
    return f' {name}="{escape(text)}"'
