"""What rails would do with a sentence, for somebody who writes or chooses them. Any thread."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from desktop_rag.answer.conversations.answer_rails import NearSentence, TriedSentence
from desktop_rag.features.rails.actions.rails_world import DocumentAnswer, Passage, RailsWorld
from desktop_rag.features.rails.events.rail_events import ActionFinished, UserIntent
from desktop_rag.features.rails.rail_engine import Rails, transcript
from desktop_rag.features.rails.runtime.run_files import shown_run


def tried(rails: Rails, world: RailsWorld, text: str) -> TriedSentence:
    """Say a sentence to rails, with nothing behind them but examples."""
    is_answered = False

    def answer(_question: str) -> DocumentAnswer:
        nonlocal is_answered
        is_answered = True
        return DocumentAnswer("…")

    def passes(_text: str, _passages: Sequence[Passage]) -> float:
        return 1.0

    world = replace(world, answer=answer, check_facts=passes)
    turn = rails.in_world(world).say(rails.begin(), text)
    events = list(turn)
    intent, score, nearest = "", 0.0, ()
    for event in events:
        if isinstance(event, UserIntent):
            intent = event.intent
        elif isinstance(event, ActionFinished) and event.action_name == "generate_user_intent":
            found = cast("Mapping[str, Any]", event.result or {})
            score = float(found.get("score", 1.0 if found.get("by") == "example" else 0.0))
            nearest = tuple(_near(found.get("nearest", ())))
    said = "\n".join(text for who, text in transcript(events) if who == "bot")
    return TriedSentence(
        intent, score, nearest, "" if is_answered else said, is_answered, tuple(shown_run(events))
    )


def _near(rows: Sequence[Mapping[str, Any]]) -> list[NearSentence]:
    return [NearSentence(str(r["text"]), str(r["intent"]), float(r["similarity"])) for r in rows]
