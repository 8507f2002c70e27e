"""Calendars (ICS) and contacts (vCard): events and people as a person would write them down.

Both are lines of a name, parameters and a value. Runs in the parser process.
"""

import quopri
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, one_line
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.markup import plain_text

_LINE = re.compile(r"(?:[\w-]+\.)?([\w-]+)((?:;(?:\"[^\"]*\"|[^\":;]++)*+)*+):(.*)", re.DOTALL)
_PARAMETER = re.compile(r";([\w-]+)(?:=(\"[^\"]*\"|[^;]*))?")
_ESCAPED = re.compile(r"\\([\\;,nN:])")
_BETWEEN = re.compile(r"(?<!\\)[;]")
_EVENTS = {"VEVENT": "", "VTODO": "To do: ", "VJOURNAL": ""}
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_CODES = {day[:2].upper(): day for day in _WEEKDAYS}
_UNITS = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year", "HOURLY": "hour"}
_ORDINALS = {"": "", "1": "first ", "2": "second ", "3": "third ", "4": "fourth ", "-1": "last "}
_DURATION = re.compile(
    r"P(?:(\d{1,4})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:\d+S)?)?"
)
_CARD = {
    "NICKNAME": "Also called", "ORG": "Organisation", "TITLE": "Position", "ROLE": "Role",
    "TEL": "Phone", "EMAIL": "E-mail", "ADR": "Address", "BDAY": "Birthday", "URL": "Page",
    "CATEGORIES": "Groups", "NOTE": "Note", "ANNIVERSARY": "Anniversary", "IMPP": "Messages",
}  # fmt: skip
_KINDS_SHOWN = {"HOME": "home", "WORK": "work", "CELL": "mobile", "FAX": "fax"}


@dataclass(frozen=True, slots=True)
class _Property:
    name: str
    parameters: dict[str, str]
    value: str


