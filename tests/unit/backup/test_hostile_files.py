"""R-20: a backup may come from anybody: what the app would not have written changes nothing."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop_rag.core.errors import AppError
from tests.unit.backup.filled_library import Place, entries, texts

Lines = list[dict[str, Any]]
Members = dict[str, bytes]


@pytest.fixture
def members(good_backup: Path) -> Members:
    """The files of a good backup."""
    with zipfile.ZipFile(good_backup) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def lines_of(members: Members) -> Lines:
    return [json.loads(line) for line in members["entries.jsonl"].splitlines()]


def packed(members: Members, file: Path, **changed: Any) -> Path:
    """A ZIP of these files whose manifest agrees with them, but for what is `changed` in it."""
    manifest = json.loads(members["manifest.json"])
    for name, content in members.items():
        if name != "manifest.json":
            facts = manifest["files"].get(name, {"changed_at": 1.0})
            facts |= {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            manifest["files"][name] = facts
    manifest["files"] = {n: f for n, f in manifest["files"].items() if n in members}
    manifest |= changed
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, json.dumps(manifest) if name == "manifest.json" else content)
    return file


def with_lines(members: Members, lines: Lines) -> Members:
    content = "".join(f"{json.dumps(line)}\n" for line in lines)
    return members | {"entries.jsonl": content.encode()}


def refused(place: Place, file: Path) -> AppError:
    """The error of an import that changed nothing."""
    before, files, has_settings = entries(place), texts(place.home), place.home.settings.exists()
    with pytest.raises(AppError) as caught:
        place.backups.import_file(file)
    assert (entries(place), texts(place.home)) == (before, files)
    assert place.home.settings.exists() == has_settings
    assert not list(place.home.backups.iterdir())
    return caught.value


def of_kind(lines: Lines, kind: str) -> dict[str, Any]:
    return max((line for line in lines if line["kind"] == kind), key=lambda x: len(str(x)))


@pytest.mark.slow
def test_repacking_alone_is_accepted(members: Members, empty: Place, tmp_path: Path) -> None:
    empty.backups.import_file(packed(with_lines(members, lines_of(members)), tmp_path / "x"))
    assert entries(empty)


WRONG: dict[str, tuple[str, str, str, Any]] = {
    "a role": ("message", "messages", "role", "system"),
    "a state": ("message", "messages", "state", "perfect"),
    "a text": ("message", "messages", "text", 7),
    "no text": ("message", "messages", "text", None),
    "a NUL": ("message", "messages", "text", "a\0b"),
    "half a character": ("message", "messages", "text", "\ud800"),
    "a position": ("message", "messages", "position", 2**40),
    "a moment": ("message", "messages", "created_at", 1e300),
    "a truth": ("message", "messages", "is_excerpts", 1),
    "another chat": ("message", "messages", "conversation_id", "nobody"),
    "claims": ("message", "messages", "claims", '[{"start": 0}]'),
    "claims that are no JSON": ("message", "messages", "claims", "[" * 100_000),
    "notes": ("message", "messages", "notes", '{"repaired": [["a"]], "filters": ""}'),
    "attachments": ("message", "messages", "attachments", '[{"attachment_id": "../x"}]'),
    "an anchor": ("message", "citations", "anchor", '{"page": "four"}'),
    "a score": ("message", "citations", "score", "high"),
    "an answer's key": ("message", "citations", "message_id", "other"),
    "a relative path": ("source", "sources", "path", "documents"),
    "a path upwards": ("source", "sources", "path", "/docs/../etc"),
    "rules": ("source", "sources", "rules", '{"excluded": "all"}'),
    "links": ("source", "sources", "links", json.dumps(
        {"urls": ["file:///etc/passwd"], "page_limit": 1, "refresh_hours": 1})),
    "a source's id": ("source", "sources", "source_id", "../../x"),
    "a collection": ("source", "sources", "collection_id", "nowhere"),
    "an assistant": ("assistant", "assistants", "made_of", '{"assistant_id": "a1"}'),
    "an assistant's address": ("assistant", "assistants", "made_of", json.dumps(
        {"assistant_id": "a1", "name": "x", "collection_ids": [], "base_url": "file:///x"})),
    "a chunk method": ("collection", "collections", "chunking", '{"method": "magic"}'),
    "a name": ("collection", "collections", "name", " "),
    "an opinion": ("feedback", "feedback", "value", "adored"),
    "an outcome": ("answer", "interactions", "outcome", "great"),
    "a number": ("evaluation", "evaluations", "number", -1),
    "a set of questions": ("experiment", "experiments", "made_of", '{"set_id": "s1", "name": 5}'),
    "a kind of part": ("experiment", "experiments", "kind", "runs"),
    "settings of a run": ("evaluation", "evaluations", "settings", "{"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", WRONG.values(), ids=list(WRONG))
def test_one_wrong_value_changes_nothing(
    members: Members, empty: Place, tmp_path: Path, case: tuple[str, str, str, Any]
) -> None:
    kind, table, column, value = case
    lines = lines_of(members)
    of_kind(lines, kind)["rows"][table][-1][column] = value
    error = refused(empty, packed(with_lines(members, lines), tmp_path / "x"))
    assert "no backup that this app has made" in error.title


Change = Callable[[Lines], object]
STRUCTURES: dict[str, Change] = {
    "an unknown kind": lambda lines: lines[0].update(kind="secret"),
    "an unknown table": lambda lines: lines[0]["rows"].update(migrations=[{}]),
    "an unknown column": lambda lines: lines[0]["rows"]["collections"][0].update(x=1),
    "a missing column": lambda lines: lines[0]["rows"]["collections"][0].pop("name"),
    "two rows": lambda lines: lines[0]["rows"]["collections"].append(
        lines[0]["rows"]["collections"][0]
    ),
    "no row": lambda lines: lines[0]["rows"]["collections"].clear(),
    "rows that are no list": lambda lines: lines[0]["rows"].update(collections={}),
    "an entry twice": lambda lines: lines.append(lines[0]),
    "a list": lambda lines: lines[0].update(rows=[]),
    "a key that is a list": lambda lines: lines[0].update(key=[]),
    "a kind that is a list": lambda lines: lines[0].update(kind=[]),
    "a chat without its row": lambda lines: lines.remove(of_kind(lines, "conversation")),
    "counts that differ": lambda lines: lines.remove(of_kind(lines, "evaluation")),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", STRUCTURES.values(), ids=list(STRUCTURES))
def test_a_wrong_structure_changes_nothing(
    members: Members, empty: Place, tmp_path: Path, change: Change
) -> None:
    lines = lines_of(members)
    change(lines)
    refused(empty, packed(with_lines(members, lines), tmp_path / "x"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "../evil.md", "prompts/../../evil.md", "/etc/evil.md", "prompts/a/b.md", "prompts/.md",
        "prompts/con.md", "prompts/a\\b.md", "prompts/.hidden.md", "rewrites/x.exe", "other.txt",
        "prompts/..md", "library.duckdb", "C:evil.md", "prompts/C:evil.md",
    ],
)  # fmt: skip
def test_no_name_leads_out(members: Members, empty: Place, tmp_path: Path, name: str) -> None:
    refused(empty, packed(members | {name: b"x"}, tmp_path / "x"))
    assert not list(tmp_path.rglob("*evil*"))


MANIFESTS: dict[str, dict[str, Any]] = {
    "a newer format": {"version": 2},
    "a newer library": {"schema": 10_000},
    "another format": {"format": "something"},
    "a version in words": {"version": "1"},
    "no day": {"day": "yesterday"},
    "a negative count": {"counts": {"message": -1}},
    "an unknown count": {"counts": {"secret": 1}},
    "more than known": {"extra": 1},
    "no files": {"files": {}},
    "a hash": {"files": {"entries.jsonl": {"size": 1, "sha256": "0" * 64, "changed_at": 0}}},
}


@pytest.mark.slow
@pytest.mark.parametrize("changed", MANIFESTS.values(), ids=list(MANIFESTS))
def test_a_wrong_manifest_changes_nothing(
    members: Members, empty: Place, tmp_path: Path, changed: dict[str, Any]
) -> None:
    error = refused(empty, packed(members, tmp_path / "x", **changed))
    is_newer = "newer" in str(changed) or changed in ({"version": 2}, {"schema": 10_000})
    assert ("another version" in error.title) == is_newer


@pytest.mark.slow
def test_a_file_that_is_not_the_one_promised(
    members: Members, empty: Place, tmp_path: Path
) -> None:
    """Every value is one that the app might have written, and of the same length."""
    promised = json.loads(members["manifest.json"])["files"]
    content = members["entries.jsonl"].replace(b"It burns oil", b"It burns gas")
    assert content != members["entries.jsonl"]
    other = members | {"entries.jsonl": content}
    error = refused(empty, packed(other, tmp_path / "x", files=promised))
    assert "hash" in error.hint


@pytest.mark.slow
def test_a_bomb_is_not_unpacked(members: Members, empty: Place, tmp_path: Path) -> None:
    """It says a small size and unpacks to a gigabyte, or says a gigabyte."""
    zeros = io.BytesIO()
    with zipfile.ZipFile(zeros, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", b"0" * (64 << 20))
    bomb = members | {"settings.toml": b"#" * (64 << 20)}
    refused(empty, packed(bomb, tmp_path / "x"))
    manifest = json.loads(members["manifest.json"])
    manifest["files"]["settings.toml"]["size"] = 10
    refused(empty, packed(bomb, tmp_path / "x", files=manifest["files"]))


@pytest.mark.slow
def test_many_names_are_not_read(members: Members, empty: Place, tmp_path: Path) -> None:
    many = {f"prompts/{n}.md": b"x" for n in range(20_001)}
    refused(empty, packed(members | many, tmp_path / "x"))


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"PK\x05\x06", b"PK\x03\x04" * 50, b"no zip at all"])
def test_no_zip_at_all(empty: Place, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    refused(empty, tmp_path / "x")
    (tmp_path / "x").unlink()
    refused(empty, tmp_path / "x")
    refused(empty, tmp_path)


@pytest.mark.everyday
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_flipped_bytes_change_nothing(
    members: Members, empty: Place, tmp_path: Path, data: st.DataObject
) -> None:
    """Whatever byte of the file is another one, it is refused, or it is one that says nothing."""
    content = bytearray(packed(members, tmp_path / "good").read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    (tmp_path / "x").write_bytes(content)
    try:
        contents = empty.backups.examine(tmp_path / "x")
    except AppError:
        return
    assert contents == empty.backups.examine(tmp_path / "good")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_other_value_is_refused_or_fits(
    members: Members, empty: Place, tmp_path: Path, data: st.DataObject
) -> None:
    """What the check lets through can also be read by everything that shows it."""
    lines = lines_of(members)
    line = data.draw(st.sampled_from(lines))
    table = data.draw(st.sampled_from([t for t, rows in line["rows"].items() if rows]))
    row = line["rows"][table][0]
    column = data.draw(st.sampled_from(sorted(row)))
    value = data.draw(VALUES)
    row[column] = data.draw(st.sampled_from([value, json.dumps(value)]))
    try:
        empty.backups.examine(packed(with_lines(members, lines), tmp_path / "x"))
    except AppError:
        return
    assert type(row[column]) in (str, int, float, bool)
