"""Queries over tables: what they give, which rows they rest on, and all that they may not do."""

import datetime
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from desktop_rag.store.contract.engine import OpenTables, QueryRefusedError, QueryTable, TableColumn
from desktop_rag.store.duckdb.tables.table_queries import LONGEST_SQL_CHARS, MOST_ROWS, TableQueries

ORDERS = QueryTable(
    "orders",
    (
        TableColumn("Region", "VARCHAR", ("North", "South", None, "North", "x\"y'")),
        TableColumn("Amount", "DOUBLE", ("1.5", "2", None, "4", "-3e0")),
        TableColumn("Ordered on", "DATE", ("2026-01-01", None, "2026-02-01", "2026-03-01", None)),
        TableColumn("Paid", "BOOLEAN", ("true", "false", None, "true", "true")),
        TableColumn("Seen", "TIMESTAMP", ("2026-01-01 10:00:00", None, None, None, None)),
        TableColumn("At", "TIME", ("10:00:00", None, None, None, None)),
        TableColumn("Pieces", "BIGINT", ("3", "1", None, "900719925474099", "1")),
    ),
)
REGIONS = QueryTable(
    "Ünï regions", (TableColumn("Name", "VARCHAR", ("North",)), TableColumn("n", "BIGINT", ("1",)))
)
MANY = QueryTable("many", (TableColumn("n", "BIGINT", tuple(map(str, range(3000)))),))


@pytest.fixture(scope="module")
def tables() -> Iterator[OpenTables]:
    with TableQueries(time_s=2.0).open((ORDERS, REGIONS, MANY)) as opened:
        yield opened


def run(tables: OpenTables, sql: str) -> tuple[tuple[object, ...], ...]:
    return tables.run(sql, Event()).rows


def test_values_keep_their_kinds(tables: OpenTables) -> None:
    first = run(tables, 'SELECT * FROM "orders"')[0]
    assert first == (
        "North", 1.5, datetime.date(2026, 1, 1), True, datetime.datetime(2026, 1, 1, 10),
        datetime.time(10), 3,
    )  # fmt: skip
    assert run(tables, "SELECT Pieces FROM orders WHERE Amount = 4") == ((900719925474099,),)
    assert run(tables, "SELECT count(*) FROM orders WHERE Region IS NULL") == ((1,),)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT sum(amount) FROM orders", ((4.5,),)),
        ('SELECT "Region", count(*) AS n FROM orders GROUP BY 1 ORDER BY n DESC, 1 LIMIT 1',
         (("North", 2),)),
        ("SELECT Region FROM orders ORDER BY Amount DESC NULLS LAST LIMIT 2",
         (("North",), ("South",))),
        ("SELECT count(*) FROM orders WHERE \"Ordered on\" >= DATE '2026-02-01'", ((2,),)),
        ("SELECT strftime(\"Ordered on\", '%m') m FROM orders WHERE Amount = 4", (("03",),)),
        ("SELECT Region FROM orders WHERE Region ILIKE '%NOR%' AND Paid", (("North",), ("North",))),
        ("WITH a AS (SELECT * FROM orders) SELECT count(*) FROM a", ((5,),)),
        ("SELECT DISTINCT Region FROM orders WHERE Region LIKE 'N%'", (("North",),)),
        ("SELECT median(Amount), round(avg(Amount), 2) FROM orders", ((1.75, 1.13),)),
        ('SELECT o.Amount FROM orders o JOIN "Ünï regions" r ON o.Region = r.Name',
         ((1.5,), (4.0,))),
        ("SELECT CASE WHEN Paid THEN 'yes' ELSE 'no' END p FROM orders LIMIT 1", (("yes",),)),
        ("SELECT Amount FROM orders WHERE Amount = (SELECT max(Amount) FROM orders)", ((4.0,),)),
        ("SELECT sum(n) OVER (ORDER BY n) s FROM many ORDER BY n LIMIT 2", ((0,), (1,))),
        ("SELECT date_trunc('month', \"Ordered on\") m FROM orders LIMIT 1;",
         ((datetime.datetime(2026, 1, 1),),)),
        ("SELECT n FROM many WHERE n BETWEEN 5 AND 6 UNION ALL SELECT 1", ((5,), (6,), (1,))),
    ],
)  # fmt: skip
def test_what_questions_need_is_allowed(
    tables: OpenTables, sql: str, expected: tuple[tuple[object, ...], ...]
) -> None:
    assert run(tables, sql) == expected


