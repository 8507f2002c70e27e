from desktop_rag.core.anchors import Anchor
from tests.unit.ingest.read.samples import parse
from tests.unit.ingest.read.test_mail import letter


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
