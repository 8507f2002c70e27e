"""Topics of rails as a person writes them without knowing the language of flows. Any thread."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from desktop_rag.core.language.translation import tr

# What a form of the language can't have; see FORM in its grammar.
_NAME = re.compile(r"(?!\.\.\.)[^\s\"'#$](?:[^\n\"#]*[^\s\"#])?")
_SPACES = re.compile(r"\s+")
ANYTHING = "..."


class TopicReply(StrEnum):
    """What happens when somebody speaks about a topic."""

    DOCUMENTS = "documents"
    TEXT = "text"
    REFUSAL = "refusal"
    FOLLOW_UP = "follow-up"


@dataclass(frozen=True, slots=True)
class RailTopic:
    """A topic: its name, sentences as people say them, and what happens then.

    `texts` are said in turn: the given text, the refusal, or the question asked back. What is said
    after the answer to that question is in `then`; without it that answer goes to the documents.
    `said_form` and `then_form` are the forms that a file has for the texts, "" for a new one.
    """

    name: str = ""
    examples: tuple[str, ...] = ()
    reply: TopicReply = TopicReply.DOCUMENTS
    texts: tuple[str, ...] = ()
    then: tuple[str, ...] = ()
    said_form: str = ""
    then_form: str = ""

    def tidied(self) -> "RailTopic":
        """The topic without the spaces, empty lines and repetitions that typing leaves."""
        examples = (_SPACES.sub(" ", example).strip() for example in self.examples)
        is_told = self.reply is not TopicReply.DOCUMENTS
        is_asking = self.reply is TopicReply.FOLLOW_UP
        return replace(
            self,
            name=_SPACES.sub(" ", self.name).strip(),
            examples=tuple(dict.fromkeys(filter(None, examples))),
            texts=tuple(filter(None, map(str.strip, self.texts))) if is_told else (),
            then=tuple(filter(None, map(str.strip, self.then))) if is_asking else (),
        )


@dataclass(frozen=True, slots=True)
class TopicProblem:
    """What is missing in a topic before it can be saved; `place` counts from zero."""

    place: int
    words: str


def problems(topics: Sequence[RailTopic]) -> Iterator[TopicProblem]:
    """What keeps topics from being saved, in their order."""
    names = Counter(topic.tidied().name.casefold() for topic in topics)
    for place, topic in enumerate(map(RailTopic.tidied, topics)):
        if words := _problem(topic, is_known=names[topic.name.casefold()] > 1):
            yield TopicProblem(place, words)


def _problem(topic: RailTopic, *, is_known: bool) -> str:
    if not topic.name:
        return tr("A topic has no name.")
    if not _NAME.fullmatch(topic.name):
        return tr(
            "The name “{name}” has a sign that names can't have: quotation marks, or #, or $ at its"
            " beginning.", name=topic.name,
        )  # fmt: skip
    if is_known:
        return tr("Two topics have the name “{name}”.", name=topic.name)
    if not topic.examples:
        return tr("The topic “{name}” has no example sentence.", name=topic.name)
    if ANYTHING in topic.examples:
        return tr("The topic “{name}” has an example without words.", name=topic.name)
    if topic.reply is not TopicReply.DOCUMENTS and not topic.texts:
        return tr("The topic “{name}” says nothing yet: write its text.", name=topic.name)
    return ""
