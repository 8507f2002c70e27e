"""IMAP as another program has it: Dovecot, where it is installed."""

import getpass
import imaplib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.core.library_events import ChangeSummary
from desktop_rag.core.paths import Home
from desktop_rag.features.remote_sources.imap import IMAP
from tests.remote_room import RemoteRoom
from tests.servers.imap_server import message
from tests.waiting import until

_DOVECOT = shutil.which("dovecot") or shutil.which("dovecot", path="/usr/sbin")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(_DOVECOT is None, reason="Dovecot is not installed"),
]
_CONFIG = """
base_dir = {folder}/run
state_dir = {folder}/run
log_path = {folder}/log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
mail_location = maildir:{folder}/mail:LAYOUT=fs
default_internal_user = {internal}
default_login_user = {login}
first_valid_uid = 1
passdb {{
  driver = static
  args = password=secret
}}
userdb {{
  driver = static
  args = uid={user} gid={group} home={folder}/mail
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service anvil {{
  chroot =
}}
namespace inbox {{
  inbox = yes
  separator = /
  mailbox Junk {{
    auto = create
    special_use = \\Junk
  }}
}}
"""


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    own = getpass.getuser()
    users = {"internal": own, "login": own, "user": own, "group": str(os.getegid())}
    if os.geteuid() == 0:  # as which Dovecot opens no mailbox
        users = {"internal": "dovecot", "login": "dovenull", "user": "nobody", "group": "nogroup"}
    # Not below pytest's folder, into which other users can't look.
    with tempfile.TemporaryDirectory(prefix="dovecot") as folder:
        Path(folder).chmod(0o755)
        yield from _served(Path(folder), port, users)


def _served(folder: Path, port: int, users: dict[str, str]) -> Iterator[int]:
    (folder / "mail").mkdir()
    (folder / "mail").chmod(0o777)
    config = folder / "dovecot.conf"
    config.write_text(_CONFIG.format(folder=folder, port=port, **users), "utf-8")
    assert _DOVECOT, "the test is skipped without it"
    server = subprocess.Popen([_DOVECOT, "-F", "-c", str(config)])
    try:
        until(lambda: _answers(port) or server.poll() is not None)
        assert server.poll() is None, (folder / "log").read_text()
        yield port
    finally:
        server.terminate()
        server.wait()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


@pytest.fixture
def person(port: int) -> Iterator[imaplib.IMAP4]:
    """Another program in which the person reads their mail."""
    with imaplib.IMAP4("127.0.0.1", port) as client:
        client.login("ann", "secret")
        yield client


@pytest.fixture
def room(home: Home) -> Iterator[RemoteRoom]:
    made = RemoteRoom(home, kind=IMAP)
    made.start()
    yield made
    made.close()


def test_a_mailbox_is_read_and_followed(room: RemoteRoom, port: int, person: imaplib.IMAP4) -> None:
    person.create('"Entw&APw-rfe/Neue"')
    for number in range(5):
        text = message(f"Größe {number}", f"Text {number}.", number)
        person.append("INBOX", "", "", text)  # type: ignore[arg-type]
    large = message("Large", "line of it\r\n" * 200_000)
    person.append('"Entw&APw-rfe/Neue"', "", "", large)  # type: ignore[arg-type]
    person.append("Junk", "", "", message("Junk", "Buy."))  # type: ignore[arg-type]
    room.add_remote(f"imap://127.0.0.1:{port}")
    assert room.settle_remote() == ChangeSummary(added=6)
    assert any(path.endswith(" Größe 3 (4).eml") for path in room.rows())
    files = {row.path.parent.name: row.path for row in room.rows().values()}
    assert files["Entwürfe.Neue"].read_bytes() == large
    assert room.again() == ChangeSummary(unchanged=6)

    person.select("INBOX")
    assert person.search(None, "UNSEEN")[1] == [b"1 2 3 4 5"], "none was marked as read"
    person.copy("2", '"Entw&APw-rfe/Neue"')
    person.store("1:2", "+FLAGS", "\\Deleted")
    person.expunge()
    person.append("INBOX", "", "", message("New", "New."))  # type: ignore[arg-type]
    assert room.again() == ChangeSummary(added=1, moved=1, gone=1, unchanged=4)
    assert room.again() == ChangeSummary(unchanged=6)
    person.rename('"Entw&APw-rfe/Neue"', "Done")
    assert room.again() == ChangeSummary(moved=2, unchanged=4)


def test_a_wrong_password_is_refused(room: RemoteRoom, port: int) -> None:
    room.add_remote(f"imap://127.0.0.1:{port}", "wrong")
    room.settle_remote()
    [notice] = room.heard.told
    assert notice.hint.startswith("The server refused the password.")
