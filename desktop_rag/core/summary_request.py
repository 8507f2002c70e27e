"""Requests for a summary: one word, about the scope or the filters beside it. Pure."""

import re

from desktop_rag.core.query import Query

_SUMMARY_WORDS = re.compile(
    r"(?:summari[sz]e(?: this)?|summary|tl;dr|zusammenfass(?:ung|en)|fasse zusammen|résum(?:é|er|e)"
    r"|resum(?:en|ir|e|o)|riassum(?:i|ere)|riassunto|samenvatt(?:ing|en)|streszczenie|podsumuj"
    r"|резюме|обобщи|кратко|摘要|总结|總結|概括|要約|まとめ|요약|özet(?:le)?)[\s.!:…]*"
)


def asks_for_summary(query: Query) -> bool:
    """True for a request word such as "summarise" alone, with or without filters."""
    return _SUMMARY_WORDS.fullmatch(query.text.casefold()) is not None
