"""What `source add` takes."""

import argparse

import pytest

from desktop_rag.features.remote_sources.cli.source_verbs import add_sources


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_sources(parser)
    return parser.parse_args(["add", "imap", "imap.example.org", *words])


def test_a_first_day_is_not_needed() -> None:
    assert not parsed().since
    assert parsed("--since", "2024-05-31").since == "2024-05-31"


def test_what_is_no_day_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed("--since", "May")
    assert "May is no day such as 2024-05-31" in capsys.readouterr().err
