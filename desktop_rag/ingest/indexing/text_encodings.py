"""What is known of a text's encoding besides its bytes: the person's choice, its neighbours, and
the language of this computer. On the indexer's threads.
"""

import locale
import os
import sys
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from desktop_rag.core.domain import Document, DocumentState, Source
from desktop_rag.core.parsed import ENCODING_GUESSED, EncodingHints
from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess
from desktop_rag.store.contract.documents import DocumentStore

if sys.platform == "win32":
    import ctypes

# So many files of a folder are looked at until so many have certain encodings.
_MOST_NEIGHBOURS, _ENOUGH = 12, 4
_NOT_READ = {DocumentState.SKIPPED, DocumentState.OFFLINE, DocumentState.GONE}
_Place = tuple[str, Path, str]


class TextEncodings:
    """The hints for the files of the library. For one thread at a time."""

    def __init__(
        self,
        documents: DocumentStore,
        parser: ParserProcess,
        source_of: Callable[[str], Source | None],
    ) -> None:
        self._documents = documents
        self._parser = parser
        self._source_of = source_of
        self._sources: dict[str, Source | None] = {}
        self._files: dict[_Place, list[Path]] = {}
        self._listed: set[str] = set()
        self._known: dict[_Place, tuple[str, ...]] = {}
        # The folders that were read from, and the guesses, each with what its neighbours said.
        self._met: set[_Place] = set()
        self._guessed: dict[str, tuple[Document, tuple[str, ...]]] = {}
        self._searched: set[str] = set()

    def forget_choices(self) -> None:
        """Ask for the person's choices again when they are next needed."""
        self._sources.clear()

    def forget(self) -> None:
        """Look at the folders again when they are next asked for."""
        self.forget_choices()
        self._files.clear()
        self._listed.clear()
        self._known.clear()

    def hints(self, document: Document) -> EncodingHints:
        """What is known without another file."""
        self._met.add(_place(document))
        return EncodingHints(
            self._chosen(document.source_id, document.path), language=_own_language()
        )

    def neighbours(self, document: Document) -> tuple[str, ...]:
        """The certain encodings of files of the same kind in its folder, the usual one first.

        Only files that are known to the library are opened.
        """
        source_id, path, place = document.source_id, document.path, _place(document)
        if place not in self._known:
            found = (self._encoding_of(source_id, each) for each in self._beside(place, path))
            certain = islice(filter(None, found), _ENOUGH)
            self._known[place] = tuple(name for name, _ in Counter(certain).most_common())
        self._guessed[document.document_id] = (document, self._known[place])
        return self._known[place]

    def told_by_now(self) -> list[str]:
        """The documents that were guessed and whose neighbours, read since, tell their encoding."""
        self.forget()
        met, self._met = self._met, set()
        for source_id in {place[0] for place in met} - self._searched:
            self._searched.add(source_id)
            for each in self._documents.documents(source_id):
                if ENCODING_GUESSED in each.reason and not each.parent_id:
                    self._guessed.setdefault(each.document_id, (each, ()))
        guessed = [found for found in self._guessed.values() if _place(found[0]) in met]
        return [d.document_id for d, said in guessed if self.neighbours(d) not in ((), said)]

    def _beside(self, place: _Place, path: Path) -> list[Path]:
        source_id = place[0]
        if source_id not in self._listed:
            self._listed.add(source_id)
            for each in self._documents.documents(source_id):
                if not each.parent_id and each.state not in _NOT_READ:
                    self._files.setdefault(_place(each), []).append(each.path)
        others = [each for each in self._files.get(place, ()) if each != path]
        return others[:_MOST_NEIGHBOURS]

    def _encoding_of(self, source_id: str, path: Path) -> str:
        if chosen := self._chosen(source_id, path):
            return chosen
        try:
            return self._parser.certain_encoding(path)
        except ParseFailed:
            return ""

    def _chosen(self, source_id: str, path: Path) -> str:
        if source_id not in self._sources:
            self._sources[source_id] = self._source_of(source_id)
        source = self._sources[source_id]
        if source is None or not source.rules.encodings or not path.is_relative_to(source.path):
            return ""
        return source.rules.encoding_of(path.relative_to(source.path).as_posix())


def _place(document: Document) -> _Place:
    return document.source_id, document.path.parent, document.path.suffix.lower()


def _own_language() -> str:
    """The code of the computer's language; "" if it has none."""
    if sys.platform == "win32":
        name = locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")
    else:
        names = map(os.environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))
        name = next(filter(None, names), "")
    return name.partition("_")[0].partition(".")[0].lower()
