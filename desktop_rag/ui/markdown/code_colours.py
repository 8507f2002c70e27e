"""Syntax highlighting by Pygments. Pure; limited in size, because it runs on the Qt thread."""

import html
from collections.abc import Mapping
from functools import cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import (
    Comment,
    Keyword,
    Literal,
    Name,
    Number,
    Operator,
    String,
    _TokenType,
)

_MAX_CODE_CHARS = 8_000
# Some lexers' regular expressions are very slow on long lines.
_MAX_LINE_CHARS = 500
# fmt: off
_LANGUAGES = frozenset({
    "bash", "c", "c++", "console", "cpp", "cs", "csharp", "css", "diff", "docker", "dockerfile",
    "go", "html", "ini", "java", "javascript", "js", "json", "jsx", "kotlin", "lua", "make",
    "makefile", "markdown", "md", "php", "powershell", "py", "python", "python3", "r", "rb",
    "ruby", "rs", "rust", "scala", "sh", "shell", "sql", "swift", "toml", "ts", "tsx",
    "typescript", "xml", "yaml", "yml", "zsh",
})
# fmt: on
_ROLES: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "code_comment"),
    (Keyword, "code_keyword"),
    (Operator.Word, "code_keyword"),
    (String, "code_string"),
    (Number, "code_number"),
    (Literal, "code_number"),
    (Name.Function, "code_name"),
    (Name.Class, "code_name"),
    (Name.Tag, "code_name"),
    (Name.Attribute, "code_builtin"),
    (Name.Builtin, "code_builtin"),
    (Name.Decorator, "code_builtin"),
)


def highlighted(code: str, language: str, colours: Mapping[str, str]) -> str:
    """The code as escaped HTML, with spans in the colours of the `code_*` roles.

    Code that is too long or in an unsupported language has no colours.
    """
    lexer = _lexer(language.lower()) if _is_bounded(code) else None
    if lexer is None:
        return html.escape(code)
    parts: list[str] = []
    for kind, text in lexer.get_tokens(code):
        role = _role(kind)
        escaped = html.escape(text)
        parts.append(f'<span style="color:{colours[role]};">{escaped}</span>' if role else escaped)
    return "".join(parts).rstrip("\n")


def _is_bounded(code: str) -> bool:
    return len(code) <= _MAX_CODE_CHARS and all(
        len(line) <= _MAX_LINE_CHARS for line in code.split("\n")
    )


@cache
def _lexer(language: str) -> Lexer | None:
    if language not in _LANGUAGES:
        return None
    return get_lexer_by_name(language, stripnl=False, ensurenl=False)


@cache
def _role(kind: _TokenType) -> str:
    return next((role for parent, role in _ROLES if kind in parent), "")
