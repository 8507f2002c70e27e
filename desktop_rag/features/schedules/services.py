"""Scheduled questions and notes while the app is open."""

from desktop_rag.app import Services
from desktop_rag.core.errors import put_off
from desktop_rag.features.schedules.notes.notes import Notes
from desktop_rag.features.schedules.schedule_runner import ScheduleRunner
from desktop_rag.features.schedules.schedule_store import ScheduleStore
from desktop_rag.features.schedules.scheduled_questions import ScheduledQuestions
from desktop_rag.registry import WingServices


class ScheduleServices(WingServices):
    """`questions` keeps the scheduled questions, `runner` asks them, `notes` writes notes."""

    def __init__(self, services: Services) -> None:
        self._store = services.engine.store(ScheduleStore)
        self.questions = ScheduledQuestions(self._store, services.chat, services.now)
        self.runner = ScheduleRunner(self.questions, services.library, services.now)
        self.notes = Notes(services.home.notes, services.chat, services.library)
        self._is_started = False

    def start(self) -> None:
        """Begin to ask what is due, once."""
        if not self._is_started:
            self._is_started = True
            with put_off("deleted scheduled questions"):
                self._store.purge_deleted()
            self.runner.start()

    def close(self) -> None:
        """Give up the run under way; it is due again."""
        self.runner.close()
