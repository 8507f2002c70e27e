"""The statements of a database that take longest, where the server records them. Any thread."""

import psycopg
from psycopg import sql

from desktop_rag.features.shared_library.postgres.database.server_connection import Own
from desktop_rag.features.shared_library.state.server_state import SlowStatement

_MOST_CHARS = 160


def slow_statements(connection: Own, limit: int) -> tuple[SlowStatement, ...] | None:
    """Those that take longest on average; None when none are recorded, or not for this role."""
    try:
        # In a transaction, what is refused would otherwise end all of it.
        with connection.transaction():
            row = connection.execute(
                "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n"
                " ON n.oid = e.extnamespace WHERE e.extname = 'pg_stat_statements'"
            ).fetchone()
            if row is None:
                return None
            # Texts of other roles are hidden from one without pg_read_all_stats.
            rows = connection.execute(
                sql.SQL(
                    "SELECT query, mean_exec_time, max_exec_time, calls FROM {}.pg_stat_statements"
                    " WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())"
                    " AND queryid IS NOT NULL ORDER BY mean_exec_time DESC LIMIT %s"
                ).format(sql.Identifier(row[0])),
                [limit],
            ).fetchall()
    except (psycopg.errors.ObjectNotInPrerequisiteState, psycopg.ProgrammingError):
        # Created, but not loaded when the server started; or not for this role.
        return None
    return tuple(
        SlowStatement(" ".join(text.split())[:_MOST_CHARS], float(mean), float(most), int(calls))
        for text, mean, most, calls in rows
    )
