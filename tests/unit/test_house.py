"""The house rules that no linter knows: sizes, names, empty package files, no machine paths."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE_FOLDERS = ("desktop_rag", "packaging", "training", "benchmarks", "tests")
ALL_FOLDERS = (*CODE_FOLDERS, ".ci", "docs", "resources")
MAX_MODULE_LINES = 700
MAX_FUNCTION_LINES = 50
BANNED_NAMES = {"utils", "helpers", "common", "manager", "base", "misc", "data", "info"}

# Spelled in pieces, so that this file doesn't break its own rule.
REGISTRY_HOST = re.compile(
    "|".join(
        r"\.".join(parts)
        for parts in (
            ("pypi", "org"),
            ("pythonhosted", "org"),
            ("npmjs", "org"),
            ("npmjs", "com"),
            ("anaconda", "org"),
            ("download", "pytorch", "org"),
        )
    )
)
MACHINE_FOLDERS = ("root", "work", "tmp", "Users/[a-z]+", "home/[a-z]+")
MACHINE_PATH = re.compile(r"(?<![\w.~}\])>-])/(?:" + "|".join(MACHINE_FOLDERS) + ")/")
# `.git` is a file in a worktree.
TOOL_OUTPUT = {".git", "__pycache__", ".coverage", "uv.lock"}
# Not ours to word: the licence, the lock, and what the bundled model and documents hold.
FOREIGN = ("LICENSE", "resources/models/", "resources/demo/")


@cache
def modules() -> list[Path]:
    """Every Python file of ours."""
    return [path for folder in CODE_FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


@cache
def text_of(path: Path) -> str:
    return path.read_text("utf-8")


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def project_files() -> list[Path]:
    """All files of the project, without what tools leave behind (and git ignores)."""
    inside = [path for folder in ALL_FOLDERS for path in (ROOT / folder).rglob("*")]
    files = [path for path in [*ROOT.iterdir(), *inside] if path.is_file()]
    return [path for path in files if not TOOL_OUTPUT.intersection(path.parts)]


@cache
def text_lines() -> list[tuple[str, str]]:
    """(`file:line`, text) of every text file of ours."""
    lines: list[tuple[str, str]] = []
    for path in project_files():
        content = path.read_bytes()
        if b"\0" in content or shown(path).startswith(FOREIGN):
            continue
        for number, line in enumerate(content.decode("utf-8").splitlines(), start=1):
            lines.append((f"{shown(path)}:{number}", line))
    return lines


def test_modules_are_found() -> None:
    assert len(modules()) > 10


def test_no_module_is_longer_than_the_cap() -> None:
    lengths = {shown(path): len(text_of(path).splitlines()) for path in modules()}
    assert {name: n for name, n in lengths.items() if n > MAX_MODULE_LINES} == {}


@pytest.mark.slow
def test_no_function_is_longer_than_the_cap() -> None:
    long: dict[str, int] = {}
    for path in modules():
        for node in functions_of(ast.parse(text_of(path))):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                long[f"{shown(path)}:{node.name}"] = length
    assert long == {}


def functions_of(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method below a node; expressions, which hold none, are passed over."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from functions_of(child)


def test_no_module_has_a_name_that_says_nothing() -> None:
    relative = [path.relative_to(ROOT).with_suffix("") for path in modules()]
    assert [str(path) for path in relative if BANNED_NAMES.intersection(path.parts)] == []


def test_package_files_are_empty() -> None:
    package_files = [path for path in modules() if path.name == "__init__.py"]
    assert package_files
    assert [shown(path) for path in package_files if path.stat().st_size] == []


@pytest.mark.slow
def test_no_registry_is_named() -> None:
    hits = [place for place, line in text_lines() if REGISTRY_HOST.search(line)]
    assert hits == []


@pytest.mark.slow
def test_no_path_of_one_machine_is_named() -> None:
    hits = [f"{place}: {line.strip()}" for place, line in text_lines() if MACHINE_PATH.search(line)]
    assert hits == []


def test_the_machine_path_rule_sees_what_it_should() -> None:
    paths = ["cd /" + "root/x", '"/' + "home/ada/notes.md" + '"', "(/" + "tmp/y)"]
    assert all(MACHINE_PATH.search(path) for path in paths)
    assert not MACHINE_PATH.search("docs/work/plan.md and ~/work/x")


@pytest.mark.needs_wings
def test_one_module_names_the_store_engine() -> None:
    """Beside the engine itself and the default of its setting."""
    hits = [
        f"{shown(path)}: {line.strip()}"
        for path in sorted((ROOT / "desktop_rag").rglob("*.py"))
        if not shown(path).startswith("desktop_rag/store/duckdb/")
        for line in path.read_text("utf-8").splitlines()
        if "duckdb" in line.casefold()
    ]
    assert {hit.split(":")[0] for hit in hits} == {
        "desktop_rag/store/opening.py",
        "desktop_rag/core/store_settings.py",
        "desktop_rag/features/shared_library/postgres/postgres_engine.py",
    }
    assert [hit for hit in hits if "settings.py" in hit] == [
        'desktop_rag/core/store_settings.py: engine: str = "duckdb"'
    ]


def test_onnx_runtime_is_imported_with_its_reports_switched_off() -> None:
    importing = re.compile(r"^\s*(?:import|from) (?:onnxruntime|rapidocr)\b", re.MULTILINE)
    texts = {shown(path): text_of(path) for path in modules()}
    users = {name for name, text in texts.items() if importing.search(text)}
    assert "desktop_rag/models/embedding/joined_embedding.py" in users
    assert [name for name in users if "disable_telemetry()" not in texts[name]] == []


def test_the_architecture_names_every_room() -> None:
    """Those on the first two levels."""
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    package = ROOT / "desktop_rag"
    folders = {path.parent.relative_to(package) for path in package.rglob("*.py")} - {Path()}
    rooms = {folder for folder in folders if len(folder.parts) <= 2}
    unnamed = [str(r) for r in sorted(rooms) if not re.search(rf"\b{re.escape(r.name)}\b", page)]
    assert unnamed == []


def documents() -> list[Path]:
    """The Markdown documents at the root and in docs/."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def test_every_module_that_a_document_mentions_exists() -> None:
    known = {f"/{shown(path)}" for path in modules()}
    missing = [
        f"{shown(document)}: {mentioned}"
        for document in documents()
        for mentioned in re.findall(r"[\w/]*\w\.py\b", document.read_text("utf-8"))
        if not any(path.endswith(f"/{mentioned}") for path in known)
    ]
    assert missing == []


def test_every_local_link_in_a_document_leads_to_a_file() -> None:
    missing = [
        f"{shown(document)}: {target}"
        for document in documents()
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text("utf-8"))
        if not (document.parent / target).exists()
    ]
    assert missing == []


@pytest.mark.slow
def test_only_the_composition_root_uses_the_engine_of_the_services() -> None:
    """Everyone else goes through a face. Tests and benchmarks may look inside."""
    users = {
        shown(path)
        for path in modules()
        if shown(path).startswith(("desktop_rag/", "training/")) and "engine" in text_of(path)
        for node in ast.walk(ast.parse(text_of(path)))
        if isinstance(node, ast.Attribute) and node.attr == "engine"
    }
    # The other one reads the setting of that name.
    assert users == {
        "desktop_rag/app.py",
        "desktop_rag/features/backup/cli/copy_verb.py",
        "desktop_rag/features/backup/services.py",
        "desktop_rag/features/diagnosis/repair.py",
        "desktop_rag/features/diagnosis/finding.py",
        "desktop_rag/store/opening.py",
        "desktop_rag/features/evaluation/services.py",
        "desktop_rag/features/schedules/services.py",
    }
