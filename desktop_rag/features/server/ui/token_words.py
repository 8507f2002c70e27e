"""Words for tokens and what they allow. Pure."""

from desktop_rag.core.language.translation import count_of, number_in_words, tr
from desktop_rag.features.server.programs.token_facts import TokenFacts
from desktop_rag.ui.foundation.days import day_and_time
from desktop_rag.ui.foundation.wording import one_line

ALLOWED = {
    "ask": tr("ask questions"),
    "read": tr("search and read documents"),
    "write": tr("change documents"),
    "admin": tr("everything, the admin page included"),
}
_SEPARATOR = " · "


def limits_in_words(token: TokenFacts) -> str:
    """What a token may do, where, and how often."""
    parts = [", ".join(ALLOWED[each] for each in token.allows)]
    if token.collections:
        parts.append(tr("only in {collections}", collections=_listed(token.collections)))
    if token.models:
        parts.append(count_of(len(token.models), tr("model"), tr("models")))
    if token.origins:
        parts.append(tr("from pages of {origins}", origins=_listed(token.origins)))
    if token.requests_per_minute:
        parts.append(tr("{count} a minute", count=number_in_words(token.requests_per_minute)))
    if token.lists_sources:
        parts.append(tr("with a list of sources"))
    return _SEPARATOR.join(parts)


def times_in_words(token: TokenFacts, now: float) -> str:
    """When it was used last, and when it ends."""
    used = (
        tr("Last used {time}", time=day_and_time(token.used_at))
        if token.used_at
        else tr("Never used")
    )
    if not token.ends_at:
        return used
    if now >= token.ends_at:
        return _SEPARATOR.join((used, tr("expired")))
    return _SEPARATOR.join((used, tr("ends {time}", time=day_and_time(token.ends_at))))


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(one_line(name) for name in names)
