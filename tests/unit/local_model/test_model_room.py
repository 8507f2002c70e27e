"""How much of a model fits a computer, and which one is suggested for it."""

from dataclasses import replace

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.features.local_model.catalogue import find_offered, offered_models, suggested
from desktop_rag.features.local_model.gguf_header import ModelHeader
from desktop_rag.features.local_model.model_room import (
    Computer,
    check_room,
    least_bytes,
    room_for,
    this_computer,
)

GB = 1_000_000_000
# A model of four billion parameters as it is usually quantised.
FOUR_B = ModelHeader(
    "four", "qwen3", 4 * GB, "Q4_K_M", 262_144, "apache-2.0",
    has_template=True, writes_text=True, kept_numbers=36 * 8 * 256, size_bytes=2_500_000_000,
)  # fmt: skip


def computer(memory_gb: float, cores: int = 4) -> Computer:
    return Computer(int(memory_gb * GB), int(memory_gb * GB), cores, is_on_battery=False)


def test_the_context_is_as_large_as_memory_allows() -> None:
    rooms = [room_for(FOUR_B, int(gb * GB)) for gb in (16, 6.4, 5.5, 4.2, 3.7)]
    assert [(r.context_tokens, r.slots, r.is_quantised) for r in rooms if r] == [
        (16_000, 2, False), (16_000, 1, False), (16_000, 2, True), (8_192, 1, True),
        (4_096, 1, True),
    ]  # fmt: skip
    for room, gb in zip(rooms, (16, 6.4, 5.5, 4.2, 3.7), strict=True):
        assert room
        assert FOUR_B.size_bytes < room.needed_bytes < gb * GB
    assert rooms[0]
    assert rooms[0].all_tokens == 16_000 + 4_096


def test_a_model_is_not_given_more_than_it_was_made_for() -> None:
    room = room_for(replace(FOUR_B, context_tokens=2_048), 16 * GB)
    assert room
    assert (room.context_tokens, room.all_tokens) == (2_048, 4_096)


def test_a_model_that_does_not_fit_is_refused_before_it_is_loaded() -> None:
    assert room_for(FOUR_B, 2 * GB) is None
    least = least_bytes(FOUR_B)
    assert room_for(FOUR_B, least)
    assert room_for(FOUR_B, least - GB // 100) is None
    with pytest.raises(AppError) as caught:
        check_room("four", FOUR_B, 2 * GB)
    assert caught.value.title.startswith("“four” needs 3.")
    assert "2.0 GB are free" in caught.value.title


def test_threads_are_physical_cores_and_half_of_them_on_battery() -> None:
    now = computer(8, cores=6)
    assert now.threads == 6
    assert replace(now, is_on_battery=True).threads == 3
    assert replace(now, cores=1, is_on_battery=True).threads == 1
    here = this_computer()
    assert 0 < here.free_bytes <= here.memory_bytes
    assert here.threads >= 1


def test_the_offered_models_are_honest() -> None:
    models = offered_models()
    assert 5 <= len(models) <= 7
    assert [model.name for model in models if model.makes_things_up] == ["Qwen3 1.7B"]
    for model in models:
        assert model.file.endswith(".gguf")
        assert model.repository.count("/") == 1
        assert model.size_gb < model.memory_gb
        assert model.licence
        assert "en" in model.languages


@pytest.mark.parametrize(
    ("memory_gb", "cores", "name"),
    [
        (4, 2, "Llama 3.2 3B"),
        (6.2, 4, "Llama 3.2 3B"),
        (8, 4, "Qwen3 4B Instruct"),
        (33, 4, "Qwen3 4B Instruct"),
        (16.5, 8, "Llama 3.1 8B"),
        (64, 16, "Mistral Nemo 12B"),
    ],
)
def test_one_is_suggested_for_each_computer(memory_gb: float, cores: int, name: str) -> None:
    found = suggested(computer(memory_gb, cores))
    assert found.model.name == name
    assert not found.model.makes_things_up
    assert f"{memory_gb:.0f} GB" in found.reason


def test_an_offered_model_is_found_by_a_part_of_its_name() -> None:
    assert find_offered("qwen3 4b").name == "Qwen3 4B Instruct"
    for unclear in ("llama", "", "unknown"):
        with pytest.raises(AppError) as caught:
            find_offered(unclear)
        assert "“Llama 3.2 3B”" in caught.value.hint
