"""Tests the connection to a library on a server, and says what is wrong. Any thread.

Changes nothing on the server.
"""

from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.server_state import SlowStatement
from desktop_rag.core.shared_library import SharedLibraryReport
from desktop_rag.core.store_settings import Encryption, SharedLibrarySettings
from desktop_rag.features.shared_library.postgres.database.server_connection import Own
from desktop_rag.features.shared_library.postgres.database.server_database import (
    mapping_server_errors,
)
from desktop_rag.features.shared_library.postgres.database.server_schema import (
    LATEST,
    LEAST_VECTOR,
    LEAST_VERSION,
    version_of,
)

_MOST_CHARS = 160


def slow_statements(connection: Own, limit: int) -> tuple[SlowStatement, ...] | None:
    """The statements that take longest on average; None where none are recorded for this role."""
    try:
        # Without a savepoint, a refusal would end a transaction under way.
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


# A person waits for the answer, and a search must not.
CONNECT_S = 4
_STATEMENT_MS = 15_000
# What a search reads; not the chats of those who use the server.
_READ = (
    "library_state", "collections", "sources", "documents", "document_texts",
    "chunks", "terms", "postings", "models", "file_tags",
)  # fmt: skip
# What searches of a role that may read everything read instead of `postings`.
_READ_WHOLE = ("posting_blocks", "posting_state", "dead_chunks")
_SLOWEST = 5


def conninfo_of(settings: SharedLibrarySettings, password: str) -> str:
    """The libpq connection string with the password: never show or store it."""
    certificate: dict[str, str] = {}
    if settings.encryption is Encryption.VERIFIED:
        # Those that the system trusts, unless the person names one.
        certificate = {"sslrootcert": settings.certificate or "system"}
    return make_conninfo(
        host=settings.host,
        port=settings.port,
        dbname=settings.database,
        user=settings.role,
        password=password or None,
        sslmode=settings.encryption.value,
        connect_timeout=CONNECT_S,
        tcp_user_timeout=CONNECT_S * 1000,
        options=f"-c statement_timeout={_STATEMENT_MS} -c default_transaction_read_only=on",
        application_name="desktop-rag",
        **certificate,
    )


def check_server(settings: SharedLibrarySettings, password: str) -> SharedLibraryReport:
    """Connect and look at the library; AppError says what is wrong and what to do."""
    if settings.certificate and not Path(settings.certificate).is_file():
        raise AppError(
            tr("The file with the certificate is not there."),
            tr("Choose another file, or leave the field empty."),
        )
    try:
        connection = psycopg.connect(conninfo_of(settings, password), autocommit=True)
    except psycopg.OperationalError as exc:
        raise _why_not_connected(exc, settings, has_password=bool(password)) from exc
    with mapping_server_errors(), connection:
        vector = _checked_versions(connection)
        _refuse_missing_library(connection, settings.library)
        _refuse_missing_rights(connection, settings)
        _refuse_other_schema(connection, settings.library)
        _refuse_hidden_rows(connection, settings)
        return _report(connection, settings.library, vector)


def _why_not_connected(
    exc: psycopg.OperationalError, settings: SharedLibrarySettings, *, has_password: bool
) -> AppError:
    said = " ".join(str(exc).split())
    low = said.lower()
    for words, title, hint in _REASONS:
        if any(word in low for word in words):
            return AppError(title, hint.format(role=settings.role, database=settings.database))
    if "fe_sendauth" in low or "no password supplied" in low:
        return AppError(
            tr("The server asks for a password."), tr("Enter the password of the role.")
        )
    if "fatal:" in low:
        reason = said[low.index("fatal:") + 6 :].strip()
        return AppError(_REFUSED, tr("It says: {reason}", reason=reason))
    if has_password and exc.pgconn and exc.pgconn.used_password:
        # The server's messages may be in any language.
        return AppError(_REFUSED, tr("It says: {reason}", reason=said))
    return AppError(
        tr("The server can't be reached."),
        tr(
            "Check the address and the port, whether the server runs, and whether this computer is"
            " in its network."
        ),
    )


