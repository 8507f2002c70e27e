"""Gives chunks their vectors in the background: searchable by meaning. Owns one named thread.

The queue is the store itself (chunks without a vector), so nothing is lost by a crash and equal
content is embedded once.
"""

from collections.abc import Callable

from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Stage
from desktop_rag.ingest.background import Background
from desktop_rag.ingest.chunk_embedder import ChunkEmbedder
from desktop_rag.ingest.progress import ProgressMeter
from desktop_rag.ingest.window_embedder import WindowEmbedder

# A page is sorted by length, so that a batch has little padding; a write groups batches, because a
# commit waits for the disk.
_PAGE = 4096
_WRITE = 128


class EmbeddingQueue:
    """Embeds what has no vector yet, whenever the files that wait have been read."""

    def __init__(
        self,
        chunk_embedder: ChunkEmbedder,
        window_embedder: WindowEmbedder,
        meter: ProgressMeter,
        *,
        may_run: Callable[[], bool],
        finished: Callable[[list[str]], None],
        completed: Callable[[], None],
        rested: Callable[[], None],
        stopped: Callable[[AppError], None],
    ) -> None:
        """`may_run` says whether reading leaves room; `finished` gets ids of documents that
        became searchable by meaning; `completed` hears that every chunk has its vector, `rested`
        that nothing is left at all, `stopped` why the store refused. All on this thread.
        """
        self._vectors = chunk_embedder.vectors
        self._chunk_embedder = chunk_embedder
        self._window_embedder = window_embedder
        self._makes_windows = True
        self._meter = meter
        self._finished = finished
        self._completed = completed
        self._is_due = True
        self._background = Background(
            "embedding", self._work, has_work=lambda: self._is_due, may_work=may_run,
            stopped=stopped, rested=rested,
        )  # fmt: skip

    def start(self) -> None:
        """Begin with what lacks vectors from before."""
        self._background.start()

    def close(self) -> None:
        """Stop after the batch under way; the rest is found again at the next start."""
        self._background.close()

    def wake(self) -> None:
        """There may be chunks without vectors, or room to work."""
        with self._background.condition:
            self._is_due = True
        self._background.wake()

    def set_paused(self, is_paused: bool) -> None:
        """Hold after the batch in work, or go on."""
        self._background.set_paused(is_paused)

    def make_windows(self, is_wanted: bool) -> None:
        """Whether passages also get the vectors of their windows; those there are stay."""
        if is_wanted is not self._makes_windows:
            self._makes_windows = is_wanted
            self.wake()

    @property
    def is_idle(self) -> bool:
        """Nothing is known to be left to embed."""
        return self._background.is_idle

    def _work(self) -> None:
        self._is_due = False
        is_done = False
        try:
            is_done = self._embed_all()
        finally:
            self._is_due = self._is_due or not is_done

    def _embed_all(self) -> bool:
        """Embed what has no vector; False when it had to stop before the end."""
        total, missing = self._vectors.counts()
        self._meter.set_chunks(total, total - missing)
        while page := self._vectors.missing(_PAGE):
            self._meter.set_stage(Stage.EMBEDDING)
            page.sort(key=lambda row: len(row[1]) + len(row[2]))
            for start in range(0, len(page), _WRITE):
                if not self._background.may_go_on():
                    return False
                self._chunk_embedder.embed(page[start : start + _WRITE], self._background.may_go_on)
                self._finished(self._vectors.finish_documents())
        self._finished(self._vectors.finish_documents())
        self._vectors.prune()
        self._completed()
        return self._refine_all() if self._makes_windows else True

    def _refine_all(self) -> bool:
        """The third stage: windows of what has a vector; False when it had to stop."""
        total, missing = self._vectors.window_counts()
        if missing:
            self._meter.set_stage(Stage.REFINING)
            self._meter.set_chunks(total, total - missing)
        while page := self._vectors.missing_windows(_WRITE):
            if not self._window_embedder.embed(page, self._background.may_go_on):
                return False
            self._meter.add_refined(len(page))
        return True
