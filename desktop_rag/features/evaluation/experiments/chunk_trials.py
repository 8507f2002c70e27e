"""Compares chunk settings in the background, keeps the results, and puts one to use.

Owns a thread while a comparison is under way. A comparison does not outlive the app: what it has
found is stored once it is complete.
"""

import threading

from desktop_rag.answer.chat import Chat
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.language.translation import tr
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.features.evaluation.experiments.answerer import OpenScratch
from desktop_rag.features.evaluation.experiments.chunk_measurement import (
    ChunkMeasurement,
    ChunkPlan,
    TrialControl,
)
from desktop_rag.features.evaluation.experiments.experiment_store import ExperimentStore
from desktop_rag.features.evaluation.values.chunk_trial import ChunkComparison
from desktop_rag.features.evaluation.values.experiment_events import (
    ChunkTrialChanged,
    SetsChanged,
    TrialStage,
)
from desktop_rag.ingest.library import Library


class ChunkTrials:
    """One comparison at a time; the latest of each collection is kept."""

    def __init__(
        self, store: ExperimentStore, chat: Chat, library: Library, open_scratch: OpenScratch
    ) -> None:
        self._store = store
        self._chat = chat
        self._library = library
        self._open_scratch = open_scratch
        self._publish = chat.changes.publish
        self._beginning = threading.Lock()
        self._control: TrialControl | None = None
        self._thread: threading.Thread | None = None

    def begin(self, plan: ChunkPlan) -> None:
        """Compare in the background. AppError while another comparison is under way."""
        measurement = ChunkMeasurement(plan, self._library, self._chat, self._open_scratch)
        with self._beginning:
            if self.progress.is_under_way:
                hint = "Wait for it, or cancel it."
                raise AppError("Chunks are being compared already.", hint)
            self._control = control = TrialControl(self._publish)
            self._thread = threading.Thread(
                target=self._work, args=(measurement, control), name="chunk-trials", daemon=True
            )
            self._thread.start()

    @property
    def progress(self) -> ChunkTrialChanged:
        """The progress of the comparison, or the end of the last one. Cheap."""
        return self._control.progress if self._control else ChunkTrialChanged(TrialStage.IDLE)

    def pause(self, *, is_wanted: bool) -> None:
        """Pause the comparison after its present step, or resume it."""
        if self._control and self.progress.is_under_way:
            self._control.pause(is_wanted=is_wanted)

    def cancel(self) -> None:
        """Cancel the comparison; nothing of it is kept."""
        if self._control:
            self._control.set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the comparison to end; False when it did not in this time."""
        if self._thread:
            self._thread.join(timeout_s)
        return not (self._thread and self._thread.is_alive())

    def close(self) -> None:
        """Cancel the comparison and wait for its end. Idempotent."""
        self.cancel()
        self.wait()

    def latest(self, collection_id: str) -> ChunkComparison | None:
        """The last comparison over this collection."""
        found = [c for c in self._store.comparisons() if c.collection_id == collection_id]
        return found[-1] if found else None

    def use(self, collection_id: str, chunking: ChunkSettings) -> ChunkSettings:
        """Use these chunks for a collection; returns its former settings, to undo that.

        The old chunks answer until the new ones are there. AppError when the collection is gone.
        """
        for each in self._library.collections.all():
            if each.collection_id == collection_id:
                self._library.collections.set_chunking(collection_id, chunking)
                self._publish(SetsChanged())
                return each.chunking
        raise AppError("This collection is gone.", "Choose another one.")

    def _work(self, measurement: ChunkMeasurement, control: TrialControl) -> None:
        try:
            found = measurement.run(control)
            self._keep(found)
            control.end(TrialStage.DONE)
        except Cancelled:
            control.end(TrialStage.CANCELLED)
        except AppError as error:
            control.end(TrialStage.FAILED, error.title, error.hint)
        except BaseException:
            # The thread's excepthook shows it; the page must not wait for ever.
            control.end(TrialStage.FAILED, tr("Chunks could not be compared."))
            raise

    def _keep(self, found: ChunkComparison) -> None:
        for each in self._store.comparisons():
            if each.collection_id == found.collection_id:
                self._store.remove_comparison(each.comparison_id)
        self._store.put_comparison(found)
