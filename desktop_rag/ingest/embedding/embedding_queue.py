"""Makes the vectors of chunks and their windows in the background: searchable by meaning.

Owns one named thread. The queue is the store itself (chunks without a vector), so nothing is lost
by a crash and equal content is embedded once. Each model embeds for its own collections, one model
after the other.
"""

import logging
import re
import threading
import time
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.domain import Collection
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.core.parsed import Chunk, embedded_text
from desktop_rag.core.text import sentences
from desktop_rag.core.waits import Backoff
from desktop_rag.ingest.background.background_thread import (
    BackgroundPart,
    BackgroundThread,
    PipelineCallbacks,
)
from desktop_rag.ingest.background.progress import ProgressMeter
from desktop_rag.ingest.embedding.embedder_registry import (
    Assigned,
    DenseIndex,
    EmbedderRegistry,
    Part,
)
from desktop_rag.models.answer_priority import AnswerPriority, FairShare
from desktop_rag.models.embedding.joined_embedding import BUNDLED_MULTILINGUAL
from desktop_rag.models.ports import Embedder, EmbedderFaultError
from desktop_rag.store.contract.vectors import VectorStore

if TYPE_CHECKING:
    from desktop_rag.store.contract.chunks import Coverage

log = logging.getLogger(__name__)

# The size of a window. The multilingual model is at its best with single sentences: for Chinese
# questions about the English paragraphs of xquad, nDCG@10 by meaning is .862 with 30, .837 with 60.
WORDS = 60
MULTILINGUAL_WORDS = 30
# Scripts without spaces: about two characters make a word.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_CHARACTERS_PER_WORD = 2
# A table row or a formula is long with few spaces.
_CHARS_PER_WORD = 8


def windows(text: str, most_words: int = WORDS) -> list[tuple[int, int]]:
    """Spans [start, end) of whole sentences, about `most_words` each; none for a single sentence.

    Questions are compared with each, as the vector of a long passage blurs its sentences.
    """
    spans: list[tuple[int, int]] = []
    used = 0
    for start, end in sentences(text):
        words = _words(text[start:end])
        if spans and used + words <= most_words:
            spans[-1] = (spans[-1][0], end)
            used += words
        else:
            spans.append((start, end))
            used = words
    return spans if len(spans) > 1 else []


