"""What a test of the shared library found, in words. Pure."""

from desktop_rag.core.language.translation import decimal_in_words, number_in_words, tr
from desktop_rag.core.shared_library import SharedLibraryReport
from desktop_rag.ui.foundation.wording import one_line, size_in_words

_MOST_NAMES = 12


def report_in_words(report: SharedLibraryReport) -> str:
    """A few lines: versions, size, collections, the index, and what is slow."""
    lines = [
        tr(
            "All is well. PostgreSQL {server} with pgvector {vector}.",
            server=report.server_version,
            vector=report.vector_version,
        ),
        tr(
            "{passages} passages in {size}. {index}",
            passages=number_in_words(report.passages),
            size=size_in_words(report.size_bytes),
            index=_index_in_words(report),
        ),
        _collections_in_words(report),
    ]
    if not report.is_encrypted:
        lines.append(tr("The connection is not encrypted."))
    return "\n".join((*lines, *_slow_in_words(report)))


def _index_in_words(report: SharedLibraryReport) -> str:
    if report.has_vector_index:
        return tr("The index for meaning is built.")
    return tr("There is no index for meaning yet; a small library needs none.")


def _collections_in_words(report: SharedLibraryReport) -> str:
    names = [one_line(name) for name in report.collections]
    if not names:
        return tr("It has no collections that this role may see.")
    shown = ", ".join(names[:_MOST_NAMES])
    more = f" (+{len(names) - _MOST_NAMES})" if len(names) > _MOST_NAMES else ""
    return tr("Collections: {names}", names=f"{shown}{more}")


def _slow_in_words(report: SharedLibraryReport) -> list[str]:
    if report.slow is None:
        return [tr("Slow queries are not recorded: the server has no pg_stat_statements.")]
    if not report.slow:
        return []
    rows = [
        tr(
            "{ms} ms on average, {calls} times: {query}",
            ms=decimal_in_words(ms, 0),
            calls=number_in_words(n),
            query=q,
        )
        for q, ms, n in report.slow
    ]
    return [tr("Slowest queries:"), *rows]