@dataclass(slots=True)
class _Record:
    """An event or a card: where it begins, and its properties."""

    kind: str
    line: int
    found: list[_Property] = field(default_factory=list[_Property])

    def all(self, *names: str) -> list[_Property]:
        return [one for one in self.found if one.name in names and one.value.strip()]

    @property
    def is_shown(self) -> bool:
        return self.kind != "VCALENDAR" and bool(self.found)

    def text(self, name: str) -> str:
        return next((_unescaped(one.value) for one in self.all(name)), "")

    def moment(self, *names: str) -> tuple[datetime | None, str]:
        found = next(iter(self.all(*names)), _Property("", {}, ""))
        return _moment(found.value, found.parameters.get("TZID", ""))


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is the name of the calendar, or of the only card or event."""
    text = plain_text.decoded(source, draft)
    records = list(_records(text))
    written = [(record, *_written(record)) for record in records if record.is_shown]
    if not written:
        plain_text.write(text, draft)
    for record, title, lines in written:
        draft.add("\n\n" * bool(draft.length))
        draft.mark(Anchor(heading=one_line(title) or None, line=record.line))
        draft.add_heading(1, title)
        draft.add("\n".join(filter(None, [title, *lines])))
    days = [day for record in records if (day := record.moment("DTSTART")[0])]
    if len(days) == 1:
        draft.dated = days[0].date().isoformat()
    named = next((r.text("X-WR-CALNAME") for r in records if r.text("X-WR-CALNAME")), "")
    return named or (written[0][1] if len(written) == 1 else "")


def _unescaped(value: str) -> str:
    """A value as a person wrote it."""
    return _ESCAPED.sub(lambda m: "\n" if m[1] in "nN" else m[1], value).strip()


def _records(text: str) -> Iterator[_Record]:
    """The calendars, events and cards; alarms and rules of time zones belong to none."""
    open_records: list[_Record] = []
    for number, line in _unfolded(text):
        parts = _LINE.fullmatch(line)
        if not parts:
            continue
        name, value = parts[1].upper(), parts[3]
        if name == "BEGIN":
            open_records.append(_Record(value.strip().upper(), number))
            if open_records[-1].kind in {"VCALENDAR", "VCARD", *_EVENTS}:
                yield open_records[-1]
        elif name == "END":
            del open_records[-1:]
        elif open_records:
            found = _PARAMETER.findall(parts[2])
            parameters = {key.upper(): said.strip('"') for key, said in found}
            open_records[-1].found.append(_Property(name, parameters, _plain(value, parameters)))


def _unfolded(text: str) -> Iterator[tuple[int, str]]:
    """(number, line) with the lines that go on where the one before ended."""
    first = 1
    parts: list[str] = []
    is_encoded = False
    for number, line in enumerate([*text.split("\n"), ""], 1):
        is_soft = is_encoded and parts[-1].endswith("=")
        if parts and (is_soft or line[:1] in {" ", "\t"}):
            parts[-1] = parts[-1][: len(parts[-1]) - is_soft]
            parts.append(line if is_soft else line[1:])
            continue
        if parts:
            yield first, "".join(parts)
        first, parts = number, [line] if line else []
        is_encoded = "QUOTED-PRINTABLE" in line.upper()


def _plain(value: str, parameters: dict[str, str]) -> str:
    if "QUOTED-PRINTABLE" not in {*parameters, parameters.get("ENCODING", "").upper()}:
        return value
    data = quopri.decodestring(value.encode("utf-8", "replace"))
    with suppress(LookupError):
        return data.decode(parameters.get("CHARSET", "utf-8"), "replace")
    return data.decode("utf-8", "replace")


def _written(record: _Record) -> tuple[str, list[str]]:
    """The title of a record, and its lines."""
    if record.kind == "VCARD":
        names = record.text("N").split(";")
        title = record.text("FN") or " ".join(filter(None, [*names[1:3], names[0]]))
        said = [_of_card(one) for one in record.all(*_CARD)]
        return title or record.text("ORG"), [f"{label}: {value}" for label, value in said if value]
    when = ""
    with suppress(OverflowError):
        when = _when(record)
    excepted = (day for one in record.all("EXDATE") for day in one.value.split(","))
    moments = (_moment(day)[0] for day in excepted)
    said = [
        ("Date", when),
        ("Repeats", ". ".join(map(_repeated, record.all("RRULE")))),
        ("Except on", ", ".join(_day(moment) for moment in moments if moment)),
        ("Place", record.text("LOCATION")),
        ("Organizer", ", ".join(map(_person, record.all("ORGANIZER")))),
        ("People", ", ".join(map(_person, record.all("ATTENDEE")))),
        ("Groups", record.text("CATEGORIES")),
        ("Page", record.text("URL")),
        ("Status", record.text("STATUS").lower()),
    ]
    lines = [f"{label}: {value}" for label, value in said if value]
    title = one_line(record.text("SUMMARY")) or when
    return _EVENTS[record.kind] + title, [*lines, record.text("DESCRIPTION")]


def _of_card(one: _Property) -> tuple[str, str]:
    """The label of a line of a card, and its value."""
    parts = (_unescaped(part) for part in _BETWEEN.split(one.value))
    value = ", ".join(filter(None, parts)).removeprefix("tel:").removeprefix("mailto:")
    kinds = {*one.parameters, *one.parameters.get("TYPE", "").upper().split(",")}
    shown = ", ".join(word for kind, word in _KINDS_SHOWN.items() if kind in kinds)
    return _CARD[one.name] + f" ({shown})" * bool(shown), value


def _person(one: _Property) -> str:
    address, name = one.value.strip(), one.parameters.get("CN", "")
    address = address[7:] if address[:7].lower() == "mailto:" else address
    return f"{name} <{address}>" if name and name != address else address


def _moment(written: str, zone: str = "") -> tuple[datetime | None, str]:
    """A point in time, and its zone; of a whole day the zone is "day"."""
    value = written.strip()
    zone = "UTC" if value.endswith("Z") else zone
    for form, is_day in (("%Y%m%dT%H%M%S", False), ("%Y%m%dT%H%M", False), ("%Y%m%d", True)):
        with suppress(ValueError):
            return datetime.strptime(value.removesuffix("Z"), form), "day" if is_day else zone
    return None, ""


def _day(moment: date) -> str:
    """A day in words and in digits, so that it is found by either."""
    weekday = _WEEKDAYS[moment.weekday()]
    return f"{weekday}, {moment.day} {moment:%B %Y} ({moment:%Y-%m-%d})"


def _when(record: _Record) -> str:
    """When an event is. Raises OverflowError for the end of all time."""
    start, zone = record.moment("DTSTART", "DUE")
    if start is None:
        return ""
    end, end_zone = record.moment("DTEND", "DUE")
    end_zone = end_zone if end else zone
    if end is None and (length := _DURATION.fullmatch(record.text("DURATION"))):
        weeks, days, hours, minutes = (int(part or 0) for part in length.groups())
        end = start + timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes)
    if zone == "day":
        # The day after the last one.
        last = end - timedelta(days=1) if end else start
        return _day(start) + (f" to {_day(last)}" if last > start else "")
    shown = f"{_day(start)}, {start:%H:%M}"
    if end and end != start:
        shown += f" ({zone})" * bool(zone and zone != end_zone)
        shown += f" to {f'{_day(end)}, ' if end.date() != start.date() else ''}{end:%H:%M}"
    return shown + f" ({end_zone})" * bool(end_zone)


def _repeated(rule: _Property) -> str:
    """A rule of repetition in words."""
    written = (part.partition("=") for part in rule.value.strip().upper().split(";"))
    parts = {name: said for name, _, said in written}
    unit, every = _UNITS.get(parts.get("FREQ", ""), ""), parts.get("INTERVAL", "1")
    if not unit:
        return rule.value
    words = [f"every {unit}" if every == "1" else f"every {every} {unit}s"]
    days = [day.strip() for day in parts.get("BYDAY", "").split(",") if day[-2:] in _CODES]
    if days:
        named = (
            _ORDINALS.get(day[:-2].lstrip("+"), f"{day[:-2]}. ") + _CODES[day[-2:]] for day in days
        )
        words.append(f"on the {', '.join(named)}" if days[0][:-2] else f"on {', '.join(named)}")
    if "BYMONTHDAY" in parts:
        words.append(f"on day {parts['BYMONTHDAY'].replace(',', ', ')} of the month")
    if "COUNT" in parts:
        words[-1] += f", {parts['COUNT']} times"
    until = _moment(parts.get("UNTIL", ""))[0]
    return " ".join(words) + (f" until {_day(until)}" if until else "")
