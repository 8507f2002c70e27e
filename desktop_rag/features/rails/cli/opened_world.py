"""The world of the verbs about rails: the bundled model, and the library on request."""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING

from desktop_rag.features.rails.actions.rails_world import DocumentAnswer, Passage, RailsWorld

if TYPE_CHECKING:
    from desktop_rag.app import Services
    from desktop_rag.models.ports import Vectors

    Embed = Callable[[Sequence[str]], Vectors]


@contextmanager
def open_world(*, is_library_used: bool) -> Generator[RailsWorld]:
    """The functions that actions call; without the library only the bundled model."""
    embed, embed_examples = bundled_embeddings()
    if not is_library_used:
        yield RailsWorld(embed=embed, embed_examples=embed_examples)
        return
    from desktop_rag.cli.terminal import open_services

    with open_services() as services:
        yield RailsWorld(
            complete=completion(services),
            retrieve=lambda question: _passages(services, question),
            search=lambda query: _passages(services, query),
            check_facts=lambda text, passages: _support(services, text, passages),
            answer=lambda question: _answer(services, question),
            embed=embed,
            embed_examples=embed_examples,
        )


def bundled_embeddings() -> "tuple[Embed, Embed]":
    """The bundled models for sentences and for examples, loaded when the first text needs them."""
    from desktop_rag.core.paths import find_home
    from desktop_rag.models.embedding.joined_embedding import bundled_opener, rail_embeddings

    return rail_embeddings(find_home().rail_vectors, bundled_opener())


def completion(services: "Services") -> Callable[[str], str] | None:
    """The model of the settings; None without one."""
    from desktop_rag.features.rails.assistants.railed_answers import said_by

    model = services.chat.models.main()
    return (lambda prompt: said_by(model, prompt, Event())) if model else None


def _support(services: "Services", text: str, passages: Sequence[Passage]) -> float:
    """The support of the weakest statement, as in the answers of an assistant with rails."""
    from desktop_rag.features.rails.assistants.railed_answers import as_sources, least_support

    return least_support(text, as_sources(passages), services.chat.check, Event()) or 0.0


def _answer(services: "Services", question: str) -> DocumentAnswer:
    from desktop_rag.core.conversation import AnswerDone, Message, Role

    asked = Message("", "", Role.USER, question, time.time())
    events = services.chat.answer([asked], services.chat.set_up(), cancel=Event())
    made = next(event.message for event in events if isinstance(event, AnswerDone))
    passages = [Passage(source.text, source.title) for source in made.sources]
    return DocumentAnswer(made.text, passages, made.is_own_knowledge)


def _passages(services: "Services", question: str) -> list[Passage]:
    return [Passage(p.text, p.title) for p in services.chat.search(question, limit=5)]