def _words(sentence: str) -> int:
    unspaced = len(_UNSPACED.findall(sentence)) // _CHARACTERS_PER_WORD
    return max(1, len(sentence.split()), unspaced, len(sentence) // _CHARS_PER_WORD)


# A question has to wait for the cores until the current batch is done.
_LONG_S = 0.08
_SHORT_S = 0.03
_FIRST = 8
_MOST = 32


class BatchSize:
    """The size falls when batches take long on this computer, and rises when they are quick.

    Measured in processor time of the one thread that uses it: waiting for a server doesn't count.
    """

    def __init__(self) -> None:
        self.now = _FIRST

    def embed(self, embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of one batch."""
        began_at = time.thread_time()
        vectors = embedder.embed_passages(texts)
        self.took(time.thread_time() - began_at)
        return vectors

    def took(self, seconds: float) -> None:
        """Adapt to the duration of a batch of this size."""
        if seconds > _LONG_S:
            self.now = max(1, self.now // 2)
        elif seconds < _SHORT_S:
            self.now = min(_MOST, 2 * self.now)


class WindowEmbedder:
    """Embeds the windows of passages and stores their vectors."""

    def __init__(
        self, vectors: VectorStore, embedder: Embedder, share: FairShare, most_words: int = WORDS
    ) -> None:
        self._vectors = vectors
        self._most_words = most_words
        self._embedder = embedder
        self._share = share
        self._batch_size = BatchSize()

    def embed(self, rows: Sequence[tuple[str, str]], may_go_on: Callable[[], bool]) -> bool:
        """Embed the windows of (content hash, text) and store them in one transaction.

        False when `may_go_on`, asked before each batch, ended it early: then nothing is stored.
        """
        cut = [
            [text[start:end] for start, end in windows(text, self._most_words)] for _, text in rows
        ]
        found = self._vectors_of([window for texts in cut for window in texts], may_go_on)
        if found is None:
            return False
        ends = list(accumulate(len(texts) for texts in cut))
        parts = [found[end - len(texts) : end] for end, texts in zip(ends, cut, strict=True)]
        self._vectors.add_windows([content_hash for content_hash, _ in rows], parts)
        return True

    def _vectors_of(
        self, texts: Sequence[str], may_go_on: Callable[[], bool]
    ) -> NDArray[np.float32] | None:
        found = np.empty((len(texts), self._embedder.dimensions), np.float32)
        # By length: a server may pad the texts of a batch.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        start = 0
        while start < len(order):
            self._share.wait()
            if not may_go_on():
                return None
            batch = order[start : start + self._batch_size.now]
            found[batch] = self._batch_size.embed(self._embedder, [texts[i] for i in batch])
            start += len(batch)
        return found


_FIRST_S = 30.0
_LONGEST_S = 900.0
_MEANWHILE = "Words are searched meanwhile. Embedding goes on by itself once it is possible."


class EmbedderBackoff:
    """Exponential backoff for each model that did not answer; calls `wake` after a delay.

    An endpoint that is down for long gets a few requests an hour. The person is notified once.
    Any thread; cheap.
    """

    def __init__(
        self,
        notify: Callable[[Notice], None],
        wake: Callable[[], None],
        *,
        first_s: float = _FIRST_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._notify = notify
        self._wake = wake
        self._first_s = first_s
        self._clock = clock
        self._lock = threading.Lock()
        self._backoffs: dict[str, Backoff] = {}
        self._failed: dict[str, str] = {}
        self._timer: threading.Timer | None = None
        self._is_closed = False

    def close(self) -> None:
        """Call `wake` no more."""
        with self._lock:
            self._is_closed = True
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            timer.join()

    def active(self) -> frozenset[str]:
        """The specs of the models that are not to be asked now."""
        with self._lock:
            return frozenset(spec for spec, each in self._backoffs.items() if each.left_s)

    def begin(self, spec: str, error: EmbedderFaultError) -> None:
        """A request to this model failed: delay the next one."""
        with self._lock:
            first = Backoff(self._first_s, _LONGEST_S, self._clock)
            is_news = self._backoffs.setdefault(spec, first).begin(error.wait_s)
            self._set_timer()
        # Without the hint: a server may repeat the text of a document in its message.
        log.info("embedding is delayed: %s", error.title)
        if is_news:
            self._notify(Notice(error.title, f"{error.hint} {_MEANWHILE}".strip()))

    def note_failure(self, spec: str, error: AppError) -> None:
        """This model can't be used at all. The person is notified once until `reset`."""
        with self._lock:
            is_news = self._failed.get(spec) != error.title
            self._failed[spec] = error.title
        if is_news:
            log.info("no model: %s", error.title)
            self._notify(Notice(error.title, error.hint))

    def note_success(self, spec: str) -> None:
        """This model works: its next delay is a short one again."""
        with self._lock:
            for kept in (self._backoffs, self._failed):
                kept.pop(spec, None)

    def reset(self) -> None:
        """Forget all delays and failures: every model may be asked now."""
        with self._lock:
            for kept in (self._backoffs, self._failed):
                kept.clear()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        waits_s = [wait_s for each in self._backoffs.values() if (wait_s := each.left_s)]
        if self._is_closed or not waits_s:
            return
        self._timer = threading.Timer(min(waits_s), self._on_timer)
        self._timer.name, self._timer.daemon = "embedding-backoff", True
        self._timer.start()

    def _on_timer(self) -> None:
        with self._lock:
            self._set_timer()
        self._wake()


class ChunkEmbedder:
    """Embeds chunks batch by batch and stores their vectors, letting questions go first."""

    def __init__(self, index: DenseIndex, share: FairShare, count: Callable[[int], None]) -> None:
        """`count` is called with the number of passages embedded."""
        self._vectors = index.vectors
        self._embedder = index.embedder
        self._share = share
        self._count = count
        self._batch_size = BatchSize()

    def embed(self, rows: Sequence[tuple[str, str, str]], may_go_on: Callable[[], bool]) -> bool:
        """Embed (content hash, context, text) and store the vectors in one transaction.

        False when `may_go_on`, asked before each batch, ended it early; what is done is stored.
        """
        parts: list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]] = []
        start = 0
        while start < len(rows):
            self._share.wait()
            if not may_go_on():
                break
            batch = rows[start : start + self._batch_size.now]
            texts = [embedded_text(head, text) for _, head, text in batch]
            parts.append(self._batch_size.embed(self._embedder, texts))
            self._count(len(batch))
            start += len(batch)
        done = np.concatenate(parts) if parts else np.empty((0, 0), np.float32)
        if len(done):
            self._vectors.add([row[0] for row in rows[: len(done)]], done)
        return len(done) == len(rows)

    def embed_chunks(self, chunks: Sequence[Chunk], may_go_on: Callable[[], bool]) -> bool:
        """Make the vectors that these chunks lack; False when it was ended early."""
        missing = self._vectors.missing([chunk.content_hash for chunk in chunks])
        rows = {
            c.content_hash: (c.content_hash, c.context, c.text)
            for c in chunks
            if c.content_hash in missing
        }
        return self.embed(sorted(rows.values(), key=lambda row: len(row[2])), may_go_on)


