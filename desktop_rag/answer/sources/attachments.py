"""Keeps the attachments of chats, sends them to models, and reads them as sources of answers.

Worker threads. An attached file is read whole, in order, where there is room for it, so that "what
does it say" has an answer. Of a longer one, the passages that fit the question best are read.
"""

import uuid
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from desktop_rag.answer.endpoints.chat_models import ChatModels
from desktop_rag.answer.prompting.prompt import ANSWER_SHARE
from desktop_rag.answer.sources.evidence import chosen_evidence, is_within, spans_around
from desktop_rag.answer.sources.source_finder import EXCERPT_PASSAGES, EXCERPT_TOKENS, SourceFinder
from desktop_rag.answer.sources.source_merging import (
    CountTokens,
    choose_sources,
    numbered,
    numbered_anew,
    place_of,
)
from desktop_rag.answer.writing.answers import AnswerRequest
from desktop_rag.core.conversation import (
    Attachment,
    AttachmentKind,
    Image,
    SourceRef,
    sees_no_images,
)
from desktop_rag.core.domain import Document, Passage
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import Anchor
from desktop_rag.core.query import Query
from desktop_rag.core.question import SearchScope
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.models.ports import ChatModel
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.records import AttachmentStore

# Servers refuse requests with many images, and nobody asks about more.
MOST_IMAGES = 8
_NO_MODEL = (
    "There is no model that can see the image.",
    (
        "Set an endpoint in Settings, or remove the image. Without one, the text in images can be"
        " read with the extra “ocr”: Settings › Documents says how."
    ),
)


class Attachments:
    """Keeps the attachments of conversations, and knows which models accept them."""

    def __init__(self, store: AttachmentStore, models: ChatModels) -> None:
        self._store = store
        # The current ones of a conversation.
        self.of, self.set = store.of, store.set
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


# The marks around each part in the prompt.
_FRAME_TOKENS = 60


def whole_texts(
    store: DocumentStore, documents: Sequence[Document], most_tokens: int, count_tokens: CountTokens
) -> tuple[SourceRef, ...]:
    """Sources of the whole documents, in parts; none where they take more than `most_tokens`."""
    parts: list[Passage] = []
    for document in documents:
        text, places = store.content(document.document_id)
        if not (text and is_within(text, most_tokens, count_tokens)):
            return ()
        spans = spans_around((text, places), 0, len(text), count_tokens, most_tokens)
        parts += [passage_of(document, text[a:b], places, a) for a, b in spans]
    counts = count_tokens([part.text for part in parts])
    is_fitting = sum(counts) + _FRAME_TOKENS * len(counts) <= most_tokens
    return numbered(parts) if is_fitting else ()


def passage_of(document: Document, text: str, places: str, start: int) -> Passage:
    """A part of the text in the form of a search result."""
    end = start + len(text)
    return Passage(
        chunk_id=0,
        document_id=document.document_id,
        path=str(document.path),
        title=document.title or document.name,
        text=text,
        anchor=place_of(places, start, end) or Anchor(),
        start=start,
        end=end,
        score=0.0,
        part=document.part,
        url=document.address,
    )


# The share of the prompt for whole texts; the question, the history and the best passages of the
# library need room too.
_WHOLE_SHARE = 0.7
# The share of the prompt for the best passages of longer files.
_BEST_SHARE = 0.5
# The passages searched for in longer files.
_DEPTH = 40


class AttachedSources:
    """Chooses sources from attachments, in the order of the files and of their text."""

    def __init__(self, finder: SourceFinder, documents: DocumentStore) -> None:
        self._finder = finder
        self._documents = documents

    def for_prompt(
        self, request: AnswerRequest, query: Query, context_tokens: int, model: ChatModel
    ) -> tuple[SourceRef, ...]:
        """The whole text where it fits into the prompt, else the best passages.

        `query` is the question as understood. A file without a matching passage gives its
        beginning: it was attached to be read.
        """
        attachments, count_tokens = request.attachments, model.count_tokens
        if not attachments:
            return ()
        room = int(context_tokens * (1 - ANSWER_SHARE))
        documents = self._documents_of(attachments)
        most_whole = int(room * _WHOLE_SHARE)
        if whole := whole_texts(self._documents, documents, most_whole, count_tokens):
            return whole
        found = self._best_passages(request, query)
        homes = {passage.document_id for passage in found}
        firsts = [p for d in documents if d.document_id not in homes for p in self._beginning(d)]
        most_tokens = min(self._finder.room(request, model), int(room * _BEST_SHARE))
        read = self._documents.content
        chosen = chosen_evidence([*found, *firsts], read, count_tokens, most_tokens)
        return _in_order(chosen, documents)

    def relevant(
        self, request: AnswerRequest, query: Query
    ) -> tuple[tuple[SourceRef, ...], tuple[SourceRef, ...]]:
        """The relevant passages, or else the nearest ones or beginnings; one of both is empty."""
        if not request.attachments:
            return (), ()
        documents = self._documents_of(request.attachments)
        found = self._best_passages(request, query)
        is_relevant = self._finder.is_any_relevant(found)
        found = found or [first for document in documents for first in self._beginning(document)]
        chosen = _in_order(
            choose_sources(
                found, self._documents.content, self._finder.count_tokens,
                most=EXCERPT_PASSAGES, most_tokens=EXCERPT_TOKENS,
            ),
            documents,
        )  # fmt: skip
        return (chosen, ()) if is_relevant else ((), chosen)

    def _best_passages(self, request: AnswerRequest, query: Query) -> list[Passage]:
        settings, ids = request.setup.settings.retrieval, request.attached_ids
        reach = SearchScope(attached=ids)
        return self._finder.best(query, settings, limit=_DEPTH, reach=reach) if ids else []

    def _documents_of(self, attachments: Sequence[Attachment]) -> list[Document]:
        """The documents of the attachments, with those inside archives and mails."""
        return [
            document
            for attachment in attachments
            if attachment.has_text
            for document in self._documents.documents(attachment.attachment_id)
            if document.chunk_count
        ]

    def _beginning(self, document: Document) -> list[Passage]:
        text, places = self._documents.content(document.document_id)
        first = self._documents.chunks(document.document_id)[:1]
        return [passage_of(document, (text or "")[c.start : c.end], places, c.start) for c in first]


def _in_order(chosen: Sequence[SourceRef], documents: Sequence[Document]) -> tuple[SourceRef, ...]:
    order = {document.document_id: place for place, document in enumerate(documents)}
    chosen = sorted(chosen, key=lambda s: (order.get(s.document_id, len(order)), s.start))
    return numbered_anew(chosen)
