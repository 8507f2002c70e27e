"""Choices of an encoding for texts that do not name theirs. Qt thread."""

from collections.abc import Callable, Iterator
from functools import partial

from PySide6.QtWidgets import QMenu

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.widgets.form_fields import DropDown


def add_encodings(menu: QMenu, choose: Callable[[str], None]) -> None:
    """Add the choice of an encoding; `choose` gets its name, or "" to have it found."""
    inner = menu.addMenu(tr("Text encoding"))
    inner.addAction(tr("Found by itself"), partial(choose, ""))
    inner.addSeparator()
    for shown, name in _choices():
        inner.addAction(shown, partial(choose, name))


def encoding_field(chosen: str) -> DropDown:
    """A closed list of the encodings; its data are their names."""
    field = DropDown()
    field.setAccessibleName(tr("Text encoding"))
    field.addItem(tr("Found by itself"), "")
    for shown, name in _choices():
        field.addItem(shown, name)
    if field.findData(chosen) < 0:
        field.addItem(chosen, chosen)
    field.setCurrentIndex(field.findData(chosen))
    return field


def _choices() -> Iterator[tuple[str, str]]:
    for letters, encodings in _offered():
        for shown, name in encodings.items():
            yield f"{letters}: {shown}", name


def _offered() -> Iterator[tuple[str, dict[str, str]]]:
    """Alphabets, each with its encodings: the usual name and the one Python knows."""
    yield tr("Western European"), {
        "Windows-1252": "cp1252", "DOS 850": "cp850", "DOS 437": "cp437", "Mac": "mac_roman",
    }  # fmt: skip
    yield tr("Central European"), {
        "Windows-1250": "cp1250", "ISO 8859-2": "iso8859_2", "DOS 852": "cp852",
        "Mac": "mac_latin2",
    }  # fmt: skip
    yield tr("Nordic"), {"DOS 865": "cp865", "DOS 861": "cp861"}
    yield tr("Baltic"), {"Windows-1257": "cp1257", "DOS 775": "cp775"}
    yield tr("Turkish"), {"Windows-1254": "cp1254", "DOS 857": "cp857"}
    yield tr("Cyrillic"), {
        "Windows-1251": "cp1251", "KOI8-R": "koi8_r", "KOI8-U": "koi8_u", "ISO 8859-5": "iso8859_5",
        "DOS 866": "cp866", "Mac": "mac_cyrillic",
    }  # fmt: skip
    yield tr("Greek"), {"Windows-1253": "cp1253", "DOS 737": "cp737"}
    yield tr("Hebrew"), {"Windows-1255": "cp1255", "DOS 862": "cp862"}
    yield tr("Arabic"), {"Windows-1256": "cp1256", "ISO 8859-6": "iso8859_6"}
    yield tr("Thai"), {"Windows-874": "cp874"}
    yield tr("Vietnamese"), {"Windows-1258": "cp1258"}
    yield tr("Japanese"), {"Shift-JIS": "cp932", "EUC-JP": "euc_jp"}
    yield tr("Chinese"), {"GB 18030": "gb18030", "Big5": "big5hkscs"}
    yield tr("Korean"), {"Windows-949": "cp949"}
    yield tr("Unicode"), {"UTF-16 LE": "utf-16-le", "UTF-16 BE": "utf-16-be"}
