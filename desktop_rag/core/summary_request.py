"""Requests for a summary: one word plus filters. Pure."""

import re
from pathlib import Path

from desktop_rag.core.query import Query
from desktop_rag.core.search_syntax import quoted_value

_SUMMARY_WORDS = re.compile(
    r"(?:summari[sz]e(?: this)?|summary|tl;dr|zusammenfass(?:ung|en)|fasse zusammen|résum(?:é|er|e)"
    r"|resum(?:en|ir|e|o)|riassum(?:i|ere)|riassunto|samenvatt(?:ing|en)|streszczenie|podsumuj"
    r"|резюме|обобщи|кратко|摘要|总结|總結|概括|要約|まとめ|요약|özet(?:le)?)[\s.!:…]*"
)


def asks_for_summary(query: Query) -> bool:
    """True for a request word such as "summarise" alone, with or without filters."""
    return _SUMMARY_WORDS.fullmatch(query.text.casefold()) is not None


def summary_of_file(path: Path, url: str = "") -> str:
    """The request to summarise a file, or the page at an address."""
    if url:
        # With its scheme it would be parsed as an address instead of a filter.
        return f"Summarise file:{quoted_value(url.partition('://')[2])}"
    return f"Summarise file:{quoted_value(path.name)} folder:{quoted_value(f'{path.parent}/')}"


def summary_of_folder(path: Path) -> str:
    """The request to summarise all files in a folder and its subfolders."""
    return f"Summarise folder:{quoted_value(f'{path}/')}"
