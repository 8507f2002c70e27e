"""Finds where a quoted sentence stands in a text, by alignment. Pure."""


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """The span of the quote in the text; None without clear support."""
    start = text.find(quote)
    return (start, start + len(quote)) if quote and start >= 0 else None
