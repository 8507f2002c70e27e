"""Evaluates expressions as they were parsed: runs no other code, and bounds the size of values.

Any thread.
"""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from lark import Token, Tree

# A node of the parser's tree.
Expression = Tree[Token]
# What a variable may hold: what JSON has.
Value = Any
MOST_CHARACTERS = 200_000
_MOST_ITEMS = 10_000
_LARGEST = 10**15
_PATH = r"((?:\.[^\W\d]\w*|\[\d{1,6}\])*)"
_NAME = re.compile(
    rf"\$(?P<name>[^\W\d]\w*){_PATH}|\{{\{{\s*\$?(?P<braced>[^\W\d]\w*){_PATH}\s*\}}\}}"
)
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")


class ExpressionError(Exception):
    """An expression has no value, such as the sum of a text and a number."""


def evaluate(expression: Expression, context: Mapping[str, Value]) -> Value:
    """The value of an expression, or ExpressionError; a variable that was never set is None."""
    try:
        return _bounded(_value(expression, context))
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as exc:
        raise ExpressionError(str(exc)) from exc
    except RecursionError as exc:
        raise ExpressionError("It is nested too deeply.") from exc


def fill_in(text: str, context: Mapping[str, Value]) -> str:
    """The text with `$name` and `{{ name }}` replaced by the variables that are set.

    `$report.city` and `$days[0]` are entries where these exist; else the rest is text.
    """

    def value(match: re.Match[str]) -> str:
        found = context.get(match["name"] or match["braced"])
        rest = match[2] or match[4] or ""
        while found is not None and (step := _STEP.match(rest)):
            inner = _inner(found, step)
            if inner is None:
                break
            found, rest = inner, rest[step.end() :]
        is_missing = bool(rest) and (match["braced"] or isinstance(found, Mapping))
        return match[0] if found is None or is_missing else as_text(found) + rest

    return _NAME.sub(value, text)[:MOST_CHARACTERS]


def _inner(value: Value, step: re.Match[str]) -> Value:
    """The entry of a mapping or a list that a text names; None without it."""
    if isinstance(value, Mapping):
        return cast("Mapping[str, Value]", value).get(step[1] or step[2])
    if isinstance(value, list) and step[2]:
        items = cast("list[Value]", value)
        return items[int(step[2])] if int(step[2]) < len(items) else None
    return None


def as_text(value: Value) -> str:
    """A value as people write it: `3`, not `3.0`."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST
    return str(int(value) if is_whole else value)


def given_text(text: str) -> Expression:
    """The expression of a text that is written nowhere; `$name` in it stands for a variable."""
    return Tree("text", [Token("TEXT", text)])


def constant_in(expression: Expression) -> str | None:
    """The text of what is the same in every context; None for anything else."""
    kind, [first, *_] = expression.data, (*expression.children, "")
    if kind in _TEXTS:
        text = _TEXTS[kind](str(first))
        return None if {"$", "{"} & {*text} else text
    is_constant = kind == "number" or kind in _CONSTANTS
    return str(_value(expression, {})) if is_constant else None


def unquoted(written: str) -> str:
    """The text between quotation marks."""
    marks = 3 if written.startswith('"""') else 1
    inside = written[marks:-marks]
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), inside)


_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t"}
_CONSTANTS = {"true": True, "false": False, "none": None}
_TEXTS: dict[str, Callable[[str], str]] = {"string": unquoted, "text": str}


def _value(node: Expression, context: Mapping[str, Value]) -> Value:
    kind, words = (
        str(node.data),
        [str(child) for child in node.children if isinstance(child, Token)],
    )
    inner = [child for child in node.children if isinstance(child, Tree)]
    if kind in _CONSTANTS:
        return _CONSTANTS[kind]
    if kind in _TEXTS:
        return fill_in(_TEXTS[kind](words[0]), context)
    if kind in ("and_", "or_"):
        value = None
        for operand in inner:
            value = _value(operand, context)
            if bool(value) is (kind == "or_"):
                break
        return value
    if kind == "choice":
        then, condition, otherwise = inner
        return _value(then if _value(condition, context) else otherwise, context)
    if kind == "compare":
        signs = [" ".join(map(str, sign.children)) for sign in inner[1::2]]
        values = [_value(operand, context) for operand in inner[::2]]
        pairs = zip(signs, values, values[1:], strict=False)
        return all(_COMPARISONS[sign](left, right) for sign, left, right in pairs)
    if kind == "dict_":
        parts = [
            [_value(p, context) for p in pair.children if isinstance(p, Tree)] for pair in inner
        ]
        return {str(key): value for key, value in parts}
    if kind == "variable":
        return context.get(words[0][1:])
    return _computed(kind, words, [_value(child, context) for child in inner])


def _computed(kind: str, words: list[str], values: list[Value]) -> Value:
    """The value of an expression whose parts have these values."""
    match kind:
        case "number":
            return float(words[0]) if "." in words[0] else int(words[0][:30])
        case "attribute":
            return _entry(values[0], words[0])
        case "index":
            return values[0][values[1]]
        case "method" | "function":
            functions = _METHODS if kind == "method" else _FUNCTIONS
            if words[0] not in functions:
                raise ExpressionError(f"There is no function “{words[0]}”.")
            return functions[words[0]](*values)
        case "not_":
            return not values[0]
        case "negative":
            return -values[0]
        case "binary":
            return _operation(words[0], *values)
        case _:
            return values


def _entry(value: Value, name: str) -> Value:
    """An entry of a mapping; of nothing, nothing."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise ExpressionError(f"A {type(value).__name__} has no “{name}”.")
    return cast("Mapping[str, Value]", value).get(name)


def _operation(sign: str, left: Value, right: Value) -> Value:
    if sign == "%" and not isinstance(left, int | float):
        raise ExpressionError("`%` is for numbers.")
    if sign == "*" and not all(isinstance(value, int | float) for value in (left, right)):
        raise ExpressionError("`*` is for numbers.")
    if sign == "+" and isinstance(left, str) != isinstance(right, str):
        left, right = as_text(left), as_text(right)
    return _ARITHMETIC[sign](left, right)


def _bounded(value: Value) -> Value:
    if isinstance(value, str) and len(value) > MOST_CHARACTERS:
        raise ExpressionError("The text is too long.")
    if isinstance(value, list | dict) and len(cast("list[Value]", value)) > _MOST_ITEMS:
        raise ExpressionError("There are too many items.")
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise ExpressionError("The number is too large.")
    return value


def _is_in(item: Value, whole: Value) -> bool:
    return whole is not None and item in whole


def _text_method(name: str) -> Callable[..., Value]:
    def call(text: Value, *arguments: Value) -> Value:
        if not isinstance(text, str):
            raise ExpressionError(f"`{name}` is for texts.")
        return getattr(text, name)(*arguments)

    return call


def _get(mapping: Value, key: Value, default: Value = None) -> Value:
    found = _entry(mapping, str(key))
    return default if found is None else found


_ARITHMETIC: dict[str, Callable[[Any, Any], Value]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": _is_in,
    "not in": lambda item, whole: not _is_in(item, whole),
    "is": lambda left, right: left is right or left == right,
    "is not": lambda left, right: not (left is right or left == right),
}
_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "len": len,
    "str": as_text,
    "int": int,
    "float": float,
    "bool": bool,
    "round": round,
    "abs": abs,
    "min": min,
    "max": max,
}
_TEXT_METHODS = ("lower", "upper", "strip", "startswith", "endswith", "split", "title")
_METHODS: dict[str, Callable[..., Value]] = {
    "get": _get,
    **{name: _text_method(name) for name in _TEXT_METHODS},
}
