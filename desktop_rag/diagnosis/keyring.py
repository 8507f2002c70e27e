"""Checks the keyring without reading a key."""

from collections.abc import Iterator
from threading import Event

from desktop_rag.core.errors import AppError
from desktop_rag.diagnosis.finding import Finding, State
from desktop_rag.diagnosis.subject import Subject
from desktop_rag.models.endpoint_address import is_this_computer, normalise_base_url


def check_keyring(subject: Subject, _: Event) -> Iterator[Finding]:
    """Available, and which one."""
    if name := subject.outside.keyring():
        yield Finding("keyring", State.OK, f"Keys are kept in: {name}.")
        return
    title = "This system offers no keyring: a key is kept until the app ends."
    if not any(_may_need_key(endpoint.base_url) for endpoint in subject.settings.endpoints):
        yield Finding("keyring", State.OK, title, "No endpoint that is set needs a key.")
        return
    hint = "Unlock or install a keyring, or set DESKTOP_RAG_API_KEY before starting the app."
    yield Finding("keyring", State.WARNING, title, hint)


def _may_need_key(base_url: str) -> bool:
    try:
        return not is_this_computer(normalise_base_url(base_url))
    except AppError:
        return False
