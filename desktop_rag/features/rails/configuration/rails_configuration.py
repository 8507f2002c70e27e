"""Configurations of rails: flows, prompts, settings and documents, read from a folder and compiled.

A folder has *.co, config.yml and prompts.yml; none of it is run. Any thread.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml

from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.paths import resources_dir
from desktop_rag.features.rails.actions.rails_world import StageSettings
from desktop_rag.features.rails.language.flow_compiler import compile_flows
from desktop_rag.features.rails.language.flow_parser import parse_flows
from desktop_rag.features.rails.language.flow_program import Program
from desktop_rag.features.rails.language.flow_syntax import FlowFile
from desktop_rag.features.rails.prompts.stage_prompts import Prompts
from desktop_rag.features.rails.rail_events import UserIntent

_RAIL = re.compile(r"(?P<name>[^\W\d][\w \-']*\w)(?P<arguments>(?:\s+\$\w+=[\w.\-\"']+)*)")
_ARGUMENT = re.compile(r"\$(\w+)=[\"']?([\w.\-]+)")
# Entries of config.yml that this app knows; all others are reported as left out.
_KNOWN = {
    "instructions", "sample_conversation", "rails", "prompts", "models", "colang_version",
    "enable_rails_exceptions", "knowledge_base", "custom_data", "streaming",
}  # fmt: skip
_LEFT_OUT = {
    "models": "The models are those of the app.",
    "streaming": "Whether answers stream is a setting of the app.",
    "custom_data": "It is for config.py, which is not run.",
    "knowledge_base": "The documents are those of the library.",
}
# The flows below every configuration; a definition of the same name replaces one of these.
NEXT_STEP = "generate next step"
_UNCHECKED = "  execute generate_bot_message\n"
# The rails for output over the beginning of a message that is still being written.
PIECE_WRITTEN, PIECE_PASSED = "piece_written", "piece_passed"


@cache
def library_flows(
    input_rails: tuple[str, ...] = (),
    output_rails: tuple[str, ...] = (),
    retrieval_rails: tuple[str, ...] = (),
    *,
    is_grounded: bool = False,
) -> FlowFile:
    """The flows with the rails of a configuration, each a statement: `do self check input`."""
    stages = _flows_in("stages").replace(
        "{message}", _flows_in("checked_message") if output_rails else _UNCHECKED
    )
    stages = stages.replace("{output_rails}", _lines(output_rails, 4))
    if output_rails:
        stages += _flows_in("piece").replace("{output_rails}", _lines(output_rails, 2))
    stages = stages.replace("{retrieval_rails}", _lines(retrieval_rails, 4))
    stages = stages.replace("{input_rails}", _lines(input_rails or ("return",), 2))
    # For configurations that want it: each answer from documents is checked once it is said.
    grounding = _flows_in("grounding") if is_grounded else ""
    return parse_flows(f"{stages}\n{_flows_in('rails')}\n{grounding}", "library.co")


def _flows_in(name: str) -> str:
    return (resources_dir() / "rails" / "language" / f"{name}.co").read_text("utf-8")


def _lines(calls: Sequence[str], indent: int) -> str:
    return "\n".join(" " * indent + call for call in calls)


_KB = "kb: Add its files to the documents of the assistant, or to the library."


@dataclass(frozen=True)
class RailsConfiguration:
    """A configuration ready to run.

    `python_files` are those that are not run. `left_out` says what has no effect here, and why.
    Every message passes the `output_rails` before anybody sees it; with `shows_pieces` its
    sentences are shown as soon as they passed.
    """

    name: str
    program: Program
    prompts: Prompts
    settings: StageSettings
    context: Mapping[str, Any]
    python_files: tuple[Path, ...] = ()
    left_out: tuple[str, ...] = ()
    output_rails: tuple[str, ...] = ()
    shows_pieces: bool = False


def make_configuration(
    name: str,
    files: Sequence[FlowFile],
    entries: Mapping[str, Any] | None = None,
    *,
    has_documents: bool = False,
    python_files: Sequence[Path] = (),
) -> RailsConfiguration:
    """The configuration of these flows and the entries of a config.yml; AppError for any fault."""
    entries = entries or {}
    if str(entries.get("colang_version", "1.0")).startswith("2"):
        hint = "Write them in Colang 1.0, which docs/rails.md describes."
        raise AppError("These rails are written in Colang 2, which is not supported.", hint)
    rails = _mapping(entries.get("rails"), "rails")
    kinds = ("input", "output", "retrieval")
    calls = {kind: _calls(_mapping(rails.get(kind), kind).get("flows"), kind) for kind in kinds}
    known = {flow.name for file in files for flow in file.flows}
    known |= {flow.name for flow in library_flows().flows}
    for names in calls.values():
        for call in names:
            if call.name not in known:
                hint = "Define it by `define subflow`, or take it out of config.yml."
                raise AppError(f"There is no rail “{call.name}”.", hint)
    library = library_flows(
        *(tuple(f"do {call.name}" for call in calls[kind]) for kind in kinds),
        is_grounded=bool(rails.get("grounding")),
    )
    called = {call.name for names in calls.values() for call in names}
    program = compile_flows(library, files, called)
    flags = {"enable_rails_exceptions": bool(entries.get("enable_rails_exceptions"))}
    arguments = {
        key: value for names in calls.values() for c in names for key, value in c.arguments
    }
    streaming = _mapping(_mapping(rails.get("output"), "output").get("streaming"), "streaming")
    return RailsConfiguration(
        name, program, _prompts(entries), _settings(rails), {"config": flags, **arguments},
        tuple(python_files),
        (*_left_out(entries, rails), *([_KB] if has_documents else []), *_never_run(program)),
        tuple(call.name for call in calls["output"]),
        bool(streaming.get("enabled")),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    arguments: tuple[tuple[str, str], ...]


def _calls(names: object, kind: str) -> list[_Call]:
    """The rails named below `flows`."""
    if names is None:
        return []
    found: list[_Call] = []
    for name in _texts(names, f"rails: {kind}: flows"):
        match = _RAIL.fullmatch(" ".join(name.split()))
        if match is None:
            raise AppError(f"“{name}” is no name of a rail.")
        found.append(_Call(match["name"], tuple(_ARGUMENT.findall(match["arguments"]))))
    return found


def _texts(value: object, where: str) -> list[str]:
    listed = cast("list[object]", value) if isinstance(value, list) else [value]
    if not all(isinstance(item, str) for item in listed):
        raise AppError(f"“{where}” of config.yml has to be a list of names.")
    return [str(item) for item in listed]


def _mapping(value: object, where: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise AppError(f"“{where}” of config.yml has to hold entries such as `key: value`.")
    return {str(key): inner for key, inner in cast("dict[object, Any]", value).items()}


def _rows(value: object, where: str) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise AppError(f"“{where}” of config.yml has to be a list.")
    return [_mapping(row, where) for row in cast("list[object]", value)]


def _settings(rails: Mapping[str, Any]) -> StageSettings:
    dialog = _mapping(rails.get("dialog"), "dialog")
    said = _mapping(dialog.get("user_messages"), "user_messages")
    least = said.get("embeddings_only_similarity_threshold")
    return StageSettings(
        is_by_examples_only=bool(said.get("embeddings_only")),
        least_similarity=float(least) if isinstance(least, int | float) else 0.0,
        fallback_intent=str(said.get("embeddings_only_fallback_intent") or ""),
    )


def _prompts(entries: Mapping[str, Any]) -> Prompts:
    told = _rows(entries.get("instructions"), "instructions")
    general = [str(row.get("content", "")) for row in told if row.get("type") == "general"]
    templates: dict[str, str] = {}
    for row in _rows(entries.get("prompts"), "prompts"):
        task = str(row.get("task", ""))
        content = row.get("content")
        if content is None:
            parts = _rows(row.get("messages"), "messages")
            content = "\n\n".join(str(part.get("content", "")) for part in parts)
        if task and not row.get("models"):
            templates[task] = str(content)
    return Prompts("\n".join(general), str(entries.get("sample_conversation") or ""), templates)


def _left_out(entries: Mapping[str, Any], rails: Mapping[str, Any]) -> list[str]:
    found = [f"{key}: {why}" for key, why in _LEFT_OUT.items() if key in entries]
    found += [f"{key}: It is not known." for key in entries if key not in _KNOWN]
    if "config" in rails:
        found.append("rails: config: The checks are those of the app.")
    if _mapping(rails.get("dialog"), "dialog").get("single_call"):
        found.append("rails: dialog: single_call: The stages are asked one by one.")
    known = ("input", "output", "retrieval", "dialog", "config", "grounding")
    found += [f"rails: {key}: It is not known." for key in rails if key not in known]
    return found


def _never_run(program: Program) -> list[str]:
    """The flows that the choice of the next step, which takes any intent, always precedes."""
    first = program.flows[NEXT_STEP].priority
    return [
        f"{flow.place}: The flow never runs: its priority has to be above {first:g}."
        for flow in program.flows.values()
        if flow.priority < first and {p.kind for p in flow.opening} == {UserIntent.kind}
    ]


_MOST_BYTES = 1_000_000


class _PlainLoader(yaml.SafeLoader):
    """The safe loader without references, by which a small file could become endless."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.MarkedYAMLError(problem="references are not read", problem_mark=mark)
        return super().compose_node(parent, index)


