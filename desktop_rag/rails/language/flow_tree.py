"""Statements and definitions from what the parser found. Any thread."""

import re
from collections.abc import Mapping, Sequence
from typing import NoReturn, cast

from lark import Token, Tree

from desktop_rag.rails.language import flow_syntax as syntax
from desktop_rag.rails.language.expression_syntax import Expression, Operation, Text, Variable
from desktop_rag.rails.language.expression_tree import Node, read_expression, unquoted
from desktop_rag.rails.language.syntax_errors import FlowSyntaxError

DEFAULT_PRIORITY = 1.0
# The name of the action that fills in `$variable = ...`.
GENERATE_VALUE = "generate_value"
_WORDS = {"stop", "return", "break", "continue", "goto", "label"}
_SILENT = {"pass", "comment", "priority", "meta"}
_PARAMETERS = re.compile(r"(?:\s+\$\w+)+$")


class FlowReader:
    """Reads one file; `lines` are its lines, which hold the comments above statements."""

    def __init__(self, file: str, lines: Sequence[str], margin: int) -> None:
        self._file = file
        self._lines = lines
        self._margin = margin

    def read(self, tree: Node) -> syntax.FlowFile:
        """All definitions; FlowSyntaxError for what the grammar allows and nobody can mean."""
        nodes = _nodes(tree)
        return syntax.FlowFile(
            tuple(self._user_form(node) for node in nodes if node.data == "user_form"),
            tuple(self._bot_form(node) for node in nodes if node.data == "bot_form"),
            tuple(self._flow(node) for node in nodes if node.data == "flow"),
        )

    # --- definitions -----------------------------------------------------------------------------

    def _user_form(self, node: Node) -> syntax.UserForm:
        form, *texts = _nodes(node)
        return syntax.UserForm(_form(form), _texts(texts), self._place(node))

    def _bot_form(self, node: Node) -> syntax.BotForm:
        form, *texts = _nodes(node)
        return syntax.BotForm(_form(form), _texts(texts), self._place(node))

    def _flow(self, node: Node) -> syntax.FlowDefinition:
        parts = _nodes(node)
        modifiers = frozenset(_word(part) for part in parts if part.data == "modifier")
        kind = next(_word(part) for part in parts if part.data == "flow_kind")
        # All variables are global, so the names of parameters say nothing more.
        named = next((_form(part) for part in parts if part.data == "form"), "")
        name = _PARAMETERS.sub("", named)
        if kind == "subflow" and not name:
            self._refuse(node, "A subflow needs a name.", "the name of the subflow")
        body = [p for p in parts if p.data not in ("modifier", "flow_kind", "form")]
        priorities = [_number(part) for part in body if part.data == "priority"]
        for entries in (_entries(part) for part in body if part.data == "meta"):
            modifiers |= _modifiers(entries)
            if written := entries.get("priority"):
                priorities.append(self._priority(node, written))
        priority = next(iter(priorities), DEFAULT_PRIORITY)
        return syntax.FlowDefinition(
            name, kind == "subflow" or "subflow" in modifiers, modifiers, priority,
            self._block(body, is_loop=False), self._source(node), self._place(node),
        )  # fmt: skip

    def _source(self, node: Node) -> str:
        """The lines of a definition: the first, and those below it that are indented."""
        first, *more = self._lines[node.meta.line - 1 :]
        ends = (n for n, line in enumerate(more) if line.strip() and not line[0].isspace())
        return "\n".join([first, *more[: next(ends, len(more))]]).strip()

    def _priority(self, node: Node, written: str) -> float:
        """The priority among the entries of `meta`."""
        try:
            return float(written)
        except ValueError:
            self._refuse(node, f"“{written}” is no priority.", "a number")

    # --- statements ------------------------------------------------------------------------------

    def _block(self, nodes: Sequence[Node], *, is_loop: bool) -> syntax.Block:
        wanted = [node for node in nodes if node.data not in _SILENT]
        return tuple(self._statement(node, is_loop=is_loop) for node in wanted)

    def _statement(self, node: Node, *, is_loop: bool) -> syntax.Statement:
        kind, place = str(node.data), self._place(node)
        if kind in _WORDS:
            if kind == "break" and not is_loop:
                self._refuse(node, "`break` stands outside of a loop.", "`stop`", "`return`")
            return syntax.Word(kind, _form(node) if node.children else "", place)
        if kind in ("if", "when", "while"):
            return self._compound(node, is_loop=is_loop)
        if kind in ("user", "bot", "event"):
            return self._said(node, self._instruction(node))
        if kind == "create":
            name, arguments = self._named(_nodes(node)[0].children)
            return syntax.CreateEvent(name, arguments, place)
        if kind == "execute":
            name, arguments = self._named(_nodes(node)[0].children)
            result = next((str(c)[1:] for c in node.children if isinstance(c, Token)), "")
            return syntax.Execute(name, arguments, result, place)
        if kind == "do":
            return self._do(node)
        return self._set(node)

    def _set(self, node: Node) -> "syntax.Assign | syntax.Execute":
        """`$name = …`, `$name += …`, or a value that the model fills in."""
        variable, place = str(node.children[0])[1:], self._place(node)
        if node.data == "generate":
            told = self._instruction(node)
            wanted = ("name", Text(variable)), ("instructions", Text(told))
            return syntax.Execute(GENERATE_VALUE, wanted, variable, place)
        value = read_expression(_nodes(node)[0])
        if node.data == "change":
            sign = str(node.children[1])[0]
            value = Operation(sign, (Variable(variable), value))
        return syntax.Assign(variable, value, place)

    def _do(self, node: Node) -> syntax.Do:
        first = node.children[0]
        name = str(first) if isinstance(first, Token) else str(first.children[0])
        return syntax.Do(name.strip(), self._named(node.children)[1], self._place(node))

    def _said(
        self, node: Node, instruction: str
    ) -> "syntax.UserSays | syntax.BotSays | syntax.EventSeen":
        place, kind = self._place(node), str(node.data).removesuffix("_case")
        if kind == "event":
            named = _nodes(node)[0]
            return syntax.EventSeen(*self._named(named.children), place)
        said = _said(_nodes(node))
        return (
            syntax.UserSays(said, place)
            if kind == "user"
            else syntax.BotSays(said, instruction, place)
        )

    def _compound(self, node: Node, *, is_loop: bool) -> "syntax.If | syntax.When | syntax.While":
        parts = _nodes(node)
        if node.data == "when":
            return self._when(node, is_loop=is_loop)
        condition, body = read_expression(parts[0]), _nodes(parts[1])
        if node.data == "while":
            return syntax.While(condition, self._block(body, is_loop=True), self._place(node))
        otherwise: syntax.Block = ()
        for part in reversed(parts[2:]):
            inner = _nodes(part)
            if part.data == "else_part":
                otherwise = self._block(_nodes(inner[0]), is_loop=is_loop)
            else:
                then = self._block(_nodes(inner[1]), is_loop=is_loop)
                chosen = syntax.If(read_expression(inner[0]), then, otherwise, self._place(part))
                otherwise = (chosen,)
        then = self._block(body, is_loop=is_loop)
        return syntax.If(condition, then, otherwise, self._place(node))

    def _when(self, node: Node, *, is_loop: bool) -> syntax.When:
        first, body, *more = _nodes(node)
        cases = [(self._said(first, ""), self._block(_nodes(body), is_loop=is_loop))]
        otherwise: syntax.Block | None = None
        for part in more:
            inner = _nodes(part)
            if part.data == "else_part":
                otherwise = self._block(_nodes(inner[0]), is_loop=is_loop)
            else:
                block = self._block(_nodes(inner[1]), is_loop=is_loop)
                cases.append((self._said(inner[0], ""), block))
        return syntax.When(tuple(cases), otherwise, self._place(node))

    def _named(self, children: "Sequence[Tree[Token] | Token]") -> tuple[str, syntax.Arguments]:
        """The name of a call or an event, and its arguments."""
        trees = [child for child in children if isinstance(child, Tree)]
        listed = next((tree for tree in trees if tree.data == "arguments"), None)
        pairs = [] if listed is None else [node.children for node in _nodes(listed)]
        arguments = [(str(name), _expression(value)) for name, value in pairs]
        if len({name for name, _ in arguments}) < len(arguments):
            self._refuse(cast("Node", listed), "An argument is given twice.", "another name")
        return str(children[0]), tuple(arguments)

    # --- places ----------------------------------------------------------------------------------

    def _place(self, node: Node) -> syntax.Place:
        return syntax.Place(self._file, node.meta.line, node.meta.column + self._margin)

    def _instruction(self, node: Node) -> str:
        """The comment on the lines just above a statement."""
        said: list[str] = []
        for line in reversed(self._lines[: node.meta.line - 1]):
            if not line.lstrip().startswith("#"):
                break
            said.append(line.lstrip().lstrip("#").strip())
        return "\n".join(reversed(said))

    def _refuse(self, node: Node, problem: str, *expected: str) -> NoReturn:
        raise FlowSyntaxError(self._place(node), problem, expected)


