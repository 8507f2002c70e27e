"""The answer that a model writes: prompt out, events in. Runs on the thread that answers."""

import secrets
from collections.abc import Iterator, Sequence
from threading import Event

from desktop_rag.answer.draft import Draft
from desktop_rag.answer.prompt import CountTokens, build_turns
from desktop_rag.core.conversation import (
    AnswerEvent,
    Message,
    SourcesFound,
    TextDelta,
    ThinkingDelta,
)
from desktop_rag.models.ports import ChatModel

_HISTORY = 12


def answer_with(
    model: ChatModel,
    question: str,
    history: Sequence[Message],
    draft: Draft,
    count_tokens: CountTokens,
    cancel: Event,
) -> Iterator[AnswerEvent]:
    """Have the model answer from the draft's sources; what it writes grows in the draft.

    Raises:
        AppError: for whatever the endpoint did wrong; the draft keeps what had come by then.
    """
    draft.model = model.name
    turns, draft.sources = build_turns(
        question,
        draft.sources,
        history[-_HISTORY:],
        context_tokens=model.context_tokens,
        count_tokens=count_tokens,
        fence=secrets.token_hex(8),
    )
    yield SourcesFound(draft.sources, draft.notes)
    for delta in model.stream(turns, cancel):
        if delta.is_thinking:
            draft.thinking += delta.text
            yield ThinkingDelta(delta.text)
        else:
            draft.text += delta.text
            yield TextDelta(delta.text)
