"""Everything that can't be made again goes into one file and comes back from it."""

import json
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.features.backup.archive_reader import column_rules
from desktop_rag.store.contract.precious import kinds
from tests.unit.backup.filled_library import Place, entries, fill, shown, tag, texts


@pytest.fixture
def file(full: Place, tmp_path: Path) -> Path:
    """A backup of everything."""
    path = tmp_path / "all.desktop-rag-backup"
    full.backups.export(path)
    return path


@pytest.mark.slow
def test_everything_comes_back(full: Place, empty: Place, file: Path) -> None:
    done = empty.backups.import_file(file)
    there = [kind for kind, _ in entries(full)]
    assert {kind: done.added[kind] for kind in kinds()} == {k: there.count(k) for k in kinds()}
    # Looking at it moves what earlier versions stored.
    assert shown(empty) == shown(full)
    assert entries(empty).keys() == entries(full).keys()
    assert texts(empty.home) == texts(full.home)
    assert load_settings(empty.home.settings) == load_settings(full.home.settings)
    assert done.takes_settings


@pytest.mark.slow
def test_the_library_it_is_from_is_unchanged(full: Place, file: Path) -> None:
    before, files = entries(full), texts(full.home)
    done = full.backups.import_file(file)
    assert (entries(full), texts(full.home)) == (before, files)
    assert not done.added


@pytest.mark.slow
def test_importing_twice_is_importing_once(empty: Place, file: Path) -> None:
    empty.backups.import_file(file)
    before, files = entries(empty), texts(empty.home)
    again = empty.backups.import_file(file)
    assert (entries(empty), texts(empty.home)) == (before, files)
    assert not again.added


@pytest.mark.slow
def test_folders_of_the_home_are_those_of_the_new_home(empty: Place, file: Path) -> None:
    empty.backups.import_file(file)
    sources = empty.engine.sources.sources()
    assert empty.home.rewrites in {source.path for source in sources}
    [links] = [source for source in sources if source.links]
    assert links.path == empty.home.pages / links.source_id


@pytest.mark.slow
def test_what_programs_sent_comes_back_below_the_new_home(
    full: Place, empty: Place, tmp_path: Path
) -> None:
    [sea] = [c for c in full.engine.sources.collections() if c.name == "Sea"]
    wiki = full.engine.sources.add_program("wiki", full.home.sent, sea.collection_id)
    (wiki.path / "about").mkdir(parents=True)
    (wiki.path / "about" / "0123.json").write_text("{}")
    (wiki.path / "page-0123.md").write_text("The ferry leaves at noon.")
    full.backups.export(tmp_path / "x")
    empty.backups.import_file(tmp_path / "x")
    [source] = [source for source in empty.engine.sources.sources() if source.program]
    assert source.path == empty.home.sent / source.source_id
    assert (source.path / "page-0123.md").read_text() == "The ferry leaves at noon."
    assert (source.path / "about" / "0123.json").read_text() == "{}"


@pytest.mark.slow
def test_the_preview_says_what_it_holds(full: Place, empty: Place, file: Path) -> None:
    contents = empty.backups.examine(file)
    assert contents.counts["conversation"] == len(full.engine.conversations.all())
    assert (contents.counts["prompt"], contents.counts["rewrite"]) == (1, 1)
    assert contents.addresses == ("http://localhost:11434/v1", "https://models.example/v1")
    documents = full.home.root.parent / "documents"
    assert {str(documents / "sea"), str(documents / "land")} <= set(contents.missing)
    assert not entries(empty)


@pytest.mark.slow
def test_every_column_has_a_rule(full: Place) -> None:
    tables: dict[str, set[str]] = {}
    for entry in entries(full).values():
        for table, rows in entry.rows.items():
            tables.setdefault(table, set()).update(*rows)
    assert tables == {table: set(rules) for table, rules in column_rules().items()}


@pytest.mark.slow
def test_a_deleted_chat_is_in_no_backup(full: Place, tmp_path: Path) -> None:
    secret = full.engine.conversations.add("Secret plans", "")
    full.engine.conversations.set_deleted(secret.conversation_id, True)
    full.backups.export(tmp_path / "x")
    with zipfile.ZipFile(tmp_path / "x") as archive:
        assert b"Secret plans" not in archive.read("entries.jsonl")


@pytest.mark.slow
def test_a_backup_opens_no_way_into_the_local_network(
    full: Place, empty: Place, tmp_path: Path
) -> None:
    [sea] = [c for c in full.engine.sources.collections() if c.name == "Sea"]
    full.engine.sources.set_intranet_hosts(sea.collection_id, ("wiki.example",))
    full.backups.export(tmp_path / "x")
    empty.backups.import_file(tmp_path / "x")
    assert {c.intranet_hosts for c in empty.engine.sources.collections()} == {()}
    # A library that has the collection already keeps its own list.
    full.backups.import_file(tmp_path / "x")
    [sea] = [c for c in full.engine.sources.collections() if c.name == "Sea"]
    assert sea.intranet_hosts == ("wiki.example",)


