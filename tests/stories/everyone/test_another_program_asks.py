"""A person lets another program in, and turns it away again."""

from urllib.parse import urlsplit

import httpx2
import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit

from desktop_rag.features.server.services import ServerSwitch
from tests.stories.conftest import Person


def models(address: str, secret: str) -> int:
    """The status that a program with this token gets."""
    headers = {"authorization": f"Bearer {secret}"}
    return httpx2.get(f"{address}/models", headers=headers, trust_env=False).status_code


def listed(address: str, secret: str) -> list[str]:
    """The names that a program with this token may ask, without the embedding model."""
    headers = {"authorization": f"Bearer {secret}"}
    found = httpx2.get(f"{address}/models", headers=headers, trust_env=False).json()["data"]
    return [model["id"] for model in found if model["name"] != "Embeddings"]


@pytest.mark.everyday
def test_a_program_is_let_in_and_turned_away(person: Person) -> None:
    person.opens_settings("Other programs")
    person.sees("No tokens yet.")
    person.clicks("Let other programs ask")
    person.waits_until(lambda: bool(person.app.services.wing(ServerSwitch).address))
    person.sees(f"{person.app.services.wing(ServerSwitch).address}/v1")
    person.clicks("Copy")
    address = QGuiApplication.clipboard().text()
    assert urlsplit(address).hostname == "127.0.0.1"

    person.clicks("New token…")
    dialog = person.in_the_dialog()
    dialog.types("Program", "The editor")
    dialog.clicks("More limits")
    dialog.clicks("Make token")
    dialog.sees("It is shown this once")
    secret = next(
        f.text() for f in dialog.place.findChildren(QLineEdit) if f.accessibleName() == "Token"
    )
    assert models(address, secret) == 200
    dialog.clicks("Close")
    person.sees("The editor")
    person.sees("ask questions · 120 a minute")
    assert secret not in person.screen()

    person.clicks("What The editor may ask")
    dialog = person.in_the_dialog()
    dialog.clicks("desktop-rag")
    dialog.clicks("Save")
    person.sees("ask questions · 1 model · 120 a minute")
    person.sees("Last used")
    assert listed(address, secret) == ["desktop-rag"]

    person.clicks("Show the requests…")
    dialog = person.in_the_dialog()
    dialog.waits_until(lambda: bool(dialog.rows("Requests")))
    assert dialog.rows("Requests")[0][1:4] == ["The editor", "GET /v1/models", "Done"]
    dialog.clicks("Close")

    person.clicks("Revoke The editor")
    person.in_the_dialog().clicks("Revoke")
    person.sees("No tokens yet.")
    assert models(address, secret) == 401

    person.clicks("Let other programs ask")
    person.waits_until(lambda: not person.app.services.wing(ServerSwitch).address)
    person.sees("Off")
