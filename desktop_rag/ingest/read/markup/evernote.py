"""Notes that Evernote exports (ENEX): the pages of notes, and the files in them.

One note after another is taken from the file, since most of it is pictures. Runs in the parser
process.
"""

import base64
import binascii
import io
import re
from typing import Any

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, one_line
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.markup import web_page

_TODO = re.compile(r"<en-todo\b([^>]{0,100})>")
_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)T")
_DECLARED = re.compile(rb"<!ENTITY")
_PROLOG_BYTES = 4000


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is that of the only note. Raises Unreadable without any."""
    from lxml import etree

    if _DECLARED.search(source.data[:_PROLOG_BYTES]):
        raise Unreadable("damaged", "The file is damaged", "It declares XML entities.")
    titles: list[str] = []
    notes = etree.iterparse(
        io.BytesIO(source.data), tag="note", resolve_entities=False, no_network=True,
        load_dtd=False, huge_tree=True, recover=True,
    )  # fmt: skip
    for _, note in notes:
        titles.append(one_line(note.findtext("title") or "") or f"note {len(titles) + 1}")
        _write(note, titles[-1], draft)
        note.clear()
    if not titles:
        raise Unreadable("damaged", "The file is damaged", "It holds no notes.")
    return titles[0] if len(titles) == 1 else ""


def _write(note: Any, title: str, draft: DocumentDraft) -> None:  # noqa: ANN401  an lxml element
    place = Anchor(heading=title, line=note.sourceline)
    draft.add("\n\n" * bool(draft.length))
    draft.add_heading(1, title)
    draft.mark(place)
    day = _DAY.match(note.findtext("created") or "")
    address = note.findtext("note-attributes/source-url") or ""
    lines = [
        f"Written: {'-'.join(day.groups())}" if day else "",
        f"Tags: {', '.join(tag.text or '' for tag in note.findall('tag'))}"
        if note.find("tag") is not None else "",
        f"From: {address}" if address else "",
    ]  # fmt: skip
    draft.add("\n".join(filter(None, [title, *lines])) + "\n\n")
    for number, resource in enumerate(note.iter("resource"), 1):
        name = resource.findtext("resource-attributes/file-name") or ""
        kind = (resource.findtext("mime") or "").rpartition("/")[2]
        # Pictures without a name are part of the page.
        if name or not (resource.findtext("mime") or "").startswith("image/"):
            try:
                data = base64.b64decode(resource.findtext("data") or "")
            except (binascii.Error, ValueError):
                draft.warn("A file inside it is damaged.")
                continue
            draft.attach(name or f"file {number}.{kind}", data)
    page = _TODO.sub(_box, note.findtext("content") or "")
    web_page.write(page, draft, place)


def _box(todo: re.Match[str]) -> str:
    return "☒ " if 'checked="true"' in todo[1] else "☐ "
