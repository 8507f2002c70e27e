"""`desktop-rag privacy`: every connection with its state, from the settings as they are."""

from collections.abc import Callable

import pytest

from desktop_rag.app import Services
from desktop_rag.core.domain import WebLinks
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.models.connection_states import KINDS
from tests.command_line import run, run_json


@pytest.mark.slow
@pytest.mark.needs_wings("web_pages")
def test_it_lists_every_kind_with_the_addresses_in_use(
    home: Home, build_services: Callable[[], Services]
) -> None:
    services = build_services()
    services.library.sources.add_links(WebLinks(("https://example.org/news",)))
    services.close()
    remote = EndpointSettings("https://api.example.org/v1", "large")
    save_settings(home.settings, Settings(endpoint=remote))
    rows = {row["id"]: row for row in run_json("privacy")}
    assert list(rows) == [kind.kind_id for kind in KINDS]
    assert rows["answers"]["addresses"] == [remote.base_url]
    assert rows["web-pages"]["addresses"] == ["https://example.org"]
    assert rows["answers"]["leaves_this_computer"]
    assert not rows["embeddings"]["leaves_this_computer"]


def test_it_reads_as_text(home: Home) -> None:
    printed = run("privacy").stdout
    assert printed.startswith("Over the network\n  Answers: off\n")
    assert "Never made\n  Usage reports: never\n" in printed
