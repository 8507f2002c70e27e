"""Reads a file of flows: text to syntax tree, or the place and the words of what is wrong.

Any thread.
"""

import re
from functools import cache

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.indenter import DedentError, Indenter

from desktop_rag.rails.language.expression_syntax import Expression
from desktop_rag.rails.language.expression_tree import read_expression
from desktop_rag.rails.language.flow_grammar import GRAMMAR, WORDS
from desktop_rag.rails.language.flow_mistakes import mistake_at
from desktop_rag.rails.language.flow_syntax import FlowFile, Place
from desktop_rag.rails.language.flow_tree import FlowReader
from desktop_rag.rails.language.syntax_errors import FlowSyntaxError

# Longer files and deeper nesting are no work of people.
_MAX_CHARACTERS = 1_000_000
_MAX_DEPTH = 50
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
        raise FlowSyntaxError(place, "This is nested too deeply.") from exc


def parse_expression(text: str) -> Expression:
    """A single expression, as in a setting; FlowSyntaxError for any fault."""
    _check_size([text], "expression")
    tree = _parsed(text + "\n", "expression", 0, start="lone_expression")
    child = tree.children[0]
    assert isinstance(child, Tree)
    return read_expression(child)


# --- the parser ----------------------------------------------------------------------------------


class _Lines(Indenter):
    """Indentation as in Python; lines within brackets belong together."""

    @property
    def NL_type(self) -> str:  # noqa: N802
        return "_NL"

    @property
    def OPEN_PAREN_types(self) -> list[str]:  # noqa: N802
        return ["LPAR", "LSQB", "LBRACE"]

    @property
    def CLOSE_PAREN_types(self) -> list[str]:  # noqa: N802
        return ["RPAR", "RSQB", "RBRACE"]

    @property
    def INDENT_type(self) -> str:  # noqa: N802
        return "_INDENT"

    @property
    def DEDENT_type(self) -> str:  # noqa: N802
        return "_DEDENT"

    @property
    def tab_len(self) -> int:
        return _TAB


@cache
def _parser() -> Lark:
    keywords = dict.fromkeys(_KEYWORD.findall(GRAMMAR))
    rules = _KEYWORD.sub(lambda match: f"_{match[1].upper()}", GRAMMAR)
    # A keyword ends where its word ends: `users` is not `user` and `s`.
    terminals = "\n".join(rf"_{word.upper()}.2: /{word}\b/" for word in keywords)
    return Lark(
        f"{rules}\n{terminals}\nlone_expression: expression _NL\n",
        parser="lalr",
        start=["start", "lone_expression"],
        postlex=_Lines(),
        propagate_positions=True,
        maybe_placeholders=False,
    )


def _parsed(text: str, file: str, margin: int, start: str = "start") -> Tree[Token]:
    try:
        return _parser().parse(text, start=start)
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
    ranks = {name: rank for rank, name in enumerate(dict.fromkeys([*WORDS, *terminals]))}
    words: list[str] = []
    for name in sorted(expected, key=lambda name: ranks.get(name, 0)):
        if name in WORDS:
            words.append(WORDS[name])
        elif name in terminals:
            words.append(f"`{terminals[name].pattern.value.removesuffix(chr(92) + 'b')}`")
    words = [word.replace("\\", "") for word in dict.fromkeys(words)]
    return words if len(words) <= _MAX_EXPECTED else [*words[:_MAX_EXPECTED], "…"]


# --- lines ---------------------------------------------------------------------------------------


def _without_margin(lines: list[str]) -> tuple[list[str], int]:
    """The lines without the spaces that all of them begin with, and how many these are."""
    written = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    margin = min((len(line) - len(line.lstrip(" ")) for line in written), default=0)
    return [line[min(margin, len(line) - len(line.lstrip(" "))) :] for line in lines], margin


def _check_size(lines: list[str], file: str) -> None:
    if sum(map(len, lines)) > _MAX_CHARACTERS:
        raise FlowSyntaxError(Place(file, 1, 1), "The file is too long.")
    for number, line in enumerate(lines, 1):
        depth = len(line) - len(line.lstrip())
        if depth > _MAX_DEPTH * 4 or len(_OPEN.findall(line)) > _MAX_DEPTH:
            raise FlowSyntaxError(Place(file, number, 1), "This is nested too deeply.")


def _wrong_indentation(text: str, file: str, margin: int) -> FlowSyntaxError:
    """Where a line ends a block that it didn't begin."""
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
