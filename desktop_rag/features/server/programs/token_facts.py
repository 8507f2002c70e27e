"""Tokens of the local server as people see them, without their secrets. Frozen values."""

from dataclasses import dataclass

# What a token may allow, the least first; "write" includes "read", "admin" all others.
ALLOWANCES = ("ask", "read", "write", "admin")


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """A token. `collections` and `models` are names, none of them means all.

    `models_asked` are the keys behind `models`. Times are Unix time, 0 for never. With
    `lists_sources` answers end with a list of their sources.
    """

    token_id: str
    name: str
    allows: tuple[str, ...]
    collections: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    requests_per_minute: int = 0
    made_at: float = 0.0
    used_at: float = 0.0
    ends_at: float = 0.0
    models: tuple[str, ...] = ()
    models_asked: tuple[str, ...] = ()
    lists_sources: bool = False


@dataclass(frozen=True, slots=True)
class TokenWish:
    """A token to be made. Without `collection_ids` it covers all; `days` 0 means for ever."""

    name: str
    allows: tuple[str, ...]
    collection_ids: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    requests_per_minute: int = 120
    days: int = 0
    lists_sources: bool = False