# Words of libpq's and the server's messages, the title, and the way out.
_REFUSED = tr("The server refuses the connection.")
_REASONS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("server does not support ssl",),
        tr("The server offers no encryption."),
        tr(
            "Ask whoever runs it to switch TLS on. “No encryption” is only for this computer or a"
            " network that you trust."
        ),
    ),
    (
        ("certificate verify failed", "server certificate for", "unable to get local issuer"),
        tr("The server's certificate is not trusted."),
        tr(
            "Choose the file with the certificate of its authority, or check that the address is"
            " the name in the certificate."
        ),
    ),
    (
        ("root certificate", "ssl error", "ssl connection", "sslrootcert"),
        tr("The encrypted connection can't be set up."),
        tr(
            "Choose the file with the certificate of the server's authority, or ask whoever runs"
            " it."
        ),
    ),
    (
        ("no encryption", "ssl off"),
        tr("The server accepts encrypted connections only, or none from this computer."),
        tr(
            "Choose an encrypted connection. If that fails too, ask whoever runs the server to"
            " allow this computer."
        ),
    ),
    (
        ("no pg_hba.conf entry",),
        tr("The server does not let this computer in."),
        tr("Ask whoever runs it to allow the role {role} from here (pg_hba.conf)."),
    ),
    (
        ("password authentication failed", "peer authentication failed"),
        tr("The role or the password is wrong."),
        tr("Check the role {role} and enter its password again."),
    ),
    (
        ('role "', "is not permitted to log in"),
        tr("There is no such role on the server."),
        tr("Check the role {role}, or ask whoever runs the server to create it."),
    ),
    (
        ("permission denied for database",),
        tr("The role may not use the database."),
        tr("Ask whoever runs the server for: GRANT CONNECT ON DATABASE {database} TO {role}."),
    ),
    (
        ('database "',),
        tr("There is no database of that name on the server."),
        tr("Check the name {database}, or ask whoever runs the server."),
    ),
    (
        ("too many clients", "remaining connection slots", "too many connections"),
        tr("The server has no connection left."),
        tr("Try again later, or ask whoever runs the server to allow more."),
    ),
    (
        ("starting up", "shutting down"),
        tr("The server is starting or stopping."),
        tr("Try again in a moment."),
    ),
)


def _checked_versions(connection: Own) -> str:
    """The version of pgvector; AppError when it or the server is too old."""
    if connection.info.server_version < LEAST_VERSION:
        found = connection.info.parameter_status("server_version")
        raise _too_old(tr("PostgreSQL on the server is too old."), found, "17")
    row = connection.execute(
        "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
    ).fetchone()
    if row is None:
        raise AppError(
            tr("The database has no pgvector."),
            tr(
                "Ask whoever runs the server to install it (on Debian postgresql-18-pgvector) and"
                " to run CREATE EXTENSION vector in the database."
            ),
        )
    if tuple(int(n) for n in row[0].split(".")[:2]) < LEAST_VECTOR:
        raise _too_old(tr("pgvector on the server is too old."), row[0], "0.8")
    return str(row[0])


def _too_old(title: str, found: str | None, least: str) -> AppError:
    hint = tr(
        "It is version {found}; the library needs {least} or newer. Ask whoever runs the server.",
        found=found,
        least=least,
    )
    return AppError(title, hint)


def _refuse_missing_library(connection: Own, library: str) -> None:
    rows = connection.execute(
        "SELECT nspname FROM pg_namespace n WHERE EXISTS (SELECT 1 FROM pg_class c"
        " WHERE c.relnamespace = n.oid AND c.relname = 'library_state') ORDER BY 1"
    ).fetchall()
    names = [str(name) for (name,) in rows]
    if library not in names:
        there = tr("It has: {names}.", names=", ".join(names)) if names else tr("It has none yet.")
        way = tr("Check the name, or copy a library there: desktop-rag copy.")
        raise AppError(tr("There is no library of that name in the database."), f"{there} {way}")


