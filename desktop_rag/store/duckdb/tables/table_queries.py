"""Queries over tables in a DuckDB of their own: in memory, without files, network or settings.

Only one SELECT of those tables with harmless functions may run: DuckDB parses the query, and its
syntax tree is checked against the lists here. Refused are functions that read files or settings or
create unlimited rows or texts, and all other statements. In addition the engine is locked down: no
external access, no extensions, no spilling to disk, one core, little memory and a time limit.
Constant folding is off: texts created while a query is planned don't count towards the memory
limit. Any thread.
"""

import json
import re
import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from typing import Any

import duckdb

from desktop_rag.store.contract.engine import OpenTables, QueryRefusedError, QueryResult, QueryTable
from desktop_rag.store.duckdb.database.connections import OPTIONS, Columns, Connection, insert

LONGEST_SQL_CHARS = 4_000
_MOST_NODES = 2_000


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_AGGREGATES = _set_of(
    """
    any_value approx_count_distinct arg_max arg_min avg bool_and bool_or corr count count_if
    count_star countif covar_pop covar_samp first last mad max max_by mean median min min_by mode
    product quantile quantile_cont quantile_disc regr_intercept regr_r2 regr_slope skewness
    stddev stddev_pop stddev_samp string_agg listagg group_concat sum sum_no_overflow var_pop
    var_samp variance
    """
)
# Not `replace`: nested calls create texts of any length, which no limit stops.
_SCALARS = _set_of(
    """
    + - * / // % ^ ** || @ ~~ !~~ ~~* !~~* ~~~ abs age ascii ceil ceiling century concat
    concat_ws contains current_date date_add date_diff date_part date_sub date_trunc datediff
    datepart datesub datetrunc day dayname dayofmonth dayofweek dayofyear decade divide ends_with
    epoch even exp fdiv floor fmod greatest hour ifnull ilike_escape instr isfinite isinf isnan
    isodow isoyear jaro_winkler_similarity lcase least left len length like_escape ln log log10
    log2 lower ltrim make_date make_time make_timestamp microsecond millisecond minute mod month
    monthname multiply not_ilike_escape not_like_escape now nullif position pow power prefix
    quarter regexp_extract regexp_full_match regexp_matches right round round_even rtrim
    second sign split_part sqrt starts_with strftime strip_accents strpos strptime substr
    substring subtract suffix to_days to_hours to_minutes to_months to_seconds to_weeks to_years
    today trim trunc try_strptime ucase unicode upper week weekday weekofyear year
    yearweek
    """
)
_WINDOWS = _set_of(
    """
    row_number rank dense_rank rank_dense percent_rank cume_dist ntile lag lead first first_value
    last last_value nth_value
    """
)
_CLASSES = _set_of(
    """
    BETWEEN CASE CAST COLLATE COLUMN_REF COMPARISON CONJUNCTION CONSTANT FUNCTION OPERATOR
    POSITIONAL_REFERENCE STAR SUBQUERY TYPE WINDOW
    """
)
# The nodes of a query that are no expressions: its clauses and the relations it reads.
_NODES = _set_of(
    """
    SELECT_NODE SET_OPERATION_NODE CTE_NODE BASE_TABLE SUBQUERY JOIN EMPTY EXPRESSION_LIST
    ORDER_MODIFIER LIMIT_MODIFIER LIMIT_PERCENT_MODIFIER DISTINCT_MODIFIER ORDER_DEFAULT
    ASCENDING DESCENDING
    """
)
_TYPES = _set_of(
    """
    bigint boolean bool char date decimal double float float4 float8 hugeint int int1 int2 int4
    int8 integer interval long numeric real short smallint string text time timestamp tinyint
    ubigint uinteger varchar bpchar
    """
)
_NAMES = re.compile(r"[\w ]{1,60}")


@dataclass(frozen=True, slots=True)
class CheckedSelect:
    """A query that may run, as DuckDB parsed it, with the tables and columns it uses.

    Names are in lower case; `columns` None means all of them.
    """

    statement: dict[str, Any]
    tables: frozenset[str]
    columns: frozenset[str] | None


