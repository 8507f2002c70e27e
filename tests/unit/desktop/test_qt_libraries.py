"""What the window needs of the system is named before Qt would end the process."""

import sys

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.desktop import launching
from desktop_rag.desktop.launching import check_qt_libraries


@pytest.mark.skipif(sys.platform != "linux", reason="other systems ship with them")
def test_a_missing_library_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(launching._QT_LIBRARIES, "libnowhere.so.9", "libnowhere9")  # noqa: SLF001
    with pytest.raises(AppError) as raised:
        check_qt_libraries()
    assert "libnowhere.so.9" in raised.value.title
    assert "libnowhere9" in raised.value.hint
