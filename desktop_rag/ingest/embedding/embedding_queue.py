"""Gives chunks their vectors in the background: searchable by meaning. Owns one named thread.

The queue is the store itself (chunks without a vector), so nothing is lost by a crash and equal
content is embedded once. Each model embeds for its own collections, one model after the other.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from desktop_rag.core.domain import Collection
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.core.parsed import Chunk
from desktop_rag.ingest.background.background_thread import BackgroundThread
from desktop_rag.ingest.background.progress import ProgressMeter
from desktop_rag.ingest.embedding.chunk_embedder import ChunkEmbedder
from desktop_rag.ingest.embedding.embedder_backoff import EmbedderBackoff
from desktop_rag.ingest.embedding.embedder_registry import Assigned, EmbedderRegistry, Part
from desktop_rag.ingest.embedding.window_embedder import WindowEmbedder
from desktop_rag.ingest.embedding.windows import MULTILINGUAL_WORDS, WORDS
from desktop_rag.models.answer_priority import AnswerPriority, FairShare
from desktop_rag.models.embedding.bundled_models import BUNDLED_MULTILINGUAL
from desktop_rag.models.ports import EmbedderFaultError

if TYPE_CHECKING:
    from desktop_rag.store.contract.chunks import Coverage

# A page is sorted by length, as a server may pad the texts of a batch; a write groups batches,
# because a commit waits for the disk.
_PAGE = 4096
_WRITE = 128


class EmbeddingQueue:
    """Embeds what has no vector yet, whenever the files that wait have been read."""

    def __init__(
        self,
        embedders: EmbedderRegistry,
        priority: AnswerPriority,
        meter: ProgressMeter,
        *,
        may_run: Callable[[], bool],
        changed: Callable[[list[str]], None],
        became_idle: Callable[[], None],
        notify: Callable[[Notice], None],
        failed: Callable[[AppError], None],
    ) -> None:
        """`may_run` is true while no file is being read. On this thread `changed` is called with
        ids of documents that became searchable by meaning or no longer are, `became_idle` when
        nothing is left, `notify` when a model can't be used, and `failed` on a store's error.
        """
        self._embedders = embedders
        self._chunks = embedders.chunks
        self._share = FairShare(priority)
        self._rechunking_share = FairShare(priority)
        self._makes_windows = True
        self._meter = meter
        self._changed = changed
        self._is_due = True
        self._backoff = EmbedderBackoff(notify, self.wake)
        # (model, documents) that were checked for missing vectors.
        self._opened: set[tuple[int, Coverage]] = set()
        self._background = BackgroundThread(
            "embedding", self._work, has_work=lambda: self._is_due, may_work=may_run,
            failed=failed, became_idle=became_idle,
        )  # fmt: skip

    def start(self) -> None:
        """Begin with what lacks vectors from before."""
        self._background.start()

    def close(self) -> None:
        """Stop after the batch under way; the rest is found again at the next start."""
        self._backoff.close()
        self._background.close()

    def wake(self) -> None:
        """There may be chunks without vectors, or room to work."""
        with self._background.condition:
            self._is_due = True
        self._background.wake()

    def set_paused(self, is_paused: bool) -> None:
        """Pause after the current batch, or resume, also with models that did not answer."""
        if not is_paused and self._backoff.active():
            self._backoff.reset()
            self.wake()
        self._background.set_paused(is_paused)

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
        """Make the vectors that chunks of a document in a language lack, on the caller's thread;
        False when it had to stop.
        """
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
    def is_idle(self) -> bool:
        """True when nothing is known to be left to embed now."""
        return self._background.is_idle

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
                # Questions need its tokenizer too: read now, while nobody waits for one.
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
        """What a companion makes for a passage: its vector, and those of its windows."""
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
