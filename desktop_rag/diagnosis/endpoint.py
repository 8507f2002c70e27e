"""Checks the endpoint, which is asked only when one is set, and what is known of its model."""

from collections.abc import Iterator
from threading import Event

from desktop_rag.diagnosis.finding import Finding, State, from_report
from desktop_rag.diagnosis.subject import Subject


def check_endpoint(subject: Subject, cancel: Event) -> Iterator[Finding]:
    """Reachable, and the model answers."""
    endpoint = subject.settings.endpoint
    if not endpoint.is_set:
        title = "No endpoint is set: answers are excerpts."
        yield Finding("endpoint", State.OK, title)
        return
    yield from_report("endpoint", subject.outside.check_endpoint(endpoint, cancel))


def check_chat_model(subject: Subject, _: Event) -> Iterator[Finding]:
    """What was measured of the chat model; nothing is asked."""
    endpoint = subject.settings.endpoint
    if not endpoint.is_set:
        return
    profile = subject.outside.profile(endpoint)
    if profile.is_examined:
        yield Finding("chat model", State.OK, " ".join(profile.findings()))
    else:
        title = "The limits of the chat model have not been measured yet."
        hint = "“desktop-rag doctor --examine” measures them; so does the app while it runs."
        yield Finding("chat model", State.NOT_CHECKED, title, hint)
