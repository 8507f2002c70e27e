"""A person lets another program in, and turns it away again."""

from urllib.parse import urlsplit

import httpx2
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit

from tests.stories.conftest import Person


def models(address: str, secret: str) -> int:
    """The status that a program with this token gets."""
    headers = {"authorization": f"Bearer {secret}"}
    return httpx2.get(f"{address}/models", headers=headers, trust_env=False).status_code


def test_a_program_is_let_in_and_turned_away(person: Person) -> None:
    person.opens_settings("Other programs")
    person.sees("No tokens yet.")
    person.clicks("Let other programs ask")
    person.waits_until(lambda: bool(person.app.services.server.address))
    person.sees(f"{person.app.services.server.address}/v1")
    person.clicks("Copy")
    address = QGuiApplication.clipboard().text()
    assert urlsplit(address).hostname == "127.0.0.1"

    person.clicks("New token…")
    dialog = person.in_the_dialog()
    dialog.types("Program", "The editor")
    dialog.clicks("Make token")
    dialog.sees("It is shown this once")
    secret = next(
        f.text() for f in dialog.place.findChildren(QLineEdit) if f.accessibleName() == "Token"
    )
    assert models(address, secret) == 200
    dialog.clicks("Close")
    person.sees("The editor")
    assert secret not in person.screen()

    person.clicks("Revoke The editor")
    person.in_the_dialog().clicks("Revoke")
    person.sees("No tokens yet.")
    assert models(address, secret) == 401

    person.clicks("Let other programs ask")
    person.waits_until(lambda: not person.app.services.server.address)
    person.sees("Off")
