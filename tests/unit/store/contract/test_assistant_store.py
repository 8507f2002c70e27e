from dataclasses import replace

import pytest

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.settings import LaterSources, RetrievalSettings, Room
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.records import AssistantStore

TAXES = Assistant("1", "taxes")
CONTRACTS = Assistant(
    "2", "Contracts “&” <b>", "Sei kurz.\nUnd höflich: 漢", "http://localhost:1/v1", "m",
    ("c", "d"),
    "type:pdf", RetrievalSettings(Room.FAST, 0.25, LaterSources.SAME), True, False,
)  # fmt: skip


@pytest.fixture
def store(engine: Engine) -> AssistantStore:
    return engine.assistants


def test_assistants_come_back_equal_by_name(store: AssistantStore) -> None:
    assert store.all() == []
    store.put(TAXES)
    store.put(CONTRACTS)
    assert store.all() == [CONTRACTS, TAXES]


def test_one_of_the_same_id_takes_the_place(store: AssistantStore) -> None:
    store.put(TAXES)
    changed = replace(TAXES, name="Bills", is_open=True)
    store.put(changed)
    assert store.all() == [changed]


def test_deleting_can_be_undone_until_it_is_purged(store: AssistantStore) -> None:
    store.put(TAXES)
    store.put(CONTRACTS)
    store.set_deleted("1", True)
    assert store.all() == [CONTRACTS]
    store.set_deleted("1", False)
    assert store.all() == [CONTRACTS, TAXES]
    store.set_deleted("1", True)
    store.purge_deleted()
    store.set_deleted("1", False)
    assert store.all() == [CONTRACTS]


def test_a_hidden_one_that_is_put_again_is_there(store: AssistantStore) -> None:
    store.put(TAXES)
    store.set_deleted("1", True)
    store.put(TAXES)
    assert store.all() == [TAXES]
