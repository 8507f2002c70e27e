"""What OpenAI's APIs send: messages and images as a conversation, and parameters. Pure."""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from desktop_rag.core.conversation import Image, Message, Role
from desktop_rag.core.query import strip_invalid_characters
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.features.server.access.callers import PassedOn, message_of
from desktop_rag.features.server.operations import Form
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.models.ports import ChatTurn, Tool, ToolCall

_DATA = re.compile(r"data:(image/(?:png|jpeg|webp|gif));base64,(.*)", re.DOTALL)


def image_at(url: object) -> Image:
    """The image in a data address. Refuses any other address: nothing is fetched for a caller."""
    if isinstance(url, dict):
        url = url.get("url")
    found = _DATA.fullmatch(url) if isinstance(url, str) else None
    if found is None:
        raise _refused("An image must be a data address with PNG, JPEG, WebP or GIF in base64.")
    try:
        data = base64.b64decode(found[2], validate=True)
    except (binascii.Error, ValueError) as exc:
        raise _refused("The image is not valid base64.") from exc
    if not data:
        raise _refused("The image is empty.")
    return Image(found[1], data)


def _refused(message: str) -> Refusal:
    return Refusal(400, message, param="messages", code="unsupported_content")


_INSTRUCTING = ("system", "developer")
_TEXT_PARTS = ("text", "input_text", "output_text")
_IMAGE_PARTS = ("image_url", "input_image")


class GivenPart(BaseModel):
    """A part of a message: text, or an image. Others are refused by their kind."""

    model_config = ConfigDict(extra="allow")
    type: str
    text: str = ""
    image_url: str | dict[str, Any] | None = None


class CalledFunction(BaseModel):
    """A function that a model called, and its arguments as it wrote them."""

    name: str
    arguments: str


class GivenCall(BaseModel):
    """A call of a tool in a message of the model."""

    id: str
    function: CalledFunction


class GivenMessage(BaseModel):
    """A message as OpenAI's APIs carry it. Fields that don't concern its text are left alone."""

    model_config = ConfigDict(extra="allow")
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[GivenPart] | None = None
    tool_calls: list[GivenCall] | None = None
    tool_call_id: str = ""

    @property
    def is_about_tools(self) -> bool:
        """True for a call of tools, or the result of one."""
        return bool(self.tool_calls) or self.role == "tool"


class GivenFunction(BaseModel):
    """A function of the program that asks."""

    model_config = ConfigDict(extra="ignore")
    name: str
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict[str, Any])


class GivenTool(BaseModel):
    """A tool that a model may call: functions only. Responses have its fields beside the type."""

    model_config = ConfigDict(extra="ignore")
    type: Literal["function"]
    function: GivenFunction

    @model_validator(mode="before")
    @classmethod
    def _nested(cls, given: object) -> object:
        fields = cast("dict[str, object]", given) if isinstance(given, dict) else {}
        return {**fields, "function": fields} if "name" in fields else given


# A tool by its name alone has to be called.
ToolChoice = Literal["none", "auto", "required"] | GivenTool


def passed_on(
    messages: Sequence[GivenMessage], tools: Sequence[GivenTool], choice: ToolChoice | None
) -> PassedOn | None:
    """The conversation for a model as it is; None for one without tools."""
    offered = [] if choice == "none" else [tool.function for tool in tools]
    if not offered and not any(message.is_about_tools for message in messages):
        return None
    named = choice.function.name if isinstance(choice, GivenTool) else ""
    return PassedOn(
        tuple(_turn_of(message) for message in messages),
        tuple(
            Tool(f.name, f.description, f.parameters, choice == "required" or f.name == named)
            for f in offered
        ),
    )


def _turn_of(message: GivenMessage) -> ChatTurn:
    calls = tuple(
        ToolCall(call.id, call.function.name, call.function.arguments)
        for call in message.tool_calls or ()
    )
    role = "system" if message.role in _INSTRUCTING else message.role
    if role == "function":
        raise Refusal(400, "Messages of the role “function” are not supported.")
    images = _images_of(message)
    return ChatTurn(role, text_of(message), images, calls, message.tool_call_id)