def checked_select(connection: Connection, sql: str, tables: Sequence[str]) -> CheckedSelect:
    """The query, if it is one allowed SELECT of these tables; else QueryRefusedError."""
    if len(sql) > LONGEST_SQL_CHARS:
        raise QueryRefusedError("The statement is too long.")
    [(written,)] = connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()
    parsed: dict[str, Any] = json.loads(written)
    if parsed["error"]:
        raise QueryRefusedError(str(parsed.get("error_message", "It can't be read.")))
    if len(parsed["statements"]) != 1:
        raise QueryRefusedError("Only one statement is allowed.")
    statement = parsed["statements"][0]
    nodes = list(_nodes(statement))
    if len(nodes) > _MOST_NODES:
        raise QueryRefusedError("The statement is too long.")
    named = set[str]()
    for entry in _entries(nodes):
        named.add(entry["key"].casefold())
        if entry["value"]["materialized"] == "CTE_MATERIALIZE_NEVER":
            # Each use is planned again, so the time doubles with each step: thirty would never end.
            raise QueryRefusedError("NOT MATERIALIZED is not allowed.")
    own = {name.casefold() for name in tables}
    used: set[str] = set()
    for node in nodes:
        _check(node)
        if node.get("type") == "SELECT_NODE":
            _check_size(node)
        if node.get("type") == "BASE_TABLE":
            used.add(_table(node, own, named))
    has_star = any(node.get("class") == "STAR" for node in nodes)
    columns = {
        node["column_names"][-1].casefold() for node in nodes if node.get("class") == "COLUMN_REF"
    }
    return CheckedSelect(statement, frozenset(used & own), None if has_star else frozenset(columns))


def rows_statement(checked: CheckedSelect) -> tuple[dict[str, Any], bool] | None:
    """A query whose last column, `rowid`, has the numbers of the rows that the result is based on.

    True if its other columns are those of the query itself, which then need not run. None when the
    query names more than one table.
    """
    node = checked.statement["node"]
    source = node.get("from_table") or {}
    if node["type"] != "SELECT_NODE" or source.get("type") != "BASE_TABLE":
        return None
    if source["table_name"].casefold() not in checked.tables or node["cte_map"]["map"]:
        return None
    row = {"class": "COLUMN_REF", "type": "COLUMN_REF", "alias": "", "column_names": ["rowid"]}
    if not _aggregates(node):
        kept = {**node, "select_list": [*node["select_list"], row]}
        return {**checked.statement, "node": kept}, True
    if node.get("qualify"):
        return None
    plain = {
        **node, "select_list": [row], "modifiers": [], "group_expressions": [], "group_sets": [],
        "having": None, "aggregate_handling": "STANDARD_HANDLING",
    }  # fmt: skip
    return {**checked.statement, "node": plain}, False


def _aggregates(node: dict[str, Any]) -> bool:
    """True when a row of the result may be based on many rows of the table."""
    is_distinct = any(m["type"] == "DISTINCT_MODIFIER" for m in node["modifiers"])
    if node["group_expressions"] or node["aggregate_handling"] != "STANDARD_HANDLING":
        return True
    parts = [node["select_list"], node["having"], node["modifiers"]]
    functions = (n for n in _nodes(parts, into_queries=False) if n.get("class") == "FUNCTION")
    return is_distinct or any(n["function_name"].casefold() in _AGGREGATES for n in functions)


def _nodes(value: object, *, into_queries: bool = True) -> Iterator[dict[str, Any]]:
    """All objects of a parsed query, outer ones first."""
    waiting: list[Any] = [value]
    while waiting:
        match waiting.pop():
            case list() as items:
                waiting += items
            case dict() as node:
                yield node
                if into_queries or node.get("class") != "SUBQUERY":
                    waiting += node.values()
            case _:
                continue


