"""Files of programs so old that no reader knows them: by their first bytes, and their refusal.

They are not damaged, and a newer program can save them anew. Runs in the parser process.
"""

from collections.abc import Mapping
from types import MappingProxyType

from desktop_rag.ingest.read.foundation.source_file import Unreadable

WORD = "Word before version 6"
POWERPOINT = "PowerPoint before version 4"
POWERPOINT_95 = "PowerPoint 4 or 95"

# After the signatures that the Unix command `file` and Apache Tika know.
TOO_OLD: Mapping[str, tuple[bytes, ...]] = MappingProxyType(
    {
        "Excel 2": (b"\x09\x00\x04\x00",),
        "Excel 3": (b"\x09\x02\x06\x00",),
        "Excel 4": (b"\x09\x04\x06\x00",),
        # For Windows 1 and 2, for DOS, for the Macintosh 3 to 5.
        WORD: (
            b"\x9b\xa5", b"\xdb\xa5", b"\x31\xbe\0\0\0\xab", b"\xfe\x34\0", b"\xfe\x37\0",
        ),
        "Windows Write": (b"\x31\xbe\0\0", b"\x32\xbe\0\0"),
        POWERPOINT: (b"\x0b\xad\xde\xed", b"\xed\xde\xad\x0b"),
        POWERPOINT_95: (),
    }
)  # fmt: skip


def too_old(kind: str) -> Unreadable:
    """The refusal of such a file."""
    hint = "Open it in a newer program, such as LibreOffice, and save it in a format of today."
    return Unreadable("unsupported", f"Too old: {kind}", hint)
