"""What a test of the connection to a shared library found. Frozen values, pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SharedLibraryReport:
    """A shared library that can be read: versions, size and the names of its collections.

    `slow` are the statements that took longest on average, with their milliseconds and calls;
    None where the server does not record them.
    """

    server_version: str
    vector_version: str
    size_bytes: int
    passages: int
    collections: tuple[str, ...]
    is_encrypted: bool
    has_vector_index: bool = False
    slow: tuple[tuple[str, float, int], ...] | None = None
