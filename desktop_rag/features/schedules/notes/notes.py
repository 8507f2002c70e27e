"""The notes that the app writes for the person: Markdown files in folders of their choice.

Worker threads only. The register only lists the files; they hold everything else themselves, also
which sections are the person's.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

from desktop_rag.answer.chat import Chat
from desktop_rag.core.claims import Verdict, with_signs
from desktop_rag.core.conversation import Message
from desktop_rag.core.domain import Source
from desktop_rag.core.errors import AppError, InterruptedAnswer, os_error_as
from desktop_rag.core.files.own_files import read_object, write_atomically, write_object
from desktop_rag.core.language.languages import language_of, likely_language
from desktop_rag.core.markup.own_words import hash_of
from desktop_rag.core.question import SearchScope
from desktop_rag.core.question_scope import QuestionScope
from desktop_rag.core.records import readable_rows
from desktop_rag.core.text import words
from desktop_rag.features.schedules.background_answers import BackgroundAnswers
from desktop_rag.features.schedules.values.note_page import (
    ENGLISH,
    EXCERPTS,
    NotePage,
    NoteSection,
    NoteWords,
    ProposedSection,
    language_of_topic,
    new_page,
    note_words,
    page_text,
    parsed_page,
    part_of,
    proposed,
    with_accepted,
)
from desktop_rag.features.schedules.values.note_sources import NoteSources, cited_in, without_links
from desktop_rag.features.schedules.values.scheduled_question import is_changed
from desktop_rag.ingest.library import Library

COLLECTION = "Your notes"
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Note:
    """A note and its file."""

    topic: str
    path: Path


class NoteFiles:
    """The register of the files of notes, whose folders it makes searchable."""

    def __init__(self, register: Path, library: Library) -> None:
        """`register` is the file with the paths of the notes."""
        self._register = register
        self._library = library

    def all(self) -> list[Note]:
        """The notes whose files are there, by topic."""
        paths = (Path(path) for path in self._paths())
        found = ((path, text_of(path)) for path in paths)
        notes = [Note(page.topic, path) for path, text in found if (page := page_of(text))]
        return sorted(notes, key=lambda note: (note.topic.casefold(), note.path))

    def suggested_folder(self) -> Path:
        """The folder of an earlier note, or `Notes` in the person's home."""
        return next((note.path.parent for note in self.all()), Path.home() / "Notes")

    def remember(self, path: Path) -> None:
        """Register a note, and have its folder indexed."""
        write_object(self._register, {"paths": sorted({*self._paths(), str(path)})})
        self._make_searchable(path.parent)

    def save_new(self, path: Path, text: str) -> None:
        """Write a note that does not exist yet. AppError when it does, or the disk refuses."""
        with os_error_as("The note could not be written.", path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        self.remember(path)

    def forget(self, path: Path) -> None:
        """Unregister a note whose file was removed."""
        write_object(self._register, {"paths": sorted({*self._paths()} - {str(path)})})
        if path.parent.is_dir():
            self._make_searchable(path.parent)

    def is_searchable(self, folder: Path) -> bool:
        """True when the library has this folder, alone or within another."""
        return bool(self._holding(folder))

    def _paths(self) -> list[str]:
        return readable_rows(str, read_object(self._register).get("paths"))

    def _holding(self, folder: Path) -> list[Source]:
        sources = [s for s in self._library.sources.all() if s.is_on_disk]
        return [s for s in sources if folder.resolve().is_relative_to(s.path)]

    def _make_searchable(self, folder: Path) -> None:
        """Add the folder to the library, unless a folder of it holds it already."""
        holding = self._holding(folder)
        for source in holding:
            self._library.sources.rescan(source.source_id)
        if not holding:
            collection = self._library.collections.find_or_add(COLLECTION)
            self._library.sources.add(folder, collection.collection_id)


def persons_note(topic: str, text: str, sources: Sequence[str]) -> str:
    """The content of a note of an answer: no refresh replaces it, but it is the app's text.

    Once the person has changed it, it is theirs.
    """
    listed = "\n".join(f"- {source}" for source in sources)
    opening = "\n\n".join(filter(None, (f"# {topic}", text.strip(), listed)))
    page = new_page(topic, {}, likely_language(text) or ENGLISH)
    return page_text(replace(page, opening=opening, written={"": hash_of(opening)}))


def free_path(folder: Path, topic: str) -> Path:
    """A file in this folder that does not exist yet."""
    words = "".join(c if c.isalnum() or c in " -" else " " for c in topic).split()
    name = " ".join(words)[:_LONGEST_NAME].strip() or "Note"
    folder = folder.expanduser().absolute()
    paths = (folder / f"{name}{f' {n}' if n > 1 else ''}.md" for n in range(1, 10_000))
    return next(path for path in paths if not path.exists())


def text_of(path: Path) -> str | None:
    """The content of a file; None when it can't be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def page_of(text: str | None) -> NotePage | None:
    """The note in the text of a file; None when it is no note of the app."""
    return None if text is None else parsed_page(text)


def _below_second_level(text: str) -> str:
    """The text with its headings below those of the note."""
    lines = (f"##{line}" if line.startswith(("# ", "## ")) else line for line in text.split("\n"))
    return "\n".join(lines)


_LONGEST_TOPIC = 200


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """The proposed content of a file; `was` is the present one, None for a new file."""

    path: Path
    page: NotePage
    sources: NoteSources
    changes: tuple[ProposedSection, ...]
    was: str | None

    @property
    def unasked(self) -> frozenset[str]:
        """The headings of the changes that remove nothing and leave the person's sections alone."""
        return frozenset(change.heading for change in self.changes if not change.is_asked_for)


class Notes(NoteFiles):
    """Writes, refreshes and lists notes.

    A note is written by asking its questions one by one; those of the person go first.
    """

    def __init__(self, register: Path, chat: Chat, library: Library) -> None:
        """`register` is the file with the paths of the notes."""
        super().__init__(register, library)
        self._chat = chat
        self._answers = BackgroundAnswers(chat)

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
        language = self._language(topic, scope, [note.path for note in self.all()])
        page = new_page(topic, scope.to_json(), language)
        return self._drafted(path, page, None, tell, cancel)

    def refresh(self, path: Path, *, tell: Callable[[str], None], cancel: Event) -> NoteDraft:
        """Draft the changes of a note; nothing is written yet.

        AppError when it is no note, the endpoint fails, or nothing was found; Cancelled after
        `cancel` was set.
        """
        text = text_of(path)
        page = page_of(text)
        if page is None:
            raise AppError(f"{path} is no note.", "Write one: desktop-rag note write TOPIC")
        return self._drafted(path, page, text, tell, cancel)

    def save(self, draft: NoteDraft, accepted: Collection[str]) -> Path:
        """Write the changes with these headings, and have the folder indexed.

        AppError, with nothing written, when the file changed meanwhile or the disk refuses.
        """
        if text_of(draft.path) != draft.was:
            raise AppError("The note was changed meanwhile.", "Refresh it again.")
        page = draft.sources.listed(with_accepted(draft.page, draft.changes, accepted))
        with os_error_as("The note could not be written.", draft.path):
            draft.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(draft.path, page_text(page))
        self.remember(draft.path)
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
        fresh = self._sections(page, scope, sources, but=but, tell=tell, cancel=cancel)
        return NoteDraft(path, page, sources, proposed(page, fresh, self._says_the_same), was)

    def _language(self, topic: str, scope: QuestionScope, but: Sequence[Path]) -> str:
        """The language for a new note, by the topic and the documents about it, without `but`.

        AppError for a wrong filter in the topic.
        """
        reach = SearchScope(about=scope.items, but=tuple(map(str, but)))
        found = self._chat.search(topic, reach=reach)
        documents = self._library.documents.of_ids(list({p.document_id for p in found}))
        known = {document.document_id: document.language for document in documents}
        languages = [known.get(p.document_id) or language_of(words(p.text)) for p in found]
        preferred = self._chat.models.settings.preferences.language
        return language_of_topic(topic, preferred, languages)

    def _sections(
        self,
        page: NotePage,
        scope: QuestionScope,
        sources: NoteSources,
        *,
        but: Sequence[Path],
        tell: Callable[[str], None],
        cancel: Event,
    ) -> tuple[NoteSection, ...]:
        """Fresh sections for a note, of excerpts without a model.

        Sections that the app wrote keep their headings. No note is evidence: `but` are their files.
        `tell` gets the heading before each question. AppError when the endpoint fails or nothing
        about the topic was found; Cancelled after `cancel` was set.
        """
        topic, known = page.topic, note_words(page.language)
        has_model = self._chat.set_up().settings.endpoint.is_set
        found: list[NoteSection] = []
        for part, question in (known.questions if has_model else {EXCERPTS: "{topic}"}).items():
            heading = next((h for h in page.written if part_of(h) == part), known.headings[part])
            tell(heading)
            answer = self._answer(topic, question, scope, but, cancel)
            said = self._checked(answer, known, cancel)
            text, cited = sources.linked(said, answer.sources), cited_in(said, answer.sources)
            if text and any(source.is_cited for source in answer.sources):
                found.append(NoteSection(heading, _below_second_level(text), cited))
        if not found:
            hint = "Use the words of your documents, or write about all documents."
            raise AppError(f"Nothing about “{topic}” was found.", hint)
        return tuple(found)

    def _answer(
        self, topic: str, question: str, scope: QuestionScope, but: Sequence[Path], cancel: Event
    ) -> Message:
        """The answer over a search for the topic alone: other words would lead away from it."""
        asked, paths = question.format(topic=topic), tuple(map(str, but))
        try:
            return self._answers.answer(asked, scope, "", cancel, but=paths, search_for=topic)
        except InterruptedAnswer as exc:
            raise AppError("Other questions came first.", "Try again in a while.") from exc

    def _checked(self, answer: Message, known: NoteWords, cancel: Event) -> str:
        """The text without contradicted claims, and with a sign at unbacked ones."""
        checked = answer if answer.is_excerpts else self._chat.checked(answer, cancel)
        said = {Verdict.PARTLY: known.partly, Verdict.NOT_IN_SOURCES: known.not_found}
        return with_signs(checked.text, checked.claims, without={Verdict.CONTRADICTED}, said=said)

    def _says_the_same(self, before: str, after: str) -> bool:
        before, after = without_links(before), without_links(after)
        return before == after or not is_changed(self._answers.compare(before, after))
