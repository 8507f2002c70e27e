"""Finds what the app tells people outside the window's rooms: failures, reasons, notices.

These texts stay English where they are made, stored, logged and sent; a window translates them when
it shows them (`told`). Which texts there are is read from the code: all that can become a text of
an exception of ours, of a notice or a finding, or the reason of a document. An f-string is a text
with places. `python -m tests.words.told_texts FILE` lists them for the app, and writes them into
FILE for Qt's tools.
"""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from desktop_rag.models.connection_states import KIND_TABLE, KIND_TEXTS
from tests.words.told_modules import Function, Module, place_name, read_modules

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "desktop_rag"
LIST = ROOT / "resources" / "words" / "told.json"
# No window shows what these say: they serve the command line, programs, chat rooms and models.
_NOT_SHOWN = (
    "cli/", "features/backup/cli/", "features/backup/library_copy.py", "features/diagnosis/cli/",
    "features/evaluation/cli/",
    "features/evaluation/measures/", "features/matrix/",
    "features/rails/actions/", "features/rails/cli/", "features/rails/configuration/",
    "features/rails/intent/", "features/rails/language/", "features/rails/prompts/",
    "features/rails/rail_engine.py", "features/rails/rail_events.py", "features/rails/runtime/",
    "features/rails/topics/", "features/schedules/cli/", "features/server/access/access_rules.py",
    "features/server/access/user_tokens.py", "features/server/admin/", "features/server/cli/",
    "features/server/filters/", "features/server/guards/", "features/server/library_calls.py",
    "features/server/mcp_server/", "features/server/openai_api/", "features/server/rest/",
    "features/server/widget/",
    "store/duckdb/tables/", "kept_endpoints.py", "scratch_library.py",
)  # fmt: skip
# Raised between parts of the app: logged, or turned into other words.
_NOT_FOR_PEOPLE = {
    "AppEnding", "CalculationError", "Cancelled", "ChildLostError", "ExpressionError",
    "InterruptedAnswer",
    "ProtocolError", "QueryRefusedError", "StreamError", "ToolFaultError", "WrongValueError",
    "_ChangedError",
    "_UndrawableError",
}  # fmt: skip
# What else is made of texts that people read, by the names of its arguments.
_VALUES: dict[str, tuple[str, ...]] = {
    "AnswerWaits": ("reason",),
    "Bound": ("", "reason"),
    "EndpointReport": ("title", "hint"),
    "Finding": ("", "", "title", "hint"),
    "LeftOut": ("reason",),
    "Notice": ("title", "hint"),
    "Suggestion": ("", "reason"),
    "_not_checked": ("", "why"),
    "os_error_as": ("title", "", "way_out"),
    "tell": ("title",),
    "warn": ("title",),
}
_TEXT_NAMES = {"detail", "hint", "reason", "refusal", "said", "title", "way_out", "why"}
_KEYWORDS = {"error_hint", "error_title", "explanation", "reason", "refusal", "status"}
# Texts that reach the window by other ways: functions, constants and enums.
_SOURCES = {
    "answer/checking/answer_claims.py": ("_ELSEWHERE",),
    "answer/checking/claims/checker.py": (
        "_SAID",
        "_OTHER_WORDS",
        "_IN_NO_SOURCE",
        "_unsaid_words",
        "_contrast",
    ),
    "answer/checking/claims/exact.py": (
        "QUOTED",
        "COMPUTED",
        "MISCOMPUTED",
        "IN_TABLE",
        "OTHER_CELL",
    ),
    "core/domain.py": ("EMBEDDED_ELSEWHERE",),
    "core/model_profile.py": ("findings", "in_words", "_context_sentence", "_THINKING"),
    "desktop/hotkeys/portal_hotkeys.py": ("words",),
    "features/recordings/recordings.py": ("WAITING", "refusal_now", "words", "_GOES_ON"),
    "ingest/scanning/ignore.py": ("HIDDEN", "_TOOLS", "_TEMPORARY", "_PATTERN", "reason"),
    "ingest/watching/watcher.py": ("LIMIT_REASON", "REMOTE_REASON"),
    "models/embedding/joined_embedding.py": ("check",),
    "models/endpoints/client/chat_client.py": ("_NOT_STREAMED", "status"),
    "models/endpoints/client/endpoint_faults.py": ("Fault",),
    "models/endpoints/client/endpoint_errors.py": ("wait_in_words", "fields", "said"),
}
# Single words are names of fields more often than texts, except in these.
_WITH_WORDS = (
    "core/claims.py", "features/diagnosis/", "ingest/read/formats.py", "ingest/scanning/",
    "ingest/read/foundation/format_table.py", "models/endpoints/client/allowances.py",
)  # fmt: skip
_OF_THE_SYSTEM = (
    "Address already in use", "Connection refused", "Connection reset by peer",
    "Device or resource busy", "Disk quota exceeded", "File exists", "File name too long",
    "Input/output error", "Is a directory", "Network is unreachable", "No route to host",
    "No space left on device", "No such file or directory", "Not a directory",
    "Operation not permitted", "Permission denied", "Read-only file system", "Stale file handle",
    "Too many open files",
)  # fmt: skip
_LETTERS = re.compile(r"[^\W\d_]{2}")
_PLACE = re.compile(r"\{\w+(:[^{}]*)?\}")
_NUMBER = re.compile(r",?(\.[1-9]f)?")
# Values that are sentences of their own are found and translated as such.
_OWN_SENTENCE = re.compile(r"^(\{\w+\} )+(?=[A-Z])|(?<=[.!?])( \{\w+\})+$")
_CODE = re.compile(r"[\w-]*[_\d][\w-]*|[A-Z]+|[a-z]+|\\\\.*|[a-z]+(-[a-z]+)+")


