"""A person chooses where and by whom the local server is reached; a fault changes nothing."""

import socket
import ssl
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import httpx2
import pytest
from PySide6.QtWidgets import QFileDialog, QLineEdit, QSpinBox

from desktop_rag.features.server.services import ServerSwitch
from tests.stories.conftest import Person
from tests.unit.serve.certificate_files import certificate_files


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that another program has."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as other:
        return other.getsockname()[1]


@pytest.fixture
def host(person: Person) -> Person:
    """A person who lets other programs ask, on a port of their own."""
    person.opens_settings("Other programs")
    chooses_port(person, free_port())
    uses(person, "Saved.")
    person.clicks("Let other programs ask")
    person.waits_until(lambda: bool(address_of(person)))
    return person


def address_of(person: Person) -> str:
    return person.app.services.wing(ServerSwitch).address


def chooses_port(person: Person, port: int) -> None:
    fields = person.place.findChildren(QSpinBox)
    next(f for f in fields if f.isVisible() and f.accessibleName() == "Port").setValue(port)


def writes(person: Person, name: str, text: object) -> None:
    field = person.field(name)
    assert isinstance(field, QLineEdit)
    field.setText(str(text))
    field.editingFinished.emit()


def uses(person: Person, said: str) -> None:
    person.clicks("Use these")
    person.sees(said)


def answers(address: str, trusted: Path | None = None) -> bool:
    """True when the server asks for a token there."""
    context = ssl.create_default_context(cafile=trusted) if trusted else True
    answer = httpx2.get(f"{address}/v1/models", verify=context, trust_env=False)
    return answer.status_code == HTTPStatus.UNAUTHORIZED


@pytest.mark.everyday
def test_another_port_is_chosen(host: Person, taken: int) -> None:
    before = address_of(host)
    chooses_port(host, taken)
    uses(host, f"Port {taken} is taken by another program. Choose another port")
    assert address_of(host) == before
    assert answers(before)
    chooses_port(host, port := free_port())
    uses(host, f"The server was restarted. It is asked at http://127.0.0.1:{port}/v1")
    assert answers(f"http://127.0.0.1:{port}")
    with pytest.raises(httpx2.ConnectError):
        answers(before)
    host.clicks("Undo")
    host.waits_until(lambda: address_of(host) == before)
    assert answers(before)


def test_a_certificate_is_chosen(host: Person, tmp_path: Path) -> None:
    plain = address_of(host)
    good, other = certificate_files(tmp_path, "good"), certificate_files(tmp_path, "other")
    old = certificate_files(tmp_path, "old", days=(-30, -1))
    writes(host, "Certificate", good.certificate)
    writes(host, "Its key", other.key)
    uses(host, "The key doesn't belong to the certificate.")
    writes(host, "Certificate", old.certificate)
    writes(host, "Its key", old.key)
    uses(host, "The certificate has expired.")
    assert answers(plain)
    host.clicks("Choose the certificate")
    [dialog] = host.window.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(good.certificate))
    dialog.close()
    writes(host, "Its key", good.key)
    host.sees("It is for localhost, 127.0.0.1, and valid until")
    uses(host, "The server was restarted. It is asked at https://")
    assert answers(address_of(host), trusted=good.certificate)
    with pytest.raises(httpx2.TransportError):
        answers(plain)
    host.closes_the_window()
    secret = good.key.read_bytes().splitlines()[1]
    kept = [p for p in host.app.services.home.root.rglob("*") if p.is_file()]
    assert not [path for path in kept if secret in path.read_bytes()]


def test_what_other_computers_reach_is_said(host: Person, tmp_path: Path) -> None:
    host.sees("Only programs on this computer reach it, and only with a token.")
    host.chooses("Reached by", "Other computers too")
    host.sees("Every computer in the networks of this one reaches it then.")
    host.sees("Without a certificate, everyone on the way can read tokens")
    names = host.field("Names")
    assert isinstance(names, QLineEdit)
    host.waits_until(lambda: socket.gethostname() in names.text())
    host.clears("Names")
    uses(host, "Other computers need a name or an address to ask it by.")
    files = certificate_files(tmp_path, "good", ("rag.example",))
    writes(host, "Names", "rag.example, amber")
    writes(host, "Certificate", files.certificate)
    writes(host, "Its key", files.key)
    host.sees("With the certificate, nobody on the way can read them.")
    host.sees("Programs that ask amber will refuse it.")
    host.clicks("Discard")
    host.sees("Only programs on this computer reach it, and only with a token.")
    assert host.app.services.settings.server.host == "127.0.0.1"
