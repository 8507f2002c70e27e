"""Images in the messages of a request. Pure."""

import base64
import binascii
import re

from desktop_rag.core.attachment import Image
from desktop_rag.serve.refusals import Refusal

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
