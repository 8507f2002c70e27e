import base64
from email.message import EmailMessage

import pytest

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.source_file import Unreadable
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


@pytest.mark.slow
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


@pytest.mark.parametrize("encoding", ["cp852", "cp1250", "iso8859_2"])
def test_a_text_without_a_charset_is_read_by_its_letters(encoding: str) -> None:
    text = "Wszystkie klucze należy zwrócić dozorcy, proszę podpisać umowę."
    found = parse("a.eml", b"From: a@b.example\nSubject: x\nDate: x\n\n" + text.encode(encoding))
    assert text in found.text


@pytest.mark.slow
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


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_header_that_was_never_encoded_is_read(encoding: str) -> None:
    head = "From: a@b.example\nSubject: Gezeiten für Köln\n\nHigh at noon."
    assert parse("a.eml", head.encode(encoding)).title == "Gezeiten für Köln"


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("Re: =?utf-8?q?K=C3=B6ln?= today", "Re: Köln today"),
        ("=?utf-8?b?S8M=?= =?utf-8?b?tmxu?=", "Köln"),
        ("=?no-such-charset?q?tide?=", "tide"),
        ("=?utf-8?b?broken", "=?utf-8?b?broken"),
        ("=?gb2312?B?w/fM7A==?=", "明天"),
    ],
)
def test_encoded_words_of_every_kind_are_read(field: str, expected: str) -> None:
    assert parse("a.eml", f"Subject: {field}\n\nHigh at noon.".encode()).title == expected


@pytest.mark.parametrize("times", [1, 12])
def test_a_plain_form_that_only_points_to_the_page_is_left_for_it(times: int) -> None:
    message = EmailMessage()
    message.set_content("Please use a program that shows pages. " * times)
    page = f"<style>{'td {color: red}' * 900}</style><p>{'High at noon, low at six. ' * 20 * times}"
    message.add_alternative(page, subtype="html")
    text = parse("a.eml", message.as_bytes()).text
    assert "High at noon" in text
    assert "Please use" not in text


def test_a_page_with_the_footer_of_a_list_below_is_not_lost() -> None:
    message = EmailMessage()
    message.make_mixed()
    for subtype, text in (("html", "<p>High at noon.</p>"), ("plain", "To leave the list, write.")):
        part = EmailMessage()
        part.set_content(text, subtype=subtype)
        message.attach(part)
    assert parse("a.eml", message.as_bytes()).text == "High at noon.\n\nTo leave the list, write."


def test_what_a_server_says_about_a_message_is_read() -> None:
    data = (
        b'Subject: Failed\nContent-Type: multipart/report; boundary="b"\n\n--b\n\nSorry.\n--b\n'
        b"Content-Type: message/delivery-status\n\nReporting-MTA: dns; light.example\n\n"
        b"Final-Recipient: rfc822; keeper@light.example\nStatus: 5.1.1\n\n--b--\n"
    )
    found = parse("a.eml", data)
    assert "Sorry.\n\nReporting-MTA: dns; light.example" in found.text
    assert found.text.endswith("Status: 5.1.1")
    assert not found.parts


def test_a_signature_is_no_attachment_and_encryption_is_told() -> None:
    message = letter()
    message.add_attachment(b"iQ", "application", "pgp-signature", filename="signature.asc")
    message.add_attachment(b"MI", "application", "pkcs7-mime", filename="smime.p7m")
    found = parse("a.eml", message.as_bytes())
    assert not found.parts
    assert "encrypted" in found.warnings[0]


def test_an_enclosed_message_that_was_encoded_as_a_whole_is_read() -> None:
    inner = base64.encodebytes(letter("Inner").as_bytes()).decode()
    data = (
        'Subject: Outer\nContent-Type: multipart/mixed; boundary="b"\n\n--b\n\nSee below.\n--b\n'
        "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n"
        f"{inner}\n--b--\n"
    )
    [part] = parse("a.eml", data.encode()).parts
    assert part.document
    assert "The tables for November" in part.document.text


def test_parts_without_a_border_are_one_text() -> None:
    data = b"Subject: x\nContent-Type: multipart/mixed\n\n--b\n\nHigh at noon.\n--b--\n"
    assert "High at noon." in parse("a.eml", data).text


def test_an_encoding_that_looks_like_ascii_is_decoded() -> None:
    data = b"Subject: x\nContent-Type: text/plain; charset=utf-7\n\nK+APY-ln"
    assert parse("a.eml", data).text.endswith("Köln")


@pytest.mark.parametrize(
    "field",
    [
        "Content-Type: multipart/mixed; " + "a=b; " * 800_000,
        'Content-Type: text/plain; name="' + '\\"' * 800_000,
        "To: " + "=?utf-8?q?a?= " * 400_000,
    ],
)
def test_p12_a_field_without_end_is_cut(field: str) -> None:
    data = f"Subject: x\nFrom: a@b.example\n{field}\n\nHigh at noon.".encode()
    assert parse("a.eml", data).title == "x"


def test_p12_parts_without_end_are_cut_and_it_is_told() -> None:
    head = b"Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n"
    found = parse("a.eml", head + b"--b\n\nhigh\n" * 5000)
    assert found.text.count("high") == 2000
    assert "2,000 parts" in found.warnings[0]


def test_of_two_texts_that_differ_both_are_read() -> None:
    message = letter()
    message.set_content("This message needs a viewer for pages.")
    message.add_alternative("<p>The barge Orla waits at berth 12.</p>", subtype="html")
    text = parse("a.eml", message.as_bytes()).text
    assert "berth 12" in text
    assert "needs a viewer" in text


def test_a_message_of_apples_mail_is_one() -> None:
    message = letter().as_bytes()
    content = b"%d \n%s<?xml version='1.0'?><plist><dict/></plist>" % (len(message), message)
    found = parse("12.emlx", content)
    assert found.title == "Tide tables"
    assert "plist" not in found.text


@pytest.mark.parametrize(
    ("parameters", "body", "read"),
    [
        ("", "The barge Orla \nwaits.\n-- \nAnn", "The barge Orla waits.\n-- \nAnn"),
        ("; delsp=yes", "The ba \nrge  \nOrla\nwaits.", "The barge Orla\nwaits."),
        ("; DelSp=No", "> The ba \n> rge\n>> older \nall", "> The ba rge\n>> older \nall"),
        ("", " From here \n on", "From here on"),
    ],
)  # fmt: skip
def test_lines_that_flow_are_put_together(parameters: str, body: str, read: str) -> None:
    head = f"Subject: x\nContent-Type: text/plain; format=flowed{parameters}\n\n"
    assert parse("a.eml", f"{head}{body}".encode()).text == f"Subject: x\n\n{read}"


def test_lines_of_other_texts_stay_as_they_are() -> None:
    assert parse("a.eml", b"Subject: x\n\nOne \ntwo").text == "Subject: x\n\nOne \ntwo"
