"""The demo library exists once, wherever the app that adds it is installed."""

from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.demo_library import DEMO_COLLECTION, add_demo
from tests.conftest import DEMO


@pytest.mark.slow
def test_the_demo_of_another_copy_of_the_app_goes(services: Services, tmp_path: Path) -> None:
    other, own = tmp_path / "old" / "demo" / "documents", tmp_path / "own"
    for folder in (other, own):
        folder.mkdir(parents=True)
    collection = services.library.collections.add(DEMO_COLLECTION)
    for folder in (other, own):
        services.library.sources.add(folder, collection.collection_id)
    add_demo(services.library)
    add_demo(services.library)
    paths = [source.path for source in services.library.sources.all()]
    assert sorted(paths) == sorted([own, DEMO / "documents"])


def test_a_demo_whose_collection_has_another_name_stays_in_it(services: Services) -> None:
    add_demo(services.library)
    [collection] = [c for c in services.library.collections.all() if c.name == DEMO_COLLECTION]
    services.library.collections.rename(collection.collection_id, "Lighthouse")
    before = services.library.collections.all()
    add_demo(services.library)
    assert services.library.collections.all() == before
