import pytest

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.source_file import Unreadable
from tests.unit.ingest.read.mail.test_eml import letter
from tests.unit.ingest.read.samples import parse


def mailbox(*subjects: str) -> bytes:
    bodies = [letter(subject).as_bytes() for subject in subjects]
    return b"\n".join(b"From office Mon Nov  2 10:00:00 2026\n" + body for body in bodies)


def test_each_message_is_a_section_with_its_line() -> None:
    data = mailbox("First", "Second")
    found = parse("All mail.mbox", data)
    assert (found.format, found.title) == ("mailbox", "All mail")
    assert [h.title for h in found.headings] == ["First", "Second"]
    second = data[: data.rindex(b"From office Mon")].count(b"\n") + 1
    assert [m.anchor for m in found.marks] == [
        Anchor(heading="First", line=1), Anchor(heading="Second", line=second),
    ]  # fmt: skip
    assert found.text.count("The tables for November") == 2


def test_attachments_tell_their_message() -> None:
    message = letter("With a file")
    message.add_attachment("The keeper sleeps.", filename="note.txt")
    data = mailbox("First") + b"\nFrom office Mon Nov  2 10:00:00 2026\n" + message.as_bytes()
    assert [p.name for p in parse("a.mbox", data).parts] == ["message 2 › note.txt"]


def test_a_quoted_line_begins_no_message() -> None:
    message = letter("One")
    message.set_content("He wrote:\n\n>From the harbour one sees the light.\n")
    data = b"From office Mon Nov  2 10:00:00 2026\n" + message.as_bytes()
    found = parse("a.mbox", data)
    assert len(found.headings) == 1
    assert "\nFrom the harbour one sees" in found.text


def test_a_message_without_a_subject_has_its_number() -> None:
    message = letter("")
    data = b"From office Mon Nov  2 10:00:00 2026\n" + message.as_bytes()
    assert [h.title for h in parse("a.mbox", data).headings] == ["message 1"]


def test_headings_in_a_message_are_below_it() -> None:
    message = letter("First")
    message.set_content("<h1>Tides</h1><p>High at noon.", subtype="html")
    data = (
        b"From office Mon Nov  2 10:00:00 2026\n" + message.as_bytes() + b"\n" + mailbox("Second")
    )
    found = parse("a.mbox", data)
    levels = [(h.level, h.title) for h in found.headings]
    assert levels == [(1, "First"), (2, "Tides"), (1, "Second")]
    assert found.marks[1].anchor == Anchor(heading="First › Tides", line=1)


def test_a_sentence_that_begins_with_from_begins_no_message() -> None:
    data = b"From x Mon Nov  2 10:00:00 2026\nSubject: One\n\nSo:\n\nFrom here one sees it.\nYes."
    found = parse("a.mbox", data)
    assert [h.title for h in found.headings] == ["One"]
    assert found.text.endswith("From here one sees it.\nYes.")


@pytest.mark.slow
def test_thousands_of_messages_are_read() -> None:
    assert len(parse("a.mbox", (mailbox("Tide") + b"\n") * 3000, 10_000_000).headings) == 3000


def test_a_mailbox_without_a_message_is_damaged() -> None:
    with pytest.raises(Unreadable, match="damaged"):
        parse("a.mbox", b"no message at all")