def _entries(nodes: Sequence[dict[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for node in nodes:  # the WITH clauses
        yield from (node.get("cte_map") or {}).get("map", ())


def _check(node: dict[str, Any]) -> None:
    kind = node.get("class")
    if kind is None:
        if "type" in node and isinstance(node["type"], str) and node["type"] not in _NODES:
            raise QueryRefusedError(f"{_plain(node['type'])} is not allowed.")
        if node.get("sample") or node.get("at_clause"):
            raise QueryRefusedError("Samples and versions are not allowed.")
        return
    if kind not in _CLASSES:
        raise QueryRefusedError(f"{_plain(kind)} is not allowed.")
    if kind == "TYPE" and node["type_name"].casefold() not in _TYPES:
        raise QueryRefusedError(f"The type {_shown(node['type_name'])} is not allowed.")
    if kind in ("FUNCTION", "WINDOW"):
        name = node["function_name"].casefold()
        known = _AGGREGATES | (_SCALARS if kind == "FUNCTION" else _WINDOWS)
        if name not in known or node.get("schema") or node.get("catalog"):
            raise QueryRefusedError(f"The function {_shown(name)} is not allowed.")


def _check_size(select: dict[str, Any]) -> None:
    """Refuse short statements that expand to huge ones.

    A later column may use an alias several times, and each use expands to the whole expression.
    """
    sizes: dict[str, int] = {}
    total = 0
    others = [select[part] for part in ("where_clause", "having", "qualify", "modifiers")]
    for part in (*select["select_list"], *others, select["group_expressions"]):
        size = sum(
            sizes.get(node["column_names"][-1].casefold(), 1)
            if node.get("class") == "COLUMN_REF"
            else 1
            for node in _nodes(part)
        )
        total += size
        if total > _MOST_NODES:
            raise QueryRefusedError("The statement is too long.")
        if isinstance(part, dict) and (name := part.get("alias")):
            sizes[name.casefold()] = size


def _table(node: dict[str, Any], own: set[str], named: set[str]) -> str:
    name = node["table_name"].casefold()
    if node.get("schema_name") or node.get("catalog_name") or name not in own | named:
        raise QueryRefusedError(f"There is no table {_shown(node['table_name'])}.")
    return name


def _plain(kind: str) -> str:
    return kind.replace("_", " ").lower()


def _shown(name: str) -> str:
    return name if _NAMES.fullmatch(name) else "of this name"


MOST_ROWS = 200
_TIME_S = 5.0
_MEMORY_MB = 256
_LOOK_EVERY_S = 0.02
_LONGEST_ERROR_CHARS = 500
_CLOSED = (
    "SET python_enable_replacements = false",
    "SET disabled_optimizers = 'expression_rewriter'",
    "SET lock_configuration = true",
)


class TableQueries:
    """Opens tables for queries, each time in a database of their own."""

    def __init__(self, *, time_s: float = _TIME_S, memory_mb: int = _MEMORY_MB) -> None:
        """The limits hold for one query."""
        self._time_s = time_s
        self._memory_mb = memory_mb

    @contextmanager
    def open(self, tables: tuple[QueryTable, ...]) -> Generator[OpenTables]:
        """The tables in a database of their own, which is dropped at the end of the context.

        QueryRefusedError when they don't fit into memory.
        """
        options: dict[str, str | bool | int | float | list[str]] = {
            **OPTIONS,
            "enable_external_access": "false",
            "temp_directory": "",
            "threads": "1",
            "memory_limit": f"{self._memory_mb}MB",
        }
        connection = duckdb.connect(":memory:", config=options)
        try:
            with _refusing():
                for table in tables:
                    _load(connection, table)
            for statement in _CLOSED:
                connection.execute(statement)
            yield _TableDatabase(connection, tables, self._time_s)
        finally:
            connection.close()


class _TableDatabase:
    """An `OpenTables` over one connection."""

    dialect = "DuckDB"

    def __init__(
        self, connection: Connection, tables: tuple[QueryTable, ...], time_s: float
    ) -> None:
        self._connection = connection
        self._names = {table.name.casefold(): table.name for table in tables}
        self._time_s = time_s

    def run(self, sql: str, cancel: Event) -> QueryResult:
        """The result of one SELECT; see OpenTables."""
        with _refusing():
            checked = checked_select(self._connection, sql, tuple(self._names))
            with _clock(self._connection, self._time_s, cancel):
                return self._result(sql, checked)

    def _result(self, sql: str, checked: CheckedSelect) -> QueryResult:
        used: dict[str, tuple[int, ...] | None] = {self._names[n]: None for n in checked.tables}
        by_rows = rows_statement(checked)
        if by_rows is None:
            columns, rows, is_cut = self._first(sql)
            return QueryResult(columns, rows, is_cut, used, checked.columns)
        statement, has_all = by_rows
        table = self._names[statement["node"]["from_table"]["table_name"].casefold()]
        if has_all:
            columns, rows, is_cut = self._first(self._to_sql(statement))
            used[table] = tuple(row[-1] for row in rows)  # type: ignore[misc]
            return QueryResult(
                columns[:-1], tuple(row[:-1] for row in rows), is_cut, used, checked.columns
            )
        columns, rows, is_cut = self._first(sql)
        found = self._connection.execute(self._to_sql(statement)).fetchall()
        used[table] = tuple(row[0] for row in found)
        return QueryResult(columns, rows, is_cut, used, checked.columns)

    def _to_sql(self, statement: object) -> str:
        parsed = json.dumps({"error": False, "statements": [statement]})
        [(sql,)] = self._connection.execute("SELECT json_deserialize_sql(?)", [parsed]).fetchall()
        return str(sql)

    def _first(self, sql: str) -> tuple[tuple[str, ...], tuple[tuple[object, ...], ...], bool]:
        """Column names, the first rows, and True when there are more."""
        result = self._connection.execute(sql)
        names = tuple(str(column[0]) for column in result.description or ())
        rows = result.fetchmany(MOST_ROWS + 1)
        return names, tuple(map(tuple, rows[:MOST_ROWS])), len(rows) > MOST_ROWS


@contextmanager
def _refusing() -> Generator[None]:
    """Turn DuckDB's errors into a refusal for the author of the query."""
    try:
        yield
    except duckdb.InterruptException as exc:
        raise QueryRefusedError("It took too long.") from exc
    except duckdb.OutOfMemoryException as exc:
        raise QueryRefusedError("It took too much memory.") from exc
    except RecursionError as exc:
        raise QueryRefusedError("The statement is nested too deeply.") from exc
    except duckdb.Error as exc:
        # Cut off the statement that follows: it may be our extended one.
        message = str(exc).partition("\n\nLINE ")[0]
        raise QueryRefusedError(message[:_LONGEST_ERROR_CHARS]) from exc


@contextmanager
def _clock(connection: Connection, time_s: float, cancel: Event) -> Generator[None]:
    """Interrupts what runs inside when its time is up or it is cancelled."""
    is_over = Event()
    until = time.monotonic() + time_s

    def watch() -> None:
        while not is_over.wait(_LOOK_EVERY_S):
            if cancel.is_set() or time.monotonic() > until:
                # Repeatedly: an interrupt between two statements is lost.
                connection.interrupt()

    thread = threading.Thread(target=watch, name="table-query-clock", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _load(connection: Connection, table: QueryTable) -> None:
    name = _quoted(table.name)
    columns = ", ".join(f"{_quoted(c.name)} {c.kind}" for c in table.columns)
    connection.execute(f"CREATE TABLE {name} ({columns})")
    given: Columns = {f"c{n}": list(column.values) for n, column in enumerate(table.columns)}
    connection.execute(f"CREATE TEMP TABLE given ({', '.join(f'{key} VARCHAR' for key in given)})")
    insert(connection, "given", given)
    casts = ", ".join(
        f"CAST({key} AS {column.kind})" for key, column in zip(given, table.columns, strict=True)
    )
    connection.execute(f"INSERT INTO {name} SELECT {casts} FROM given ORDER BY rowid")
    connection.execute("DROP TABLE given")
    connection.execute("DROP VIEW IF EXISTS incoming")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
