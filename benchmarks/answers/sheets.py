"""Whether sums, means, filters and orders over sheets are right without a model.

Writes four sheets into a folder, indexes them with the app itself, and asks the questions of
sheets.toml. A wrong answer that says which words it did not read is told apart from one without a
word. Run: python benchmarks/answers/sheets.py [--questions FILE]
"""

import argparse
import csv
import os
import random
import re
import sys
import tempfile
import threading
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"

import duckdb

from desktop_rag import app
from desktop_rag.core.conversation import AnswerDone, Message
from desktop_rag.core.paths import Home

_WAIT_S = 1_800
_FIRST, _LAST = ("Olga", "Piet", "Tilda", "Nils", "Ingrid", "Anna", "Tom"), (
    "Trent", "Rook", "Crane", "Orre", "Falk", "Brandt", "Okafor",
)  # fmt: skip
_THINGS = ("Dichtung", "Ventil", "Pumpe", "Filter", "Welle", "Lager", "Motor", "Flansch", "Riemen")
Row = list[object]

# A group of thousands has so many digits.
_GROUPED = 3


def _people() -> Iterator[str]:
    return (
        f"{first} {_LAST[(n + turn) % 7]}" for turn in range(7) for n, first in enumerate(_FIRST)
    )


def _orders(chance: random.Random) -> Iterator[Row]:
    yield ["Order", "Date", "Customer", "Country", "Product", "Pieces", "Total EUR", "Paid"]
    homes = {
        "Marlowe Ltd": "Norway",
        "Kestrel AS": "Norway",
        "Vexmoor": "Denmark",
        "Orrin AB": "Sweden",
    }
    for n in range(80):
        day = date(2024, 10, 1) + timedelta(days=5 * n)
        customer = chance.choice(list(homes))
        pieces, price = chance.randint(1, 12), chance.randint(900, 12_000) / 100
        product = chance.choice(["Lamp", "Chair", "Desk", "Shelf"])
        paid, total = "no" if n % 9 == 4 else "yes", round(pieces * price, 2)
        yield [f"A-{1000 + n}", day, customer, homes[customer], product, pieces, total, paid]


def _staff(chance: random.Random) -> Iterator[Row]:
    yield ["Name", "Department", "Room", "City", "Salary", "Hired"]
    for n, name in enumerate(list(_people())[:30]):
        hired = date(2006, 1, 7) + timedelta(days=211 * n)
        department = chance.choice(["Sales", "Workshop", "Finance"])
        city = chance.choice(["Oslo", "Bergen", "Molde"])
        yield [name, department, f"B{n + 2}", city, chance.randint(420, 690) * 100, hired]


def _lager(chance: random.Random) -> Iterator[Row]:
    yield ["Artikel", "Lager", "Bestand", "Preis EUR", "Lieferant", "Geprüft"]
    for n, thing in enumerate(_THINGS):
        maker = chance.choice(["Halden GmbH", "Krüger AG", "Behrens KG"])
        day = date(2025, 1, 5) + timedelta(days=13 * ((n * 5) % 9))
        price = f"{chance.randint(15, 480)},{chance.randint(10, 99)}"
        yield [thing, f"Halle {n % 3 + 1}", chance.randint(3, 90), price, maker, f"{day:%d.%m.%Y}"]


def _mitglieder(chance: random.Random) -> Iterator[Row]:
    yield ["Name", "Ort", "Beitrag", "Eintritt", "Bezahlt"]
    for n, name in enumerate(list(_people())[:19]):
        fee = chance.choice([40, 60, 85, 120])
        yield [
            name,
            chance.choice(["Kiel", "Husum", "Plön"]),
            fee,
            1995 + n,
            "nein" if n % 5 == 2 else "ja",
        ]


_SHEETS: dict[str, Callable[[random.Random], Iterator[Row]]] = {
    "orders": _orders, "staff": _staff, "lager": _lager, "mitglieder": _mitglieder,
}  # fmt: skip


def main() -> int:
    """Print each answer that is not right, and how many are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=Path, default=Path(__file__).with_suffix(".toml"))
    asked = tomllib.loads(parser.parse_args().questions.read_text(encoding="utf-8"))
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as home:
        root = Path(home) / "files"
        root.mkdir()
        for name, rows in _SHEETS.items():
            with (root / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, delimiter=";").writerows(rows(random.Random(name)))
        services = app.build_services(Home(Path(home) / "home"))
        try:
            services.library.sources.add(root)
            services.library.start(watch=False)
            assert services.library.indexing.wait_until_idle(_WAIT_S)
            for name, questions in asked.items():
                for question in questions:
                    values = _wanted(root / f"{name}.csv", question["want"])
                    message = _asked(services, question["ask"])
                    verdict = _verdict(message, values)
                    found[verdict] += 1
                    if verdict != "right":
                        queries = [source.query for source in message.sources if source.query]
                        _say(
                            f"{verdict}: {question['ask']} → {values[:4]}\n    {message.text[:300]}"
                        )
                        _say(f"    {queries}")
        finally:
            services.close()
    _say(", ".join(f"{count} {verdict}" for verdict, count in found.most_common()))
    return 0


def _wanted(sheet: Path, query: str) -> list[str]:
    if not query:
        return []
    mark = "," if sheet.stem == "lager" else "."
    with duckdb.connect() as connection:
        reads = f"read_csv('{sheet}', delim=';', decimal_separator='{mark}')"
        connection.execute(f"CREATE TABLE t AS FROM {reads}")
        rows = connection.execute(query).fetchall()
        return [str(value).removesuffix(".0") for row in rows for value in row]


def _asked(services: app.Services, question: str) -> Message:
    *_, last = services.chat.ask(question, cancel=threading.Event())
    assert isinstance(last, AnswerDone)
    return last.message


def _plain(number: re.Match[str]) -> str:
    """A number as SQL writes it: 1,243.10 and 1.243,10 are 1243.1."""
    *whole, last = re.split("[.,]", number[0])
    if len(last) == _GROUPED:
        return "".join((*whole, last))
    return f"{''.join(whole)}.{last}".rstrip("0").rstrip(".")


def _verdict(message: Message, values: list[str]) -> str:
    text = re.sub(r"\d+(?:[.,]\d+)+", _plain, message.text.replace("\\", ""))
    is_told = "Not read in the question" in text or "Nicht gelesen in der Frage" in text
    is_by_rule = any(source.query for source in message.sources)
    wrong = "wrong, said" if is_told else "wrong without a word"
    if not values:
        return "right" if is_told or not is_by_rule else wrong
    if all(re.search(rf"(?<![\w.]){re.escape(value)}(?!\w|\.\d)", text) for value in values):
        return "right"
    return wrong if is_by_rule else "not calculated"


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
