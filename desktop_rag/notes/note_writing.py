"""Writes the sections of a note from the library, by several questions. Worker threads only."""

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

from desktop_rag.answer.chat import Chat
from desktop_rag.core.answer_claims import with_signs
from desktop_rag.core.claims import Verdict
from desktop_rag.core.conversation import Message
from desktop_rag.core.errors import AppError, InterruptedAnswer
from desktop_rag.core.language.function_words import language_of
from desktop_rag.core.notes.note_page import NotePage, NoteSection
from desktop_rag.core.notes.note_sources import NoteSources, cited_in
from desktop_rag.core.notes.note_words import (
    EXCERPTS,
    NoteWords,
    language_of_topic,
    note_words,
    part_of,
)
from desktop_rag.core.question import SearchScope
from desktop_rag.core.question_scope import QuestionScope
from desktop_rag.core.text import words
from desktop_rag.ingest.library import Library


class NoteWriting:
    """Asks the questions of a note one after the other; the person's own go first."""

    def __init__(self, chat: Chat, library: Library) -> None:
        self._chat = chat
        self._library = library

    def language(self, topic: str, scope: QuestionScope, but: Sequence[Path]) -> str:
        """The language for a new note, by the topic and the documents about it but these files.

        AppError for a wrong filter in the topic.
        """
        reach = SearchScope(about=scope.items, but=tuple(map(str, but)))
        found = self._chat.search(topic, reach=reach)
        documents = self._library.documents.of_ids(list({p.document_id for p in found}))
        known = {document.document_id: document.language for document in documents}
        languages = [known.get(p.document_id) or language_of(words(p.text)) for p in found]
        preferred = self._chat.models.settings.preferences.language
        return language_of_topic(topic, preferred, languages)

    def sections(
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

        What the note has of the app keeps its heading. No note is evidence: `but` are their files.

        `tell` gets the heading before each question. AppError when the endpoint fails or nothing
        about the topic was found; Cancelled after `cancel` was set.
        """
        topic, known = page.topic, note_words(page.language)
        has_model = any(self._chat.background.model_name(""))
        found: list[NoteSection] = []
        for part, question in (known.questions if has_model else {EXCERPTS: "{topic}"}).items():
            heading = next((h for h in page.written if part_of(h) == part), known.headings[part])
            tell(heading)
            answer = self._answer(topic, question, scope, but, cancel)
            said = self._checked(answer, known, cancel)
            text, cited = sources.linked(said, answer.sources), cited_in(said, answer.sources)
            if text and _has_sources(answer):
                found.append(NoteSection(heading, _below_second_level(text), cited))
        if not found:
            hint = "Use the words of your documents, or write about all documents."
            raise AppError(f"Nothing about “{topic}” was found.", hint)
        return tuple(found)

    def _answer(
        self, topic: str, question: str, scope: QuestionScope, but: Sequence[Path], cancel: Event
    ) -> Message:
        """The answer from what a search for the topic alone finds: other words would hide it."""
        asked, paths = question.format(topic=topic), tuple(map(str, but))
        answer = self._chat.background.answer
        try:
            return answer(asked, scope, "", cancel, but=paths, search_for=topic)
        except InterruptedAnswer as exc:
            raise AppError("Other questions came first.", "Try again in a while.") from exc

    def _checked(self, answer: Message, known: NoteWords, cancel: Event) -> str:
        """The text without what a source contradicts, and with a sign where none backs it."""
        claims = () if answer.is_excerpts else self._chat.grader.claims(answer, cancel)
        said = {Verdict.PARTLY: known.partly, Verdict.NOT_IN_SOURCES: known.not_found}
        return with_signs(answer.text, claims, without={Verdict.CONTRADICTED}, said=said)


def _has_sources(answer: Message) -> bool:
    return any(source.is_cited for source in answer.sources)


def _below_second_level(text: str) -> str:
    """The text with its headings below those of the note."""
    lines = (f"##{line}" if line.startswith(("# ", "## ")) else line for line in text.split("\n"))
    return "\n".join(lines)
