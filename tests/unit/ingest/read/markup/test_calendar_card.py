import pytest

from desktop_rag.core.parsed import ParsedDocument
from tests.unit.ingest.read.samples import parse


def calendar(*lines: str, kind: str = "VEVENT") -> ParsedDocument:
    text = ("BEGIN:VCALENDAR", f"BEGIN:{kind}", *lines, f"END:{kind}", "END:VCALENDAR", "")
    return parse("a.ics", "\r\n".join(text).encode())


def card(*lines: str) -> ParsedDocument:
    return parse("a.vcf", "\n".join(("BEGIN:VCARD", *lines, "END:VCARD")).encode())


def test_an_event_says_when_where_and_who() -> None:
    document = calendar(
        "DTSTART;TZID=Europe/Oslo:20250114T083000",
        "DTEND;TZID=Europe/Oslo:20250114T101500",
        "SUMMARY:Review of the",
        "  pier",
        "LOCATION:Hall 2\\, ground floor",
        'ORGANIZER;CN="Falk, Ingrid":mailto:ingrid@pier.example',
        "ATTENDEE;CN=Jo Lee;PARTSTAT=ACCEPTED:MAILTO:jo@pier.example",
        "ATTENDEE:mailto:board@pier.example",
        "DESCRIPTION:Bring the plans\\nand a pen",
        "BEGIN:VALARM",
        "DESCRIPTION:Reminder",
        "END:VALARM",
    )
    assert document.text == (
        "Review of the pier\n"
        "Date: Tuesday, 14 January 2025 (2025-01-14), 08:30 to 10:15 (Europe/Oslo)\n"
        "Place: Hall 2, ground floor\n"
        "Organizer: Falk, Ingrid <ingrid@pier.example>\n"
        "People: Jo Lee <jo@pier.example>, board@pier.example\n"
        "Bring the plans\nand a pen"
    )
    assert (document.title, document.dated) == ("Review of the pier", "2025-01-14")
    assert document.marks[0].anchor.line == 2


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("DTSTART:20250301T120000Z",), "Saturday, 1 March 2025 (2025-03-01), 12:00 (UTC)"),
        (("DTSTART;VALUE=DATE:20250301",), "Saturday, 1 March 2025 (2025-03-01)"),
        # A whole day ends before the day that is named.
        (
            ("DTSTART;VALUE=DATE:20250301", "DTEND;VALUE=DATE:20250303"),
            "Saturday, 1 March 2025 (2025-03-01) to Sunday, 2 March 2025 (2025-03-02)",
        ),
        (
            ("DTSTART:20250301T230000", "DURATION:PT1H30M"),
            "23:00 to Sunday, 2 March 2025 (2025-03-02), 00:30",
        ),
        (("DTSTART:20250301T120000", "DTEND:20250301T130000Z"), "12:00 to 13:00 (UTC)"),
    ],
)  # fmt: skip
def test_moments_in_words(lines: tuple[str, ...], said: str) -> None:
    assert said in calendar(*lines, "SUMMARY:x").text


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("FREQ=DAILY", "every day"),
        ("FREQ=WEEKLY;BYDAY=TU,TH;COUNT=8", "every week on Tuesday, Thursday, 8 times"),
        ("FREQ=MONTHLY;INTERVAL=3;BYDAY=-1FR", "every 3 months on the last Friday"),
        ("FREQ=MONTHLY;BYMONTHDAY=15", "every month on day 15 of the month"),
        ("FREQ=YEARLY;UNTIL=20300101", "every year until Tuesday, 1 January 2030 (2030-01-01)"),
        ("FREQ=SOMETIMES", "FREQ=SOMETIMES"),
    ],
)  # fmt: skip
def test_repetition_in_words(rule: str, said: str) -> None:
    text = calendar("DTSTART:20250301T120000", "SUMMARY:x", f"RRULE:{rule}").text
    assert text.endswith(f"\nRepeats: {said}")


def test_a_task_is_due_and_an_event_may_be_cancelled() -> None:
    task = calendar("SUMMARY:Paint", "DUE;VALUE=DATE:20250301", kind="VTODO").text
    assert task == "To do: Paint\nDate: Saturday, 1 March 2025 (2025-03-01)"
    assert calendar("SUMMARY:x", "STATUS:CANCELLED").text == "x\nStatus: cancelled"


def test_a_card_is_a_person() -> None:
    document = card(
        "VERSION:4.0",
        "N:Lee;Ann;;;",
        "FN:Ann Lee",
        "ORG:Pier Company;Office",
        "TEL;TYPE=work,voice:tel:+47-22-33",
        "item1.EMAIL;TYPE=HOME:ann@pier.example",
        "ADR;TYPE=home:;;Quay 5;Bergen;;5003;Norway",
        "NOTE:Tea\\, no coffee",
        "PHOTO:data:image/jpeg;base64,/9j/4AAQSkZJRg",
        "UID:4711",
    )
    assert document.title == "Ann Lee"
    assert document.text == (
        "Ann Lee\nOrganisation: Pier Company, Office\nPhone (work): +47-22-33\n"
        "E-mail (home): ann@pier.example\nAddress (home): Quay 5, Bergen, 5003, Norway\n"
        "Note: Tea, no coffee"
    )


def test_an_old_card_is_read_in_its_encoding_over_its_lines() -> None:
    old = card("N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:K=C3=B6nig;=", "J=C3=B6rg", "TEL;CELL:1")
    assert old.text == "Jörg König\nPhone (mobile): 1"


def test_many_cards_are_sections_and_anything_else_is_text() -> None:
    two = "BEGIN:VCARD\nFN:Ann\nEND:VCARD\nBEGIN:VCARD\nFN:Bob\nEND:VCARD\n"
    document = parse("contacts.txt", two.encode())
    assert document.format == "contacts"
    assert [heading.title for heading in document.headings] == ["Ann", "Bob"]
    assert parse("a.ics", b"nothing of a calendar").text == "nothing of a calendar"


@pytest.mark.parametrize("written", ["00010101", "99991231"])
def test_p11_the_ends_of_all_time_are_survived(written: str) -> None:
    document = calendar("SUMMARY:x", f"DTSTART:{written}", f"DTEND:{written}", "DURATION:P9999W")
    assert document.text.startswith("x")


def test_p11_a_value_over_many_lines_is_put_together() -> None:
    document = calendar("SUMMARY:x", *([" y"] * 100_000))
    assert document.text == f"x{'y' * 100_000}"[:300]
