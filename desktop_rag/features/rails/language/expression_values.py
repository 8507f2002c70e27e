"""Evaluates expressions: runs no other code, and bounds the size of values. Any thread."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from desktop_rag.features.rails.language.expression_syntax import (
    Attribute,
    Call,
    Choice,
    Collection,
    Comparison,
    Constant,
    Expression,
    Index,
    Operation,
    Text,
    Variable,
)

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


def _value(  # noqa: C901, PLR0911  one case for each kind
    expression: Expression, context: Mapping[str, Value]
) -> Value:
    match expression:
        case Constant(value):
            return value
        case Text(text):
            return fill_in(text, context)
        case Variable(name):
            return context.get(name)
        case Attribute(inner, name):
            return _entry(_value(inner, context), name)
        case Index(inner, index):
            return _value(inner, context)[_value(index, context)]
        case Call(name, arguments, is_method):
            functions = _METHODS if is_method else _FUNCTIONS
            if name not in functions:
                raise ExpressionError(f"There is no function “{name}”.")
            return functions[name](*(_value(argument, context) for argument in arguments))
        case Operation(sign, operands):
            return _operation(sign, operands, context)
        case Comparison(signs, operands):
            values = [_value(operand, context) for operand in operands]
            pairs = zip(signs, values, values[1:], strict=False)
            return all(_COMPARISONS[sign](left, right) for sign, left, right in pairs)
        case Choice(condition, then, otherwise):
            return _value(then if _value(condition, context) else otherwise, context)
        case Collection(values, keys):
            listed = [_value(value, context) for value in values]
            if keys is None:
                return listed
            return {str(_value(k, context)): v for k, v in zip(keys, listed, strict=True)}


def _entry(value: Value, name: str) -> Value:
    """An entry of a mapping; of nothing, nothing."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise ExpressionError(f"A {type(value).__name__} has no “{name}”.")
    return cast("Mapping[str, Value]", value).get(name)


def _operation(sign: str, operands: Sequence[Expression], context: Mapping[str, Value]) -> Value:
    if sign in ("and", "or"):
        value = None
        for operand in operands:
            value = _value(operand, context)
            if bool(value) is (sign == "or"):
                break
        return value
    values = [_value(operand, context) for operand in operands]
    if sign == "not":
        return not values[0]
    if len(values) == 1:
        return -values[0]
    left, right = values
    if sign == "%" and not isinstance(left, int | float):
        raise ExpressionError("`%` is for numbers.")
    if sign == "*" and not all(isinstance(value, int | float) for value in values):
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