def told_texts() -> list[str]:
    """Every text, sorted; a place for a value is `{name}`, braces of a text are doubled."""
    return _Reading().texts()


def table_texts() -> set[str]:
    """What the table of connections tells: a window translates it whole."""
    rows = tomllib.loads((ROOT / "resources" / KIND_TABLE).read_text(encoding="utf-8"))
    return {row[name] for row in rows["connections"] for name in KIND_TEXTS}


def write_lists(source: Path) -> None:
    """Write the list of the app, and a source file for Qt's tools, with the texts of tables too."""
    texts = told_texts()
    LIST.write_text(json.dumps(texts, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    source.parent.mkdir(parents=True, exist_ok=True)
    every = [*texts, *sorted(table_texts())]
    lines = (f"tr({json.dumps(text, ensure_ascii=False)})\n" for text in every)
    source.write_text("".join(lines), encoding="utf-8")


@dataclass(frozen=True)
class _Scope:
    module: Module
    function: Function | None


@dataclass(frozen=True)
class _Called:
    call: ast.Call
    scope: _Scope
    is_in_exception: bool


class _Reading:
    """Follows texts from where they are shown to people back to where they are written."""

    def __init__(self) -> None:
        self._modules = {module.path: module for module in read_modules(PACKAGE)}
        self._sinks = dict(_VALUES) | self._exceptions()
        self._found: set[str] = set(_OF_THE_SYSTEM)
        self._seen: set[tuple[int, int]] = set()
        # Parameters that become texts: read again where their functions are called.
        self._passing: dict[tuple[str, str], set[str]] = {}

    def texts(self) -> list[str]:
        calls = [
            called
            for module in self._modules.values()
            if not module.path.startswith(_NOT_SHOWN)
            for called in self._calls(module.tree, _Scope(module, None), is_in_exception=False)
        ]
        self._follow_sources()
        size = -1
        while size != (size := sum(map(len, self._passing.values()))):
            for called in calls:
                self._read_call(called)
        return sorted(self._found)

    def _exceptions(self) -> dict[str, tuple[str, ...]]:
        """Every exception class of ours is shown to people, if only within another text."""
        classes = {node.name: node for each in self._modules.values() for node in each.classes}
        names = {"AppError", "Exception", "ValueError"}
        while more := {
            name
            for name, node in classes.items()
            if name not in names and any(_name_of(base) in names for base in node.bases)
        }:
            names |= more
        shown = (names & classes.keys() | {"AppError"}) - _NOT_FOR_PEOPLE
        return {name: _arguments(classes, name) for name in shown}

    def _calls(self, node: ast.AST, scope: _Scope, *, is_in_exception: bool) -> Iterator[_Called]:
        if isinstance(node, ast.FunctionDef):
            scope = _Scope(scope.module, node)
        if isinstance(node, ast.ClassDef):
            is_in_exception = node.name in self._sinks
        if isinstance(node, ast.Call):
            yield _Called(node, scope, is_in_exception)
        for child in ast.iter_child_nodes(node):
            yield from self._calls(child, scope, is_in_exception=is_in_exception)

    def _follow_sources(self) -> None:
        for path, names in _SOURCES.items():
            module = self._modules[path]
            for node in ast.walk(module.tree):
                if isinstance(node, ast.FunctionDef):
                    if node.name in names:
                        self._follow_returns(node, module)
                    for name in names:
                        for value in module.assigned_in(node).get(name, ()):
                            self._follow(value, _Scope(module, node))
                elif isinstance(node, ast.ClassDef) and node.name in names:
                    for pair in (part for part in node.body if isinstance(part, ast.Assign)):
                        self._add_all(ast.literal_eval(pair.value), module.path)
            for name in names:
                self._follow_constant(name, module)

    def _read_call(self, called: _Called) -> None:
        call, scope = called.call, called.scope
        name = _name_of(call.func)
        arguments = self._sinks.get(name, ())
        if called.is_in_exception and name == "__init__":
            arguments = ("title", "hint")
        passing = self._passed_to(name, scope.module)
        for place, argument in enumerate(call.args):
            is_text = place < len(arguments) and arguments[place] in _TEXT_NAMES
            if is_text or place in passing or (arguments and isinstance(argument, ast.Starred)):
                self._follow(argument, scope)
        for keyword in call.keywords:
            is_text = keyword.arg in _TEXT_NAMES and bool(arguments)
            if is_text or keyword.arg in _KEYWORDS or keyword.arg in passing:
                self._follow(keyword.value, scope)

    def _passed_to(self, name: str, module: Module) -> set[int | str]:
        """The arguments of a function that become texts, by place and by name."""
        owner = self._owner(name, module)
        names = self._passing.get((owner.path, name)) if owner else None
        if not owner or not names:
            return set()
        arguments = [each.arg for each in owner.functions[name][0].args.args]
        arguments = [each for each in arguments if each not in ("self", "cls")]
        return {place for place, each in enumerate(arguments) if each in names} | names

    def _owner(self, name: str, module: Module) -> Module | None:
        """The module that defines a function called here."""
        if name in module.functions:
            return module
        other = self._modules.get(module.imports.get(name, ""))
        return other if other and name in other.functions else None

    def _follow(self, value: ast.expr, scope: _Scope) -> None:
        if (key := (id(value), id(scope.function))) in self._seen:
            return
        self._seen.add(key)
        match value:
            case ast.Constant(value=str(text)):
                self._add(_literal(text), scope.module.path)
            case ast.JoinedStr():
                self._add(_template(value, self._part_named(scope.module)), scope.module.path)
                for part in value.values:
                    if isinstance(part, ast.FormattedValue):
                        self._follow(part.value, scope)
            case ast.Name(id=name):
                self._follow_name(name, scope)
            case ast.Call():
                self._follow_call(value, scope)
            case ast.Attribute(attr=name) if name.isupper():
                self._follow_constant(name, scope.module)
            case _:
                for part in _parts(value):
                    self._follow(part, scope)

    def _follow_name(self, name: str, scope: _Scope) -> None:
        if function := scope.function:
            values = scope.module.assigned_in(function).get(name, [])
            for value in values:
                self._follow(value, scope)
            arguments = (*function.args.args, *function.args.kwonlyargs)
            if name in {each.arg for each in arguments}:
                self._passing.setdefault((scope.module.path, function.name), set()).add(name)
            elif not values:
                self._follow_constant(name, scope.module)
        else:
            self._follow_constant(name, scope.module)

    def _follow_constant(self, name: str, module: Module) -> None:
        if name not in module.constants:
            module = self._modules.get(module.imports.get(name, ""), module)
        for value in module.constants.get(name, ()):
            self._follow(value, _Scope(module, None))

    def _part_named(self, module: Module) -> Callable[[str], str]:
        """What a constant puts into a text; "" for one that is a sentence, or no text."""

        def part(name: str) -> str:
            owner = module
            if name not in module.constants:
                owner = self._modules.get(module.imports.get(name, ""), module)
            match owner.constants.get(name):
                case [ast.Constant(value=str(text))] if text and text[-1] not in ".!?;":
                    return text
                case _:
                    return ""

        return part

    def _follow_call(self, call: ast.Call, scope: _Scope) -> None:
        name = _name_of(call.func)
        if name in ("tr", "len", "str", "isinstance"):
            return
        if isinstance(call.func, ast.Attribute):
            self._follow(call.func.value, scope)  # "…".strip(), _WORDS.get(…)
        if name in ("join", "filter", "get", "next", "tuple"):
            for argument in call.args:
                self._follow(argument, scope)
        if owner := self._owner(name, scope.module):
            for function in owner.functions[name]:
                if function.returns and "str" in ast.unparse(function.returns):
                    self._follow_returns(function, owner)

    def _follow_returns(self, function: Function, owner: Module) -> None:
        for node in ast.walk(function):
            if isinstance(node, ast.Return | ast.Yield) and node.value:
                self._follow(node.value, _Scope(owner, function))

    def _add_all(self, texts: tuple[str, ...], path: str) -> None:
        for text in texts:
            self._add(text, path)

    def _add(self, text: str, path: str) -> None:
        for line in text.split("\n"):
            plain = line.strip()
            while plain != (plain := _OWN_SENTENCE.sub("", plain)):
                pass
            words = _PLACE.sub("", plain)
            is_code = bool(_CODE.fullmatch(plain)) and not path.startswith(_WITH_WORDS)
            if _LETTERS.search(words) and not is_code:
                self._found.add(plain)


def _arguments(classes: dict[str, ast.ClassDef], name: str) -> tuple[str, ...]:
    """The names of what an exception is made of; not those that are no texts."""
    node = classes.get(name)
    if not node:
        return ("title", "hint")
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and part.name == "__init__":
            given = part.args.args[1:]
            named = [(each.arg, ast.unparse(each.annotation or each)) for each in given]
            return tuple(arg if kind == "str" else "" for arg, kind in named)
    return _arguments(classes, _name_of(node.bases[0])) if node.bases else ()


def _parts(value: ast.expr) -> list[ast.expr]:
    """The values that an expression may have, or is put together from."""
    match value:
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case ast.Subscript(value=each) | ast.Starred(value=each) | ast.NamedExpr(value=each):
            return [each]
        case ast.GeneratorExp(elt=each) | ast.ListComp(elt=each):
            return [each, *(part.iter for part in value.generators)]
        case ast.Dict(values=parts) | ast.BoolOp(values=parts):
            return parts
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return parts
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [left, right]
        case _:
            return []


def _literal(text: str) -> str:
    """A constant: one with `{name}` is filled in by `format`, other braces are braces."""
    return text if _PLACE.search(text) else text.replace("{", "{{").replace("}", "}}")


def _template(node: ast.JoinedStr, part_named: Callable[[str], str]) -> str:
    """The text of an f-string, with a name for each of its places."""
    text, names = "", dict[str, str]()
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            if isinstance(part.value, ast.Name) and (fixed := part_named(part.value.id)):
                text += fixed
                continue
            code = ast.unparse(part.value)
            if code not in names:
                wanted = place_name(part.value)
                others = [each for each in names.values() if each.rstrip("0123456789") == wanted]
                names[code] = f"{wanted}{len(others) + 1}" if others else wanted
            spec = ast.unparse(part.format_spec)[2:-1] if part.format_spec else ""
            form = spec.replace(",.0f", ",")
            is_number = form and _NUMBER.fullmatch(form)
            text += f"{{{names[code]}:{form}}}" if is_number else f"{{{names[code]}}}"
        elif isinstance(part, ast.Constant):
            text += str(part.value).replace("{", "{{").replace("}", "}}")
    return text


def _name_of(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


if __name__ == "__main__":
    write_lists(Path(sys.argv[1]))
