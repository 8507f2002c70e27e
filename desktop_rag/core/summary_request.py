"""The question that asks for a summary: one word, and filters that say of what. Pure."""

import re
from pathlib import Path

from desktop_rag.core.query import Query

_ASKING = re.compile(
    r"(?:summari[sz]e(?: this)?|summary|tl;dr|zusammenfass(?:ung|en)|fasse zusammen|résum(?:é|er|e)"
    r"|resum(?:en|ir|e|o)|riassum(?:i|ere)|riassunto|samenvatt(?:ing|en)|streszczenie|podsumuj"
    r"|резюме|обобщи|кратко|摘要|总结|總結|概括|要約|まとめ|요약|özet(?:le)?)[\s.!:…]*"
)


def asks_for_summary(query: Query) -> bool:
    """True for one word that asks for a summary, with or without filters."""
    return _ASKING.fullmatch(query.text.casefold()) is not None


def summary_of_file(path: Path, url: str = "") -> str:
    """What to ask for a summary of a file, or of the page from an address."""
    if url:
        # With its scheme it would be an address, and no filter.
        return f"Summarise file:{_quoted(url.partition('://')[2])}"
    return f"Summarise file:{_quoted(path.name)} folder:{_quoted(f'{path.parent}/')}"


def summary_of_folder(path: Path) -> str:
    """What to ask for a summary of all files in a folder and the folders inside."""
    return f"Summarise folder:{_quoted(f'{path}/')}"


def _quoted(name: str) -> str:
    """As a filter takes it; a star stands for the quotation marks that would end it."""
    return '"' + re.sub(r'["“”„«»]', "*", name) + '"'
