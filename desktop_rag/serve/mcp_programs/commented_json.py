"""JSON with comments, changed in one place: all else keeps its bytes. Pure.

Editors write their settings with comments and commas at the end of lists. Reading such a file and
writing it again would lose them, so a value is replaced where it stands.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

_BLANK = re.compile(r"[ \t\r\n\ufeff]+")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_PLAIN = re.compile(r"true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_DEEPEST = 200
_STEP = "  "


class NotJSONError(ValueError):
    """The text is no JSON; `line` counts from 1."""

    def __init__(self, text: str, at: int) -> None:
        self.line = text.count("\n", 0, at) + 1
        super().__init__(f"line {self.line}")


@dataclass(frozen=True, slots=True)
class Node:
    """A value at [start, end) of the text. An object also has `members`: the last of a name counts,
    as programs read it.
    """

    start: int
    end: int
    value: Any
    members: Mapping[str, "Node"] = field(default_factory=dict[str, "Node"])
    # The end of the last member, 0 without one; and whether a comma follows it.
    last: int = 0
    has_last_comma: bool = False


def parse(text: str, *, comments: bool = True) -> Node | None:
    """The one value in the text, None where there is only blank space.

    Raises NotJSONError, also for comments and commas at the end where `comments` is False.
    """
    reader = _Reader(text, is_lenient=comments)
    start = reader.skip(0)
    if start == len(text):
        return None
    node = reader.value(start, 0)
    if (rest := reader.skip(node.end)) != len(text):
        raise NotJSONError(text, rest)
    return node


def merged(text: str, path: Sequence[str], value: Mapping[str, Any], *, comments: bool) -> str:
    """The text with the members of `value` set in the object at `path`; all else as it was.

    Objects on the way are made if they are missing, and their other members stay. Raises
    NotJSONError, and ValueError where something on the way is no object.
    """
    for place, leaf in _leaves(path, value):
        text = with_value(text, place, leaf, comments=comments)
    return text


def _leaves(path: Sequence[str], value: object) -> Iterator[tuple[Sequence[str], object]]:
    if isinstance(value, dict) and value:
        for name, inner in cast("dict[str, object]", value).items():
            yield from _leaves([*path, name], inner)
    else:
        yield path, value


def with_value(text: str, path: Sequence[str], value: object, *, comments: bool) -> str:
    """The text with one value at `path`, in place of what stands there. Raises as `merged`."""
    node = parse(text, comments=comments)
    if node is None:
        line = _end_of_line(text)
        return text + _shown(_nested(path, value), "", _STEP, line) + line
    for depth, name in enumerate(path):
        if not isinstance(node.value, dict):
            raise ValueError(".".join(path[:depth]))
        if name not in node.members:
            return _added(text, node, name, _nested(path[depth + 1 :], value))
        node = node.members[name]
    if node.value == value or (value == {} and isinstance(node.value, dict)):
        return text
    shown = _shown(value, _indent_at(text, node.start), _step_of(text), _end_of_line(text))
    return text[: node.start] + shown + text[node.end :]


def _nested(path: Sequence[str], value: object) -> object:
    for name in reversed(path):
        value = {name: value}
    return value


def _added(text: str, node: Node, name: str, value: object) -> str:
    """The text with a new member at the end of an object."""
    line, step, outer = _end_of_line(text), _step_of(text), _indent_at(text, node.start)
    first = next(iter(node.members.values()), None)
    is_spread = first is not None and "\n" in text[node.start : first.start]
    inner = _indent_at(text, first.start) if first and is_spread else outer + step
    close = node.end - 1
    # A comment may stand before the brace, and end with its line.
    cut = text.rfind("\n", 0, close)
    cut -= text[cut - 1 : cut] == "\r"
    is_alone = cut > node.start and not text[cut:close].strip()
    cut = cut if is_alone else close
    member = f"{line}{inner}{json.dumps(name)}: {_shown(value, inner, step, line)}"
    if not is_alone:
        member += line + outer
    if node.last and not node.has_last_comma:
        return text[: node.last] + "," + text[node.last : cut] + member + text[cut:]
    return text[:cut] + member + text[cut:]


def _shown(value: object, indent: str, step: str, line: str) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=step)
    return text.replace("\n", line + indent)


def _indent_at(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    return text[start : start + len(text[start:]) - len(text[start:].lstrip(" \t"))]


def _step_of(text: str) -> str:
    found = re.search(r"\n([ \t]+)\"", text)
    return found[1] if found else _STEP


def _end_of_line(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


class _Reader:
    """Reads values, and knows where they stand."""

    def __init__(self, text: str, *, is_lenient: bool) -> None:
        self._text = text
        self._is_lenient = is_lenient

    def skip(self, at: int) -> int:
        """The place after blank space and comments."""
        while True:
            found = _BLANK.match(self._text, at)
            if not found and self._is_lenient:
                found = _COMMENT.match(self._text, at)
            if not found:
                return at
            at = found.end()

    def value(self, at: int, depth: int) -> Node:
        """The value that begins here."""
        begin = self._text[at : at + 1]
        if depth > _DEEPEST:
            raise NotJSONError(self._text, at)
        if begin == "{":
            return self._object(at, depth)
        if begin == "[":
            return self._list(at, depth)
        found = (_STRING if begin == '"' else _PLAIN).match(self._text, at)
        if not found:
            raise NotJSONError(self._text, at)
        try:
            return Node(at, found.end(), json.loads(found[0]))
        except ValueError as exc:
            raise NotJSONError(self._text, at) from exc

    def _object(self, start: int, depth: int) -> Node:
        members: dict[str, Node] = {}
        last, has_comma, at = 0, False, self.skip(start + 1)
        while self._text[at : at + 1] != "}":
            if (last and not has_comma) or self._text[at : at + 1] != '"':
                raise NotJSONError(self._text, at)
            name = self.value(at, depth + 1)
            at = self.skip(name.end)
            if self._text[at : at + 1] != ":":
                raise NotJSONError(self._text, at)
            member = self.value(self.skip(at + 1), depth + 1)
            members[name.value] = member
            last, (at, has_comma) = member.end, self._after(member.end)
        self._check_end(at, is_comma=has_comma)
        value = {name: member.value for name, member in members.items()}
        return Node(start, at + 1, value, members, last, has_comma)

    def _list(self, start: int, depth: int) -> Node:
        values: list[Any] = []
        has_comma, at = False, self.skip(start + 1)
        while self._text[at : at + 1] != "]":
            if values and not has_comma:
                raise NotJSONError(self._text, at)
            item = self.value(at, depth + 1)
            values.append(item.value)
            at, has_comma = self._after(item.end)
        self._check_end(at, is_comma=has_comma)
        return Node(start, at + 1, values)

    def _after(self, at: int) -> tuple[int, bool]:
        """The place of what follows a value and its comma, and whether there is a comma."""
        at = self.skip(at)
        has_comma = self._text[at : at + 1] == ","
        return (self.skip(at + 1), True) if has_comma else (at, False)

    def _check_end(self, at: int, *, is_comma: bool) -> None:
        if is_comma and not self._is_lenient:
            raise NotJSONError(self._text, at)
