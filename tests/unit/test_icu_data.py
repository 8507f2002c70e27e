"""The trimmed data of ICU gives Qt the same answers, and Qt asks for nothing beside them."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import PySide6
import pytest

ROOT = Path(__file__).parents[2]
LIBRARIES = Path(PySide6.__file__).parent / "Qt" / "lib"
MOST_BYTES = 6_000_000
CHILD = """
import functools, json
from PySide6.QtCore import QCollator, QDateTime, QLocale, QTimeZone

WORDS = (
    "zebra Äpfel apfel Ål öl oel İzmir izmir chata cena ñandú nube Łódź lodz čaj cas яблоко"
    " ёж ελιά 中国 北京 日本 かな 한국 x10 x9 æble aa ø"
).split()
found = {}
for language in QLocale.matchingLocales(
    QLocale.Language.AnyLanguage, QLocale.Script.AnyScript, QLocale.Country.AnyCountry
):
    collator = QCollator(language)
    collator.setNumericMode(True)
    words = sorted(WORDS, key=functools.cmp_to_key(collator.compare))
    cases = [language.toUpper(word) + language.toLower(word) for word in WORDS]
    found[language.name()] = [words, cases]
moment = QDateTime(2026, 7, 1, 12, 0, 0, 0, QTimeZone(b"Europe/Berlin"))
found["zone"] = [QLocale().toString(moment, QLocale.FormatType.ShortFormat), moment.offsetFromUtc()]
with open("/proc/self/maps") as maps:
    data = next(line.split()[-1] for line in maps if "libicudata" in line)
print(json.dumps({"data": data, "answers": found}))
"""

pytestmark = pytest.mark.skipif(
    not next(LIBRARIES.glob("libicudata.so.*"), None) or not shutil.which("ld"),
    reason="Qt comes with its ICU on Linux, and binutils are needed",
)


@pytest.fixture(scope="module")
def icu_data() -> Generator[Any]:
    """The module that trims."""
    path = ROOT / "packaging" / "bundle" / "icu_data.py"
    spec = importlib.util.spec_from_file_location("icu_data", path)
    assert spec
    assert spec.loader
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def answers(library: Path) -> dict[str, Any]:
    """What Qt says about words and times in every language, with this library of data."""
    environment = os.environ | {"LD_PRELOAD": str(library)}
    done = subprocess.run(
        [sys.executable, "-c", CHILD], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert Path(told["data"]).resolve() == library.resolve()
    return told["answers"]


@pytest.mark.slow
def test_words_are_ordered_and_written_as_before(icu_data: Any, tmp_path: Path) -> None:
    (original,) = LIBRARIES.glob(icu_data.LIBRARY)
    copy = tmp_path / original.name
    shutil.copyfile(original, copy)
    icu_data.trim(copy)
    assert copy.stat().st_size < MOST_BYTES
    before, after = answers(original), answers(copy)
    assert len(before) > 100
    assert before["sv_SE"] != before["de_DE"]
    assert after == before


def test_what_is_kept_has_the_bytes_it_had(icu_data: Any) -> None:
    (original,) = LIBRARIES.glob(icu_data.LIBRARY)
    content = original.read_bytes()
    data = content[content.index(b"CmnD") - 12 :]
    whole, part = icu_data.items_of(data), icu_data.items_of(icu_data.trimmed(data))
    kept = [name for name in whole if icu_data.is_kept(name.partition("/")[2])]
    assert list(part) == kept
    assert all(whole[name].startswith(part[name].rstrip(b"\0")) for name in kept)


def test_qt_asks_icu_for_nothing_else(icu_data: Any) -> None:
    core = (LIBRARIES / "libQt6Core.so.6").read_bytes()
    called = {name.decode() for name in re.findall(rb"\0([A-Za-z]+_[A-Za-z_0-9]+)_73\0", core)}
    assert "ucol_open" in called
    assert [name for name in called if not name.startswith(icu_data.NEEDED_BY_QT)] == []
