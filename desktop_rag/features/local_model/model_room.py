"""How much of a model fits this computer: its context, its slots, its threads. Any thread."""

from dataclasses import dataclass

import psutil

from desktop_rag.core.errors import AppError
from desktop_rag.features.local_model.gguf_header import ModelHeader

MOST_CONTEXT_TOKENS = 16_000
_CONTEXTS = (MOST_CONTEXT_TOKENS, 12_288, 8_192, 6_144, 4_096)
_HELPER_TOKENS = 4_096
# Bytes of a number in the cache, as it is and quantised to eight bits.
_PLAIN_BYTES, _QUANTISED_BYTES = 2.0, 34 / 32
# Of a model that doesn't say what its cache keeps.
_USUAL_NUMBERS = 64 * 1024
# For computing, by a fixed part and a share of the file; and left for others.
_COMPUTING_BYTES, _COMPUTING_SHARE = 400 << 20, 0.03
_LEFT_SHARE = 0.1
_GB = 1e9


@dataclass(frozen=True, slots=True)
class Computer:
    """The memory in bytes and the physical cores of a computer."""

    memory_bytes: int
    free_bytes: int
    cores: int
    is_on_battery: bool

    @property
    def threads(self) -> int:
        """The threads for a model: one for each physical core, half of them on battery."""
        return max(1, self.cores // 2 if self.is_on_battery else self.cores)


@dataclass(frozen=True, slots=True)
class ModelRoom:
    """What a model gets: the tokens of its context, its slots, and the memory for all that.

    `is_quantised`: its cache is kept in eight bits.
    """

    context_tokens: int
    slots: int
    is_quantised: bool
    needed_bytes: int

    @property
    def all_tokens(self) -> int:
        """The tokens that all slots share."""
        return self.context_tokens + (self.slots - 1) * min(self.context_tokens, _HELPER_TOKENS)


def this_computer() -> Computer:
    """The computer as it is now."""
    memory, battery = psutil.virtual_memory(), psutil.sensors_battery()
    cores = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    on_battery = battery is not None and battery.power_plugged is False
    return Computer(memory.total, memory.available, cores, on_battery)


def room_for(header: ModelHeader, free_bytes: int) -> ModelRoom | None:
    """The most that fits into this memory: context first, then a second slot; None if nothing."""
    most = header.context_tokens or MOST_CONTEXT_TOKENS
    for context in dict.fromkeys(min(tokens, most) for tokens in _CONTEXTS):
        for is_quantised in (False, True):
            for slots in (2, 1):
                room = _room(header, context, slots, is_quantised=is_quantised)
                if room.needed_bytes <= free_bytes * (1 - _LEFT_SHARE):
                    return room
    return None


def check_room(name: str, header: ModelHeader, free_bytes: int) -> ModelRoom:
    """As `room_for`. AppError when nothing fits."""
    if room := room_for(header, free_bytes):
        return room
    needed = least_bytes(header)
    raise AppError(
        f"“{name}” needs {needed / _GB:.1f} GB of memory, and {free_bytes / _GB:.1f} GB are free.",
        "Close other programs, or choose a smaller model.",
    )


def least_bytes(header: ModelHeader) -> int:
    """The least free memory with which the model is loaded."""
    least = min(_CONTEXTS[-1], header.context_tokens or _CONTEXTS[-1])
    return int(_room(header, least, 1, is_quantised=True).needed_bytes / (1 - _LEFT_SHARE)) + 1


def _room(header: ModelHeader, context: int, slots: int, *, is_quantised: bool) -> ModelRoom:
    room = ModelRoom(context, slots, is_quantised, 0)
    number_bytes = _QUANTISED_BYTES if is_quantised else _PLAIN_BYTES
    cache = room.all_tokens * (header.kept_numbers or _USUAL_NUMBERS) * number_bytes
    computing = _COMPUTING_BYTES + header.size_bytes * _COMPUTING_SHARE
    needed = int(header.size_bytes + cache + computing)
    return ModelRoom(context, slots, is_quantised, needed)
