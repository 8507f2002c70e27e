"""The package as translation.py reads it: constants, functions, imports and assignments by name."""

import ast
from collections.abc import Iterator
from pathlib import Path

Function = ast.FunctionDef


class Module:
    """A module with its constants and functions by name, methods among them."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        """`path` is below the package: `core/errors.py`."""
        self.path, self.tree = path, tree
        self.constants: dict[str, list[ast.expr]] = {}
        self.functions: dict[str, list[Function]] = {}
        self.classes: list[ast.ClassDef] = []
        self.imports: dict[str, str] = {}
        self._assigned: dict[int, dict[str, list[ast.expr]]] = {}
        for node in tree.body:
            for name, value in _assignments(node):
                self.constants.setdefault(name, []).append(value)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                self.functions.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.ClassDef):
                self.classes.append(node)
            elif isinstance(node, ast.ImportFrom):
                below = (node.module or "").removeprefix("desktop_rag.").replace(".", "/")
                self.imports |= {each.asname or each.name: f"{below}.py" for each in node.names}

    def assigned_in(self, function: Function) -> dict[str, list[ast.expr]]:
        """The values of the local variables of a function."""
        if id(function) not in self._assigned:
            values = self._assigned[id(function)] = {}
            for node in ast.walk(function):
                for name, value in _assignments(node):
                    values.setdefault(name, []).append(value)
        return self._assigned[id(function)]


def read_modules(package: Path) -> list[Module]:
    """All modules of the package but those of the window, whose texts are translated there."""
    return [
        Module(path.relative_to(package).as_posix(), ast.parse(path.read_text(encoding="utf-8")))
        for path in sorted(package.rglob("*.py"))
        if not path.is_relative_to(package / "ui")
    ]


def place_name(node: ast.expr) -> str:
    """A name for the value of an expression, for those who translate."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_").lower()
        case ast.Call(func=ast.Name(id="len")):
            return "count"
        case ast.Call(args=[each, *_]) | ast.Call(func=ast.Attribute(value=each)):
            return place_name(each)
        case ast.Call(func=ast.Name(id=name)):
            return name.strip("_")
        case ast.Subscript(value=each) | ast.GeneratorExp(elt=each) | ast.BinOp(left=each):
            return place_name(each)
        case ast.IfExp(body=each) | ast.BoolOp(values=[each, *_]):
            return place_name(each)
        case _:
            return "value"


def _assignments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
            for row in _rows(value, len(targets)):
                for target, each in zip(targets, row, strict=False):
                    if isinstance(target, ast.Name):
                        yield target.id, each
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value)
            | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            | ast.AugAssign(target=ast.Name(id=name), value=value)
            | ast.NamedExpr(target=ast.Name(id=name), value=value)
        ):
            yield name, value
        case _:
            pass


def _rows(value: ast.expr, size: int) -> list[list[ast.expr]]:
    """What a tuple of names may get."""
    match value:
        case ast.Tuple(elts=values):
            return [values]
        case ast.IfExp(body=body, orelse=orelse):
            return _rows(body, size) + _rows(orelse, size)
        case _:
            return [[value] * size]
