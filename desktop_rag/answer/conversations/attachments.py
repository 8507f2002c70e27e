"""The attachments of conversations. Worker threads."""

import uuid
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from desktop_rag.answer.endpoints.chat_models import ChatModels
from desktop_rag.core.conversation import Attachment, AttachmentKind, Image, sees_no_images
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.store.contract.records import AttachmentStore

# Servers refuse requests with many images, and nobody asks about more.
MOST_IMAGES = 8
_NO_MODEL = (
    "There is no model that can see the image.",
    (
        "Set an endpoint in Settings, or remove the image. Without one, the text in images can be"
        " read: pip install 'desktop-rag[ocr]'."
    ),
)


class Attachments:
    """Keeps the attachments of conversations, and knows if a model accepts them.

    The library reads files and keeps their text.
    """

    def __init__(self, store: AttachmentStore, models: ChatModels) -> None:
        self._store = store
        self._models = models
        # Those of questions that are not stored, while they are answered.
        self._held: dict[str, Image] = {}

    @contextmanager
    def held(self, images: Sequence[Image]) -> Generator[tuple[Attachment, ...]]:
        """Images as attachments of a question that is not stored: in memory, for this block."""
        kept = {uuid.uuid4().hex: image for image in images}
        self._held |= kept
        try:
            named = enumerate(kept, start=1)
            yield tuple(Attachment(i, f"image {n}", AttachmentKind.IMAGE) for n, i in named)
        finally:
            for attachment_id in kept:
                del self._held[attachment_id]

    def of(self, conversation_id: str) -> tuple[Attachment, ...]:
        """The current attachments of a conversation."""
        return self._store.of(conversation_id)

    def set(self, conversation_id: str, attachments: Sequence[Attachment]) -> None:
        """Replace the attachments of a conversation."""
        self._store.set(conversation_id, attachments)

    def keep_image(self, name: str, image: Image, read: Attachment | None = None) -> Attachment:
        """Keep an image for models; `read` is its text, if it has any."""
        kept = Attachment(
            read.attachment_id if read else uuid.uuid4().hex,
            name,
            AttachmentKind.IMAGE,
            document_id=read.document_id if read else "",
            words=read.words if read else 0,
        )
        self._store.put_image(kept.attachment_id, image)
        return kept

    def image(self, attachment: Attachment) -> Image | None:
        """The image as it is sent; None for a file, or when it no longer exists."""
        held = self._held.get(attachment.attachment_id)
        return held or self._store.image(attachment.attachment_id)

    def images(
        self, attachments: Sequence[Attachment], endpoint: EndpointSettings
    ) -> tuple[Image, ...]:
        """The images to send to the model of the endpoint; none when it does not take images."""
        if self._models.profile(endpoint).takes_images is False:
            return ()
        kept = [self.image(attachment) for attachment in attachments if _is_image(attachment)]
        return tuple(image for image in kept if image)

    def refusal(
        self, attachments: Sequence[Attachment], endpoint: EndpointSettings
    ) -> AppError | None:
        """The reason why the model takes no such attachments, with a way out; None if it does.

        An image with recognised text is always accepted: its text is a source.
        """
        images = [a for a in attachments if _is_image(a)]
        if len(images) > MOST_IMAGES:
            return AppError(
                f"At most {MOST_IMAGES} images can be asked about at once.",
                "Remove some of them, and ask about them later.",
            )
        if all(image.has_text for image in images):
            return None
        if not endpoint.is_set:
            return AppError(*_NO_MODEL)
        is_blind = self._models.profile(endpoint).takes_images is False
        return sees_no_images(endpoint.model) if is_blind else None


def _is_image(attachment: Attachment) -> bool:
    return attachment.kind is AttachmentKind.IMAGE
