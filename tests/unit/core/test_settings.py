"""R-15: settings that are whole, damaged, unknown or of the wrong kind."""

from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.files.settings_file import load_settings, save_settings
from desktop_rag.core.settings import (
    EndpointSettings,
    HelperSettings,
    LaterSources,
    RetrievalSettings,
    Settings,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


CHOSEN = replace(
    Settings(),
    endpoint=EndpointSettings("http://localhost:1/v1", "small"),
    retrieval=RetrievalSettings(later_sources=LaterSources.BOTH),
)


def test_no_file_means_defaults(path: Path) -> None:
    assert load_settings(path) == (Settings(), [])


def test_what_is_saved_is_loaded(path: Path) -> None:
    save_settings(path, CHOSEN)
    assert load_settings(path) == (CHOSEN, [])


def test_unknown_keys_and_comments_survive(path: Path) -> None:
    path.write_text('# mine\nfuture = 1\n[endpoint]\nmodel = "small"\nnew = "x"\n')
    save_settings(path, CHOSEN)
    text = path.read_text()
    assert "# mine" in text
    assert "future = 1" in text
    assert 'new = "x"' in text


@pytest.mark.parametrize("broken", [b"", b"\x00" * 50, b"[endpoint", b"\xff\xfe"])
def test_a_broken_file_falls_back_to_the_one_before(path: Path, broken: bytes) -> None:
    save_settings(path, CHOSEN)
    save_settings(path, replace(CHOSEN, endpoint=EndpointSettings("http://localhost:2/v1", "b")))
    path.write_bytes(broken)
    settings, notices = load_settings(path)
    assert settings == CHOSEN
    assert len(notices) == 2


def test_a_broken_file_without_backup_means_defaults_and_a_notice(path: Path) -> None:
    path.write_bytes(b"[")
    settings, notices = load_settings(path)
    assert settings == Settings()
    assert notices


def test_values_of_the_wrong_kind_are_told_and_the_others_stand(path: Path) -> None:
    path.write_text(
        'index = 3\n[endpoint]\nmodel = "small"\ncontext_tokens = "many"\n'
        '[retrieval]\nlater_sources = "stale"\n'
    )
    settings, [notice] = load_settings(path)
    assert settings.retrieval.later_sources is LaterSources.FRESH
    assert "retrieval.later_sources" in notice.title
    assert settings.endpoint.model == "small"
    assert settings.endpoint.context_tokens == EndpointSettings().context_tokens
    assert "endpoint.context_tokens" in notice.title
    assert "index" in notice.title


HERE = EndpointSettings("http://localhost:1/v1", "small", name="Desk")
THERE = EndpointSettings("https://api.example.com/v1", "large")
TWO = Settings(endpoint=HERE, other_endpoints=(THERE,))


def test_several_endpoints_and_the_helper_are_saved(path: Path) -> None:
    helper = HelperSettings(THERE.base_url, "tiny")
    third = replace(HERE, base_url="http://localhost:3/v1", timeout_s=5.0)
    settings = replace(TWO, other_endpoints=(THERE, third), helper=helper)
    save_settings(path, settings)
    assert load_settings(path) == (settings, [])
    save_settings(path, HERE_ALONE)
    assert load_settings(path) == (HERE_ALONE, [])


HERE_ALONE = Settings(endpoint=HERE)


def test_the_single_endpoint_of_an_earlier_version_stays(path: Path) -> None:
    path.write_text(
        '[endpoint]\nbase_url = "http://localhost:1/v1"\nmodel = "small"\n'
        "context_tokens = 16384\ntimeout_s = 60.0\n"
    )
    settings, notices = load_settings(path)
    assert notices == []
    assert settings.endpoint == EndpointSettings("http://localhost:1/v1", "small", 16384, 60.0)
    assert settings.endpoints == (settings.endpoint,)


def test_what_is_wrong_with_one_endpoint_leaves_the_others(path: Path) -> None:
    path.write_text(
        '[[other_endpoints]]\nbase_url = "http://a/v1"\nmodel = 5\n'
        '[[other_endpoints]]\nmodel = "without an address"\n'
        '[[other_endpoints]]\nbase_url = "http://b/v1"\nmodel = "b"\n'
    )
    settings, [notice] = load_settings(path)
    assert [(e.base_url, e.model) for e in settings.other_endpoints] == [
        ("http://a/v1", ""),
        ("http://b/v1", "b"),
    ]
    assert "other_endpoints.model" in notice.title


def test_endpoints_are_listed_by_what_they_are_called() -> None:
    assert [e.label for e in TWO.endpoints] == ["api.example.com", "Desk"]
    assert Settings().endpoints == ()


def test_another_endpoint_is_used_and_the_first_is_kept() -> None:
    used = TWO.using(THERE.base_url, "larger")
    assert used.endpoint == replace(THERE, model="larger")
    assert used.other_endpoints == (HERE,)
    excerpts = used.using("")
    assert not excerpts.endpoint.is_set
    assert len(excerpts.endpoints) == 2
    assert excerpts.using(HERE.base_url).endpoint == HERE


def test_endpoints_are_added_changed_and_removed() -> None:
    assert Settings().with_endpoint("", HERE) == HERE_ALONE
    assert HERE_ALONE.with_endpoint("", THERE) == TWO
    renamed = replace(THERE, name="Cloud")
    assert TWO.with_endpoint(THERE.base_url, renamed).other_endpoints == (renamed,)
    assert TWO.with_endpoint(THERE.base_url, EndpointSettings()).other_endpoints == ()
    assert TWO.without(THERE.base_url) == HERE_ALONE
    left = TWO.without(HERE.base_url)
    assert not left.endpoint.is_set
    assert left.endpoints == (THERE,)
    # While answers are excerpts by choice, a new endpoint does not change that.
    assert not left.with_endpoint("", HERE).endpoint.is_set


def test_the_helper_is_the_one_that_answers_unless_another_is_named() -> None:
    assert TWO.helping_endpoint == HERE
    named = replace(TWO, helper=HelperSettings(THERE.base_url, "tiny"))
    assert named.helping_endpoint == replace(THERE, model="tiny")
    assert replace(TWO, helper=HelperSettings(THERE.base_url)).helping_endpoint == HERE
    assert named.without(THERE.base_url).helping_endpoint == HERE
    moved = replace(THERE, base_url="http://new/v1")
    assert named.with_endpoint(THERE.base_url, moved).helping_endpoint.base_url == "http://new/v1"
