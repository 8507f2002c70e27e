"""The notes that the app writes for the person: Markdown files in folders of their choice.

Worker threads only. The list of notes only remembers where they are; what is in them, and what of
it is the person's, is in the files themselves.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from desktop_rag.answer.chat import Chat
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.atomic_file import write_atomically
from desktop_rag.core.notes.note_changes import ProposedSection, proposed, with_accepted
from desktop_rag.core.notes.note_page import NotePage, new_page, page_text
from desktop_rag.core.notes.note_sources import NoteSources, without_links
from desktop_rag.core.question_scope import QuestionScope
from desktop_rag.core.standing.standing_run import is_changed
from desktop_rag.ingest.library import Library
from desktop_rag.notes.note_files import Note, NoteFiles, free_path, page_of, text_of
from desktop_rag.notes.note_writing import NoteWriting

_LONGEST_TOPIC = 200


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """What would be written to a file, shown to the person before; `was` is its content now.

    `was` is None for a file that does not exist yet.
    """

    path: Path
    page: NotePage
    sources: NoteSources
    changes: tuple[ProposedSection, ...]
    was: str | None

    @property
    def unasked(self) -> frozenset[str]:
        """The headings of the changes that remove nothing and touch nothing of the person's."""
        return frozenset(change.heading for change in self.changes if not change.is_asked_for)


class Notes:
    """Writes, refreshes and lists notes."""

    def __init__(self, register: Path, chat: Chat, library: Library) -> None:
        """`register` is the file that remembers where the notes are."""
        self._files = NoteFiles(register, library)
        self._chat = chat
        self._writing = NoteWriting(chat, library)
        self._drafts: dict[Path, NoteDraft] = {}

    def all(self) -> list[Note]:
        """The notes whose files are there, by topic."""
        return self._files.all()

    def suggested_folder(self) -> Path:
        """The folder of an earlier note, or `Notes` in the person's home."""
        return self._files.suggested_folder()

    def write(
        self,
        topic: str,
        folder: Path,
        scope: QuestionScope,
        *,
        tell: Callable[[str], None],
        cancel: Event,
    ) -> NoteDraft:
        """Draft a new note; nothing is written yet. AppError and Cancelled as for `refresh`."""
        topic = " ".join(topic.split())
        if not topic:
            raise AppError("There is no topic.", "Say what the note is to be about.")
        if len(topic) > _LONGEST_TOPIC:
            raise AppError("The topic is too long.", "A few words find more than a text.")
        path = free_path(folder, topic)
        language = self._writing.language(topic, scope, [note.path for note in self.all()])
        page = new_page(topic, scope.to_json(), language)
        return self._drafted(path, page, None, tell, cancel)

    def refresh(self, path: Path, *, tell: Callable[[str], None], cancel: Event) -> NoteDraft:
        """Draft the changes of a note; nothing is written yet.

        Raises:
            AppError: when it is no note, the endpoint fails, or nothing was found.
            Cancelled: after `cancel` was set.
        """
        text = text_of(path)
        page = page_of(text)
        if page is None:
            raise AppError(f"{path} is no note.", "Write one: desktop-rag note write TOPIC")
        return self._drafted(path, page, text, tell, cancel)

    def keep(self, draft: NoteDraft) -> NoteDraft:
        """Keep a draft for `accept`, in place of an earlier one of the file."""
        self._drafts[draft.path] = draft
        return draft

    def accept(self, path: Path, headings: Collection[str]) -> Path:
        """Write these changes of the draft that was kept. AppError when there is none."""
        draft = self._drafts.pop(path, None)
        if draft is None:
            raise AppError("There are no changes to write.", "Refresh the note first.")
        return self.save(draft, headings)

    def save(self, draft: NoteDraft, accepted: Collection[str]) -> Path:
        """Write the changes with these headings, and have the folder indexed.

        AppError, with nothing written, when the file changed meanwhile or the disk refuses.
        """
        if text_of(draft.path) != draft.was:
            raise AppError("The note was changed meanwhile.", "Refresh it again.")
        page = draft.sources.listed(with_accepted(draft.page, draft.changes, accepted))
        try:
            draft.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(draft.path, page_text(page))
        except OSError as exc:
            hint = f"{draft.path}: {exc.strerror}."
            raise AppError("The note could not be written.", hint) from exc
        self._files.remember(draft.path)
        return draft.path

    def _drafted(
        self,
        path: Path,
        page: NotePage,
        was: str | None,
        tell: Callable[[str], None],
        cancel: Event,
    ) -> NoteDraft:
        sources = NoteSources(page, path.parent)
        scope = QuestionScope.from_json(page.about)
        but = [path, *(note.path for note in self.all())]
        fresh = self._writing.sections(page, scope, sources, but=but, tell=tell, cancel=cancel)
        return NoteDraft(path, page, sources, proposed(page, fresh, self._says_the_same), was)

    def _says_the_same(self, before: str, after: str) -> bool:
        before, after = without_links(before), without_links(after)
        return before == after or not is_changed(self._chat.background.compare(before, after))
