"""The syntax tree of expressions, and how it is made of the parser's tree. Any thread."""

import re
from dataclasses import dataclass
from typing import cast

from lark import Token, Tree


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, a truth value or nothing."""

    value: float | int | bool | None


@dataclass(frozen=True, slots=True)
class Text:
    """A text, in which `$name` and `{{ name }}` stand for variables."""

    text: str


@dataclass(frozen=True, slots=True)
class Variable:
    """`$name`."""

    name: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """`value.name`: an entry of a mapping."""

    value: "Expression"
    name: str


@dataclass(frozen=True, slots=True)
class Index:
    """`value[index]`."""

    value: "Expression"
    index: "Expression"


@dataclass(frozen=True, slots=True)
class Call:
    """`name(…)`, or `value.name(…)` where `value` is the first of the arguments."""

    name: str
    arguments: "tuple[Expression, ...]"
    is_method: bool


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator and its operands: arithmetic, `and`, `or`, `not`, the sign."""

    operator: str
    operands: "tuple[Expression, ...]"


@dataclass(frozen=True, slots=True)
class Comparison:
    """`a < b <= c`: one operator less than operands."""

    operators: tuple[str, ...]
    operands: "tuple[Expression, ...]"


@dataclass(frozen=True, slots=True)
class Choice:
    """`a if condition else b`."""

    condition: "Expression"
    then: "Expression"
    otherwise: "Expression"


@dataclass(frozen=True, slots=True)
class Collection:
    """`[…]`, or `{…}` with `keys`."""

    values: "tuple[Expression, ...]"
    keys: "tuple[Expression, ...] | None" = None


Expression = (
    Constant | Text | Variable | Attribute | Index | Call | Operation | Comparison | Choice
    | Collection
)  # fmt: skip


Node = Tree[Token]
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t"}
_CONSTANTS = {"true": True, "false": False, "none": None}
_LOGICAL = {"or_": "or", "and_": "and", "not_": "not", "negative": "-"}


def read_expression(tree: Node) -> Expression:  # noqa: C901, PLR0911  one line for each kind
    """The expression of a node."""
    kind, children = str(tree.data), tree.children
    if kind == "variable":
        return Variable(str(children[0])[1:])
    if kind == "number":
        written = str(children[0])
        return Constant(float(written) if "." in written else int(written[:30]))
    if kind == "string":
        return Text(unquoted(str(children[0])))
    if kind in _CONSTANTS:
        return Constant(_CONSTANTS[kind])
    if kind in _LOGICAL:
        return Operation(_LOGICAL[kind], _all(children))
    if kind == "binary":
        left, sign, right = children
        return Operation(str(sign), (_one(left), _one(right)))
    if kind == "compare":
        signs = [" ".join(map(str, cast("Node", child).children)) for child in children[1::2]]
        return Comparison(tuple(signs), _all(children[::2]))
    if kind == "attribute":
        return Attribute(_one(children[0]), str(children[1]))
    if kind == "index":
        return Index(_one(children[0]), _one(children[1]))
    if kind == "method":
        arguments = (_one(children[0]), *_all(children[2:]))
        return Call(str(children[1]), arguments, is_method=True)
    if kind == "function":
        return Call(str(children[0]), _all(children[1:]), is_method=False)
    if kind == "choice":
        then, condition, otherwise = _all(children)
        return Choice(condition, then, otherwise)
    return _collection(kind, children)


def unquoted(written: str) -> str:
    """The text between quotation marks."""
    marks = 3 if written.startswith('"""') else 1
    inside = written[marks:-marks]
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), inside)


def _collection(kind: str, children: "list[Node | Token]") -> Expression:
    if kind == "list_":
        return Collection(_all(children))
    assert kind == "dict_", kind
    pairs = [_all(cast("Node", child).children) for child in children]
    return Collection(tuple(pair[1] for pair in pairs), tuple(pair[0] for pair in pairs))


def _all(children: "list[Node | Token]") -> tuple[Expression, ...]:
    """The expressions among the children, without the signs between them."""
    return tuple(read_expression(child) for child in children if isinstance(child, Tree))


def _one(child: "Node | Token") -> Expression:
    return read_expression(cast("Node", child))
