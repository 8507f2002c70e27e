"""Rounds over a mailbox: what changed is fetched, nothing else, and nothing is marked as read."""

import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.domain import DocumentState, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import ChangeSummary
from desktop_rag.core.paths import Home
from desktop_rag.features.remote_sources.http_place import PlaceLimits
from desktop_rag.features.remote_sources.imap import IMAP, checked
from desktop_rag.features.remote_sources.imap_session import MailSession
from tests.remote_room import RemoteRoom
from tests.servers.imap_server import Folder, Handler, ImapServer, message

pytestmark = pytest.mark.slow
CERTIFICATE = Path(__file__).parents[1] / "endpoints" / "localhost.pem"


@pytest.fixture
def mail() -> Iterator[ImapServer]:
    with ImapServer() as server:
        yield server
        bad = ("STORE", "SELECT", "COPY", "MOVE", "EXPUNGE", "APPEND", "BODY[", "RFC822)")
        assert not [each for each in server.asked if any(word in each for word in bad)], (
            "it only reads"
        )


@pytest.fixture
def room(home: Home) -> Iterator[RemoteRoom]:
    made = RemoteRoom(home, kind=IMAP)
    made.start()
    yield made
    made.close()


def subjects(room: RemoteRoom) -> set[str]:
    """Folders and subjects, without the days and ids between and behind them."""
    return {re.sub(r"/[0-9-]+ (.*) \(\d+\)\.eml", r"/\1", path) for path in room.rows()}


@pytest.mark.parametrize("capabilities", ["IMAP4rev1 AUTH=PLAIN", "IMAP4rev1"])
def test_a_mailbox_is_read_and_kept_up_to_date(home: Home, capabilities: str) -> None:
    room = RemoteRoom(home, kind=IMAP)
    room.start()
    with ImapServer(capabilities=capabilities) as mail:
        ids = [mail.put("INBOX", message(f"S{n}", f"Text {n}.", n)) for n in range(5)]
        mail.put("Sent", message("Answer", "An answer."))
        room.add_remote(mail.url())
        assert room.settle_remote() == ChangeSummary(added=6)
        texts = room.texts()
        assert "Text 3." in texts[f"INBOX/2024-05-14 S3 ({ids[3]}).eml"]

        mail.asked.clear()
        assert room.again() == ChangeSummary(unchanged=6)
        assert not [each for each in mail.asked if "FETCH" in each or "SEARCH" in each]

        mail.put("INBOX", message("New", "New text."))
        row = room.rows()[f"INBOX/2024-05-14 S1 ({ids[1]}).eml"]
        moved = mail.move("INBOX", ids[1], "Sent")
        del mail.folders["INBOX"].mails[ids[0]]
        mail.read.clear()
        assert room.again() == ChangeSummary(added=1, moved=1, gone=1, unchanged=4)
        assert mail.read == ["INBOX/6"]
        assert not [each for each in mail.asked if "STORE" in each]
        now = room.rows()[f"Sent/2024-05-14 S1 ({moved}).eml"]
        assert now.document_id == row.document_id
        assert room.again() == ChangeSummary(unchanged=6)
    room.close()


def test_new_ids_of_a_folder_fetch_nothing_again(room: RemoteRoom, mail: ImapServer) -> None:
    for number in range(4):
        mail.put("INBOX", message(f"S{number}", f"Text {number}.", number))
    room.add_remote(mail.url())
    room.settle_remote()
    mail.folders["INBOX"].validity = 8
    mails = mail.folders["INBOX"].mails
    mail.folders["INBOX"].mails = {uid + 100: each for uid, each in mails.items()}
    mail.read.clear()
    assert room.again() == ChangeSummary(moved=4)
    assert mail.read == []
    assert "Text 2." in room.texts()["INBOX/2024-05-14 S2 (103).eml"]


def test_a_folder_that_is_deleted_takes_its_messages_along(
    room: RemoteRoom, mail: ImapServer
) -> None:
    mail.put("INBOX", message("A", "A."))
    mail.put("INBOX/Old", message("B", "B."))
    room.add_remote(mail.url())
    room.settle_remote()
    del mail.folders["INBOX/Old"]
    assert room.again() == ChangeSummary(gone=1, unchanged=1)
    assert subjects(room) == {"INBOX/A"}


