"""The library comes to rest, whichever of its parts is the last to finish."""

from pathlib import Path

from desktop_rag.app import build_services
from desktop_rag.core.paths import Home

_ENOUGH_S = 20.0


def test_a_library_without_news_comes_to_rest_at_every_start(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.md").write_text("# Lamp\n\nThe lamp is lit.", encoding="utf-8")
    home = Home(tmp_path / "home")
    for start in range(6):
        services = build_services(home)
        try:
            if start == 0:
                services.library.add_source(folder)
            services.library.start(watch=False)
            assert services.library.wait_until_quiet(_ENOUGH_S)
        finally:
            services.close()