def _refuse_missing_rights(connection: Own, settings: SharedLibrarySettings) -> None:
    quoted = sql.Identifier(settings.library).as_string(connection)
    [(may_use, reads_whole)] = connection.execute(
        "SELECT has_schema_privilege(%s, 'USAGE'), rolsuper OR rolbypassrls FROM pg_roles"
        " WHERE rolname = current_user",
        [settings.library],
    ).fetchall()
    vectors = connection.execute(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = %s AND c.relname ~ '^vectors_[0-9]+$' ORDER BY c.relname",
        [settings.library],
    ).fetchall()
    read = (*_READ, *(name for (name,) in vectors), *(_READ_WHOLE if reads_whole else ()))
    tables = [f"{quoted}.{table}" for table in read]
    may_read = may_use and all(
        connection.execute("SELECT has_table_privilege(%s, 'SELECT')", [table]).fetchall()[0][0]
        for table in tables
    )
    if not may_read:
        statements = _let_read(quoted, settings.role)
        if reads_whole:
            statements = (
                f"GRANT USAGE ON SCHEMA {quoted} TO {settings.role};"
                f" GRANT SELECT ON {', '.join(tables)} TO {settings.role};"
            )
        raise AppError(
            tr("The role has no right to read the library."),
            tr("Ask whoever runs the server for: {statements}", statements=statements),
        )


def _let_read(library: str, role: str) -> str:
    return f"SELECT {library}.let_read('{role}', 'name of a collection');"


def _refuse_other_schema(connection: Own, library: str) -> None:
    connection.execute(sql.SQL("SET search_path TO {}, public").format(sql.Identifier(library)))
    version = version_of(connection, library)
    if version is None:
        # Hidden by row-level security like all rows, which the next check reports.
        return
    if version > LATEST:
        raise AppError(
            tr("The shared library is from a newer version of the app."), tr("Update this app.")
        )
    if version < LATEST:
        raise AppError(
            tr("The shared library is from an earlier version of the app."),
            tr("Whoever runs it starts the new version there once; then try again."),
        )


def _refuse_hidden_rows(connection: Own, settings: SharedLibrarySettings) -> None:
    """AppError when row-level security hides every collection from the role."""
    [(is_limited, sees_any)] = connection.execute(
        "SELECT row_security_active('collections'), EXISTS (SELECT 1 FROM collections)"
    ).fetchall()
    if is_limited and not sees_any:
        raise AppError(
            tr("The role sees nothing of the library."),
            tr(
                "Ask whoever runs the server to let it read some collections: {some} Or all of"
                " them: {every}",
                some=_let_read(
                    sql.Identifier(settings.library).as_string(connection), settings.role
                ),
                every=f"ALTER ROLE {settings.role} BYPASSRLS;",
            ),
        )


def _report(connection: Own, library: str, vector: str) -> SharedLibraryReport:
    [(size,)] = connection.execute(
        "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c"
        " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relkind = 'r'",
        [library],
    ).fetchall()
    # The planner's estimate: counting millions of rows takes too long for a look.
    [(passages,)] = connection.execute(
        "SELECT CASE WHEN sum(c.reltuples) > 100000 AND NOT row_security_active('chunks')"
        " THEN sum(c.reltuples)::bigint ELSE (SELECT count(*) FROM chunks) END"
        " FROM pg_partition_tree('chunks') t JOIN pg_class c ON c.oid = t.relid WHERE t.isleaf"
    ).fetchall()
    names = connection.execute("SELECT name FROM collections ORDER BY name").fetchall()
    [(indexes,)] = connection.execute(
        "SELECT count(*) FROM pg_indexes"
        " WHERE schemaname = %s AND indexdef LIKE '%% USING hnsw %%'",
        [library],
    ).fetchall()
    slow = slow_statements(connection, _SLOWEST)
    return SharedLibraryReport(
        str(connection.info.parameter_status("server_version")).split(" ")[0],
        vector,
        int(size),
        int(passages),
        tuple(str(name) for (name,) in names),
        bool(connection.pgconn.ssl_in_use),
        bool(indexes),
        None if slow is None else tuple((s.text, s.mean_ms, s.calls) for s in slow),
    )