@pytest.mark.parametrize(
    ("sql", "rows", "columns"),
    [
        ("SELECT sum(Amount) FROM orders WHERE Region = 'North'", (0, 3), {"amount", "region"}),
        ("SELECT Region FROM orders ORDER BY Amount DESC NULLS LAST LIMIT 1", (3,),
         {"region", "amount"}),
        ("SELECT Region, sum(Amount) s FROM orders WHERE Paid GROUP BY 1 ORDER BY s LIMIT 1",
         (0, 3, 4), {"region", "amount", "paid", "s"}),
        ("SELECT count(*) FROM orders", (0, 1, 2, 3, 4), set[str]()),
        ("SELECT * FROM orders WHERE Amount < 0", (4,), None),
        ("SELECT DISTINCT Region FROM orders WHERE Paid", (0, 3, 4), {"region", "paid"}),
        ("SELECT Amount FROM orders WHERE Amount = (SELECT max(Amount) FROM orders)", (3,),
         {"amount"}),
        ("WITH a AS (SELECT Amount FROM orders) SELECT Amount FROM a", None, {"amount"}),
        # What is named by WITH may stand in the place of a table.
        ("WITH a AS (SELECT 1 AS amount) SELECT Amount FROM orders", None, {"amount"}),
        ("SELECT o.Amount FROM orders o JOIN orders p ON o.Pieces = p.Pieces", None,
         {"amount", "pieces"}),
        ("SELECT Region, count(*) OVER () c FROM orders WHERE Paid QUALIFY count(*) OVER () > 1",
         (0, 3, 4), {"region", "paid"}),
    ],
)  # fmt: skip
def test_the_rows_a_result_rests_on_are_told(
    tables: OpenTables, sql: str, rows: tuple[int, ...] | None, columns: set[str] | None
) -> None:
    result = tables.run(sql, Event())
    used = result.used["orders"]
    assert (None if used is None else tuple(sorted(used))) == rows
    assert result.columns_used == (None if columns is None else frozenset(columns))
    assert set(result.used) == {"orders"}
    assert "rowid" not in result.columns


def test_a_long_result_is_cut(tables: OpenTables) -> None:
    result = tables.run("SELECT n FROM many ORDER BY n", Event())
    assert (len(result.rows), result.is_cut) == (MOST_ROWS, True)
    assert not tables.run(f"SELECT n FROM many LIMIT {MOST_ROWS}", Event()).is_cut


def doubled(step: str, beginning: str) -> str:
    """Thirty steps, each of which has the one before twice."""
    return beginning + ", ".join(step.format(n=n, m=n - 1) for n in range(1, 31))


READS = [
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM read_text('{file}')",
    "SELECT * FROM '{file}'",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM read_parquet('https://127.0.0.1/x')",
    "SELECT * FROM sniff_csv('{file}')",
    "ATTACH '{file}' AS other",
    "COPY orders TO '{file}'",
    "COPY (SELECT 1) TO '{file}'",
    "EXPORT DATABASE '{file}'",
    "IMPORT DATABASE '{file}'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SELECT getenv('HOME')",
    "SELECT main.sum(Amount) FROM orders",
    "SELECT pg_catalog.sum(Amount) FROM orders",
    "SELECT current_setting('temp_directory')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM pg_catalog.pg_tables",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('orders')",
    "SELECT * FROM secret_of_the_caller",
    "SELECT count(*) FROM orders WHERE EXISTS (SELECT * FROM read_text('{file}'))",
    "WITH a AS (SELECT * FROM read_text('{file}')) SELECT * FROM a",
    "SELECT (SELECT content FROM read_text('{file}'))",
    "SELECT * FROM orders, LATERAL (SELECT * FROM glob('/*'))",
    "FROM read_text('{file}')",
    "SELECT * FROM main.duckdb_tables",
]
CHANGES = [
    "",
    "   ",
    "-- nothing",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE orders",
    "DROP TABLE orders",
    "DELETE FROM orders",
    "UPDATE orders SET Amount = 0",
    "INSERT INTO orders SELECT * FROM orders",
    "CREATE TABLE other AS SELECT 1",
    "CREATE MACRO sum(x) AS 1",
    "SET threads = 8",
    "RESET lock_configuration",
    "SET VARIABLE x = 1",
    "PRAGMA database_list",
    "CALL duckdb_settings()",
    "BEGIN",
    "EXPLAIN SELECT 1",
    "PREPARE x AS SELECT 1",
    "EXECUTE x",
    "USE memory",
    "CHECKPOINT",
    "VACUUM",
    "DESCRIBE orders",
    "SUMMARIZE orders",
    "SHOW TABLES",
    "SELECT $1",
    "SELECT getvariable('x')",
    "SELECT nextval('x')",
]
BOMBS = [
    "WITH RECURSIVE c AS (SELECT 1 n UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c",
    "SELECT count(*) FROM range(1000000000000) a, range(1000000000000) b",
    "SELECT * FROM generate_series(1, 1000000000000)",
    "SELECT list_sum(range(300000000)) FROM orders",
    "SELECT unnest(range(1000000000)) FROM orders",
    "SELECT length(repeat('x', 1000000000)) FROM orders",
    "SELECT lpad('x', 1000000000, 'y') FROM orders",
    "SELECT format('{{:>1000000000}}', 'x') FROM orders",
    "SELECT printf('%1000000000s', 'x') FROM orders",
    "SELECT replace(replace(Region, 'x', Region), 'x', Region) FROM orders",
    "SELECT regexp_replace(Region, 'x', 'xx', 'g') FROM orders",
    "SELECT levenshtein(Region, Region) FROM orders",
    "SELECT CAST('[1]' AS INTEGER[]) FROM orders",
    "SELECT list_transform([1], lambda x: x) FROM orders",
    "SELECT * FROM orders USING SAMPLE 1",
    "SELECT * FROM orders AT (VERSION => 1)",
    "SELECT main.repeat('x', 3) FROM orders",
    "SELECT " + "1 + " * LONGEST_SQL_CHARS + "1",
    "SELECT " + "(" * 1900 + "1" + ")" * 1900,
    "SELECT " + "NOT " * 900 + "true",
    # Few words that become endless while the query is planned, which nothing interrupts.
    doubled("c{n} AS NOT MATERIALIZED (SELECT x.n FROM c{m} x, c{m} y)", "WITH c0 AS (FROM many), ")
    + " SELECT count(*) FROM c30",
    doubled("a{m} + a{m} AS a{n}", "SELECT n AS a0, ") + " FROM many",
    doubled("A{m} + many.n + a{m} AS a{n}", "SELECT n AS a0, ") + " FROM many WHERE a30 > 3",
]  # fmt: skip


