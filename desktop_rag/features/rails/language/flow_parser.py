"""Parses files of flows into syntax trees, or says where and what is wrong. Any thread."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NoReturn, cast

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.indenter import DedentError, PythonIndenter

from desktop_rag.core.paths import resources_dir
from desktop_rag.features.rails.language import flow_syntax as syntax
from desktop_rag.features.rails.language.expression_values import Expression, given_text, unquoted
from desktop_rag.features.rails.language.flow_syntax import FlowFile, FlowSyntaxError, Place

_LANGUAGE = resources_dir() / "rails" / "language"
DEFAULT_PRIORITY = 1.0
# The name of the action that fills in `$variable = ...`.
GENERATE_VALUE = "generate_value"
Node = Tree[Token]
_TREE_WORDS = {"stop", "return", "break", "continue", "goto", "label"}
_SILENT = {"pass", "comment", "priority", "meta"}
_PARAMETERS = re.compile(r"(?:\s+\$\w+)+$")


class FlowReader:
    """Makes the syntax tree of one file; `lines` have the comments above statements."""

    def __init__(self, file: str, lines: Sequence[str], margin: int) -> None:
        self._file = file
        self._lines = lines
        self._margin = margin

    def read(self, tree: Node) -> syntax.FlowFile:
        """All definitions; FlowSyntaxError for nonsense that the grammar allows."""
        nodes = _nodes(tree)
        return syntax.FlowFile(
            tuple(self._form(node) for node in nodes if node.data == "user_form"),
            tuple(self._form(node) for node in nodes if node.data == "bot_form"),
            tuple(self._flow(node) for node in nodes if node.data == "flow"),
        )

    # --- definitions -----------------------------------------------------------------------------

    def _form(self, node: Node) -> syntax.Form:
        form, *texts = _nodes(node)
        return syntax.Form(_form(form), _texts(texts), self._place(node))

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
        priorities = [float(_word(part)) for part in body if part.data == "priority"]
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
        if kind in _TREE_WORDS:
            if kind == "break" and not is_loop:
                self._refuse(node, "`break` stands outside of a loop.", "`stop`", "`return`")
            return syntax.Word(kind, _form(node) if node.children else "", place)
        if kind in ("if", "when", "while"):
            return self._compound(node, is_loop=is_loop)
        if kind in ("user", "bot", "event"):
            return self._said(node, self._instruction(node))
        if kind == "create":
            return syntax.CreateEvent(*self._event(node), place)
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
            wanted = ("name", given_text(variable)), ("instructions", given_text(told))
            return syntax.Execute(GENERATE_VALUE, wanted, variable, place)
        value = self._expression(_nodes(node)[0])
        if node.data == "change":
            sign, name = str(node.children[1])[0], Token("VARIABLE", f"${variable}")
            value = Tree("binary", [Tree("variable", [name]), Token("SIGN", sign), value])
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
            return syntax.EventSeen(*self._event(node), place)
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
        condition, body = self._expression(parts[0]), _nodes(parts[1])
        if node.data == "while":
            return syntax.While(condition, self._block(body, is_loop=True), self._place(node))
        otherwise: syntax.Block = ()
        for part in reversed(parts[2:]):
            inner = _nodes(part)
            if part.data == "else_part":
                otherwise = self._block(_nodes(inner[0]), is_loop=is_loop)
            else:
                then = self._block(_nodes(inner[1]), is_loop=is_loop)
                chosen = syntax.If(self._expression(inner[0]), then, otherwise, self._place(part))
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
        arguments = [(str(name), self._expression(cast("Node", value))) for name, value in pairs]
        if len({name for name, _ in arguments}) < len(arguments):
            self._refuse(cast("Node", listed), "An argument is given twice.", "another name")
        return str(children[0]), tuple(arguments)

    def _event(self, node: Node) -> tuple[str, syntax.Arguments]:
        """The event that a statement names, by our names of it and of its fields."""
        name, arguments = self._named(_nodes(node)[0].children)
        renamed = tuple((_words()["fields"].get(field, field), value) for field, value in arguments)
        return _words()["events"].get(name, name), renamed

    def _expression(self, node: Node) -> Expression:
        """An expression, which is evaluated as it was parsed."""
        level, depth = [node], 0
        while level := [inner for one in level for inner in _nodes(one)]:
            depth += 1
            if depth > _MAX_DEPTH * 4:
                self._refuse(node, _TOO_DEEP)
        return node

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


# --- common mistakes -----------------------------------------------------------------------------


@cache
def _words() -> dict[str, dict[str, Any]]:
    """What is said of mistakes and of what is expected, and foreign names of events."""
    return tomllib.loads((_LANGUAGE / "words.toml").read_text("utf-8"))


_WORD = re.compile(r"[a-z]+\b")
# Curled and pointed quotation marks, as word processors write them.
_CURLED = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2018\u2019\u201a"
_CALL = re.compile(r"\b(?:execute|do|event)\b.*[(,]\s*$")
_DO = re.compile(r"\s*do\b")
_AWAITED = re.compile(r"=\s*await\s+$")


def mistake_at(line: str, at: int) -> tuple[str, tuple[str, ...]] | None:
    """What is wrong at the place, from zero, where parsing a line stopped, and what could be there.

    None without a known mistake.
    """
    before, rest = line[:at], line[at:]
    word = _WORD.match(rest)
    mistakes = _words()["mistakes"]
    if word and not before.strip() and word[0] in mistakes:
        problem, expected = mistakes[word[0]]
        return problem.format(word=word[0]), tuple(expected)
    signs = _signs(before, rest)
    return next(((problem, expected) for is_made, problem, expected in signs if is_made), None)


def _signs(before: str, rest: str) -> Iterator[tuple[bool, str, tuple[str, ...]]]:
    """Each mistake that shows before or behind the place, and whether it is made."""
    mark = rest[:1]
    is_quoted = mark in ('"', "'")
    yield (
        bool(_AWAITED.search(before)),
        "`await` belongs to Colang 2.",
        ("`execute action(name=value)`",),
    )
    yield before.strip() == "meta", "The entries of `meta` stand below it.", ("`key: value`",)
    yield (
        bool(mark) and mark in _CURLED,
        "Texts stand in straight quotation marks.",
        ('`"text"`',),
    )
    yield (
        is_quoted and before.endswith("f"),
        "A text needs no `f`: it fills in $name by itself.",
        ('`"text"`',),
    )
    yield (
        is_quoted and rest.count(mark) == 1,
        "This text has no end on its line.",
        ("a text in quotation marks", 'several lines in """three quotation marks"""'),
    )
    yield (
        bool(_CALL.search(before)),
        "A value in brackets needs a name.",
        ("a name with its value: `name=value`",),
    )
    yield (
        mark == "$" and bool(_DO.match(before)),
        "A value for a subflow stands in brackets.",
        ("`do name(key=$value)`",),
    )


# Nobody writes longer files or nests more deeply.
_MAX_CHARACTERS = 1_000_000
_MAX_DEPTH = 50
_TOO_DEEP = "This is nested too deeply."
_TAB = 8
_MAX_EXPECTED = 8
_KEYWORD = re.compile(r'"([A-Za-z]{2,})"')
_OPEN = re.compile(r"[(\[{]")


def parse_flows(text: str, file: str) -> FlowFile:
    """The definitions of a file, which errors call `file`; FlowSyntaxError for any fault."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines, margin = _without_margin(lines)
    _check_size(lines, file)
    try:
        return FlowReader(file, lines, margin).read(_parsed("\n".join(lines) + "\n", file, margin))
    except RecursionError as exc:
        longest = max(range(len(lines)), key=lambda number: len(lines[number]))
        place = Place(file, longest + 1, 1)
        raise FlowSyntaxError(place, _TOO_DEEP) from exc


