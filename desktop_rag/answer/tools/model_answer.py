"""Has a model answer from the sources of a draft, and search on where they don't tell.

A model that calls tools does so while it answers. Another one may write a list of queries in place
of its answer, once. The answering thread.
"""

import json
import logging
import re
import secrets
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, cast

from desktop_rag.answer.endpoints.helper_job import as_question, patient_stream
from desktop_rag.answer.prompting.prompt import PromptExtras, build_prompt
from desktop_rag.answer.tools.document_tools import TOOLS, DocumentTools, ToolResult, ToolSession
from desktop_rag.answer.writing.answers import AnswerDraft, AnswerRequest, GrowingAnswer
from desktop_rag.core.conversation import AnswerEvent, SearchNotes, SourcesFound, StepTaken
from desktop_rag.core.errors import AppError, TooLongError
from desktop_rag.core.language.translation import tr
from desktop_rag.models.ports import ChatModel, ChatTurn, Delta, Tool, ToolCall

log = logging.getLogger(__name__)

TOOL_RULES = """\
- If the sources lack what the question needs, look for it with the tools before you answer: \
search in other words and in the languages of the documents, read what stands around a source, \
query a table. What they find gets numbers to cite. A source may be a part of a table: count and \
add up all of it by a query. Where the sources answer the question, answer at once."""
_MOST_QUERIES = 4
LIST_RULES = f"""\
- If the sources lack what the question needs, write nothing but a JSON list of up to \
{_MOST_QUERIES} short search queries, each for one thing that is missing, in the words and \
languages that the documents are likely to use. You are then given what they find, with numbers \
to cite. Where the sources answer the question, answer at once."""
_AFTER_LIST = "These are all sources. Answer the question now."
_MOST_ROUNDS = 6
# Tools are offered for so many times the endpoint's timeout, and up to this share of the context.
_SILENCES = 6
_MOST_SENT_SHARE = 0.6
_LEAST_CONTEXT = 8_000
_LEAST_READ_PER_S = 150.0
_HISTORY = 12
# Each shorter than the one before, by half where the model doesn't say what it reads.
_TRIES = 5


def answer_with(
    model: ChatModel,
    request: AnswerRequest,
    draft: AnswerDraft,
    *,
    instructions: str,
    attached: Callable[[int], PromptExtras],
    tools: DocumentTools | None,
) -> Iterator[AnswerEvent]:
    """Have the model answer from the sources of the draft, in the form of its examples.

    The text grows in the draft, which keeps the sources and examples that were sent. `attached`
    gives the attachments for a context of so many tokens. With `tools`, the model may search on
    before it answers. When the model refuses the prompt for its length, it gets fewer
    sources, and the notes of the draft say so. AppError when the endpoint fails; the draft keeps
    the text so far.
    """
    draft.model = model.name
    box = tools if _may_search(model, request) else None
    if box:
        instructions += f"\n{LIST_RULES if model.calls_tools is False else TOOL_RULES}"
    found, examples, context_tokens = draft.sources, draft.examples, model.context_tokens
    for tries_left in reversed(range(_TRIES)):
        fence = secrets.token_hex(8)
        prompt = build_prompt(
            request.question,
            found,
            request.history[-_HISTORY:],
            context_tokens=context_tokens,
            count_tokens=model.count_tokens,
            fence=fence,
            instructions=instructions,
            extras=replace(attached(context_tokens), examples=examples),
        )
        draft.send(prompt.sources)
        draft.examples = prompt.examples
        if tries_left < _TRIES - 1:
            _note_refusal(draft, len(found))
        yield SourcesFound(draft.sources, draft.notes, draft.is_own_knowledge)
        try:
            session = ToolSession(box, request, draft, model, fence) if box else None
            yield from _in_rounds(model, prompt.turns, request, draft, session)
        except AppError as error:
            has_begun = bool(draft.text or draft.thinking)
            fits = error.fits_tokens if isinstance(error, TooLongError) else model.context_tokens
            if has_begun or not tries_left or fits >= context_tokens:
                raise
            context_tokens = fits
        else:
            return


def _note_refusal(draft: AnswerDraft, found: int) -> None:
    """Say in the notes that the model refused a longer prompt, in place of an earlier such note."""
    notes = draft.notes or SearchNotes()
    refused = tr("The model refused a longer prompt")
    hints = tuple(hint for hint in notes.hints if not hint.startswith(refused))
    sent = len(draft.sources)
    fewer = tr("{sent} of {found} sources were sent", sent=sent, found=found)
    said = f"{refused}: {fewer}." if sent < found else f"{refused}."
    draft.notes = replace(notes, hints=(*hints, said))


