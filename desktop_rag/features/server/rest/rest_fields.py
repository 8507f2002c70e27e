"""Fields, forms and answers that several operations of the REST API share."""

from collections.abc import Sequence
from typing import Annotated, TypeVar

from pydantic import Field

from desktop_rag.features.server.operations import Answered, Form

LARGEST = 2**53

Name = Annotated[str, Field(min_length=1, max_length=200)]
OwnId = Annotated[
    str, Field(min_length=1, max_length=512, description="The id in the application.")
]
Application = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        pattern=r"\S",
        description="The name of the application, as the window shows it. Ids are its own.",
    ),
]
Language = Annotated[str, Field(pattern=r"^([a-z]{2})?$", description="Two letters, as `en`.")]
Whole = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e300, le=1e300)]
Value = Annotated[str, Field(max_length=2000)] | bool | Whole | Number
Key = Annotated[str, Field(min_length=1, max_length=100)]
Metadata = Annotated[
    dict[Key, Value], Field(max_length=50, description="What the application wants to filter by.")
]
Id = Annotated[str, Field(min_length=1, max_length=100)]
Ids = Annotated[list[Id], Field(min_length=1, max_length=1000)]
Offset = Annotated[int, Field(ge=0, le=10_000_000)]
Format = Annotated[str, Field(max_length=50)]
Title = Annotated[str, Field(max_length=1000)]
Question = Annotated[str, Field(min_length=1, max_length=50_000, pattern=r"\S")]

_Row = TypeVar("_Row")


class Page(Form):
    """A part of a list."""

    offset: Offset = 0
    limit: Annotated[int, Field(ge=1, le=500)] = 100


class Listed(Answered):
    """A part of a list, and where the next begins."""

    total: int
    next_offset: int | None


def page_of(rows: Sequence[_Row], page: Page) -> tuple[Sequence[_Row], int | None]:
    """The rows of a page, and where the next begins."""
    shown = rows[page.offset : page.offset + page.limit]
    end = page.offset + len(shown)
    return shown, end if shown and end < len(rows) else None


class DeletedAnswer(Answered):
    """The ids of what was deleted."""

    deleted: list[str]
