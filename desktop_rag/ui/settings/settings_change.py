"""One change of the settings: what it is called, and the settings without it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any, cast

from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.ui.foundation.wording import one_line, shortened, value_in_words

_LONGEST_VALUE = 40
_ENDPOINTS = ("endpoint", "other_endpoints")
# The names of the rows where they are set.
_NAMES = {
    "answers.asks_few_files": tr("Ask file by file when nothing is found"),
    "answers.checks_claims": tr("Check each sentence against the sources"),
    "answers.checks_with_model": tr("Also check with the model"),
    "answers.hides_unsupported": tr("Hide unsupported answers"),
    "answers.suggests_questions": tr("Suggest follow-up questions"),
    "answers.uses_memory": tr("Learn from earlier answers"),
    "activity.is_recorded": tr("Record what the app does"),
    "appearance.language": tr("Language"),
    "appearance.scheme": tr("Theme"),
    "appearance.text_percent": tr("Text size"),
    "background.hotkey": tr("Hotkey of the quick ask"),
    "background.notifies": tr("Show notifications"),
    "background.selection_hotkey": tr("Hotkey to ask about selected text"),
    "background.starts_at_login": tr("Start at login, in the background"),
    "background.when_closed": tr("Closing the window"),
    "endpoint.ask_above": tr("Ask before a run above"),
    "endpoint.context_tokens": tr("Context size"),
    "endpoint.model": tr("Model"),
    "endpoint.name": tr("Name"),
    "endpoint.price_in": tr("Input price"),
    "endpoint.price_out": tr("Output price"),
    "endpoint.requests_per_minute": tr("Rate limit"),
    "endpoint.spend_per_day": tr("Daily budget"),
    "endpoint.timeout_s": tr("Timeout"),
    "endpoint.tokens_per_minute": tr("Rate limit"),
    "helper.base_url": tr("Helper endpoint"),
    "helper.model": tr("Helper model"),
    "index.embedding_threads": tr("Processor threads"),
    "index.long_pictures": tr("Many pictures"),
    "index.makes_windows": tr("Also search parts of long passages"),
    "index.max_file_mb": tr("Maximum file size"),
    "index.model_folder": tr("Embedding model"),
    "index.pauses_on_battery": tr("Pause indexing on battery power"),
    "index.reads_pictures": tr("Read text in scanned pages and images"),
    "preferences.language": tr("Language of answers"),
    "preferences.length": tr("Length of answers"),
    "preferences.tone": tr("Tone of answers"),
    "retrieval.later_sources": tr("Follow-up questions"),
    "retrieval.lexical_weight": tr("Balance between words and meaning"),
    "retrieval.passages": tr("Passages per answer"),
    "retrieval.source_tokens": tr("Total length"),
    "server.certificate": tr("Certificate"),
    "server.certificate_key": tr("Its key"),
    "server.exposes_models": tr("Expose the models of the endpoints"),
    "server.host": tr("Reached by"),
    "server.host_names": tr("Names"),
    "server.is_on": tr("Let other programs ask"),
    "server.logs_text": tr("Keep questions and answers in the log"),
    "server.port": tr("Port"),
    "shared_library": tr("Shared library"),
    "transcription.base_url": tr("Server address"),
    "transcription.dialect": tr("Kind of server"),
    "transcription.has_consent": tr("Send my recordings to this server"),
    "transcription.language": tr("Spoken language"),
    "transcription.max_upload_mb": tr("Largest request"),
    "transcription.model": tr("Speech model"),
    "transcription.timeout_s": tr("Timeout"),
}


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """The settings before and after."""

    before: Settings
    after: Settings

    def in_words(self) -> str:
        """`Model: amber → birch`; each setting that changed, with its old value and its new one."""
        said = [*_endpoints_in_words(self.before, self.after)]
        for section in fields(Settings):
            if section.name not in _ENDPOINTS:
                old, new = getattr(self.before, section.name), getattr(self.after, section.name)
                said += _fields_in_words(section.name, old, new)
        return ", ".join(dict.fromkeys(said))

    def turned(self) -> "SettingsChange":
        """The change that undoes it."""
        return SettingsChange(self.after, self.before)

    def made_in(self, present: Settings) -> Settings:
        """Other settings with this change made in them, and nothing else."""
        changed = {
            section.name: _merged(*(getattr(s, section.name) for s in (*self._both, present)))
            for section in fields(Settings)
            if section.name not in _ENDPOINTS
        }
        return replace(present, **changed, **self._endpoints(present))

    @property
    def _both(self) -> tuple[Settings, Settings]:
        return self.before, self.after

    def _endpoints(self, present: Settings) -> dict[str, Any]:
        """Which endpoint is used, and the others, as `replace` takes them."""
        old, new, now = (_by_address(s) for s in (*self._both, present))
        kept = dict(now)
        for address in {*old, *new}:
            if address not in new:
                kept.pop(address, None)
            elif address not in old:
                kept[address] = new[address]
            elif address in now:
                kept[address] = _merged(old[address], new[address], now[address])
        used = present.endpoint.base_url
        if self.before.endpoint.base_url != self.after.endpoint.base_url or used not in kept:
            used = self.after.endpoint.base_url
        others = tuple(each for address, each in kept.items() if address and address != used)
        return {"endpoint": kept.get(used, EndpointSettings()), "other_endpoints": others}


def _by_address(settings: Settings) -> dict[str, EndpointSettings]:
    return {each.base_url: each for each in (settings.endpoint, *settings.other_endpoints)}


def _merged(old: Any, new: Any, now: Any) -> Any:
    """A section with the fields that differ taken over."""
    if old == new:
        return now
    differing = {
        each.name: getattr(new, each.name)
        for each in fields(new)
        if getattr(old, each.name) != getattr(new, each.name)
    }
    return replace(now, **differing)


def _endpoints_in_words(before: Settings, after: Settings) -> list[str]:
    old, new = _by_address(before), _by_address(after)
    gone = [each.label for address, each in old.items() if address and address not in new]
    come = [each.label for address, each in new.items() if address and address not in old]
    said: list[str] = []
    if gone and come:
        said += [_changed(tr("Address"), gone[0], come[0])]
    else:
        said += [tr("Endpoint added: {name}", name=one_line(name)) for name in come]
        said += [tr("Endpoint removed: {name}", name=one_line(name)) for name in gone]
    for address in old.keys() & new.keys():
        named = f" ({one_line(new[address].label)})" if len(after.endpoints) > 1 else ""
        said += [
            words + named for words in _fields_in_words("endpoint", old[address], new[address])
        ]
    if not (gone or come) and before.endpoint.base_url != after.endpoint.base_url:
        names = (before.endpoint.label, after.endpoint.label)
        said += [_changed(tr("Endpoint for answers"), *names)]
    return said


def _fields_in_words(section: str, old: Any, new: Any) -> Sequence[str]:
    if old == new:
        return ()
    if section in _NAMES:
        return (_NAMES[section],)
    return [
        _changed(_NAMES.get(f"{section}.{each.name}", each.name), *values)
        for each in fields(new)
        if (values := (getattr(old, each.name), getattr(new, each.name)))[0] != values[1]
    ]


def _changed(name: str, old: object, new: object) -> str:
    return f"{name}: {_value(old)} → {_value(new)}"


def _value(value: object) -> str:
    if isinstance(value, bool):
        return tr("on") if value else tr("off")
    if isinstance(value, Enum):
        return value_in_words(value)
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        value = ", ".join(map(str, cast("tuple[object, ...]", value)))
    return shortened(one_line(str(value)), _LONGEST_VALUE) or tr("nothing")
