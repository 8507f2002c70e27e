"""Mailboxes (MBOX, also those of Google Takeout): a section for each message.

Attachments are documents of their own, named after the number of their message. Runs in the parser
process.
"""

import re
from collections.abc import Iterator
from itertools import zip_longest

from desktop_rag.core.parsed import HEADING_SEPARATOR, Anchor
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.mail.mail_message import MailMessage

# A message begins at such a line after an empty one, or at the beginning of the file. A field of
# its header must follow: "From" begins many a sentence, and not every program marks it then.
_BEGIN = re.compile(
    rb"\A\s*From [^\n]*\n|"
    rb"(?:(?<=\n\n)|(?<=\r\n\r\n))From [^\n]*\n(?=>?[A-Za-z0-9-]+:[ \t\r\n]|>From )"
)
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is the name of the file, not the first subject."""
    count = 0
    for number, (line, data) in enumerate(_messages(source.data), start=1):
        try:
            letter = MailMessage(data)
        except Unreadable as exc:
            draft.warn(f"Message {number} was left out: {exc.title}.")
            continue
        count += 1
        if draft.length:
            draft.add("\n\n")
        name = letter.subject or f"message {number}"
        draft.add_heading(1, name)
        place = Anchor(heading=name, line=line)
        draft.mark(place)
        draft.add(f"{name}\n\n")
        letter.write(draft, place, prefix=f"message {number}{HEADING_SEPARATOR}")
    if not count:
        raise Unreadable("damaged", "The file is damaged", "No message in it can be read.")
    return source.stem


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(line from 1, bytes without the line that begins it) of each message."""
    begins = list(_BEGIN.finditer(data))
    line = 1
    counted = 0
    for found, following in zip_longest(begins, begins[1:]):
        line += data.count(b"\n", counted, found.start())
        counted = found.start()
        end = following.start() if following else len(data)
        yield line, _QUOTED_FROM.sub(rb"\1", data[found.end() : end])
