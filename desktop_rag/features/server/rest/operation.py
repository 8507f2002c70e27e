"""One operation of the REST API, as its route and the OpenAPI document use it. Frozen values."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from desktop_rag.features.server.access.access_tokens import TokenScope
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.rest.rest_forms import Form, Nothing

_Kind = TypeVar("_Kind", bound=Form)
Result = dict[str, Any] | tuple[int, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Given:
    """The checked parts of a request. `content` is the body of one that takes a file."""

    path: Form
    query: Form
    body: Form
    content: bytes = b""


@dataclass(frozen=True, slots=True)
class Operation:
    """What may be asked, by whom, and how it is answered; `run` works on a worker thread.

    `statuses` are those of success, the usual one first. `run` is None for what is answered in a
    stream.
    """

    method: str
    path: str
    name: str
    summary: str
    scope: TokenScope
    answer: type[BaseModel]
    run: Callable[[Caller, Given], Result] | None
    path_form: type[Form] = Nothing
    query: type[Form] = Nothing
    body: type[Form] = Nothing
    takes_file: bool = False
    statuses: tuple[int, ...] = (200,)

    @property
    def tag(self) -> str:
        """The group that it is shown in: the first part of its path."""
        return self.path.strip("/").split("/")[0]

    @property
    def has_body(self) -> bool:
        """True when it takes fields as JSON."""
        return self.body is not Nothing


def as_kind(form: Form, kind: type[_Kind]) -> _Kind:
    """The form, which was checked against this declaration."""
    assert isinstance(form, kind), "the table names the form"
    return form
