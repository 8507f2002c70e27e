"""Calculates arithmetic that a model writes, by a walk over its syntax tree. Pure.

Nothing is evaluated but numbers, operators and a few functions, and no step may get large.
"""

import ast
import operator
from collections.abc import Callable
from typing import Any

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {"round": round, "min": min, "max": max, "abs": abs}
_LONGEST = 400
_LARGEST = 1e30
_MOST_POWER = 64
_DIGITS = 12
_SIGNS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "^": "**"})


class CalculationError(Exception):
    """An expression can't be calculated; the message is for its author."""


def calculated(expression: str) -> str:
    """The value of an expression, whose numbers may have thousands separators such as 1,234.5.

    The value has none: in half of the languages 51,000 is fifty-one.
    """
    plain = expression.strip().rstrip("=").translate(_SIGNS)
    if len(plain) > _LONGEST:
        raise CalculationError("The expression is too long.")
    try:
        value = _value(ast.parse(_without_separators(plain), mode="eval").body)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as exc:
        raise CalculationError("Write numbers with + - * / ( ) ** only, as 1234.5.") from exc
    except (ZeroDivisionError, OverflowError) as exc:
        raise CalculationError("It divides by zero, or the value is too large.") from exc
    return str(value) if isinstance(value, int) else f"{value:.{_DIGITS}g}"


def _without_separators(text: str) -> str:
    """Thousands separators are those between a digit and three more; a list has blanks."""
    kept: list[str] = []
    for n, character in enumerate(text):
        after = text[n + 1 : n + 4]
        is_group = (
            len(after) == len("000") and after.isdigit() and not text[n + 4 : n + 5].isdigit()
        )
        if character == "," and text[n - 1 : n].isdigit() and is_group:
            continue
        kept.append(character)
    return "".join(kept)


def _value(node: ast.AST) -> int | float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            found: Any = value
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            found = _OPERATORS[type(op)](_value(operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            one, other = _value(left), _value(right)
            if isinstance(op, ast.Pow) and abs(other) > _MOST_POWER:
                raise OverflowError
            found = _OPERATORS[type(op)](one, other)
        case ast.Call(func=ast.Name(id="sum"), args=args, keywords=[]):
            found = sum(map(_value, _listed(args)))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            found = _FUNCTIONS[name](*map(_value, _listed(args)))
        case _:
            raise ValueError("not arithmetic")
    if isinstance(found, complex) or abs(found) > _LARGEST:
        raise OverflowError
    return found


def _listed(args: list[ast.expr]) -> list[ast.expr]:
    """The arguments, given one by one or as a list."""
    match args:
        case [ast.List(elts=elements) | ast.Tuple(elts=elements)]:
            return elements
        case _:
            return args
