"""A kind of remote as a package brings one: two methods, and the round does the rest."""

from collections.abc import Iterator, Mapping
from typing import BinaryIO, ClassVar

import pytest

from desktop_rag.core.domain import WebLinks
from desktop_rag.core.library_events import ChangeSummary
from desktop_rag.core.paths import Home
from desktop_rag.features.remote_sources.remote import (
    Item,
    Part,
    Remote,
    RemoteKind,
    RemoteRefused,
    Told,
    Trouble,
)
from desktop_rag.features.remote_sources.remote_sources import RemoteSources
from tests.remote_room import RemoteRoom

pytestmark = pytest.mark.slow


class Shelf(Remote):
    """Books by title; `listed` counts the shelves that were looked at."""

    shelves: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    listed = 0
    is_away = False

    def parts(self, tokens: Mapping[str, str]) -> Iterator[Part]:
        for name, books in type(self).shelves.items():
            token = str(hash(tuple(books.items())))
            if tokens.get(name) == token:
                yield Part(name, Told.SAME, token=token)
                continue
            type(self).listed += 1
            yield Part(
                name,
                items=tuple(
                    Item(title, f"{name}/{title}.txt", str(hash(text)), len(text))
                    for title, text in books.items()
                ),
                token=token,
            )
        if type(self).is_away:
            raise RemoteRefused(Trouble.OFFLINE, "The librarian is out.")

    def fetch(self, item: Item, target: BinaryIO, most_bytes: int) -> Item:
        shelf, _, name = item.path.partition("/")
        target.write(type(self).shelves[shelf][name.removesuffix(".txt")].encode())
        return item

    def close(self) -> None:
        pass


def test_a_shelf_is_followed(home: Home) -> None:
    class Ours(Shelf):
        pass

    Ours.shelves = {"Boats": {"Sails": "About sails.", "Oars": "Oars."}, "Birds": {"Owls": "Owls"}}
    room = RemoteRoom(home)
    kind = RemoteKind("shelf", "Shelf", lambda links: links, lambda *_: Ours())
    room.remotes = RemoteSources(room.kit, kind, room.secrets, lambda: room.now)
    room.start()
    try:
        links = WebLinks(("https://shelf.example/",), 100, 24.0, remote="shelf")
        room.remotes.request(room.sources.add_links(links, room.pages, "c"))
        assert room.settle_remote() == ChangeSummary(added=3)
        assert room.texts()["Boats/Sails.txt"] == "About sails."
        Ours.shelves = {"Boats": {"Sails": "About sails."}, "Birds": {"Owls": "Owls"}}
        Ours.listed, Ours.is_away = 0, True
        room.again()
        assert len(room.texts()) == 3, "half a listing deletes nothing"
        Ours.is_away = False
        assert room.again() == ChangeSummary(gone=1, unchanged=2)
        assert Ours.listed == 2, "the other shelf was the same each time"
    finally:
        room.close()
