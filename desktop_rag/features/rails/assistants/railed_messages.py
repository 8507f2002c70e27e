"""What is shown of a turn of rails: its message, and the checked part of a growing answer. Pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from desktop_rag.answer.citing.citations import finish_answer
from desktop_rag.core.conversation import (
    AnswerEvent,
    AnswerRestated,
    Message,
    MessageState,
    SearchNotes,
    SourceRef,
    SourcesFound,
    TextDelta,
)
from desktop_rag.core.text import sentences
from desktop_rag.features.rails.actions.built_in_actions import mask_personal_data
from desktop_rag.features.rails.configuration.rails_configuration import RailsConfiguration
from desktop_rag.features.rails.rail_engine import transcript
from desktop_rag.features.rails.rail_events import (
    ActionFinished,
    ActionStatus,
    CommandProposed,
    ContextUpdate,
    RailEvent,
    StartAction,
)
from desktop_rag.features.rails.runtime.run_files import shown_run

WITHOUT_MODEL = "Answered by the rails of this assistant, without a model."
BY_RAILS = "Answered by the rails of this assistant."
WITHHELD = "The rails of this assistant withheld an answer."
_SILENT = "The rails of this assistant ended this without an answer."
# Variables and actions whose values are texts of answers, passages or documents.
_TEXTS = frozenset({"bot_message", "last_bot_message", "relevant_chunks", "relevant_passages"})
_GIVING_TEXT = frozenset(
    {"hide_personal_data", "remove_last_message", "retrieve_relevant_chunks", "search"}
)
_MASKING = "mask personal data on output"


def railed_message(
    configuration: RailsConfiguration,
    events: Sequence[RailEvent],
    blank: Message,
    made: Message | None,
    *,
    is_model_asked: bool,
    asked: str = "",
    retrieved: Sequence[SourceRef] = (),
) -> Message:
    """The message of a turn: `blank` with the rails' words, or `made` as they let it through.

    `asked` is the question to the person about a proposed command, `retrieved` what a model wrote
    the rails' words from: they get the sources that they cite.
    """
    is_masked = _MASKING in configuration.output_rails
    said = [text for who, text in transcript(events) if who == "bot"]
    said += [
        str(event.result)
        for event in events
        if isinstance(event, ActionFinished) and event.status is ActionStatus.REFUSED
    ]
    text = "\n\n".join(filter(None, (*said, asked)))
    if not text and blank.state is MessageState.DONE:
        text = _SILENT
    run = shown_run(map(_told, events))
    lines = tuple(map(mask_personal_data, run) if is_masked else run)
    if made is not None and (made.text in text or mask_personal_data(made.text) in text):
        notes = replace(made.notes or SearchNotes(), rails=lines)
        shown = replace(made, text=text, notes=notes)
        if configuration.output_rails:
            shown = replace(shown, thinking="")
        return _masked(shown) if is_masked else shown
    hint = WITHHELD if made else BY_RAILS if is_model_asked else WITHOUT_MODEL
    notes = SearchNotes(hints=(hint,), rails=lines, proposal=proposal_of(events))
    written = replace(blank, text=text, notes=notes)
    if made or not retrieved:
        return written
    cited, sources = finish_answer(text, retrieved)
    # A refusal in place of what was written cites nothing.
    if not any(source.is_cited for source in sources):
        return written
    written = replace(written, text=cited, sources=sources)
    return _masked(written) if is_masked else written


def proposal_of(events: Sequence[RailEvent]) -> str:
    """The id of the command that a turn proposed; "" for none."""
    ids = (event.command_id for event in events if isinstance(event, CommandProposed))
    return next(ids, "")


def _told(event: RailEvent) -> RailEvent:
    """The event without the texts of answers and passages: an answer may have been withheld."""
    if isinstance(event, ContextUpdate):
        return ContextUpdate({k: "…" if k in _TEXTS else v for k, v in event.data.items()})
    if isinstance(event, StartAction):
        return StartAction(event.action_name, dict.fromkeys(event.parameters, "…"))
    if isinstance(event, ActionFinished) and event.action_name in _GIVING_TEXT:
        return replace(event, result="…")
    return event


def found_as_shown(configuration: RailsConfiguration, found: SourcesFound) -> SourcesFound:
    """The sources as they may be shown, with personal data covered if the rails do so."""
    if _MASKING not in configuration.output_rails:
        return found
    return replace(found, sources=tuple(map(_masked_source, found.sources)))


def _masked(message: Message) -> Message:
    """The message with personal data covered in its passages."""
    return replace(
        message,
        sources=tuple(map(_masked_source, message.sources)),
        nearest=tuple(map(_masked_source, message.nearest)),
    )


def _masked_source(source: SourceRef) -> SourceRef:
    text, quote = mask_personal_data(source.text), mask_personal_data(source.quote)
    return replace(source, text=text, quote=quote)


# The whole beginning is checked each time, so that nothing passes by being cut in two. A piece
# grows with what was checked before, so that a long answer costs no square of its length.
_GROWTH = 8


# The finished sentences of an answer so far, with the sources it was given, as the rails let them
# through: "" where they tell nothing yet, None where they don't.
Passes = Callable[[str, SourcesFound], str | None]


class CheckedSentences:
    """Shows a growing answer sentence by sentence, each after the rails passed it."""

    def __init__(
        self, passes: Passes, as_shown: Callable[[SourcesFound], SourcesFound] = lambda found: found
    ) -> None:
        """`as_shown` changes the sources into what may be shown of them."""
        self._passes = passes
        self._as_shown = as_shown
        self._text = self._shown = ""
        self._checked_chars = 0
        self._found = SourcesFound(())
        self._is_over = False

    def add(self, event: AnswerEvent) -> Iterator[SourcesFound | TextDelta]:
        """What this event adds to the sentences that passed; nothing once one didn't."""
        if isinstance(event, SourcesFound):
            self._found = event
        elif isinstance(event, AnswerRestated):
            self._text = event.text
        elif isinstance(event, TextDelta):
            self._text += event.text
            if not self._is_over:
                yield from self._news()

    def _news(self) -> Iterator[SourcesFound | TextDelta]:
        least_chars = self._checked_chars + self._checked_chars // _GROWTH
        # Splitting the whole text into sentences for each token would take quadratic time.
        if len(self._text) <= least_chars:
            return
        end = _finished_end(self._text)
        if end <= least_chars:
            return
        self._checked_chars = end
        passed = self._passes(self._text[:end], self._found)
        if passed is None or not passed.startswith(self._shown):
            self._is_over = True
        elif added := passed[len(self._shown) :]:
            if not self._shown:
                yield self._as_shown(self._found)
            self._shown = passed
            yield TextDelta(added)


def _finished_end(text: str) -> int:
    """Where the last finished sentence ends, 0 without one; never before a digit, as in “No. 5”."""
    spans = sentences(text)
    ends = (
        span[1]
        for span, after in zip(reversed(spans[:-1]), reversed(spans[1:]), strict=True)
        if not text[after[0]].isdigit() and text[after[0]] not in "+("
    )
    return next(ends, 0)
