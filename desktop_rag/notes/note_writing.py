"""Writes the sections of a note from the library, by several questions. Worker threads only."""

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

from desktop_rag.answer.chat import Chat
from desktop_rag.core.answer_claims import with_signs
from desktop_rag.core.claims import Verdict
from desktop_rag.core.conversation import Message
from desktop_rag.core.errors import AppError, InterruptedAnswer
from desktop_rag.core.notes.note_page import NoteSection
from desktop_rag.core.notes.note_sources import NoteSources, cited_in
from desktop_rag.core.question_scope import QuestionScope

# Headings, and what is asked for each; a section of which the documents say nothing is left out.
_QUESTIONS = {
    "Overview": "What is known about {topic}?",
    "People": "Who has to do with {topic}?",
    "Dates and figures": "Which dates and figures are given about {topic}?",
    "Open points": "What is still open about {topic}?",
}
_EXCERPTS = {"Excerpts": "{topic}"}


class NoteWriting:
    """Asks the questions of a note one after the other; the person's own go first."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    def sections(
        self,
        topic: str,
        scope: QuestionScope,
        sources: NoteSources,
        *,
        but: Sequence[Path],
        tell: Callable[[str], None],
        cancel: Event,
    ) -> tuple[NoteSection, ...]:
        """The sections, of excerpts without a model. No note is evidence: `but` are their files.

        `tell` gets the heading before each question. AppError when the endpoint fails or nothing
        about the topic was found; Cancelled after `cancel` was set.
        """
        has_model = any(self._chat.background.model_name(""))
        found: list[NoteSection] = []
        for heading, question in (_QUESTIONS if has_model else _EXCERPTS).items():
            tell(heading)
            answer = self._answer(topic, question, scope, but, cancel)
            said = self._checked(answer, cancel)
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

    def _checked(self, answer: Message, cancel: Event) -> str:
        """The text without what a source contradicts, and with a sign where none backs it."""
        claims = () if answer.is_excerpts else self._chat.grader.claims(answer, cancel)
        return with_signs(answer.text, claims, without={Verdict.CONTRADICTED})


def _has_sources(answer: Message) -> bool:
    return any(source.is_cited for source in answer.sources)


def _below_second_level(text: str) -> str:
    """The text with its headings below those of the note."""
    lines = (f"##{line}" if line.startswith(("# ", "## ")) else line for line in text.split("\n"))
    return "\n".join(lines)
