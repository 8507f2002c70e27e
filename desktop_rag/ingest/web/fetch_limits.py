"""Limits for fetching pages, and the app's user agent. Pure values."""

from dataclasses import dataclass

# The first word is the program name that robots.txt files match.
AGENT = "desktop-rag"
USER_AGENT = f"{AGENT} (personal document search; reads pages that its user chose)"


@dataclass(frozen=True, slots=True)
class WebLimits:
    """Limits for one page: `page_bytes` after decompression, `seconds` including all redirects.

    Requests to one site are `delay_s` apart, or as far as its robots.txt asks, up to `max_delay_s`.
    A site that is busy is asked again `busy_tries` times, after the time it names or `busy_s`,
    doubled each time, unless that is longer than `max_busy_s`; then it is left alone.
    """

    page_bytes: int = 10 * 1024 * 1024
    seconds: float = 20.0
    redirects: int = 5
    delay_s: float = 0.5
    max_delay_s: float = 5.0
    busy_tries: int = 2
    busy_s: float = 5.0
    max_busy_s: float = 120.0
