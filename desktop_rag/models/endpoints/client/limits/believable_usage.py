"""Tells counts of tokens that a server made up from those of a whole request. Pure."""

from collections.abc import Sequence
from typing import Any

from desktop_rag.core.model_profile import LEAST_RATIO, MOST_RATIO
from desktop_rag.core.text import rough_token_counts
from desktop_rag.models.endpoints.client.chat_stream import Usage

# No server cuts a request to less than this, so a lower count of a longer one is none.
_LEAST_READ_TOKENS = 256
# What templates and proxies put around the turns.
_MOST_AROUND_TOKENS = 4_000


def believable(usage: Usage | None, messages: Sequence[dict[str, Any]]) -> Usage | None:
    """The usage, or None where it can't be that of these messages, as a count of 1 for a page.

    The last message is read by every server. The tokens of images are not known.
    """
    if usage is None or not messages:
        return usage
    contents = [message["content"] for message in messages]
    texts = [content for content in contents if isinstance(content, str)]
    if len(texts) < len(contents):
        return usage
    last = rough_token_counts(texts[-1:])[0]
    most = MOST_RATIO * sum(rough_token_counts(texts)) + _MOST_AROUND_TOKENS
    return usage if min(LEAST_RATIO * last, _LEAST_READ_TOKENS) <= usage.asked <= most else None
