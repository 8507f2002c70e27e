"""The chat models in use, a client for each endpoint setting. Worker threads, keyring, network."""

import logging
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from threading import Event

from desktop_rag.activity.activity_event import Purpose
from desktop_rag.activity.recorder import Recorder
from desktop_rag.core.changes import Changes
from desktop_rag.core.domain import EndpointReport, ListedModel
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.model_profile import ExaminationChanged, ModelProfile
from desktop_rag.core.question import Setup
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.models.answer_priority import AnswerPriority
from desktop_rag.models.endpoints.client.allowances import Allowances, ProfileBook
from desktop_rag.models.endpoints.client.chat_client import ChatClient
from desktop_rag.models.endpoints.client.chat_stream import Usage
from desktop_rag.models.endpoints.client.endpoint_requests import EndpointRequests
from desktop_rag.models.endpoints.endpoint_check import LocalServer, probe_endpoint, running_servers
from desktop_rag.models.endpoints.examination import Examination
from desktop_rag.models.ports import ChatModel, OwnServer
from desktop_rag.models.system_keyring import KeyStore

log = logging.getLogger(__name__)


class ChatModels:
    """The main model, the background model, and their endpoints.

    A model in use is examined once, on a thread of its own; answers go first.
    """

    def __init__(
        self,
        keys: KeyStore,
        settings: Settings,
        profiles: ProfileBook | None = None,
        allowances: Allowances | None = None,
        recorder: Recorder | None = None,
        changes: Changes | None = None,
        *,
        own_server: OwnServer | None = None,
    ) -> None:
        """Without `profiles` and `allowances`, their contents are lost when the app ends.

        An ExaminationChanged is published to `changes` when an examination begins or ends.
        `own_server`, closed with the models, gets the requests to OWN_ADDRESS.
        """
        self._keys = keys
        self._settings = settings
        self._profiles = profiles or ProfileBook()
        self._stopping = Event()
        self._priority = AnswerPriority()
        self.changes = changes or Changes()
        self._allowances = allowances or Allowances()
        self.recorder = recorder or Recorder()
        self.own_server = own_server
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._waiting: list[EndpointSettings] = []
        self._examiner: threading.Thread | None = None
        self._examines_in_background = False
        # All clients so far, the current ones last: an earlier one may still be answering.
        self._clients: list[tuple[EndpointSettings, str, ChatClient]] = []

    def apply(self, settings: Settings) -> None:
        """Use these settings from the next call on."""
        self._settings = settings

    @property
    def settings(self) -> Settings:
        """The settings from the next call on."""
        return self._settings

    @property
    def endpoint(self) -> EndpointSettings:
        """The endpoint for answers, set or not."""
        return self._settings.endpoint

    def main(self, setup: Setup | None = None) -> ChatModel | None:
        """The model that answers questions, by this setup if given; None without endpoint."""
        client = self._used((setup.settings if setup else self._settings).endpoint)
        return client.serving(Purpose.ANSWER, setup.sent) if client and setup else client

    def helper(self, setup: Setup | None = None) -> ChatModel | None:
        """The model for background requests; None without an endpoint, or if it is a weak one."""
        settings = setup.settings if setup else self._settings
        client = self._used(settings.helping_endpoint) if settings.endpoint.is_set else None
        if not client or client.is_weak:
            return None
        return client.serving(Purpose.HELPER, setup.sent if setup else None)

    def _used(self, endpoint: EndpointSettings) -> ChatClient | None:
        if not endpoint.is_set:
            return None
        if self._examines_in_background:
            self._examine_later(self.priced(endpoint))
        return self._client(endpoint)

    def warm_up(self) -> None:
        """Load the client of the endpoint, if one is set, before the first question needs it.

        From now on, each model in use is examined once in the background.
        """
        self._examines_in_background = True
        try:
            if model := self.main():
                model.warm_up()
        except AppError as error:
            log.info("the endpoint cannot be used: %s", error.title)  # the question says so

    def stop(self) -> None:
        """Stop background requests to endpoints. Answers have a `cancel` of their own."""
        self._stopping.set()
        self._priority.stop()

    def close(self) -> None:
        """End examinations, and close the connections to endpoints. No answer may be under way."""
        self._priority.stop()
        with self._lock:
            self._waiting.clear()
            examiner = self._examiner
        if examiner:
            examiner.join()
        for _, _, client in self._clients:
            client.close()
        self._clients.clear()
        if self.own_server:
            self.own_server.close()

    def test_endpoint(self, endpoint: EndpointSettings, key: str = "") -> EndpointReport:
        """Ask the endpoint for its models and a first token; an empty key means the stored one."""
        key = key or self._keys.get(endpoint.base_url)
        report = probe_endpoint(endpoint, key, self._stopping, self.recorder, self.own_server)
        if report.listed:
            self._profiles.put_offer(endpoint.base_url, report.listed)
        return report

    def offer(self, base_url: str) -> Sequence[ListedModel]:
        """The models that the endpoint offered in its last test, as its list describes them."""
        return self._profiles.offer(base_url)

    def offered(self, base_url: str) -> Sequence[str]:
        """The names of these models."""
        return tuple(model.name for model in self.offer(base_url))

    def examine(self, endpoint: EndpointSettings, key: str = "") -> ModelProfile:
        """Measure and keep the model's limits and abilities. AppError when it does not answer."""
        return self._examined(self.priced(endpoint), key, is_asked=True)

    def profile(self, endpoint: EndpointSettings) -> ModelProfile:
        """The known limits and abilities of the endpoint's model."""
        return self._profiles.get(endpoint.base_url, endpoint.model)

    def spent_today(self, base_url: str) -> float:
        """The cost of the endpoint today, by the prices that were entered."""
        return self._allowances.spent_today(base_url)

    def tokens_counted(self) -> Usage:
        """The tokens that all endpoints have counted since the app started."""
        return self._allowances.tokens_counted()

    def running_servers(self) -> Sequence[LocalServer]:
        """The model servers running on this computer."""
        return running_servers(self._stopping)

    def has_key(self, base_url: str) -> bool:
        """True when there is a key for this endpoint."""
        return bool(self._keys.get(base_url))

    def save_key(self, base_url: str, key: str) -> bool:
        """Store the key (an empty one deletes it); False when kept for this session only."""
        self.recorder.setting("API key")
        if not key:
            self._keys.delete(base_url)
            return True
        return self._keys.save(base_url, key)

    def _client(self, endpoint: EndpointSettings) -> ChatClient:
        key = self._keys.get(endpoint.base_url)
        endpoint = self.priced(endpoint)
        for known, known_key, client in reversed(self._clients):
            if (known, known_key) == (endpoint, key):
                return client
        client = ChatClient(
            endpoint, key, self._profiles, self._priority, self._allowances, self.recorder,
            own_server=self.own_server,
        )  # fmt: skip
        self._clients.append((endpoint, key, client))
        return client

    def with_prices(self, settings: Settings) -> Settings:
        """The settings with the prices of the list of models, where the person entered none."""
        return replace(settings, endpoint=self.priced(settings.endpoint))

    def priced(self, endpoint: EndpointSettings) -> EndpointSettings:
        """The endpoint with the prices of its list, where the person entered none."""
        if endpoint.price_in or endpoint.price_out:
            return endpoint
        listed = (m for m in self.offer(endpoint.base_url) if m.name == endpoint.model)
        if not (model := next(listed, None)):
            return endpoint
        return replace(endpoint, price_in=model.price_in or 0.0, price_out=model.price_out or 0.0)

    # --- examinations ----------------------------------------------------------------------------

    def _examine_later(self, endpoint: EndpointSettings) -> None:
        """Examine a model in the background, unless it was examined or is queued."""
        with self._lock:
            if self._is_known(endpoint) or endpoint in self._waiting:
                return
            self._waiting.append(endpoint)
            if self._examiner is None:
                self._examiner = threading.Thread(target=self._work, name="examiner", daemon=True)
                self._examiner.start()

    def _examined(
        self, endpoint: EndpointSettings, key: str = "", *, is_asked: bool
    ) -> ModelProfile:
        """Examine a model on this thread, one at a time; its earlier profile stays on an error."""
        with self._turn:
            self._report(endpoint, is_running=True)
            try:
                key = key or self._keys.get(endpoint.base_url)
                made = EndpointRequests(
                    endpoint, key, self._allowances, self.recorder,
                    purpose=Purpose.EXAMINATION, is_patient=True, own_server=self.own_server,
                )  # fmt: skip
                with closing(made) as requests:
                    profile = Examination(requests, self._priority).run(is_asked=is_asked)
                self._profiles.put(endpoint.base_url, endpoint.model, profile)
            finally:
                self._report(endpoint, is_running=False)
        return profile

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._examiner = None
                    return
                endpoint = self._waiting[0]
            try:
                if not self._is_known(endpoint):
                    self._examined(endpoint, is_asked=False)
            except AppError as error:
                log.info("the model was not examined: %s", error.title)
            except Cancelled:
                log.info("the examination was cancelled")
            with self._lock:
                self._waiting = [other for other in self._waiting if other != endpoint]

    def _is_known(self, endpoint: EndpointSettings) -> bool:
        return self._profiles.get(endpoint.base_url, endpoint.model).is_examined

    def _report(self, endpoint: EndpointSettings, *, is_running: bool) -> None:
        event = ExaminationChanged(endpoint.base_url, endpoint.model, is_running)
        self.changes.publish(event)
