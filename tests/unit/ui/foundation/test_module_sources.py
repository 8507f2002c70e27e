"""PySide reads no source of the modules that are imported after it. In a process of its own."""

import subprocess
import sys

import pytest

_IMPORTS = """
import linecache, sys
if {is_called}:
    from desktop_rag.ui.foundation.module_sources import leave_sources_unread
    leave_sources_unread()
else:
    import PySide6.QtCore
import colorsys
print(any(name.endswith("colorsys.py") for name in linecache.cache))
"""


def is_read(*, is_called: bool) -> bool:
    code = _IMPORTS.format(is_called=is_called)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {"True": True, "False": False}[done.stdout.strip()]


def test_no_source_is_read() -> None:
    assert not is_read(is_called=True)


@pytest.mark.slow
def test_without_it_pyside_reads_them() -> None:
    """Else the module can go."""
    assert is_read(is_called=False)
