"""How much a page may be and take, and how the app names itself. Pure values."""

from dataclasses import dataclass

# The first word is the name that robots.txt files know a program by.
AGENT = "desktop-rag"
USER_AGENT = f"{AGENT} (personal document search; reads pages that its user chose)"


@dataclass(frozen=True, slots=True)
class WebLimits:
    """Bounds of one page: `page_bytes` counted after unpacking, `seconds` with all redirects.

    Between two requests to one site lie `gap_s`, or as much as it asks for up to `longest_gap_s`.
    """

    page_bytes: int = 10 * 1024 * 1024
    seconds: float = 20.0
    redirects: int = 5
    gap_s: float = 0.5
    longest_gap_s: float = 5.0