def read_text(path: Path) -> str:
    """The text of a file of rails; AppError when it can't be read."""
    with os_error_as(f"{path.name} can't be read."):
        if path.stat().st_size > _MOST_BYTES:
            raise AppError(
                f"{path.name} is too large for a file of rails.", "Is it the right file?"
            )
        return path.read_text("utf-8")


def read_yaml(path: Path) -> dict[str, Any]:
    """The entries of a YAML file, which a stranger may have written: plain values only.

    AppError with line and column when it is no YAML.
    """
    text = read_text(path)
    try:
        found = yaml.load(text, Loader=_PlainLoader)
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark
        place = f"{path.name}:{mark.line + 1}:{mark.column + 1}" if mark else path.name
        raise AppError(f"{place}: This is no YAML.", f"{exc.problem}.") from exc
    except (yaml.YAMLError, RecursionError, ValueError) as exc:
        raise AppError(f"{path.name} is no YAML.") from exc
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise AppError(f"{path.name}:1:1: Entries such as `key: value` are expected.")
    return {str(key): value for key, value in found.items()}


_MOST_FILES = 500
_YAML = ("*.yml", "*.yaml")


def read_rails(folder: Path, instead: Mapping[Path, str] | None = None) -> RailsConfiguration:
    """The configuration of a folder; AppError, with the place, for any fault.

    `instead` has the texts of files of flows that are not saved, and need not exist.
    """
    if not folder.is_dir():
        raise AppError(f"{folder} is no folder.", "Name a folder with *.co files and config.yml.")
    instead = instead or {}
    flow_files = sorted({*_files(folder, "*.co"), *instead})
    yaml_files = sorted({path for pattern in _YAML for path in _files(folder, pattern)})
    if not flow_files and not yaml_files:
        raise AppError(f"There are no rails in {folder}.", "They are in *.co and config.yml.")
    files = [
        parse_flows(
            instead[path] if path in instead else read_text(path),
            path.relative_to(folder).as_posix(),
        )
        for path in flow_files
    ]
    return make_configuration(
        folder.name,
        files,
        _entries(yaml_files),
        has_documents=(folder / "kb").is_dir(),
        python_files=_files(folder, "*.py"),
    )


def _files(folder: Path, pattern: str) -> list[Path]:
    """The files of a pattern below the folder, but none by links that lead out of it."""
    root = folder.resolve()
    found = [
        path
        for path in sorted(folder.rglob(pattern))
        if path.is_file()
        and path.resolve().is_relative_to(root)
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    if len(found) > _MOST_FILES:
        raise AppError(
            f"There are more than {_MOST_FILES} files in {folder}.",
            "Choose the folder of the rails alone.",
        )
    return found


def _entries(files: list[Path]) -> Mapping[str, Any]:
    """The entries of all YAML files; lists and mappings are joined."""
    found: dict[str, Any] = {}
    for path in files:
        for key, value in read_yaml(path).items():
            if isinstance(value, list) and isinstance(found.get(key), list):
                found[key] = [*found[key], *value]
            elif isinstance(value, dict) and isinstance(found.get(key), dict):
                found[key] = {**found[key], **value}
            else:
                found[key] = value
    return found
