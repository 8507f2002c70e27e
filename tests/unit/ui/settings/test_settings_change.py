"""Changes of the settings in words, and undone without what came since."""

from dataclasses import fields, replace

import pytest

from desktop_rag.core.settings import (
    AnswerSettings,
    AppearanceSettings,
    ColourScheme,
    EndpointSettings,
    HelperSettings,
    IndexSettings,
    LongReading,
    Settings,
)
from desktop_rag.ui.settings.edited_settings import SettingsChange

AMBER = EndpointSettings("http://localhost:1/v1", "amber")
BIRCH = EndpointSettings("http://localhost:2/v1", "birch")
BOTH = Settings(endpoint=AMBER, other_endpoints=(BIRCH,))


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (BOTH.with_endpoint(AMBER.base_url, replace(AMBER, model="oak")),
         "Model: amber → oak (localhost:1)"),
        (BOTH.using(BIRCH.base_url), "Endpoint for answers: localhost:1 → localhost:2"),
        (BOTH.without(BIRCH.base_url), "Endpoint removed: localhost:2"),
        (BOTH.with_endpoint(BIRCH.base_url, replace(BIRCH, base_url="http://localhost:3/v1")),
         "Address: localhost:2 → localhost:3"),
        (replace(BOTH, answers=AnswerSettings(asks_few_files=False)),
         "Read few files in full when passages don't answer: on → off"),
        (replace(BOTH, helper=HelperSettings(BIRCH.base_url, "")),
         "Helper endpoint: nothing → http://localhost:2/v1"),
        (replace(BOTH, appearance=AppearanceSettings(ColourScheme.DARK, language="de")),
         "Theme: Same as system → Dark, Language: Same as system → Deutsch"),
        (replace(BOTH, index=IndexSettings(long_pictures=LongReading.WAIT)),
         "Many pictures: Ask → Let them wait"),
        (replace(BOTH, index=IndexSettings(max_file_mb=7)), "Maximum file size: 200 → 7"),
    ],
)  # fmt: skip
def test_a_change_is_named_and_undone_alone(after: Settings, said: str) -> None:
    change = SettingsChange(BOTH, after)
    assert change.in_words() == said
    assert change.turned().made_in(after) == BOTH
    # Something else was changed in the meantime.
    since = replace(after, answers=replace(after.answers, uses_memory=False))
    kept = change.turned().made_in(since)
    assert kept == replace(BOTH, answers=replace(BOTH.answers, uses_memory=False))


def test_another_language_waits_for_the_next_start() -> None:
    german = replace(BOTH, appearance=AppearanceSettings(language="de"))
    assert SettingsChange(BOTH, german).waits_for_a_start
    dark = replace(BOTH, appearance=AppearanceSettings(ColourScheme.DARK))
    assert not SettingsChange(BOTH, dark).waits_for_a_start


def test_an_endpoint_removed_since_stays_removed() -> None:
    change = SettingsChange(BOTH, BOTH.with_endpoint(BIRCH.base_url, replace(BIRCH, model="oak")))
    since = change.after.without(BIRCH.base_url)
    assert change.turned().made_in(since) == since


def test_the_first_address_is_undone() -> None:
    change = SettingsChange(Settings(), Settings().with_endpoint("", AMBER))
    assert change.turned().made_in(change.after) == Settings()
    assert change.in_words() == "Endpoint added: localhost:1"


def test_every_setting_that_can_be_chosen_has_a_name() -> None:
    """A name with a dot or an underscore is one of the code."""
    pages = ("answers", "activity", "appearance", "preferences", "retrieval", "helper", "endpoint")
    for section in pages:
        before = getattr(Settings(), section)
        for each in fields(before):
            old = getattr(before, each.name)
            new = not old if isinstance(old, bool) else f"{old}!" if isinstance(old, str) else 99
            if (section, each.name) == ("endpoint", "base_url"):
                continue
            changed = replace(Settings(), **{section: replace(before, **{each.name: new})})
            said = SettingsChange(Settings(), changed).in_words()
            assert "_" not in said.split(":")[0], said
