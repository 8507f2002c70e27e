"""A folder of a Nextcloud is added from the window, asked, and followed."""

import pytest

from tests.servers.dav_server import DavServer
from tests.stories.conftest import Person


def looks_at(person: Person, cloud: DavServer, password: str) -> Person:
    """Enter the address and password of a server in the dialog, which is returned."""
    person.presses("Ctrl+2")
    person.chooses_entry("Add from…", "Cloud folder (WebDAV)")
    dialog = person.in_the_dialog()
    dialog.types("Address", cloud.url())
    dialog.types("User", "ann")
    dialog.types("App password", password)
    dialog.clicks("See what is there")
    return dialog


@pytest.mark.everyday
def test_a_cloud_folder_is_looked_at_and_added(person: Person) -> None:
    with DavServer() as cloud:
        cloud.write("Boats/lighthouse.txt", "The lighthouse of Skarvik was built in 1874.")
        cloud.write("Boats/disk.iso", b"x" * 1_000)
        cloud.write("Letters/to-anna.txt", "Dear Anna, the ferry comes on Tuesday.")
        dialog = looks_at(person, cloud, "wrong")
        dialog.sees("The server refused the password.")
        dialog.clears("App password")
        dialog.types("App password", "secret")
        dialog.clicks("See what is there")
        dialog.sees("2 files to index")
        dialog.sees("not supported: .iso")
        dialog.clicks("Add")
        person.comes_back()
        person.sees("2 searchable")
        assert cloud.asked_for("GET") == ["Boats/lighthouse.txt", "Letters/to-anna.txt"]
        documents = person.app.services.library.documents.all()
        pages = {d.path.name: d.address for d in documents}
        assert pages["to-anna.txt"] == f"http://127.0.0.1:{cloud.port}/index.php/f/3"
        person.presses("Ctrl+N")
        person.asks("When was the lighthouse of Skarvik built?")
        person.sees("1874")


def test_a_folder_in_it_is_chosen_and_its_password_is_changed(person: Person) -> None:
    with DavServer() as cloud:
        cloud.write("Boats/lighthouse.txt", "The lighthouse of Skarvik was built in 1874.")
        cloud.write("Letters/to-anna.txt", "Dear Anna, the ferry comes on Tuesday.")
        dialog = looks_at(person, cloud, "secret")
        dialog.sees("2 files to index")
        dialog.ticks("Folders", "Letters")
        dialog.sees("1 file to index")
        dialog.clicks("Add")
        person.sees("1 searchable")
        cloud.password = "another"
        [source] = person.app.services.library.sources.all()
        assert source.name == "Letters (127.0.0.1)"
        person.clicks("Folders")
        person.clicks(f"Check {source.name} for changes")
        person.sees("could not be read.")
        person.clicks(f"Options for {source.name}")
        options = person.in_the_dialog()
        options.sees("The server refused the password.")
        options.types("App password", "another")
        options.clicks("Save")
        person.sees("1 searchable")