# --- the parser ----------------------------------------------------------------------------------


class _Lines(PythonIndenter):
    """Indentation as in Python, where lines within brackets belong together."""

    NL_type = "_NL"
    tab_len = _TAB


@cache
def _parser() -> Lark:
    grammar = (_LANGUAGE / "flows.lark").read_text("utf-8")
    keywords = dict.fromkeys(_KEYWORD.findall(grammar))
    rules = _KEYWORD.sub(lambda match: f"_{match[1].upper()}", grammar)
    # A keyword ends where its word ends: `users` is not `user` and `s`.
    terminals = "\n".join(rf"_{word.upper()}.2: /{word}\b/" for word in keywords)
    return Lark(
        f"{rules}\n{terminals}\n",
        parser="lalr",
        postlex=_Lines(),
        propagate_positions=True,
        maybe_placeholders=False,
    )


def _parsed(text: str, file: str, margin: int) -> Tree[Token]:
    try:
        return _parser().parse(text)
    except UnexpectedInput as exc:
        raise _fault(exc, text, file, margin) from exc
    except DedentError as exc:
        raise _wrong_indentation(text, file, margin) from exc


def _fault(exc: UnexpectedInput, text: str, file: str, margin: int) -> FlowSyntaxError:
    line, column = max(exc.line, 1), max(exc.column, 1)
    if isinstance(exc, UnexpectedToken):
        expected, token = exc.accepts or exc.expected, exc.token
        problem = _found(token)
        if token.type == "$END" or exc.line < 1:
            line = text.count("\n") or 1
            column = len(text.split("\n")[line - 1]) + 1
    else:
        expected = exc.allowed if isinstance(exc, UnexpectedCharacters) else ()
        rest = text[exc.pos_in_stream or 0 :].partition("\n")[0]
        problem = f"“{rest[:30]}” is not understood." if rest else "The line ends too early."
    place = Place(file, line, column + margin)
    if mistake := mistake_at(text.split("\n")[line - 1], column - 1):
        return FlowSyntaxError(place, *mistake)
    return FlowSyntaxError(place, problem, _in_words(expected or ()))


