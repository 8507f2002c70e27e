from email.message import EmailMessage

import pytest

from desktop_rag.core.anchors import Anchor
from desktop_rag.ingest.read.source import Unreadable
from tests.unit.ingest.read.samples import parse


def letter(subject: str = "Tide tables") -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Harbour Office <office@harbour.example>"
    message["To"] = "keeper@light.example"
    message["Subject"] = subject
    message["Date"] = "Mon, 02 Nov 2026 10:00:00 +0100"
    message.set_content("The tables for November are attached.")
    return message


def test_header_and_body_are_read_and_the_subject_is_the_title() -> None:
    found = parse("a.eml", letter("Gezeiten für Köln").as_bytes())
    assert (found.format, found.title) == ("e-mail", "Gezeiten für Köln")
    assert found.text.startswith("From: Harbour Office <office@harbour.example>\nTo: keeper@")
    assert "\nSubject: Gezeiten für Köln\n\nThe tables for November" in found.text
    assert found.marks[0].anchor == Anchor(heading="Gezeiten für Köln")


def test_attachments_become_documents_of_their_own() -> None:
    message = letter()
    message.add_attachment("Monday,05:40\nTuesday,06:20\n", filename="tide.csv")
    message.add_attachment(
        b"\x89PNG\r\n\x1a\n\x00\x00", "application", "octet-stream", filename="x.zip"
    )
    parts = parse("a.eml", message.as_bytes()).parts
    assert [part.name for part in parts] == ["tide.csv", "x.zip"]
    assert parts[0].document
    assert "05:40" in parts[0].document.text
    assert parts[1].document is None
    assert parts[1].refusal


def test_a_forwarded_message_is_a_document_with_its_own_attachments() -> None:
    inner = letter("Inner")
    inner.add_attachment("The keeper sleeps.", filename="note.txt")
    outer = letter("Outer")
    outer.add_attachment(inner)
    parts = parse("a.eml", outer.as_bytes()).parts
    assert [part.name for part in parts] == ["Inner.eml", "Inner.eml › note.txt"]
    assert all(part.document for part in parts)


def test_of_two_forms_of_a_body_the_plain_one_is_taken() -> None:
    message = letter()
    message.add_alternative("<p>The <b>tables</b> as a page.</p>", subtype="html")
    text = parse("a.eml", message.as_bytes()).text
    assert "for November" in text
    assert "as a page" not in text


def test_a_page_without_a_plain_form_is_read_as_a_page() -> None:
    message = EmailMessage()
    message["Subject"] = "Page"
    message.set_content(
        "<h1>Tides</h1><p>High at noon.<img src='http://x.example/pixel'></p>", "html"
    )
    found = parse("a.eml", message.as_bytes())
    assert "# Tides\n\nHigh at noon." in found.text
    assert [h.title for h in found.headings] == ["Tides"]


@pytest.mark.parametrize("charset", ["no-such-charset", "utf-8", "latin-1"])
def test_a_wrong_charset_costs_no_text(charset: str) -> None:
    head = f"Subject: x\nContent-Type: text/plain; charset={charset}\n\n"
    text = parse("a.eml", head.encode() + "Der Leuchtturm ist schön.".encode("latin-1")).text
    assert "Leuchtturm" in text


def test_p12_a_message_nested_without_end_is_refused() -> None:
    lines: list[str] = ["Subject: deep", "From: a@b.example"]
    for number in range(3000):
        lines += [f'Content-Type: multipart/mixed; boundary="b{number}"', "", f"--b{number}"]
    with pytest.raises(Unreadable, match="nested too deep"):
        parse("a.eml", "\n".join(lines).encode())


def test_p12_a_header_of_ten_megabytes_is_cut() -> None:
    head = b"From: a@b.example\nSubject: " + b"long " * 2_000_000 + b"\n\nThe body."
    found = parse("a.eml", head)
    assert len(found.text) < 10_000
    assert found.text.endswith("The body.")
