"""Runs, comparisons and trials while the app is open."""

from functools import partial

from desktop_rag.app import Services, build_services
from desktop_rag.features.evaluation.experiments.experiment_store import ExperimentStore
from desktop_rag.features.evaluation.experiments.run_worker import RunWorker
from desktop_rag.registry import WingServices
from desktop_rag.scratch_library import scratch_library


class EvaluationServices(WingServices):
    """`worker` answers the questions of runs, and has all that is stored."""

    def __init__(self, services: Services) -> None:
        engine, chat, library = services.engine, services.chat, services.library
        scratch = partial(scratch_library, build_services, services.home)
        self.worker = RunWorker(engine.store(ExperimentStore), chat, library, scratch)

    def start(self) -> None:
        """Begin to answer what waits."""
        self.worker.start()

    def close(self) -> None:
        """Give up the answer under way; its question is asked at the next start."""
        self.worker.close()
