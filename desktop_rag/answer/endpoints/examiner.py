"""Examines each model in use once in the background, and again on request.

It owns a thread while it has work. Answers take priority over it (`answer_priority`).
"""

import logging
import threading
from collections.abc import Callable
from contextlib import closing

from desktop_rag.activity.activity_event import Purpose
from desktop_rag.activity.recorder import Recorder
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.model_profile import ExaminationChanged, ModelProfile
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.models.answer_priority import AnswerPriority
from desktop_rag.models.endpoints.client.endpoint_requests import EndpointRequests
from desktop_rag.models.endpoints.client.profile_book import ProfileBook
from desktop_rag.models.endpoints.client.rate_limits import Allowances
from desktop_rag.models.endpoints.examination import Examination
from desktop_rag.models.endpoints.keys import KeyStore

log = logging.getLogger(__name__)


class Examiner:
    """One examination at a time. Any thread."""

    def __init__(
        self,
        keys: KeyStore,
        profiles: ProfileBook,
        priority: AnswerPriority,
        allowances: Allowances,
        notify: Callable[[ExaminationChanged], None],
        recorder: Recorder,
    ) -> None:
        """`notify` is called on the examining thread when one begins and when it ends."""
        self._keys = keys
        self._profiles = profiles
        self._priority = priority
        self._allowances = allowances
        self._notify_listeners = notify
        self._recorder = recorder
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._waiting: list[EndpointSettings] = []
        self._thread: threading.Thread | None = None

    def begin(self, endpoint: EndpointSettings) -> None:
        """Examine a model in the background, unless it was examined or is queued."""
        with self._lock:
            if self._is_known(endpoint) or endpoint in self._waiting:
                return
            self._waiting.append(endpoint)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="examiner", daemon=True)
                self._thread.start()

    def examine(self, endpoint: EndpointSettings, key: str = "") -> ModelProfile:
        """Examine a model now, on this thread; an empty key means the stored one.

        Raises:
            AppError: when it does not answer. Its earlier profile stays.
        """
        with self._turn:
            self._report(endpoint, is_running=True)
            try:
                key = key or self._keys.get(endpoint.base_url)
                made = EndpointRequests(
                    endpoint, key, self._allowances, self._recorder,
                    purpose=Purpose.EXAMINATION, is_patient=True,
                )  # fmt: skip
                with closing(made) as requests:
                    profile = Examination(requests, self._priority).run()
                self._profiles.put(endpoint.base_url, endpoint.model, profile)
            finally:
                self._report(endpoint, is_running=False)
        return profile

    def close(self) -> None:
        """Stop the current examination and wait for the thread. Nothing is examined afterwards."""
        self._priority.stop()
        with self._lock:
            self._waiting.clear()
            thread = self._thread
        if thread:
            thread.join()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
                endpoint = self._waiting[0]
            try:
                if not self._is_known(endpoint):
                    self.examine(endpoint)
            except AppError as error:
                log.info("the model was not examined: %s", error.title)
            except Cancelled:
                log.info("the examination was cancelled")
            with self._lock:
                self._waiting = [other for other in self._waiting if other != endpoint]

    def _is_known(self, endpoint: EndpointSettings) -> bool:
        return self._profiles.get(endpoint.base_url, endpoint.model).is_examined

    def _report(self, endpoint: EndpointSettings, *, is_running: bool) -> None:
        self._notify_listeners(ExaminationChanged(endpoint.base_url, endpoint.model, is_running))