def instructions_in(messages: Sequence[GivenMessage]) -> list[str]:
    """The texts of the messages that instruct."""
    return [text_of(message) for message in messages if message.role in _INSTRUCTING]


def conversation(
    messages: Sequence[GivenMessage], scope: QuestionScope = ALL_DOCUMENTS
) -> tuple[Message, ...]:
    """The turns of both sides, the last one a question; refuses a conversation without one."""
    turns: list[Message] = []
    for message in messages:
        if message.role in _INSTRUCTING:
            continue
        if message.role not in ("user", "assistant"):
            raise Refusal(400, f"Messages of the role “{message.role}” are not supported.")
        role = Role.USER if message.role == "user" else Role.ASSISTANT
        text = strip_invalid_characters(text_of(message))
        turns.append(message_of(role, text, scope if role is Role.USER else ALL_DOCUMENTS))
    if not turns or turns[-1].role is not Role.USER or not turns[-1].text.strip():
        raise Refusal(400, "The last message must be a question of the user.", param="messages")
    return tuple(turns)


def text_of(message: GivenMessage) -> str:
    """The whole text of a message; refuses parts that are neither text nor an image."""
    if not isinstance(message.content, list):
        return message.content or ""
    for part in message.content:
        if part.type not in (*_TEXT_PARTS, *_IMAGE_PARTS):
            said = f"Parts of the type “{part.type}” are not supported; text and images are."
            raise _refused(said)
    return "\n".join(part.text for part in message.content if part.type in _TEXT_PARTS)


def images_of_question(messages: Sequence[GivenMessage]) -> tuple[Image, ...]:
    """The images of the last message. Those of earlier ones have been answered."""
    return _images_of(messages[-1]) if messages else ()


def has_earlier_images(messages: Sequence[GivenMessage]) -> bool:
    """True when a message before the last one has an image, which is not sent again."""
    return any(_images_of(message) for message in messages[:-1])


def _images_of(message: GivenMessage) -> tuple[Image, ...]:
    parts = message.content if isinstance(message.content, list) else []
    return tuple(image_at(part.image_url) for part in parts if part.type in _IMAGE_PARTS)


# Wishes about how the model writes: the app and the person's settings decide that.
_WITHOUT_EFFECT = frozenset(
    {
        "frequency_penalty", "max_completion_tokens", "max_output_tokens", "max_tokens", "metadata",
        "prompt_cache_key", "prompt_cache_retention", "presence_penalty", "reasoning",
        "reasoning_effort", "repetition_penalty", "safety_identifier", "seed", "service_tier",
        "stop", "store", "temperature", "top_k", "top_p", "truncation", "user", "verbosity",
    }
)  # fmt: skip


# Parameters with the values that ask for nothing.
Neutral = Mapping[str, tuple[object, ...]]


class Parameters(Form):
    """The used parameters of an API. Which others there are, and what becomes of them.

    Those without effect are `ignored`, which the response names (`desktop_rag.ignored`). Unknown
    ones are refused, as are `neutral` ones, unless they are null or have one of these values, which
    ask for nothing.
    """

    is_strict = False
    neutral: ClassVar[Neutral] = {}
    without_effect: ClassVar[frozenset[str]] = _WITHOUT_EFFECT
    ignored: list[str] = Field(default_factory=list[str])

    @classmethod
    def checked(cls, fields: Mapping[str, Any], *, is_strict: bool = False) -> Self:
        """The used parameters of a request."""
        ignored: list[str] = []
        used: dict[str, Any] = {}
        for name, value in fields.items():
            if name in cls.model_fields and name != "ignored":
                used[name] = value
            elif value is None or (name in cls.neutral and value in cls.neutral[name]):
                continue
            elif name in cls.without_effect:
                ignored.append(name)
            else:
                raise _parameter_refused(name, is_known=name in cls.neutral)
        return super().checked(used | {"ignored": ignored}, is_strict=is_strict)


def _parameter_refused(name: str, *, is_known: bool) -> Refusal:
    if is_known:
        said = f"“{name}” is not supported with this value."
        return Refusal(400, said, param=name, code="unsupported_parameter")
    return Refusal(400, f"“{name}” is not known.", param=name, code="unknown_parameter")
