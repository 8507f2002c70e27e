"""Takes out of the data of ICU, which comes with Qt on Linux, what Qt never asks for.

Qt has the names and formats of all languages in tables of its own, and asks ICU for four things:
the order of words, upper and lower case, encodings, and names of time zones. The first two are kept
whole. The window decodes nothing and shows no time zone, so that the tables for those go as well as
the names of countries, currencies and units. `NEEDED_BY_QT` holds what Qt calls, for the test that
notices when it calls something else.

The format is that of `udata` in ICU: a header, the number of items, for each the places of its name
and of its bytes, then the names in their order, and the items.
"""

import re
import struct
import subprocess
import tempfile
from fnmatch import fnmatchcase
from pathlib import Path

LIBRARY = "libicudata.so.*"
# The beginnings of the names of functions: case, calendars and time zones, encodings, order.
NEEDED_BY_QT = ("u_strTo", "ucal_", "ucnv_", "ucol_", "UCNV_")
# Names without the version before them. Of the texts of languages, the ones without a folder, only
# the root's are kept.
_LEFT_OUT = (
    "brkitr/*", "curr/*", "lang/*", "rbnf/*", "region/*", "translit/*", "unit/*", "zone/*",
    "*.cnv", "*.cfu", "*.spp", "unames.icu",
)  # fmt: skip
_LANGUAGE = re.compile(r"(?!res_index)[a-z]{2,3}(_\w+)?\.res")
_MAGIC = b"\xda\x27"
_COUNT, _PLACES = struct.Struct("<I"), struct.Struct("<II")
_ALIGNED = 16


def is_kept(name: str) -> bool:
    """True for an item that Qt may ask for; the name is without the version."""
    return not (_LANGUAGE.fullmatch(name) or any(fnmatchcase(name, each) for each in _LEFT_OUT))


def items_of(data: bytes) -> dict[str, bytes]:
    """The items by their names, which begin with the version."""
    assert data[2:4] == _MAGIC, "the data of ICU for this processor"
    (begin,) = struct.unpack_from("<H", data)
    (count,) = _COUNT.unpack_from(data, begin)
    first = begin + _COUNT.size
    places = [_PLACES.unpack_from(data, first + _PLACES.size * n) for n in range(count)]
    ends = [place for _, place in places[1:]] + [len(data) - begin]
    found: dict[str, bytes] = {}
    for (name_at, item_at), end in zip(places, ends, strict=True):
        name = data[begin + name_at : data.index(b"\0", begin + name_at)].decode()
        found[name] = data[begin + item_at : begin + end]
    return found


def trimmed(data: bytes) -> bytes:
    """The same data with the items that are kept."""
    kept = {n: item for n, item in items_of(data).items() if is_kept(n.partition("/")[2])}
    names, place = b"", _COUNT.size + _PLACES.size * len(kept)
    name_places: list[int] = []
    for name in kept:
        name_places.append(place + len(names))
        names += name.encode() + b"\0"
    (header,) = struct.unpack_from("<H", data)
    items = _padded(b"", header + place + len(names))
    item_places: list[int] = []
    for item in kept.values():
        item_places.append(place + len(names) + len(items))
        items += _padded(item, len(item))
    table = b"".join(_PLACES.pack(*each) for each in zip(name_places, item_places, strict=True))
    return data[:header] + _COUNT.pack(len(kept)) + table + names + items


def _padded(item: bytes, length: int) -> bytes:
    return item + b"\0" * (-length % _ALIGNED)


def trim(library: Path) -> None:
    """Write the library anew, with the trimmed data under the name that its users look for."""
    with tempfile.TemporaryDirectory() as folder:
        whole, part, source, built = (
            Path(folder) / name for name in ("whole.dat", "part.dat", "data.s", "data.o")
        )
        _run("objcopy", "--dump-section", f".rodata={whole}", str(library), "/dev/null")
        part.write_bytes(trimmed(whole.read_bytes()))
        symbol = f"icudt{library.suffix[1:]}_dat"
        source.write_text(
            f".section .rodata\n.balign {_ALIGNED}\n.globl {symbol}\n.type {symbol}, %object\n"
            f'{symbol}: .incbin "{part}"\n.size {symbol}, .-{symbol}\n'
            '.section .note.GNU-stack, "", %progbits\n',
            "utf-8",
        )
        _run("as", "-o", str(built), str(source))
        _run("ld", "-shared", "-soname", library.name, "-o", str(library), str(built))


def _run(*command: str) -> None:
    subprocess.run(command, check=True)
