"""Topics of rails, which people write without the language of flows, and edits. Any thread."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from desktop_rag.core.language.translation import tr

# As FORM in the grammar of flows.
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

    `texts` are said in turn: the given text, the refusal, or the question asked back. `then` is
    said after the answer to that question; without it the answer goes to the documents. `said_form`
    and `then_form` are the forms of the texts in the file, "" for a new one.
    """

    name: str = ""
    examples: tuple[str, ...] = ()
    reply: TopicReply = TopicReply.DOCUMENTS
    texts: tuple[str, ...] = ()
    then: tuple[str, ...] = ()
    said_form: str = ""
    then_form: str = ""

    def tidied(self) -> "RailTopic":
        """The topic without superfluous spaces, empty lines and repetitions."""
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
    """Why a topic can't be saved; `place` counts from zero."""

    place: int
    words: str


def problems(topics: Sequence[RailTopic]) -> Iterator[TopicProblem]:
    """The problems of topics, in their order."""
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


Topics = tuple[RailTopic, ...]
_MOST_STEPS = 200


@dataclass(frozen=True, slots=True)
class TopicEdits:
    """The edited topics of a file, with steps to undo and redo; each change gives a new value.

    A change of the same `kind` as the last belongs to its step, so that undo takes back a field and
    not a letter; "" is a step by itself.
    """

    topics: Topics = ()
    saved: Topics = ()
    before: tuple[Topics, ...] = ()
    after: tuple[Topics, ...] = ()
    kind: str = field(default="", compare=False)

    @property
    def is_changed(self) -> bool:
        """Whether there is something to save."""
        return self.topics != self.saved

    def changed(self, topics: Topics, kind: str = "") -> "TopicEdits":
        """With these topics now."""
        if topics == self.topics:
            return self
        if kind and kind == self.kind:
            return replace(self, topics=topics, after=())
        before = (*self.before, self.topics)[-_MOST_STEPS:]
        return TopicEdits(topics, self.saved, before, (), kind)

    def put(self, place: int, topic: RailTopic, kind: str = "") -> "TopicEdits":
        """With another topic at a place."""
        return self.changed((*self.topics[:place], topic, *self.topics[place + 1 :]), kind)

    def added(self, topic: RailTopic) -> "TopicEdits":
        """With a topic at the end."""
        return self.changed((*self.topics, topic))

    def removed(self, place: int) -> "TopicEdits":
        """Without the topic at a place."""
        return self.changed((*self.topics[:place], *self.topics[place + 1 :]))

    def moved(self, place: int, to: int) -> "TopicEdits":
        """With a topic at another place; the same where there is none."""
        if not 0 <= to < len(self.topics):
            return self
        rest = [*self.topics[:place], *self.topics[place + 1 :]]
        rest.insert(to, self.topics[place])
        return self.changed(tuple(rest))

    def undone(self) -> "TopicEdits":
        """Before the last step; the same without one."""
        if not self.before:
            return self
        return TopicEdits(self.before[-1], self.saved, self.before[:-1], (self.topics, *self.after))

    def redone(self) -> "TopicEdits":
        """With the step that was undone last; the same without one."""
        if not self.after:
            return self
        return TopicEdits(self.after[0], self.saved, (*self.before, self.topics), self.after[1:])

    def kept(self, topics: Topics) -> "TopicEdits":
        """With these topics saved. What changed meanwhile stays changed."""
        return replace(self, saved=topics, kind="")