def _entries(meta: Node) -> dict[str, str]:
    """The lines `key: value` of `meta`."""
    pairs = (str(child).partition(":") for child in meta.children)
    return {key.strip(): value.strip() for key, _, value in pairs}


def _modifiers(entries: Mapping[str, str]) -> frozenset[str]:
    """The modifiers among the entries of `meta` that are on."""
    on = (key for key, value in entries.items() if value.casefold() == "true")
    names = {"is_extension": "extension", "allow_multiple": "parallel", "is_sample": "sample"}
    return frozenset(names.get(key, key) for key in on)


def _nodes(node: Node) -> list[Node]:
    return [child for child in node.children if isinstance(child, Tree)]


def _form(node: Node) -> str:
    return " ".join(str(node.children[0]).split())


def _texts(nodes: Sequence[Node]) -> tuple[str, ...]:
    return tuple(unquoted(str(node.children[0])) for node in nodes)


def _word(node: Node) -> str:
    return str(node.children[0])


def _number(node: Node) -> float:
    return float(str(node.children[0]))


def _expression(child: "Tree[Token] | Token") -> Expression:
    return read_expression(cast("Node", child))


def _said(nodes: Sequence[Node]) -> syntax.Said:
    """A form, a text, a variable or anything; with the texts on the lines below it."""
    examples = next((_texts(_nodes(node)) for node in nodes if node.data == "examples"), ())
    first = nodes[0]
    if first.data == "any":
        return syntax.Said(is_any=True, texts=examples)
    if first.data == "variable":
        return syntax.Said(variable=str(first.children[0])[1:], texts=examples)
    if first.data == "text":
        return syntax.Said(texts=(*_texts([first]), *examples))
    if first.data == "form":
        return syntax.Said(_form(first), examples)
    form, *texts = _nodes(first)
    return syntax.Said(_form(form), (*_texts(texts), *examples))
