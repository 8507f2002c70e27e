"""What a weak model may add below excerpts: the sentences of it that their sources back.

A weak model answered few of the sample questions right: it makes things up, repeats itself, or
goes on with the prompt. So it is asked for a sentence or two about the quoted passages alone, each
sentence is checked before anyone sees it, and the citations are the app's. Worker threads.
"""

import re
import secrets
from collections.abc import Iterator, Sequence

from desktop_rag.answer.checking.answer_claims import CheckClaim, claims_of, plain_sentence
from desktop_rag.answer.citing.citations import cited_sentences, citing_sentences, normalise
from desktop_rag.answer.endpoints.helper_job import generate_telling
from desktop_rag.answer.prompting.prompt import PromptExtras, in_manner, turns_about
from desktop_rag.answer.writing.answer_texts import texts_for
from desktop_rag.answer.writing.answers import AnswerDraft, AnswerRequest
from desktop_rag.answer.writing.extractive_answer import quoted
from desktop_rag.core.claims import Verdict
from desktop_rag.core.conversation import AnswerEvent, AnswerWaits, SourceRef, TextDelta
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import told, tr
from desktop_rag.models.ports import ChatModel

_INSTRUCTIONS = """\
Answer the question from the sources alone, in one or two short sentences and in their words. If \
they do not answer it, say so. Answer in the language of the question."""
_MOST_CHARS = 600
# A small model reads little well, and on a small computer slowly.
_MOST_SOURCES = 3


def add_words(
    model: ChatModel,
    draft: AnswerDraft,
    request: AnswerRequest,
    extras: PromptExtras,
    check: CheckClaim,
) -> Iterator[AnswerEvent]:
    """Add what the model says of the quoted sources, as far as they back it, below the excerpts.

    Of the `extras` it is told what the sources are, and the date.

    Its other sentences go to the notes. A model that fails or takes too long adds a hint only: the
    excerpts stand.
    """
    shown = citing_sentences(draft.text)
    sources = [source for source in draft.sources if source.n in shown][:_MOST_SOURCES]
    if not sources:
        return
    fence = secrets.token_hex(4)
    instructions = in_manner(_INSTRUCTIONS, request.setup.settings.preferences)
    turns = turns_about(sources, draft.plain_question, instructions, fence, extras)
    yield AnswerWaits(f"“{model.name}” is writing.")
    try:
        written = yield from generate_telling(model, turns, request.cancel, most_chars=_MOST_CHARS)
    except AppError as error:
        draft.note(f"{told(error.title)} {told(error.hint)}".strip())
        return
    text, is_cut = without_circles(_without_prompt(written, fence))
    quotes = [quote for sentences in shown.values() for quote in sentences]
    said = [*map(_plain, quotes), _plain(f"{instructions} Question: {draft.plain_question}")]
    backed, unbacked = _told_apart(text, sources, said, request, check)
    draft.model = model.name
    hints = list[str]()
    if is_cut:
        hints.append(tr("“{model}” repeated itself: the rest was cut.", model=model.name))
    if not backed:
        hints.append(
            tr(
                "“{model}” makes things up, and nothing new in its answer is backed: a larger"
                " model writes freely.",
                model=model.name,
            )
        )
    draft.note(*hints, unbacked=unbacked)
    if backed:
        texts = texts_for(request.question, request.setup.settings.preferences.language)
        lead = texts.said("model_adds", model=quoted(model.name))
        added = f"\n\n{lead} {' '.join(backed)}"
        draft.text += added
        yield TextDelta(added)


def _without_prompt(text: str, fence: str) -> str:
    """The text up to where it goes on with the prompt, whose tags nothing else has."""
    return re.split(rf"</?\S{{0,20}}{fence}", text, maxsplit=1)[0]


def without_circles(text: str) -> tuple[str, bool]:
    """The text up to the first sentence or line that it has already, and True if it was cut."""
    seen, done = set[str](), 0
    for sentence in cited_sentences(text):
        if (plain := _plain(sentence.text)) in seen:
            return text[:done], True
        seen.add(plain)
        done = sentence.end
    return text, False


def _told_apart(
    text: str,
    sources: Sequence[SourceRef],
    said: Sequence[str],
    request: AnswerRequest,
    check: CheckClaim,
) -> tuple[list[str], tuple[str, ...]]:
    """The sentences that a source backs, cited anew, and the others.

    Those that the excerpts or the prompt have, which are in `said`, are neither. A sentence that is
    only near to its source isn't shown: of 312 such ones in labelled sets, 30 of 100 are false.
    """
    plain = normalise(text, frozenset())[0]
    found = {claim.start: claim for claim in claims_of(plain, sources, check, request.cancel)}
    backed, unbacked = list[str](), list[str]()
    for sentence in cited_sentences(plain):
        words = plain_sentence(sentence.text)
        if not (known := _plain(words)) or any(known in other for other in said):
            continue
        claim = found.get(sentence.start)
        if claim and claim.n and claim.checked.verdict is Verdict.SUPPORTED:
            backed.append(f"{quoted(words)} [{claim.n}]")
        else:
            unbacked.append(words)
    return backed, tuple(unbacked)


def _plain(sentence: str) -> str:
    """The words of a sentence, to be compared."""
    return " ".join(re.findall(r"\w+", sentence.casefold()))
