"""Places in documents in the language of the window. Pure; any thread."""

from desktop_rag.core.anchors import Anchor
from desktop_rag.core.language.translation import tr


def place_in_words(anchor: Anchor) -> str:
    """What `Anchor.label` says, for people: `page 4`, `Budget!A5:D9`, `Fees › Members`."""
    if anchor.second is not None:
        return anchor.label()
    if anchor.page is not None:
        if anchor.page_label:
            return tr("page {label} ({page})", label=anchor.page_label, page=anchor.page)
        return tr("page {page}", page=anchor.page)
    if anchor.slide is not None:
        return tr("slide {number}", number=anchor.slide)
    if anchor.sheet or anchor.heading:
        return anchor.label()
    if anchor.cells is not None:
        return tr("cells {cells}", cells=anchor.cells)
    return "" if anchor.line is None else tr("line {line}", line=anchor.line)
