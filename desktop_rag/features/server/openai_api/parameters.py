"""The parameters of OpenAI's APIs: which are used, which have no effect, which are refused. Pure.

Nothing is dropped in silence: a parameter without effect is named in the response under
`desktop_rag.ignored`, one that would change the answer is refused, and so is an unknown one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from desktop_rag.features.server.refusals import Refusal

_Fields = TypeVar("_Fields", bound=BaseModel)

# Wishes about how the model writes: the app and the person's settings decide that.
_WITHOUT_EFFECT = frozenset(
    {
        "frequency_penalty", "max_completion_tokens", "max_output_tokens", "max_tokens", "metadata",
        "prompt_cache_key", "prompt_cache_retention", "presence_penalty", "reasoning",
        "reasoning_effort", "repetition_penalty", "safety_identifier", "seed", "service_tier",
        "stop", "store", "temperature", "top_k", "top_p", "truncation", "user", "verbosity",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of one API. `neutral` ones are refused unless they have one of these values,
    which ask for nothing; null always asks for nothing.
    """

    neutral: Mapping[str, tuple[object, ...]]
    without_effect: frozenset[str] = field(default=_WITHOUT_EFFECT)

    def read(self, given: Mapping[str, Any], form: type[_Fields]) -> tuple[_Fields, list[str]]:
        """The used parameters, checked, and the names of those without effect."""
        ignored: list[str] = []
        used: dict[str, Any] = {}
        for name, value in given.items():
            if name in form.model_fields:
                used[name] = value
            elif value is None or (name in self.neutral and value in self.neutral[name]):
                continue
            elif name in self.without_effect:
                ignored.append(name)
            else:
                raise _refused(name, is_known=name in self.neutral)
        return checked(used, form), ignored


def checked(fields: Mapping[str, Any], form: type[_Fields]) -> _Fields:
    """The fields as a value of this form; refuses them with the first fault in words."""
    try:
        return form.model_validate(fields)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise Refusal(400, f"{place}: {first['msg']}", param=place or None) from exc


def _refused(name: str, *, is_known: bool) -> Refusal:
    if is_known:
        said = f"“{name}” is not supported with this value."
        return Refusal(400, said, param=name, code="unsupported_parameter")
    return Refusal(400, f"“{name}” is not known.", param=name, code="unknown_parameter")


CHAT = Parameters(
    {
        "audio": (),
        "function_call": ("none", "auto"),
        "functions": ([],),
        "logit_bias": ({},),
        "logprobs": (False,),
        "modalities": (["text"],),
        "n": (1,),
        "parallel_tool_calls": (True, False),
        "prediction": (),
        "response_format": ({"type": "text"},),
        "store": (False,),
        "tool_choice": ("none", "auto"),
        "tools": ([],),
        "top_logprobs": (0,),
        "web_search_options": ({},),
    }
)
RESPONSES = Parameters(
    {
        "background": (False,),
        "conversation": (),
        "include": ([],),
        "max_tool_calls": (),
        "parallel_tool_calls": (True, False),
        "previous_response_id": (),
        "prompt": (),
        "store": (False,),
        "stream_options": ({}, {"include_obfuscation": False}),
        "text": ({"format": {"type": "text"}}, {}),
        "tool_choice": ("none", "auto"),
        "tools": ([],),
        "top_logprobs": (0,),
    }
)
EMBEDDINGS = Parameters({}, frozenset({"user"}))