@pytest.mark.everyday
def test_only_this_user_can_read_it(file: Path) -> None:
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_no_key_is_in_it(full: Place, tmp_path: Path) -> None:
    """Not even one that somebody wrote into the settings by hand."""
    settings = full.home.settings.read_text("utf-8")
    settings = settings.replace("https://models", "https://me:CANARY1@models")
    settings = settings.replace("[endpoint]", '[endpoint]\napi_key = "CANARY2"')
    full.home.settings.write_text(f"# CANARY3\n{settings}", encoding="utf-8")
    full.backups.export(tmp_path / "x")
    with zipfile.ZipFile(tmp_path / "x") as archive:
        assert all(b"CANARY" not in archive.read(name) for name in archive.namelist())
        assert b"https://models.example/v1" in archive.read("settings.toml")


@pytest.mark.slow
def test_settings_of_the_person_stay(empty: Place, file: Path) -> None:
    empty.home.settings.write_text("[appearance]\nscheme = 'dark'\n", encoding="utf-8")
    done = empty.backups.import_file(file)
    assert not done.takes_settings
    assert load_settings(empty.home.settings)[0].appearance.scheme == "dark"


@pytest.mark.slow
def test_one_collection(full: Place, empty: Place, tmp_path: Path) -> None:
    land, sea = sorted(full.engine.sources.collections(), key=lambda c: c.name)
    full.backups.export(tmp_path / "x", collection=sea)
    done = empty.backups.import_file(tmp_path / "x")
    got = shown(empty)
    assert [c.name for c in got["collections"]] == ["Sea"]
    assert {chat.title for chat in got["chats"]} == {"Lamps — “sea”", "A copy"}
    assert (got["image"], got["sets"]) == (shown(full)["image"], [])
    assert [source.collection_id for source in empty.engine.sources.sources()] == [
        sea.collection_id
    ]
    assert [a.name for a in got["assistants"]] == ["Keeper"]
    assert {path.name for path in got["tags"]} == {"lamp.md"}
    assert not done.takes_settings
    assert list(texts(empty.home)) == [name for name in texts(full.home) if name.startswith("when")]
    full.backups.export(tmp_path / "y", collection=land)
    contents = full.backups.examine(tmp_path / "y")
    assert (contents.collection, contents.counts.get("conversation", 0)) == ("Land", 0)


@pytest.mark.slow
def test_a_newer_prompt_wins(full: Place, empty: Place, file: Path) -> None:
    empty.home.prompts.mkdir()
    ours = empty.home.prompts / "shorter.md"
    ours.write_text("Ours.\n", encoding="utf-8")
    theirs = (full.home.prompts / "shorter.md").stat().st_mtime
    os.utime(ours, (theirs + 10, theirs + 10))
    empty.backups.import_file(file)
    assert ours.read_text("utf-8") == "Ours.\n"
    os.utime(ours, (theirs - 10, theirs - 10))
    empty.backups.import_file(file)
    assert ours.read_text("utf-8") == "Make it shorter.\n"


@pytest.mark.slow
def test_a_newer_assistant_wins(full: Place, empty: Place, file: Path) -> None:
    [keeper] = full.engine.assistants.all()
    for changed_at, name in ((9.0, "Newer"), (1.0, "Keeper")):
        empty.engine.assistants.put(replace(keeper, name="Newer", changed_at=changed_at))
        empty.backups.import_file(file)
        assert [a.name for a in empty.engine.assistants.all()] == [name]


@pytest.mark.slow
def test_a_file_that_has_tags_here_gets_those_it_lacks(
    full: Place, empty: Place, file: Path
) -> None:
    land = empty.engine.sources.add_collection("Land")
    fields = full.home.root.parent / "documents" / "land"
    tag(
        empty.engine,
        empty.engine.sources.add_source(fields, land.collection_id),
        "field.md",
        "x",
        "GRASS",
    )
    done = empty.backups.import_file(file)
    tags = {path.name: tags for path, tags in empty.engine.tags.given().items()}
    assert tags == {"field.md": ("x", "GRASS"), "lamp.md": ("Öl", "to do")}
    assert done.added["tagging"] == 1
    assert full.engine.tags.given().keys() == empty.engine.tags.given().keys()


@pytest.mark.slow
def test_a_library_filled_on_its_own_keeps_all_of_its_own(
    full: Place, empty: Place, file: Path
) -> None:
    fill(empty)
    before = entries(empty)
    empty.backups.import_file(file)
    after = entries(empty)
    assert before.keys() <= after.keys()
    assert len(empty.engine.sources.collections()) == 2  # of the same names
    assert [c.title for c in empty.engine.conversations.all()].count("A copy") == 2
    again = entries(empty)
    empty.backups.import_file(file)
    assert entries(empty) == again


@pytest.mark.slow
def test_the_manifest_is_readable_by_people(file: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert (manifest["format"], manifest["version"]) == ("desktop-rag backup", 1)
    assert manifest["counts"]["image"] == 1
