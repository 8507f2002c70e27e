"""The syntax tree of expressions. Any thread."""

from dataclasses import dataclass


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
