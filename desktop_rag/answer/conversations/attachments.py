"""What is attached to conversations, kept with them. Worker threads."""

import uuid
from collections.abc import Sequence

from desktop_rag.answer.endpoints.chat_models import ChatModels
from desktop_rag.core.attachment import Attachment, AttachmentKind, Image, sees_no_images
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.store.contract.records import AttachmentStore

# Servers refuse requests of many images, and nobody asks about more.
MOST_IMAGES = 8
_NO_MODEL = (
    "There is no model to look at the image.",
    (
        "Set an endpoint in Settings, or remove the image. Without one, the text in images can be"
        " read: pip install 'desktop-rag[ocr]'."
    ),
)


class Attachments:
    """What the chat keeps of attachments, and whether a model can take them.

    The text of files is kept by the library, which reads them.
    """

    def __init__(self, store: AttachmentStore, models: ChatModels) -> None:
        self._store = store
        self._models = models

    def of(self, conversation_id: str) -> tuple[Attachment, ...]:
        """What is attached to a conversation now."""
        return self._store.of(conversation_id)

    def set(self, conversation_id: str, attachments: Sequence[Attachment]) -> None:
        """Have this attached to a conversation, in place of what was."""
        self._store.set(conversation_id, attachments)

    def keep_image(self, name: str, image: Image, read: Attachment | None = None) -> Attachment:
        """Keep an image to be sent to models; `read` is the text in it, if there is any."""
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
        """The image as it is sent; None for a file, or when it is not there any more."""
        return self._store.image(attachment.attachment_id)

    def images(
        self, attachments: Sequence[Attachment], endpoint: EndpointSettings
    ) -> tuple[Image, ...]:
        """Those that go to the endpoint's model: none when it is known to see none."""
        if self._models.profile(endpoint).takes_images is False:
            return ()
        kept = [self._store.image(a.attachment_id) for a in attachments if _is_image(a)]
        return tuple(image for image in kept if image)

    def refusal(
        self, attachments: Sequence[Attachment], endpoint: EndpointSettings
    ) -> AppError | None:
        """Why its model can't be asked with these, with the way out; None when it can.

        An image in which text was read can always be asked about: its text is a source.
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
