"""Encrypted files in the library: asked for, opened, remembered, forgotten; told to nobody."""

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import keyring
import pytest

from desktop_rag.app import Services
from desktop_rag.core.domain import NEEDS_PASSWORD, WRONG_PASSWORD, Document, DocumentState
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import PageWish
from desktop_rag.core.paths import Home
from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess
from tests.command_line import settled
from tests.keyrings import MemoryKeyring
from tests.locked_files import PASSWORD, locked_doc, locked_docx, locked_pdf

BuildServices = Callable[[], Services]


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> MemoryKeyring:
    """The system's keyring."""
    ring = MemoryKeyring()
    monkeypatch.setattr(keyring, "get_keyring", lambda: ring)
    return ring


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    (folder / "old").mkdir(parents=True)
    (folder / "lease.pdf").write_bytes(locked_pdf("The tenant pays in June."))
    (folder / "old" / "deed.docx").write_bytes(locked_docx("The notary sealed the deed."))
    (folder / "other.pdf").write_bytes(locked_pdf("Something else.", "another"))
    return settled(folder)


def started(build_services: BuildServices, papers: Path) -> Services:
    services = build_services()
    services.library.start(watch=False)
    if not services.library.sources.all():
        services.library.sources.add(papers)
    wait(services)
    return services


def wait(services: Services) -> None:
    assert services.library.indexing.wait_until_searchable(50)


def row(services: Services, name: str) -> Document:
    return next(d for d in services.library.documents.all() if d.path.name == name)


def found(services: Services, words: str) -> set[str]:
    passages = services.chat.look_up(words, mode="lexical", limit=5).passages
    return {Path(passage.path).name for passage in passages}


def test_the_right_password_makes_a_file_searchable_and_a_wrong_one_says_so(
    build_services: BuildServices, papers: Path
) -> None:
    services = started(build_services, papers)
    lease = row(services, "lease.pdf")
    assert lease.needs_password
    assert lease.reason == f"{NEEDS_PASSWORD}."
    with pytest.raises(AppError, match="This password does not open the file"):
        services.library.passwords.enter(lease, "wrong", keeps=False, for_folder=False)
    assert row(services, "lease.pdf").needs_password
    services.library.passwords.enter(lease, PASSWORD, keeps=False, for_folder=False)
    wait(services)
    assert row(services, "lease.pdf").is_unlocked
    assert row(services, "deed.docx").needs_password
    assert found(services, "tenant") == {"lease.pdf"}


@pytest.mark.parametrize("kind", [locked_pdf, locked_docx, locked_doc])
def test_a_password_is_judged_without_reading_the_file(
    tmp_path: Path, kind: Callable[[str], bytes]
) -> None:
    path = tmp_path / "lease"
    path.write_bytes(kind("The tenant pays in June."))
    parser = ParserProcess()
    try:
        with pytest.raises(ParseFailed) as caught:
            parser.check_password(path, "wrong")
        assert caught.value.title == WRONG_PASSWORD
        parser.check_password(path, PASSWORD)
    finally:
        parser.close()


def test_it_is_tried_on_all_files_of_the_folder_on_request(
    build_services: BuildServices, papers: Path
) -> None:
    services = started(build_services, papers)
    lease = row(services, "lease.pdf")
    assert services.library.passwords.locked_beside(lease) == 2
    done = services.library.passwords.enter(lease, PASSWORD, keeps=False, for_folder=True)
    wait(services)
    assert done.files == 3
    assert found(services, "notary") == {"deed.docx"}
    other = row(services, "other.pdf")
    assert other.needs_password
    assert other.reason == "Encrypted: the password does not open it."


def test_a_page_of_it_is_drawn(build_services: BuildServices, papers: Path) -> None:
    services = started(build_services, papers)
    lease = row(services, "lease.pdf")
    services.library.passwords.enter(lease, PASSWORD, keeps=False, for_folder=False)
    wait(services)
    view = services.library.documents.page_view(
        lease, PageWish(1, 200, "The tenant"), cancel=threading.Event()
    )
    assert view
    assert view.boxes


@pytest.mark.usefixtures("ring")
@pytest.mark.parametrize("keeps", [True, False])
def test_a_new_version_is_read_at_the_next_start_if_the_keyring_kept_it(
    build_services: BuildServices, papers: Path, keeps: bool
) -> None:
    services = started(build_services, papers)
    done = services.library.passwords.enter(
        row(services, "lease.pdf"), PASSWORD, keeps=keeps, for_folder=False
    )
    assert done.is_kept is keeps
    wait(services)
    services.close()
    (papers / "lease.pdf").write_bytes(locked_pdf("From July on the landlord pays."))
    settled(papers)
    services = started(build_services, papers)
    services.library.sources.rescan()
    wait(services)
    assert row(services, "lease.pdf").needs_password is not keeps
    assert found(services, "landlord") == ({"lease.pdf"} if keeps else set())
    assert found(services, "tenant") == set()


def test_forgetting_drops_the_password_and_the_text(
    build_services: BuildServices, papers: Path, ring: MemoryKeyring
) -> None:
    services = started(build_services, papers)
    lease = row(services, "lease.pdf")
    services.library.passwords.enter(lease, PASSWORD, keeps=True, for_folder=True)
    wait(services)
    assert PASSWORD in ring.entries.values()
    assert services.library.passwords.forget(row(services, "lease.pdf")) == 2
    wait(services)
    assert ring.entries == {}
    assert row(services, "lease.pdf").needs_password
    assert row(services, "deed.docx").needs_password
    assert found(services, "tenant notary") == set()
    assert services.library.documents.text(lease.document_id) == ""


def test_an_attached_file_is_opened_with_what_is_known_of_its_folder(
    build_services: BuildServices, papers: Path
) -> None:
    services = started(build_services, papers)
    with pytest.raises(AppError, match="Encrypted"):
        services.library.documents.attach(papers / "lease.pdf", cancel=threading.Event())
    services.library.passwords.enter(
        row(services, "lease.pdf"), PASSWORD, keeps=False, for_folder=False
    )
    attached = services.library.documents.attach(papers / "lease.pdf", cancel=threading.Event())
    assert attached.words == 5


@pytest.mark.usefixtures("ring")
def test_the_password_reaches_no_file_and_no_log(
    build_services: BuildServices, papers: Path, home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    services = started(build_services, papers)
    lease = row(services, "lease.pdf")
    with pytest.raises(AppError):
        services.library.passwords.enter(lease, "wrong-" + PASSWORD, keeps=True, for_folder=True)
    services.library.passwords.enter(lease, PASSWORD, keeps=True, for_folder=True)
    wait(services)
    assert row(services, "lease.pdf").state is not DocumentState.SKIPPED
    assert_nowhere(home, caplog.text)
    services.close()
    assert_nowhere(home, caplog.text)


def assert_nowhere(home: Home, logged: str) -> None:
    forms = [PASSWORD.encode(code) for code in ("utf-8", "utf-16-le", "utf-32-le", "latin-1")]
    forms += [json.dumps(PASSWORD).strip('"').encode(), b"canary"]
    files = [path for path in home.root.rglob("*") if path.is_file()]
    assert len(files) > 1
    holding = [path for path in files if any(form in path.read_bytes() for form in forms)]
    assert holding == []
    assert "canary" not in logged
    assert not any("canary" in value for value in os.environ.values())
