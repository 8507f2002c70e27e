"""Files and images that were attached to a chat, and how they are told. Frozen values, pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from desktop_rag.core.errors import AppError


class AttachmentKind(StrEnum):
    """What a model is given of it: its text, or itself."""

    FILE = "file"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class Image:
    """A picture as it is sent to a model: the type of its bytes, say `image/png`, and these."""

    mime: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Attachment:
    """Something attached to a chat.

    The text that was read from it is kept as the document of `document_id`, of `words` words on
    `pages` pages (0 where there are none); empty for an image in which no text was read, and for
    one that a conversation from elsewhere speaks of.
    """

    attachment_id: str
    name: str
    kind: AttachmentKind = AttachmentKind.FILE
    document_id: str = ""
    words: int = 0
    pages: int = 0

    @property
    def has_text(self) -> bool:
        """Whether there is text that an answer can cite."""
        return bool(self.document_id)

    def extent(self) -> str:
        """How much there is of it, in words: `3 pages · 1,204 words`."""
        parts = [_count(self.pages, "page"), _count(self.words, "word")]
        is_image = self.kind is AttachmentKind.IMAGE
        return " · ".join(["image"] * is_image + [part for part in parts if part])

    def to_json(self) -> dict[str, Any]:
        """As the store and exports write it."""
        return asdict(self) | {"kind": self.kind.value}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Attachment":
        """The inverse of `to_json`."""
        taken: dict[str, Any] = {**fields, "kind": AttachmentKind(fields["kind"])}
        return cls(**taken)


def in_words(attachments: Sequence[Attachment]) -> str:
    """All of them on one line, "" for none: `Attached: lease.pdf (3 pages · 1,204 words)`."""
    told = [f"{' '.join(a.name.split())} ({a.extent()})" for a in attachments]
    return f"Attached: {', '.join(told)}" if told else ""


def sees_no_images(model: str) -> AppError:
    """Why an image can't go to a model that takes none, with the ways out."""
    return AppError(
        f"{model} sees no images.",
        "Choose another model above the chat, or remove the image and ask again.",
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}" if number else ""
