"""Files and images attached to a chat. Frozen values, pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from desktop_rag.core.errors import AppError


class AttachmentKind(StrEnum):
    """The form in which a model receives it: as text or as an image."""

    FILE = "file"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class Image:
    """An image as it is sent to a model: its MIME type, such as `image/png`, and its bytes."""

    mime: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file or image attached to a chat.

    Its extracted text is stored as the document `document_id`, with `words` words on `pages` pages
    (0 for formats without pages). `document_id` is empty for an image without text and for an
    attachment in an imported conversation.
    """

    attachment_id: str
    name: str
    kind: AttachmentKind = AttachmentKind.FILE
    document_id: str = ""
    words: int = 0
    pages: int = 0

    @property
    def has_text(self) -> bool:
        """True when there is text that an answer can cite."""
        return bool(self.document_id)

    def extent(self) -> str:
        """Its size in words: `3 pages · 1,204 words`."""
        parts = [_count(self.pages, "page"), _count(self.words, "word")]
        is_image = self.kind is AttachmentKind.IMAGE
        return " · ".join(["image"] * is_image + [part for part in parts if part])

    def to_json(self) -> dict[str, Any]:
        """The form in the store and in exports."""
        return asdict(self) | {"kind": self.kind.value}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Attachment":
        """The inverse of `to_json`."""
        taken: dict[str, Any] = {**fields, "kind": AttachmentKind(fields["kind"])}
        return cls(**taken)


def in_words(attachments: Sequence[Attachment]) -> str:
    """All attachments on one line: `Attached: lease.pdf (3 pages · 1,204 words)`; "" for none."""
    told = [f"{' '.join(a.name.split())} ({a.extent()})" for a in attachments]
    return f"Attached: {', '.join(told)}" if told else ""


def sees_no_images(model: str) -> AppError:
    """The error for a model without image input, with the ways out."""
    return AppError(
        f"{model} sees no images.",
        "Choose another model above the chat, or remove the image and ask again.",
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}" if number else ""