def test_a_folder_that_is_left_out_of_the_list_keeps_its_messages_while_it_can_be_opened(
    room: RemoteRoom, mail: ImapServer
) -> None:
    mail.put("INBOX", message("A", "A."))
    mail.put("INBOX/Old", message("B", "B."))
    room.add_remote(mail.url())
    room.settle_remote()
    mail.folders["INBOX/Old"].is_listed = False
    assert room.again() == ChangeSummary(unchanged=2)
    mail.put("INBOX/Old", message("C", "C."))
    mail.folders["INBOX/Old"].is_listed = True
    assert room.again() == ChangeSummary(added=1, unchanged=2)


def test_folders_are_chosen_by_their_names_as_people_read_them(
    room: RemoteRoom, mail: ImapServer
) -> None:
    names = ("INBOX", "Entw&APw-rfe &- mehr", "Archive/2024", "Archive/2025")
    for number, name in enumerate(names):
        mail.put(name, message("S", f"In {name}.", number))
    found = room.remotes.preview(
        room.remotes.checked(WebLinks((mail.url(),), remote="imap", user="ann")),
        "secret", threading.Event(),
    )  # fmt: skip
    assert found.files == 4
    assert found.folders == ("Archive.2024", "Archive.2025", "Entwürfe & mehr", "INBOX")
    room.add_remote(f"{mail.url()}Archive/2024,Entwürfe & mehr")
    room.settle_remote()
    assert subjects(room) == {"Archive.2024/S", "Entwürfe & mehr/S"}


def test_junk_and_views_are_left_out_unless_chosen(room: RemoteRoom, mail: ImapServer) -> None:
    for name, flag in (("INBOX", ""), ("Spam", "\\Junk"), ("Starred", "\\Flagged")):
        mail.put(name, message(name, f"In {name}."))
        mail.folders[name].flags = flag
    room.add_remote(mail.url())
    room.settle_remote()
    assert subjects(room) == {"INBOX/INBOX"}
    mail.folders["All"] = Folder(flags="\\All", mails=dict(mail.folders["INBOX"].mails))
    assert room.again() == ChangeSummary(moved=1), "one folder has all of it"


def test_only_messages_since_a_day_are_read(room: RemoteRoom, mail: ImapServer) -> None:
    mail.put("INBOX", message("Old", "Old."), arrived="14-May-2019 10:00:00 +0000")
    mail.put("INBOX", message("New", "New."))
    room.add_remote(mail.url(), since="2024-01-01")
    room.settle_remote()
    assert subjects(room) == {"INBOX/New"}
    assert "UID SEARCH SINCE 1-Jan-2024" in mail.asked


def test_an_earlier_day_finds_what_was_left_out(room: RemoteRoom, mail: ImapServer) -> None:
    mail.put("INBOX", message("Old", "Old."), arrived="14-May-2019 10:00:00 +0000")
    mail.put("INBOX", message("New", "New.", 1))
    source = room.add_remote(mail.url(), since="2024-01-01")
    room.settle_remote()
    assert source.links, "a remote is a source of links"
    room.sources.set_links(source.source_id, replace(source.links, since=""))
    assert room.again() == ChangeSummary(added=1, unchanged=1)


def test_a_message_without_an_id_is_never_taken_for_another(
    room: RemoteRoom, mail: ImapServer
) -> None:
    old = mail.put("INBOX", b"Subject: job\r\n\r\nresult 1\r\n")
    mail.put("INBOX", message("Other", "Text."))
    room.add_remote(mail.url())
    room.settle_remote()
    del mail.folders["INBOX"].mails[old]
    mail.put("INBOX", b"Subject: job\r\n\r\nresult 2\r\n")
    room.again()
    assert [text for text in room.texts().values() if "result" in text] == [
        "Subject: job\n\nresult 2"
    ]


def test_the_inbox_is_one_however_the_server_writes_it(room: RemoteRoom, mail: ImapServer) -> None:
    mail.put("Inbox", message("A", "A."))
    mail.put("Other", message("B", "B.", 1))
    room.add_remote(f"{mail.url()}Inbox")
    room.settle_remote()
    assert subjects(room) == {"INBOX/A"}


