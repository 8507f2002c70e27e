"""`guardrails` in a request, and `/v1/rails/configs`: rails by their name. Worker threads.

A name stands for a set of the app, or for a folder that the person gave to an assistant. A request
names no folder, and takes no rails away from an assistant.
"""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import BaseModel, ConfigDict

from desktop_rag.assistant_rails.rail_names import BUILT_IN, folder_of, is_built_in
from desktop_rag.core.assistant import Assistant
from desktop_rag.core.errors import AppError
from desktop_rag.core.question import Setup
from desktop_rag.serve.model_names import slug_of
from desktop_rag.serve.refusals import Refusal


class Guardrails(BaseModel):
    """The rails that a request asks for."""

    model_config = ConfigDict(extra="forbid")
    config_id: str


def named_rails(assistants: Sequence[Assistant]) -> dict[str, str]:
    """The names that a request may use, each with what an assistant keeps: the sets of the app,
    then the folders of these assistants.
    """
    named = {known.name: known.name for known in BUILT_IN}
    folders = dict.fromkeys(a.rails for a in assistants if a.rails and not is_built_in(a.rails))
    for rails in folders:
        try:
            slug = name = slug_of(folder_of(rails).name)
        except AppError:
            continue
        number = 1
        while name in named:
            number += 1
            name = f"{slug}-{number}"
        named[name] = rails
    return named


def guarded(setup: Setup, wanted: Guardrails, assistants: Sequence[Assistant]) -> Setup:
    """The setup with the rails of the request; refuses unknown ones, and to replace others."""
    rails = named_rails(assistants).get(wanted.config_id)
    if rails is None:
        said = f"There are no rails “{wanted.config_id}”. /v1/rails/configs has those there are."
        raise Refusal(404, said, param="guardrails.config_id", code="config_not_found")
    assistant = setup.assistant or Assistant("", "", uses_memory=False)
    if assistant.rails not in ("", rails):
        said = "This model has rails of its own, which a request can't replace."
        raise Refusal(422, said, param="guardrails.config_id")
    return replace(setup, assistant=replace(assistant, rails=rails))
