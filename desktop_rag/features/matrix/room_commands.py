"""What a message asks the bot to do. Pure.

Commands have a fixed form, and whatever has another is a question for the library.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

MOST_MESSAGES = 400
_DEFAULT_MESSAGES = 50
_SUMMARY = re.compile(
    r"summari[sz]e(?:\s+(?:this\s+)?(?:(?P<thread>thread)|last\s+(?P<count>\d{1,4})(?:\s+messages)?"
    r"|since\s+(?P<date>\d{4}-\d{2}-\d{2})))?"
    r"(?P<stores>\s+and\s+store(?:\s+it)?(?:\s+in\s+(?P<store>.+?))?)?\s*[.!]?",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"ask\s+[\"“](?P<name>[^\"”]+)[\"”]\s*:?\s*(?P<question>.*)", re.I | re.S)
_HELP = re.compile(r"help\s*[.!?]?|", re.IGNORECASE)
_SOURCES = re.compile(r"sources\s*[.!?]?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Help:
    """What the bot can do here."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of the answer in this thread, or what may be asked in this room."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about documents, of one collection or of all of the room."""

    text: str
    collection: str = ""


@dataclass(frozen=True, slots=True)
class Summarise:
    """A summary of the thread, of the last messages, or of those since a time (Unix seconds).

    With `is_stored` it becomes a document of the collection `store_in`, "" for the only one.
    """

    count: int = 0
    since: float = 0.0
    is_stored: bool = False
    store_in: str = ""

    @property
    def is_of_thread(self) -> bool:
        """True for a summary of the thread that it was asked for in."""
        return not self.count and not self.since


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """A command that names something which is not there."""

    said: str


Command = Help | Sources | Question | Summarise | NotUnderstood


def command_in(text: str, collections: Sequence[str], *, is_in_thread: bool) -> Command:
    """The command in a text without the mention. `collections` are those of the room."""
    if _HELP.fullmatch(text):
        return Help()
    if _SOURCES.fullmatch(text):
        return Sources()
    if found := _SUMMARY.fullmatch(text):
        return _summary(found, is_in_thread=is_in_thread)
    if found := _QUOTED.fullmatch(text):
        return _named(found["name"], found["question"], collections)
    return _asked(text, collections)


def _summary(found: re.Match[str], *, is_in_thread: bool) -> Command:
    since = 0.0
    if date := found["date"]:
        try:
            since = datetime.strptime(date, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
        except ValueError:
            return NotUnderstood(f"{date} is no date.")
    count = min(int(found["count"] or 0), MOST_MESSAGES)
    is_plain = not (found["thread"] or found["count"] or found["date"])
    if found["thread"] and not is_in_thread:
        return NotUnderstood("This message is in no thread.")
    if is_plain and not is_in_thread:
        count = _DEFAULT_MESSAGES
    if found["count"] and not count:
        return NotUnderstood("There is nothing in no messages.")
    store_in = (found["store"] or "").strip(' "“”')
    return Summarise(count, since, bool(found["stores"]), store_in)


def _named(name: str, question: str, collections: Sequence[str]) -> Command:
    known = next((each for each in collections if each.casefold() == name.casefold()), None)
    if known is None:
        return NotUnderstood(f"“{name}” can't be asked here. `sources` lists what can.")
    if not question.strip():
        return NotUnderstood(f"What do you want to know from “{known}”?")
    return Question(question.strip(), known)


def _asked(text: str, collections: Sequence[str]) -> Command:
    """`ask NAME …` with the longest name that fits; any other text is a question as it is."""
    for name in sorted(collections, key=len, reverse=True):
        pattern = rf"ask\s+{re.escape(name)}\s*(?::\s*|\s+)(?P<question>\S.*)"
        if found := re.fullmatch(pattern, text, re.IGNORECASE | re.DOTALL):
            return Question(found["question"].strip(), name)
    return Question(text)