def test_a_message_that_is_too_large_is_listed_and_not_read(
    room: RemoteRoom, mail: ImapServer
) -> None:
    mail.put("INBOX", message("Declared", "x"), declared=2 << 30)
    mail.put("INBOX", message("Lying", "x" * (10 << 20)), declared=100)
    mail.put("INBOX", message("Fine", "x " * (1 << 20)))
    room.add_remote(mail.url())
    assert room.settle_remote() == ChangeSummary(added=3)
    rows = {path.split(" ")[1]: row for path, row in room.rows().items()}
    assert {rows[name].reason for name in ("Declared", "Lying")} == {"larger than 9 MB"}
    assert rows["Fine"].stat.size_bytes == len(message("Fine", "x " * (1 << 20)))
    assert room.again() == ChangeSummary(unchanged=3)


def test_names_in_any_form_are_names_of_files(room: RemoteRoom, mail: ImapServer) -> None:
    names = ("../../etc/passwd", "=?utf-8?B?w5xiZXI=?=", "=?x?Q?broken", "", "CON", "件" * 200)
    for number, name in enumerate(names):
        mail.put("INBOX", message(name, "Text.", number))
    mail.put("INBOX", b"no header at all")
    room.add_remote(mail.url())
    assert room.settle_remote() == ChangeSummary(added=7)
    [source] = room.sources.sources()
    assert all(row.path.resolve().is_relative_to(source.path) for row in room.rows().values())
    assert "INBOX/2024-05-14 Über (2).eml" in room.rows()
    assert room.again() == ChangeSummary(unchanged=7)


def test_a_wrong_password_waits_for_the_person(room: RemoteRoom, mail: ImapServer) -> None:
    mail.put("INBOX", message("A", "A."))
    room.add_remote(mail.url(), "wrong")
    room.settle_remote()
    [notice] = room.heard.told
    assert notice.hint.startswith("The server refused the password.")
    assert "wrong" not in str(room.heard.told)


def test_passwords_with_any_letters_are_sent(home: Home) -> None:
    for capabilities in ("IMAP4rev1 AUTH=PLAIN", "IMAP4rev1"):
        with ImapServer(password='pä"ß', capabilities=capabilities) as mail:
            session = MailSession(mail.url(), "ann", 'pä"ß', threading.Event())
            assert session.folders() == []
            session.close()


def test_a_connection_that_is_lost_in_a_message_goes_on(room: RemoteRoom, mail: ImapServer) -> None:
    uid = mail.put("INBOX", message("Cut", "x " * 5000))
    mail.put("INBOX", message("Whole", "Whole."))

    def cut(handler: Handler, _tag: str) -> None:
        del mail.faults[str(uid)]
        handler.say(f"* 1 FETCH (UID {uid} BODY[]<0> {{9000}}", "x" * 100)
        mail.close_connections()

    mail.faults[str(uid)] = cut
    room.add_remote(mail.url())
    assert room.settle_remote() == ChangeSummary(added=2)
    assert len(next(text for p, text in room.texts().items() if "Cut" in p)) > 9_000


def test_a_message_the_server_always_fails_at_is_told_and_the_rest_goes_on(
    room: RemoteRoom, mail: ImapServer
) -> None:
    uid = mail.put("INBOX", message("Poison", "x"))
    mail.put("INBOX", message("Fine", "Fine."))
    mail.faults[str(uid)] = lambda *_: mail.close_connections()
    room.add_remote(mail.url())
    room.settle_remote()
    states = {path.split(" ")[1]: row.state for path, row in room.rows().items()}
    assert states == {
        "Poison": DocumentState.FAILED, "Fine": DocumentState.SEARCHABLE_BY_WORDS,
    }  # fmt: skip
    mail.faults.clear()
    assert room.again() == ChangeSummary(changed=1, unchanged=1)


