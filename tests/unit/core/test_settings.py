from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.settings import (
    EndpointSettings,
    LaterSources,
    RetrievalSettings,
    Settings,
    load_settings,
    save_settings,
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