def _found(token: Token) -> str:
    if token.type == "_NL":
        return "The line ends too early."
    if token.type == "_INDENT":
        return "This line is indented too far."
    if token.type in ("_DEDENT", "$END"):
        return "Something is missing before this."
    shown = token.value if len(token.value) <= 30 else f"{token.value[:29]}…"  # noqa: PLR2004
    return f"“{shown}” can't stand here."


def _in_words(expected: "set[str] | frozenset[str] | tuple[str, ...]") -> list[str]:
    """What could stand here: what there are words for, then keywords, then signs."""
    terminals = {terminal.name: terminal for terminal in _parser().terminals}
    told = _words()["expected"]
    ranks = {name: rank for rank, name in enumerate(dict.fromkeys([*told, *terminals]))}
    words: list[str] = []
    for name in sorted(expected, key=lambda name: ranks.get(name, 0)):
        if name in told:
            words.append(told[name])
        elif name in terminals:
            words.append(f"`{terminals[name].pattern.value.removesuffix(chr(92) + 'b')}`")
    words = [word.replace("\\", "") for word in dict.fromkeys(words)]
    return words if len(words) <= _MAX_EXPECTED else [*words[:_MAX_EXPECTED], "…"]


# --- lines ---------------------------------------------------------------------------------------


def _without_margin(lines: list[str]) -> tuple[list[str], int]:
    """The lines without their common indentation, and its width."""
    written = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    margin = min((len(line) - len(line.lstrip(" ")) for line in written), default=0)
    return [line[min(margin, len(line) - len(line.lstrip(" "))) :] for line in lines], margin


def _check_size(lines: list[str], file: str) -> None:
    if sum(map(len, lines)) > _MAX_CHARACTERS:
        raise FlowSyntaxError(Place(file, 1, 1), "The file is too long.")
    for number, line in enumerate(lines, 1):
        depth = len(line) - len(line.lstrip())
        if depth > _MAX_DEPTH * 4 or len(_OPEN.findall(line)) > _MAX_DEPTH:
            raise FlowSyntaxError(Place(file, number, 1), _TOO_DEEP)


def _wrong_indentation(text: str, file: str, margin: int) -> FlowSyntaxError:
    """The error for the line whose indentation fits no block."""
    depths, at, depth = [0], 1, 0
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.lstrip(" \t")
        if not stripped or stripped.startswith("#"):
            continue
        before, at = depth, number
        depth = len(line[: len(line) - len(stripped)].expandtabs(_TAB))
        while depths[-1] > depth:
            depths.pop()
        if depths[-1] < depth < before:
            break
        if depths[-1] < depth:
            depths.append(depth)
    problem = "This line is indented like none of the lines above."
    return FlowSyntaxError(Place(file, at, depth + 1 + margin), problem)
