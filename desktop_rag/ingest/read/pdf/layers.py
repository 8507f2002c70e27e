"""Hidden layers of a PDF: what stands on them is taken out, or named so that PDFium finds it.

PDFium tells of a piece of text only the name of its layer: not whether that is shown, nor the
layers of forms and pictures, nor groups of layers. Runs in the parser process.
"""

import io
import logging
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.pdf.legibility import pypdf_reader

if TYPE_CHECKING:
    from pypdf import PdfWriter

log = logging.getLogger(__name__)

# An object of pypdf.
_Item = Any

HIDDEN_LAYER = "hidden by desktop-rag"
_LAYERS = b"/OCProperties"
_PACKED = re.compile(rb"/ObjStm\b[^>]{0,300}>>\s*stream\r?\n")
_MAX_UNPACKED, _MAX_BYTES, _MAX_DEPTH = 10_000_000, 32_000_000, 20
_HIDDEN_NOTE = 2


def without_hidden_layers(source: SourceFile) -> SourceFile:
    """The file without forms, pictures and notes on hidden layers, and with HIDDEN_LAYER as the
    name of those that hold text; the same where nothing is hidden, or the file is damaged.
    """
    if len(source.data) > _MAX_BYTES or not _has_layers(source.data):
        return source
    from pypdf import PdfWriter

    try:
        reader, _ = pypdf_reader(source)
        if not _hidden_layers(reader.root_object):
            return source
        writer, output = PdfWriter(clone_from=reader), io.BytesIO()
        _hide(writer, _hidden_layers(writer.root_object))
        writer.write(output)
    except Exception:  # pypdf lets any error of a damaged file through
        log.info("the layers can't be read", exc_info=True)
        return source
    return replace(source, data=output.getvalue())


def _has_layers(data: bytes) -> bool:
    """True for a file whose objects, also those that are packed, name layers."""
    if _LAYERS in data:
        return True
    rest = memoryview(data)
    for found in _PACKED.finditer(data):
        with suppress(zlib.error):
            if _LAYERS in zlib.decompressobj().decompress(rest[found.end() :], _MAX_UNPACKED):
                return True
    return False


def _hidden_layers(root: _Item) -> set[int]:
    """The numbers of the layers that the file shows switched off."""
    layers = root["/OCProperties"]
    usual = layers["/D"]
    is_off = usual.get("/BaseState") == "/OFF"
    hidden = {layer.idnum for layer in layers.get("/OCGs", ())} if is_off else set[int]()
    hidden -= {layer.idnum for layer in usual.get("/ON", ())}
    return hidden | {layer.idnum for layer in usual.get("/OFF", ())}


def _hide(writer: "PdfWriter", hidden: set[int]) -> None:
    from pypdf.generic import NameObject, NumberObject, RectangleObject, TextStringObject

    for number in count(1):
        try:
            item: _Item = writer.get_object(number)
        except IndexError:
            return
        for each in _dictionaries(item):
            is_group = each.get("/Type") == "/OCMD" and _is_hidden(each, hidden)
            if is_group or (each is item and number in hidden):
                each[NameObject("/Name")] = TextStringObject(HIDDEN_LAYER)
            if "/OC" not in each or not _is_hidden(each.raw_get("/OC"), hidden):
                continue
            if hasattr(each, "set_data"):
                each.update({NameObject("/Subtype"): NameObject("/Form")})
                each[NameObject("/BBox")] = RectangleObject((0, 0, 0, 0))
                each.pop("/Filter", None)
                each.set_data(b"")
            else:
                each[NameObject("/F")] = NumberObject(int(each.get("/F", 0)) | _HIDDEN_NOTE)


def _dictionaries(item: _Item, depth: int = 0) -> Iterator[_Item]:
    """An object and those inside it, without what it only refers to."""
    if isinstance(item, dict):
        yield item
    if isinstance(item, dict | list) and depth < _MAX_DEPTH:
        parts: _Item = item.values() if isinstance(item, dict) else list.__iter__(item)
        for part in list(parts):
            yield from _dictionaries(part, depth + 1)


def _is_hidden(layer: _Item, hidden: set[int]) -> bool:
    """True for a layer that is switched off, and for a group of layers that is not shown."""
    if getattr(layer, "idnum", 0) in hidden:
        return True
    group = layer.get_object()
    if group.get("/Type") != "/OCMD":
        return False
    if rule := group.get("/VE"):
        return not _holds(rule, hidden)
    layers = group.raw_get("/OCGs") if "/OCGs" in group else []
    each = layers if isinstance(layers, list) else [layers]
    states = [getattr(one, "idnum", 0) in hidden for one in list.__iter__(each)]
    match group.get("/P"):
        case "/AllOn":
            return any(states)
        case "/AnyOff":
            return bool(states) and not any(states)
        case "/AllOff":
            return not all(states)
        case _:
            return bool(states) and all(states)


def _holds(rule: _Item, hidden: set[int]) -> bool:
    """Whether a rule over layers, such as "not this one", holds."""
    if not isinstance(rule.get_object(), list):
        return rule.idnum not in hidden
    sign, *parts = list.__iter__(rule.get_object())
    held = [_holds(part, hidden) for part in parts]
    return not all(held) if sign == "/Not" else any(held) if sign == "/Or" else all(held)
