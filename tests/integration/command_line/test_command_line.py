"""The commands as other programs use them: arguments, an exit code, one JSON document."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.assistant import Assistant
from desktop_rag.core.conversation import NEAREST, TERMINAL
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import HOME_VARIABLE, Home
from desktop_rag.core.settings import Settings
from desktop_rag.store.duckdb.duckdb_engine import library_file
from tests.asking import ask
from tests.command_line import answering, document_of, run, run_json, run_process, settled
from tests.servers.chat_server import ChatServer
from tests.servers.model_dialects import Dialect


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    (made / "lamp.md").write_text("# Lamp\n\nThe lamp is lit at dusk by the keeper.")
    (made / "fees.csv").write_text("who,pounds\nadult,8\nchild,4\n")
    (made / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing else")
    (made / "image.xyz").write_bytes(b"\x00")
    return settled(made)


def test_index_then_search_ask_status(home: Home, folder: Path) -> None:
    report = run_json("index", str(folder))
    assert set(report) == {
        "files", "searchable", "by_words_only", "embedded_chunks", "reused_chunks", "seconds",
        "words_seconds", "pictures_waiting", "failed", "skipped", "not_read",
    }  # fmt: skip
    assert (report["files"], report["searchable"], report["embedded_chunks"]) == (4, 2, 2)
    assert [row["path"] for row in report["failed"]] == [str(folder / "broken.pdf")]
    assert [row["path"] for row in report["skipped"]] == [str(folder / "image.xyz")]
    again = run_json("index", str(folder))
    assert (again["embedded_chunks"], again["reused_chunks"]) == (0, 2)

    [first, *_] = run_json("search", "adult pounds", "-k", "2", "--mode", "lexical")
    assert set(first) == {
        "rank", "score", "document_id", "path", "title", "text", "anchor", "start", "end",
    }  # fmt: skip
    assert first["path"] == str(folder / "fees.csv")
    assert first["anchor"]["cells"]

    answer = run_json("ask", "When is the lamp lit?")
    assert set(answer) == {"answer", "citations", "claims", "follow_ups", "model", "seconds"}
    assert set(answer["citations"][0]) == {"n", "path", "title", "anchor", "quote"}
    assert answer["citations"][0]["quote"] == "The lamp is lit at dusk by the keeper."

    unread = run_json("status", "--failed")
    assert [row["path"] for row in unread["skipped"]] == [str(folder / "image.xyz")]
    [row] = unread["failed"]
    assert row["path"] == str(folder / "broken.pdf")
    assert row["reason"]


def test_a_process_has_an_exit_code_and_one_document(home: Home, folder: Path) -> None:
    report = document_of(run_process("index", str(folder), "--json"))
    assert (report["files"], report["searchable"]) == (4, 2)
    wrong = run_process("search", "x", "--collection", "unknown")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert len(wrong.stderr.splitlines()) == 2


def test_an_assistant_is_asked_by_its_name(
    build_services: Callable[[], Services], folder: Path
) -> None:
    services = build_services()
    services.chat.assistants.add(Assistant("", "Keeper", filters="type:md"))
    services.close()
    run_json("index", str(folder))
    answer = run_json("ask", "When is the lamp lit?", "--assistant", "KEEPER")
    assert answer["notes"]["filters"] == "Only MD files"
    unknown = run("ask", "When is the lamp lit?", "--assistant", "Cook")
    assert unknown.returncode == 1
    assert unknown.stderr == "There is no assistant “Cook”.\nThere are: Keeper.\n"


def test_a_question_of_the_terminal_becomes_a_chat_where_it_goes_on(
    build_services: Callable[[], Services], folder: Path
) -> None:
    run_json("index", str(folder))
    run_json("ask", "When is the lamp lit?")
    services = build_services()
    [asked] = services.chat.history.all()
    assert asked.kept_by == TERMINAL
    ask(services, "And by whom?", conversation_id=asked.conversation_id)
    [asked] = services.chat.history.all()
    assert not asked.kept_by


def test_the_worlds_faults_end_with_one_and_a_hint(home: Home, tmp_path: Path) -> None:
    for arguments in (
        ["index", str(tmp_path / "missing")],
        ["search", "x", "--collection", "unknown"],
        ["eval", "retrieval", str(tmp_path)],
        ["ask", "x", "--popup"],
    ):
        done = run(*arguments)
        assert done.returncode == 1
        assert done.stdout == ""
        assert len(done.stderr.strip().splitlines()) >= 2
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments", [["fly"], ["search"], ["search", "x", "-k", "0"], ["ask", " "]]
)
def test_wrong_use_ends_with_two(home: Home, arguments: list[str]) -> None:
    assert run(*arguments).returncode == 2


def test_for_people_there_are_lines_and_places(home: Home, folder: Path) -> None:
    run("index", str(folder))
    shown = run("ask", "When is the lamp lit?").stdout
    assert "The lamp is lit at dusk by the keeper. [1]" in shown
    assert f"[1] Lamp, Lamp  {folder / 'lamp.md'}" in shown
    assert "Excerpts from your documents, " in shown


def test_search_says_what_it_made_of_the_query(home: Home, folder: Path) -> None:
    run("index", str(folder))
    shown = run("search", "the keepr of the lamp type:md").stdout
    said = "Searched for “keeper” instead of “keepr”. Only MD files."
    assert shown.startswith(f"{said}\n 1. Lamp (Lamp)  {folder / 'lamp.md'}\n")
    done = run("search", "the keepr of the lamp type:md", "--json")
    assert [row["title"] for row in json.loads(done.stdout)] == ["Lamp"]
    assert done.stderr == f"{said}\n"
    whole = run_json("search", "the keepr of the lamp type:md", "--notes")
    assert set(whole) == {"passages", "notes", "is_relevant"}
    assert whole["passages"] == json.loads(done.stdout)
    assert whole["notes"] == {
        "repaired": [["keepr", "keeper"]], "filters": "Only MD files", "searched": 1, "text": said,
    }  # fmt: skip
    assert run("search", "lamp type:pdf").stdout == (
        "Only PDF files: nothing was found there.\nNothing found.\n"
    )


def test_search_says_that_nothing_is_relevant_and_shows_the_nearest_on_request(
    home: Home, folder: Path
) -> None:
    run("index", str(folder))
    off_topic = "Which chess opening did the grandmaster play?"
    refused = "Nothing in your documents seems to be about this.\n"
    assert run("search", off_topic).stdout == (
        f"{refused}Use --nearest to list the nearest passages.\n"
    )
    shown = run("search", off_topic, "--nearest", "-k", "1").stdout
    assert shown.startswith(f"{refused}\n{NEAREST}:\n 1. ")
    done = run("search", off_topic, "--json")
    assert done.stderr == refused
    assert json.loads(done.stdout)
    assert not run_json("search", off_topic, "--notes")["is_relevant"]


@pytest.mark.needs_wings("diagnosis")
def test_doctor_tells_what_the_chat_model_takes_and_measures_anew_on_request(home: Home) -> None:
    with ChatServer("Yes.") as server:
        server.dialect = Dialect(context_tokens=5000, refuses_system="System role not supported")
        home.create()
        save_settings(home.settings, Settings(endpoint=server.endpoint()))
        home.settings.chmod(0o600)

        def told(*arguments: str) -> str:
            rows = run_json("doctor", *arguments)
            return next(row["title"] for row in rows if row["check"] == "chat model")

        assert told().startswith("The limits of the chat model have not been measured")
        assert told("--examine").startswith("Reads 5,000 tokens. Takes no system message")
        server.dialect = Dialect(context_tokens=3000)
        assert told().startswith("Reads 5,000 tokens.")
        assert told("--examine").startswith("Reads 3,000 tokens.")


@pytest.mark.needs_wings("diagnosis")
@pytest.mark.skipif(sys.platform != "linux", reason="other systems offer less")
def test_s15_doctor_says_what_the_system_keeps_from_the_parser(home: Home) -> None:
    home.create()
    [row] = [row for row in run_json("doctor") if row["check"] == "sandbox"]
    assert row["ok"]
    assert "has no network, starts no program" in row["title"]


@pytest.mark.needs_wings("diagnosis")
def test_doctor_finds_a_damaged_model(home: Home, tmp_path: Path) -> None:
    home.create()
    home.settings.write_text(f'[index]\nmodel_folder = "{tmp_path}"\n')
    done = run("doctor", "--json")
    assert done.returncode == 1
    wrong = [finding["check"] for finding in json.loads(done.stdout) if not finding["ok"]]
    assert "model" in wrong


@pytest.mark.needs_wings("diagnosis")
def test_a_damaged_library_is_moved_aside_by_repair_only(home: Home, folder: Path) -> None:
    run("index", str(folder))
    damaged = b"\x5a" * 50_000
    library_file(home).write_bytes(damaged)
    for verb in (["status"], ["doctor"], ["search", "x"]):
        done = run(*verb)
        assert done.returncode == 1
        assert "damaged" in done.stdout + done.stderr
        assert library_file(home).read_bytes() == damaged
    assert "was repaired" in run("doctor", "--repair").stdout
    [kept] = home.root.glob("library.duckdb.damaged-*")
    assert kept.read_bytes() == damaged
    assert run_json("index", str(folder))["searchable"] == 2


def test_a_home_that_cannot_be_used_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "file"))
    done = run("status")
    assert done.returncode == 1
    assert HOME_VARIABLE in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_model_words_are_still_found(home: Home, folder: Path, tmp_path: Path) -> None:
    home.create()
    home.settings.write_text(f'[index]\nmodel_folder = "{tmp_path}"\n')
    report = run_json("index", str(folder))
    assert (report["searchable"], report["embedded_chunks"]) == (2, 0)
    assert run_json("search", "lamp dusk")[0]["title"] == "Lamp"


def test_the_demo_answers_in_the_terminal(home: Home) -> None:
    shown = run("demo", "--terminal").stdout
    assert "burning glass" in shown
    assert "[1] Volunteer handbook 2026, page 3" in shown


def test_the_running_app_tells_its_progress(services: Services, folder: Path) -> None:
    services.library.start()
    with answering(services):
        done = run("index", str(folder))
        found = run_json("search", "lamp", "-k", "3")
    assert done.returncode == 0, done.stderr
    assert f"{folder.name}: " in done.stderr
    assert "2 of 4 files are searchable" in done.stdout
    assert "lamp.md" in str(found)


def test_files_are_attached_to_a_question(home: Home, folder: Path) -> None:
    lamp = folder / "lamp.md"
    answer = run_json("ask", "When is the lamp lit by the keeper?", "--attach", str(lamp))
    assert [source["path"] for source in answer["citations"]] == [str(lamp)]
    assert run_json("status")["sources"] == []
    told = run("ask", "What is it?", "--attach", str(folder / "broken.pdf"))
    assert told.returncode == 1
    assert "damaged" in told.stderr
    assert run("ask", "Why?", "--popup", "--attach", str(lamp)).returncode == 1


def test_a_question_about_a_part_of_the_library_or_none(home: Home, folder: Path) -> None:
    run("index", str(folder))
    fees, lamp = str(folder / "fees.csv"), str(folder / "lamp.md")
    answer = run_json("ask", "When is the lamp lit?", "--about", lamp)
    assert {source["path"] for source in answer["citations"]} == {lamp}
    answer = run_json("ask", "When is the lamp lit?", "--about", fees)
    assert lamp not in str(answer)
    refused = run("ask", "When is the lamp lit?", "--no-documents")
    assert refused.returncode == 1
    assert "only a model can answer" in refused.stderr
    assert run("ask", "Why?", "--no-documents", "--about", lamp).returncode == 2
    assert run("ask", "Why?", "--no-documents", "--popup").returncode == 1


@pytest.fixture
def chat_server(home: Home, folder: Path) -> Iterator[ChatServer]:
    with ChatServer("The lamp is lit at dusk [1]. It is painted green [1].") as server:
        home.create()
        save_settings(home.settings, Settings(endpoint=server.endpoint()))
        home.settings.chmod(0o600)
        run("index", str(folder))
        yield server


def test_what_came_of_a_cut_answer_is_printed_and_how_it_ended(chat_server: ChatServer) -> None:
    chat_server.mode = "cut"
    done = run("ask", "When is the lamp lit?")
    assert done.returncode == 1
    assert done.stdout.startswith("The lamp is lit")
    assert "cut off" in done.stderr
    done = run("ask", "When is the lamp lit?", "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 1
    assert document["answer"].startswith("The lamp is lit")
    assert (document["state"], document["error"]["title"]) == ("failed", "The answer was cut off.")


def test_the_claims_of_an_answer_are_checked_in_the_terminal_too(chat_server: ChatServer) -> None:
    shown = run("ask", "When is the lamp lit?").stdout
    assert "Checked:" in shown
    assert "painted green" in shown.partition("Checked:")[2]
    assert len(chat_server.chats) == 1, "only the answer asked the model"


@pytest.mark.needs_wings("diagnosis")
def test_an_examination_that_fails_says_why(chat_server: ChatServer) -> None:
    chat_server.mode, chat_server.status = "status", 401
    done = run("doctor", "--examine", "--json")
    assert done.returncode == 1
    told = [row["title"] for row in json.loads(done.stdout) if row["check"] == "examination"]
    assert told == ["The endpoint requires a key."]


def test_files_are_cut_into_passages_for_scripts(home: Home, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "none.txt").write_text("")
    done = run("passages", str(folder / "lamp.md"), str(tmp_path / "none.txt"))
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1, "an empty file has none"
    assert "none.txt" in done.stderr
    assert {row["file"] for row in rows} == {str(folder / "lamp.md")}
    assert [row["position"] for row in rows] == list(range(len(rows)))
    assert all(row["end"] - row["start"] == len(row["text"]) for row in rows)
    assert run_json("status")["sources"] == [], "nothing is stored"


def test_chats_are_written_into_files(home: Home, folder: Path, tmp_path: Path) -> None:
    run_json("index", str(folder))
    run_json("ask", "When is the lamp lit?")
    run_json("ask", "Who lights the lamp?")
    chats = tmp_path / "chats"
    rows = run_json("memory", "export", "--to", str(chats))
    assert {row["title"] for row in rows} == {"When is the lamp lit?", "Who lights the lamp?"}
    kept = [json.loads(Path(row["file"]).read_text()) for row in rows]
    assert all(chat["messages"][1]["sources"] for chat in kept)
    [row] = run_json("memory", "export", "lamp lit", "--to", str(chats), "--format", "md")
    assert "at dusk" in Path(row["file"]).read_text()
    assert run("memory", "export", "tower", "--to", str(chats)).returncode == 1
    assert run("memory", "export", "--to", str(folder / "lamp.md")).returncode == 1