# A page is sorted by length, as a server may pad the texts of a batch; a write groups batches,
# because a commit waits for the disk.
_PAGE = 4096
_WRITE = 128


class EmbeddingQueue(BackgroundPart):
    """Embeds what has no vector yet, whenever the files that wait have been read."""

    def __init__(
        self,
        embedders: EmbedderRegistry,
        priority: AnswerPriority,
        meter: ProgressMeter,
        *,
        may_run: Callable[[], bool],
        changed: Callable[[list[str]], None],
        callbacks: PipelineCallbacks,
    ) -> None:
        """`may_run` is true while no file is being read. On this thread `changed` gets the ids of
        documents that became searchable by meaning or no longer are.
        """
        self._embedders = embedders
        self._chunks = embedders.chunks
        self._share = FairShare(priority)
        self._rechunking_share = FairShare(priority)
        self._makes_windows = True
        self._meter = meter
        self._changed = changed
        self._is_due = True
        self._backoff = EmbedderBackoff(callbacks.notify, self.wake)
        # (model, documents) that were checked for missing vectors.
        self._opened: set[tuple[int, Coverage]] = set()
        self._background = BackgroundThread(
            "embedding", self._work, has_work=lambda: self._is_due, may_work=may_run,
            callbacks=callbacks,
        )  # fmt: skip

    def close(self) -> None:
        """Stop after the batch under way; the rest is found again at the next start."""
        self._backoff.close()
        super().close()

    def wake(self) -> None:
        """There may be chunks without vectors, or room to work."""
        self._is_due = True
        super().wake()

    def set_paused(self, is_paused: bool) -> None:
        """Pause after the current batch, or resume, also with models that did not answer."""
        if not is_paused and self._backoff.active():
            self._backoff.reset()
            self.wake()
        super().set_paused(is_paused)

    def set_makes_windows(self, is_wanted: bool) -> None:
        """Embed the windows of passages too, or drop their vectors."""
        if is_wanted is not self._makes_windows:
            self._makes_windows = is_wanted
            self._meter.set_refines(is_wanted)
            self.wake()

    def reset(self) -> None:
        """Another model was chosen for a collection: check all documents, without delays."""
        self._backoff.reset()
        with self._background.condition:
            self._opened.clear()
        self.wake()

    def embed_chunks(
        self,
        chunks: Sequence[Chunk],
        collection: Collection,
        language: str,
        may_go_on: Callable[[], bool],
    ) -> bool:
        """Make the vectors that chunks lack, on the caller's thread; False when it had to stop."""
        index = self._embedders.answering_for(collection, language)
        if index is None:
            return True
        try:
            embedder = ChunkEmbedder(index, self._rechunking_share, self._meter.add_embedded)
            return embedder.embed_chunks(chunks, may_go_on)
        except EmbedderFaultError as error:
            self._backoff.begin(index.spec, error)
            return False

    @property
    def is_backing_off(self) -> bool:
        """True while a model is not asked because it did not answer."""
        return bool(self._backoff.active())

    def _work(self) -> None:
        self._is_due = False
        is_done = False
        try:
            is_done = self._embed_all()
        finally:
            self._is_due = self._is_due or not is_done

    def _embed_all(self) -> bool:
        """Embed what has no vector; False when it had to stop before the end."""
        wanted = self._embedders.wanted(self._backoff.active())
        for spec, error in wanted.failures.items():
            self._note(spec, error)
        self._count(wanted.assigned)
        if finished := self._chunks.finish_without_vectors(wanted.unread):
            self._changed(finished)
        companions = [each for each in wanted.assigned if each.part is Part.COMPANION]
        others = [each for each in wanted.assigned if each.part is not Part.COMPANION]
        # Questions in another language find nothing without the companions, and windows only
        # sharpen what is found.
        return self._embed_these([*others, *companions])

    def _embed_these(self, all_assigned: Sequence[Assigned]) -> bool:
        last = self._refine if self._makes_windows else self._drop_windows
        for stage in (self._embed, last):
            if stage == self._refine and (lacking := _without_windows(all_assigned)):
                self._meter.begin_refining(lacking)
            for assigned in all_assigned:
                spec = assigned.index.spec
                if spec in self._backoff.active():
                    continue
                try:
                    if not stage(assigned):
                        return False
                except EmbedderFaultError as error:
                    self._backoff.begin(spec, error)
        return True

    def _note(self, spec: str, error: AppError) -> None:
        if isinstance(error, EmbedderFaultError):
            self._backoff.begin(spec, error)
        elif error is not self._embedders.fault:  # already shown at the start
            self._backoff.note_failure(spec, error)

    def _count(self, wanted: list[Assigned]) -> None:
        to_mean, to_refine = 0, _without_windows(wanted)
        for assigned in wanted:
            self._open(assigned)
            model_id = assigned.index.vectors.model_id
            contents, missing = self._chunks.vector_counts(model_id, assigned.coverage)
            if assigned.part is Part.BESIDE and contents:
                # Questions need its tokenizer too: load it now, before one waits for it.
                assigned.index.embedder.count_tokens([""])
            if assigned.part is Part.COMPANION:
                to_refine += self._companion_work * missing
            else:
                to_mean += missing
        has_companion = any(assigned.part is Part.COMPANION for assigned in wanted)
        self._meter.set_companion_work(self._companion_work if has_companion else 0)
        self._meter.set_passages_left(to_mean, to_refine)
        if to_mean:
            self._meter.set_files_without_meaning(self._chunks.files_by_words_only())

    @property
    def _companion_work(self) -> int:
        """Steps of a companion for a passage: its vector, and the vectors of its windows."""
        return 2 if self._makes_windows else 1

    def _open(self, assigned: Assigned) -> None:
        """Once for each model of a collection: mark the documents that it has not embedded."""
        key = assigned.index.vectors.model_id, assigned.coverage
        if assigned.part is not Part.COMPANION and key not in self._opened:
            self._opened.add(key)
            self._changed(self._chunks.reopen_documents(*key))

    def _embed(self, assigned: Assigned) -> bool:
        """The vectors of passages; False when it had to stop."""
        model_id, coverage = assigned.index.vectors.model_id, assigned.coverage
        is_companion = assigned.part is Part.COMPANION
        count = self._meter.add_refined if is_companion else self._meter.add_embedded
        embedder = ChunkEmbedder(assigned.index, self._share, count)
        while page := self._chunks.without_vectors(model_id, _PAGE, coverage):
            page.sort(key=lambda row: len(row[1]) + len(row[2]))
            for start in range(0, len(page), _WRITE):
                if not self._background.may_go_on():
                    return False
                embedder.embed(page[start : start + _WRITE], self._background.may_go_on)
                self._backoff.note_success(assigned.index.spec)
                self._finish(assigned)
        self._finish(assigned)
        self._embedders.complete(assigned)
        return True

    def _finish(self, assigned: Assigned) -> None:
        if assigned.part is Part.COMPANION:
            return
        model_id, coverage = assigned.index.vectors.model_id, assigned.coverage
        if finished := self._chunks.finish_documents(model_id, coverage):
            self._changed(finished)
            self._meter.set_files_without_meaning(self._chunks.files_by_words_only())

    def _refine(self, assigned: Assigned) -> bool:
        """The third stage: windows of what has a vector; False when it had to stop."""
        vectors = assigned.index.vectors
        is_multilingual = assigned.index.spec == BUNDLED_MULTILINGUAL
        embedder = WindowEmbedder(
            vectors, assigned.index.embedder, self._share,
            MULTILINGUAL_WORDS if is_multilingual else WORDS,
        )  # fmt: skip
        while page := self._chunks.without_windows(vectors.model_id, _WRITE):
            if not embedder.embed(page, self._may_refine):
                return False
            self._meter.add_refined(len(page))
        return True

    def _may_refine(self) -> bool:
        return self._makes_windows and self._background.may_go_on()

    def _drop_windows(self, assigned: Assigned) -> bool:
        """In place of the third stage while no windows are wanted."""
        vectors = assigned.index.vectors
        total, missing = vectors.window_counts()
        if missing < total:
            vectors.drop_windows()
        return True


def _without_windows(wanted: Sequence[Assigned]) -> int:
    """The contents with a vector but no windows yet; a model may be assigned twice."""
    stores = {each.index.vectors.model_id: each.index.vectors for each in wanted}
    return sum(vectors.window_counts()[1] for vectors in stores.values())
