"""Passwords of encrypted documents: entered, tried, remembered, forgotten. Any worker thread."""

from collections.abc import Callable, Sequence
from pathlib import Path

from desktop_rag.core.domain import WRONG_PASSWORD, Document, DocumentState, Unlocked
from desktop_rag.core.errors import AppError, WrongPasswordError
from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess
from desktop_rag.ingest.pipeline import Pipeline
from desktop_rag.models.file_passwords import FilePasswords
from desktop_rag.store.contract.documents import DocumentStore


class LibraryPasswords:
    """Opens encrypted documents with the person's passwords: `library.passwords`."""

    def __init__(
        self,
        store: DocumentStore,
        pipeline: Pipeline,
        passwords: FilePasswords,
        make_parser: Callable[[], ParserProcess],
        *,
        changed: Callable[[Sequence[Document]], None],
    ) -> None:
        self._store = store
        self._pipeline = pipeline
        self._passwords = passwords
        self._make_parser = make_parser
        self._changed = changed

    def locked_beside(self, document: Document) -> int:
        """The number of other files in its folder, or below, that need a password."""
        return len(self._locked_below(document.path.parent) - {document.path})

    def enter(
        self, document: Document, password: str, *, keeps: bool, for_folder: bool
    ) -> Unlocked:
        """Try a password and, if it is right, read the file with it.

        With `keeps` it goes to the keyring, otherwise it is remembered until the app ends. With
        `for_folder` it is tried on all encrypted files in the folder of this one and below.

        Raises:
            WrongPasswordError: nothing was changed.
            AppError: when the file can't be opened.
        """
        self._check(document.path, password)
        place = document.path.parent if for_folder else document.path
        try:
            is_kept = self._passwords.save(place, password, keeps=keeps)
        except OSError as exc:
            raise AppError("The password could not be remembered.", str(exc)) from exc
        paths = self._locked_below(place) | {document.path}
        return Unlocked(self._read_again(paths), is_kept)

    def forget(self, document: Document) -> int:
        """Forget all passwords that open a document, and drop the text that they opened.

        That of a folder is forgotten for all files below it. Returns the number of files.

        Raises:
            AppError: when the list of passwords can't be written.
        """
        places = self._passwords.places(document.path)
        try:
            for place in places:
                self._passwords.forget(place)
        except OSError as exc:
            raise AppError("The password could not be forgotten.", str(exc)) from exc
        paths = {document.path}
        for other in self._store.documents():
            if other.is_unlocked and any(other.path.is_relative_to(place) for place in places):
                paths.add(other.path)
        return self._read_again(paths)

    def _check(self, path: Path, password: str) -> None:
        parser = self._make_parser()
        try:
            parser.check_password(path, password)
        except ParseFailed as failed:
            if failed.title == WRONG_PASSWORD:
                raise WrongPasswordError from failed
            raise
        finally:
            parser.close()

    def _locked_below(self, place: Path) -> set[Path]:
        skipped = self._store.documents(state=DocumentState.SKIPPED)
        return {d.path for d in skipped if d.needs_password and d.path.is_relative_to(place)}

    def _read_again(self, paths: set[Path]) -> int:
        """Queue the files at these paths, in every source that has them."""
        files = [d for d in self._store.documents() if d.path in paths and not d.part]
        self._pipeline.pictures.forget(files)
        waiting = self._store.requeue([d.document_id for d in files])
        self._pipeline.indexer.submit(row.document_id for row in waiting if not row.part)
        self._changed(waiting)
        return len(paths)