@pytest.mark.parametrize("sql", [*READS, *CHANGES, *BOMBS], ids=lambda sql: sql[:60])
def test_whatever_else_a_query_is_it_does_not_run(
    tables: OpenTables, tmp_path: Path, sql: str
) -> None:
    file = tmp_path / "private.csv"
    file.write_text("secret\n")
    secret_of_the_caller = {"secret": [1]}
    with pytest.raises(QueryRefusedError) as refused:
        tables.run(sql.replace("{file}", str(file)), Event())
    assert "secret\n" not in str(refused.value)
    assert file.read_text() == "secret\n"
    assert list(tmp_path.iterdir()) == [file]
    assert secret_of_the_caller
    assert run(tables, "SELECT count(*) FROM orders") == ((5,),), "the tables are as before"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM many a, many b, many c, many d WHERE a.n + b.n + c.n + d.n > 7",
        "SELECT a.n FROM many a, many b, many c ORDER BY a.n * b.n - c.n LIMIT 3",
    ],
)
def test_a_query_that_takes_too_long_is_interrupted(sql: str) -> None:
    with (
        TableQueries(time_s=0.2).open((MANY,)) as tables,
        pytest.raises(QueryRefusedError, match="took too"),
    ):
        tables.run(sql, Event())


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT string_agg(a.s || b.s, '') FROM t a, t b",
        (
            "WITH a AS (SELECT s || s || s || s s FROM t), b AS (SELECT s || s || s || s s FROM a),"
            " c AS (SELECT s || s || s || s s FROM b), d AS (SELECT s || s || s || s s FROM c)"
            " SELECT max(length(s)) FROM d"
        ),
    ],
)
def test_a_query_that_takes_too_much_memory_ends(sql: str) -> None:
    table = QueryTable("t", (TableColumn("s", "VARCHAR", ("x" * 2000,) * 2000),))
    with (
        TableQueries(time_s=20.0, memory_mb=64).open((table,)) as tables,
        pytest.raises(QueryRefusedError, match="memory"),
    ):
        tables.run(sql, Event())


def test_a_table_too_large_for_the_memory_is_refused() -> None:
    values = tuple(f"{n}{'x' * 2000}" for n in range(20_000))
    table = QueryTable("t", (TableColumn("s", "VARCHAR", values),))
    queries = TableQueries(memory_mb=16)
    with pytest.raises(QueryRefusedError, match="memory"), queries.open((table,)):
        pass


def test_a_query_is_cancelled_at_once() -> None:
    cancel = Event()
    told: list[str] = []
    with TableQueries(time_s=60.0).open((MANY,)) as tables:

        def ask() -> None:
            try:
                tables.run("SELECT count(*) FROM many a, many b, many c, many d", cancel)
            except QueryRefusedError as refused:
                told.append(str(refused))

        asking = threading.Thread(target=ask)
        asking.start()
        until = time.monotonic() + 20
        cancel.set()
        asking.join(until - time.monotonic())
    assert told == ["It took too long."]


def test_an_error_says_what_is_wrong_and_shows_no_statement_of_ours(tables: OpenTables) -> None:
    with pytest.raises(QueryRefusedError) as refused:
        tables.run("SELECT first_name FROM orders", Event())
    assert '"first_name" not found' in str(refused.value)
    assert "rowid" not in str(refused.value)
