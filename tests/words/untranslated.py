"""Finds texts for people in the window's code that `tr` does not translate."""

import ast
import re
from pathlib import Path

from desktop_rag.core.language.languages import english_share

# Functions whose texts are names for programs: keys, patterns, styles, logs, programming errors.
_FOR_PROGRAMS = {
    "Path", "QByteArray", "QFont", "QKeySequence", "QUrl", "RuntimeError", "Signal", "Slot",
    "Thread", "ThreadPoolExecutor", "TypeVar", "ValueError", "cast", "colour", "compile",
    "data", "debug", "decode", "encode", "endswith", "error", "exception", "find", "findChild",
    "findChildren", "findall", "finditer", "fromIsoFormat", "fromTheme", "fullmatch",
    "getLogger", "getattr", "glob", "hasFormat", "hasattr", "icon", "info", "join",
    "keySequence", "lstrip", "match", "namedtuple", "open", "partition", "property", "put_off",
    "removeprefix", "removesuffix", "resource", "rpartition", "rsplit", "rstrip", "search",
    "setData", "setDesktopFileName", "setFamilies", "setObjectName", "setProperty",
    "setStyleSheet", "set_icon", "set_property", "setattr", "split", "startswith", "strftime",
    "strip", "sub", "toString", "url", "warning", "write",
}  # fmt: skip
_FOR_STYLES = {"kind", "tone", "scale", "role", "icon", "mode", "encoding", "thread_name_prefix"}
_SENTENCE = re.compile(r"[A-Z][a-z]*($|[\s’'…,.:!?()-])|.*[^\W\d_]{2,}[,.:…]? [“\"(]?[^\W\d_]{2,}")
_FORMATTED = re.compile(r"(^|.*[\s“(·])[^\W\d_]{2,}")
_KEY = (
    r"((Ctrl|Alt|Shift|Meta)\+)*(Return|Enter|Space|Esc|Delete|Home|End|Menu|Left|Right|Up|Down"
    r"|Back|Forward|PgUp|PgDown|F\d+|.)"
)
_KEYS = re.compile(rf"{_KEY}( {_KEY})*")
_FOR_OTHERS_FORMATTED = re.compile(r"^\S*://\S*$|[<{]|;\s*([\w-]*:|$)|bgcolor")
_FOR_OTHERS = re.compile(r"[;{]\s*[\w-]+\s*:|<|^#|^\S*://|^[.:\\]|bgcolor|^[\w.-]+/[\w.+-]+$")
_WORD_LIST = re.compile(r"([a-z0-9]{1,11} ){3,}[a-z0-9]{1,11}")
# What shows its first argument.
_SHOWING = {"ElidedButton", "ElidedLabel", "PlainLabel", "TextButton", "setText", "set_full_text"}
# What names an act: there, Delete is a word and no key.
_NAMING = {"QAction", "TextButton", "addAction"}
_LETTERS = re.compile(r"[^\W\d_]{2}")
_JOINING = re.compile(r",? [a-z]{2,} ")


def untranslated(path: Path) -> list[str]:
    """The texts of a module that people read and `tr` doesn't translate, as `line: text`."""
    finder = _Finder()
    finder.visit(ast.parse(path.read_text(encoding="utf-8")))
    return finder.found


def given_to_tr(path: Path) -> set[str]:
    """The texts that a module translates."""
    text = path.read_text(encoding="utf-8")
    if "tr(" not in text and "marked(" not in text:
        return set()
    calls = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call) and _is_tr(n))
    return {_text_of(call.args[0]) for call in calls}


class _Finder(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found: list[str] = []

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and _is_for_people(node.value):
            self.found.append(f"{node.lineno}: {node.value}")

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        text = "".join(map(_text_of, node.values))
        is_word = re.search(r"\s|^[A-Z]", text)
        if is_word and _FORMATTED.match(text) and not _FOR_OTHERS_FORMATTED.search(text):
            self.found.append(f"{node.lineno}: {text}")
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                if part.format_spec and ast.unparse(part.format_spec) == "f','":
                    self.found.append(f"{node.lineno}: {ast.unparse(part)}")
                self.visit(part.value)

    def visit_Call(self, node: ast.Call) -> None:
        self.visit(node.func)
        if _JOINING.fullmatch(joint := _joint_of(node.func)):
            self.found.append(f"{node.lineno}: {joint}")
        if _name_of(node.func) in _SHOWING and _is_value(node.args[:1]):
            self.found.append(f"{node.lineno}: {ast.unparse(node.args[0])}")
        if _name_of(node.func) in _NAMING and node.args and _is_key(node.args[0]):
            self.found.append(f"{node.lineno}: {_text_of(node.args[0])}")
        is_for_programs = _name_of(node.func) in _FOR_PROGRAMS
        for argument in node.args[1:] if _is_tr(node) else node.args:
            if not (is_for_programs and isinstance(argument, ast.Constant | ast.JoinedStr)):
                self.visit(argument)
        for keyword in node.keywords:
            if keyword.arg not in _FOR_STYLES:
                self.visit(keyword.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        for part in (node.left, *node.comparators):
            if not isinstance(part, ast.Constant | ast.Tuple | ast.Set | ast.List):
                self.visit(part)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)

    def visit_MatchValue(self, node: ast.MatchValue) -> None:
        """A value that is compared is not shown."""

    def visit_Dict(self, node: ast.Dict) -> None:
        for value in node.values:
            self.visit(value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def visit_Assert(self, node: ast.Assert) -> None:
        self.visit(node.test)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.visit(node.value)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if not any("Enum" in ast.unparse(base) for base in node.bases):
            for part in node.body:
                self.visit(part)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
            self.visit(part)


def _is_key(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and bool(_KEYS.fullmatch(str(node.value)))


def _is_for_people(text: str) -> bool:
    if not _LETTERS.search(text) or _KEYS.fullmatch(text):
        return False
    if _WORD_LIST.fullmatch(text) and not english_share(text.split()):
        return False
    return bool(_SENTENCE.match(text)) and not _FOR_OTHERS.search(text)


def _is_tr(node: ast.Call) -> bool:
    return _name_of(node.func) in ("tr", "marked") and bool(node.args)


def _text_of(node: ast.expr) -> str:
    """The text of a constant, "" for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_value(arguments: list[ast.expr]) -> bool:
    """The value of an enum, which has its own words."""
    match arguments:
        case [ast.Attribute(attr="value")]:
            return True
        case _:
            return False


def _joint_of(function: ast.expr) -> str:
    """What a call puts between texts: `" and "` of `" and ".join(…)`."""
    match function:
        case ast.Attribute(value=ast.Constant(value=str(text)), attr="join"):
            return text
        case _:
            return ""


def _name_of(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
