"""What people typed onto a page of a PDF without its being drawn there: comments, form values.

Native code on foreign bytes; runs in the parser process.
"""

import ctypes
from collections.abc import Iterable

_MAX_NOTE_BYTES = 200_000
_HIDDEN = 2


def note_of(annotation: object, kind: int) -> str:
    """The text of an annotation as a line of the page, "" if it has none or is hidden."""
    import pypdfium2.raw as pdfium

    if pdfium.FPDFAnnot_GetFlags(annotation) & _HIDDEN:
        return ""
    if kind == pdfium.FPDF_ANNOT_WIDGET:
        # Of a box to tick the value is a name.
        is_typed = pdfium.FPDFAnnot_GetValueType(annotation, b"V") == pdfium.FPDF_OBJECT_STRING
        return _value(annotation, b"V") if is_typed else ""
    text = _value(annotation, b"Contents")
    # What they say of a link or a file is its name.
    if not text or kind in {pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_FILEATTACHMENT}:
        return ""
    return text if kind == pdfium.FPDF_ANNOT_FREETEXT else f"[Comment: {text}]"


def unseen(notes: Iterable[str], text: str) -> list[str]:
    """The notes whose words the page does not show anyway."""
    shown = " ".join(text.split())
    found = dict.fromkeys(notes)
    return [n for n in found if n and n.removeprefix("[Comment: ").removesuffix("]") not in shown]


def _value(annotation: object, key: bytes) -> str:
    import pypdfium2.raw as pdfium

    size = min(pdfium.FPDFAnnot_GetStringValue(annotation, key, None, 0), _MAX_NOTE_BYTES)
    if size <= ctypes.sizeof(ctypes.c_ushort):
        return ""
    buffer = ctypes.create_string_buffer(size)
    units = ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort))
    pdfium.FPDFAnnot_GetStringValue(annotation, key, units, size)
    return " ".join(buffer.raw[: size - 2].decode("utf-16-le", "replace").split())