@pytest.mark.parametrize(
    "fault",
    [
        lambda handler, _: handler.say("* BYE going down"),
        lambda handler, _: handler.owner.close_connections(),
        lambda handler, tag: handler.say(f"{tag} NO [UNAVAILABLE] later"),
        lambda handler, _: handler.say("* SEARCH what", "%%%"),
        lambda handler, _: handler.owner.released.wait(),
    ],
    ids=["bye", "cut", "no", "nonsense", "slow"],
)
@pytest.mark.parametrize("verb", ["AUTHENTICATE", "LIST", "SEARCH"])
def test_a_server_that_fails_is_offline_and_nothing_is_deleted(
    home: Home, mail: ImapServer, fault: object, verb: str
) -> None:
    room = RemoteRoom(home, PlaceLimits(seconds=2), IMAP)
    room.start()
    mail.put("INBOX", message("A", "A."))
    room.add_remote(mail.url())
    room.settle_remote()
    mail.put("INBOX", message("B", "B."))
    mail.faults[verb] = fault  # type: ignore[assignment]
    room.again()
    assert len(room.rows()) == 1
    [report] = room.remotes.reports.values()
    assert report.state.value == "offline"
    mail.faults.clear()
    assert room.again() == ChangeSummary(added=1, unchanged=1)
    room.close()


def test_a_folder_that_cant_be_opened_keeps_what_was_read(
    room: RemoteRoom, mail: ImapServer
) -> None:
    mail.put("INBOX", message("A", "A."))
    room.add_remote(mail.url())
    room.settle_remote()
    mail.put("INBOX", message("B", "B."))
    mail.faults["EXAMINE"] = lambda handler, tag: handler.say(f"{tag} NO [NOPERM] no")
    assert room.again() == ChangeSummary(unchanged=1)
    mail.faults.clear()
    assert room.again() == ChangeSummary(added=1, unchanged=1)


def test_a_lost_copy_is_fetched_again(room: RemoteRoom, mail: ImapServer) -> None:
    mail.put("INBOX", message("A", "A.", 1))
    mail.put("INBOX", message("B", "B.", 2))
    room.add_remote(mail.url())
    room.settle_remote()
    next(row for path, row in room.rows().items() if " A " in path).path.unlink()
    mail.read.clear()
    assert room.again() == ChangeSummary(changed=1, unchanged=1)
    assert mail.read == ["INBOX/1"]


@pytest.mark.parametrize(
    ("typed", "url", "chosen"),
    [
        ("imap.example.org", "imaps://imap.example.org/", ()),
        ("imaps://Mail.example.org:993/inbox,A/B", "imaps://mail.example.org/", ("INBOX", "A.B")),
        ("imap://localhost:1143", "imap://localhost:1143/", ()),
    ],
)
def test_addresses_are_kept_in_one_form(typed: str, url: str, chosen: tuple[str, ...]) -> None:
    links = checked(WebLinks((typed,), remote="imap", user=" ann "))
    assert (links.urls, links.chosen, links.user) == ((url,), chosen, "ann")


@pytest.mark.parametrize(
    "typed",
    ["", "https://example.org", "imap://mail.example.org", "imaps://", "imaps://ann:pw@example.org",
     "imaps://example.org:25", "imaps://0x7f000001/"],
)  # fmt: skip
def test_what_is_no_mail_server_is_refused(typed: str) -> None:
    with pytest.raises(AppError):
        checked(WebLinks((typed,), remote="imap", user="ann"))


def test_the_certificate_is_checked_before_the_password_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ImapServer(certificate=CERTIFICATE) as mail:
        mail.put("INBOX", message("A", "A."))
        session = MailSession(mail.url(), "ann", "secret", threading.Event())
        with pytest.raises(AppError, match="no encryption that can be trusted"):
            session.folders()
        session.close()
        assert mail.asked == []
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        session = MailSession(mail.url(), "ann", "secret", threading.Event())
        assert [folder.shown for folder in session.folders()] == ["INBOX"]
        session.close()


def test_a_name_that_leads_to_this_computer_is_not_connected_to() -> None:
    session = MailSession(
        "imaps://mail.example.org/", "ann", "pw", threading.Event(),
        resolve=lambda *_: ["127.0.0.1"],
    )  # fmt: skip
    with pytest.raises(AppError, match="not on the public internet"):
        session.folders()
    session.close()