def _may_search(model: ChatModel, request: AnswerRequest) -> bool:
    """False for a model that reads too little, or so slowly that one prompt has to do."""
    is_slow = 0 < model.read_tokens_per_s < _LEAST_READ_PER_S
    # What has to fit a schema can't be a list of queries.
    has_form = model.calls_tools is False and request.setup.schema is not None
    return model.context_tokens >= _LEAST_CONTEXT and not (is_slow or has_form)


def _in_rounds(
    model: ChatModel,
    first: Sequence[ChatTurn],
    request: AnswerRequest,
    draft: AnswerDraft,
    session: ToolSession | None,
) -> Iterator[AnswerEvent]:
    """Answer, after rounds of calls; no tool is offered any more without time or room for them."""
    turns, rounds = list(first), 0
    until = time.monotonic() + _SILENCES * request.setup.settings.endpoint.timeout_s

    def may_go_on() -> bool:
        sent = sum(model.count_tokens([turn.text for turn in turns]))
        has_room = sent < _MOST_SENT_SHARE * model.context_tokens
        return rounds <= _MOST_ROUNDS and time.monotonic() < until and has_room

    while True:
        rounds += 1
        tools = TOOLS if session and may_go_on() else ()
        asked = yield from _received(model, turns, draft, request, tools)
        if not (asked and session) or request.cancel.is_set():
            return
        told = list[ChatTurn]()
        for call in asked.calls:
            if request.cancel.is_set():
                return
            result = session.run(call)
            told.append(ChatTurn("tool", result.text, call_id=call.call_id))
            yield _noted(draft, result)
        if asked.text:
            found = "\n\n".join([*(turn.text for turn in told), _AFTER_LIST])
            asked, told, session = replace(asked, calls=()), [ChatTurn("user", found)], None
        turns += [asked, *told]


def _noted(draft: AnswerDraft, result: ToolResult) -> StepTaken:
    """The event of a step, which the notes of the draft have from now on."""
    notes = draft.notes or SearchNotes()
    draft.notes = replace(notes, steps=(*notes.steps, result.step))
    draft.has_several_steps = True
    return StepTaken(result.step, draft.sources, draft.notes)


def _received(
    model: ChatModel,
    turns: Sequence[ChatTurn],
    draft: AnswerDraft,
    request: AnswerRequest,
    tools: Sequence[Tool],
) -> Generator[AnswerEvent, None, ChatTurn | None]:
    """The model's turn if it asks for something; its text is then a list of queries, or none.

    What was written before calls is thinking.
    """
    growing, calls, cancel = GrowingAnswer(draft), (), request.cancel
    listed, may_list = "", bool(tools) and model.calls_tools is False
    with closing(
        patient_stream(model, turns, cancel, tools, schema=request.setup.schema)
    ) as deltas:
        for delta in deltas:
            calls = delta.calls or calls
            piece = delta
            if may_list and delta.text and not delta.is_thinking:
                listed += delta.text
                may_list = len(listed) <= _LONGEST_LIST_CHARS and bool(_BEGUN.fullmatch(listed))
                if may_list:
                    continue
                piece, listed = replace(delta, text=listed), ""
            yield from growing.add(piece)
    queries = _queries_in(listed)
    if queries is not None:
        texts = (json.dumps({"query": query}) for query in queries)
        return ChatTurn("assistant", listed, calls=tuple(ToolCall("", "search", t) for t in texts))
    if listed and not cancel.is_set():
        yield from growing.add(Delta(listed))
    if calls and draft.text:
        yield from growing.add(Delta("", was_thinking=True))
    yield from growing.finish()
    return ChatTurn("assistant", "", calls=calls) if calls else None


# --- lists of queries -----------------------------------------------------------------------------

_LONGEST_LIST_CHARS = 1_000
# What may become a list, which some models put into a block of code.
_BEGUN = re.compile(r'\s*(?:`{1,3}[a-z]*\s*)?(?:\[\s*(?:".*|\][\s`]*)?)?', re.DOTALL)
_LIST = re.compile(r"[\s`]*(?:json)?\s*(\[.*\])[\s`]*", re.DOTALL)


def _queries_in(said: str) -> list[str] | None:
    """The queries of a list; None for anything but a list of strings."""
    found = _LIST.fullmatch(said)
    try:
        listed: Any = json.loads(found[1]) if found else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(listed, list) or not all(
        isinstance(each, str) for each in cast("list[Any]", listed)
    ):
        return None
    strings = cast("list[str]", listed)[:_MOST_QUERIES]
    return [query for each in strings if (query := as_question(each))]
