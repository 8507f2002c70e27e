"""Where the memory of this process is, as far as its allocators tell. Bytes, unless it is a count.

DuckDB counts its buffers; glibc counts what it gave out, to ONNX Runtime among others, and what it
keeps free; Python counts its own blocks. Beyond them are code, stacks and what DuckDB's allocator
keeps.
"""

import ctypes
import gc
import sys

import psutil

from desktop_rag.app import Services
from desktop_rag.store.duckdb.database.database import Database

_FIELDS = (
    "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks",
    "keepcost",
)  # fmt: skip


class _MallocInfo(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_ = tuple((name, ctypes.c_size_t) for name in _FIELDS)  # pyright: ignore[reportUnannotatedClassAttribute]


def memory_parts(services: Services) -> dict[str, int]:
    """The parts by name; those that this system doesn't tell are left out."""
    gc.collect()
    parts = {
        "rss": psutil.Process().memory_info().rss,
        "python_blocks": sys.getallocatedblocks(),
        "python_objects": len(gc.get_objects()),
    }
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallinfo2"):
        libc.mallinfo2.restype = _MallocInfo
        found = libc.mallinfo2()
        parts |= {"malloc_used": found.uordblks + found.hblkhd, "malloc_free": found.fordblks}
    if isinstance(database := services.engine.storage, Database):
        with database.read() as con:
            rows = con.execute("SELECT tag, memory_usage_bytes FROM duckdb_memory()").fetchall()
        parts |= {f"duckdb {tag.lower()}": size for tag, size in rows if size}
    return parts
