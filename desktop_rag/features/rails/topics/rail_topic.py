"""Topics of rails, which people write without the language of flows. Any thread.

A file of topics has nothing else, and is written in the language of flows.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import NoReturn

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.features.rails.actions.stage_actions import ANSWER_FROM_DOCUMENTS
from desktop_rag.features.rails.configuration.rails_configuration import library_flows
from desktop_rag.features.rails.language.flow_parser import parse_flows
from desktop_rag.features.rails.language.flow_syntax import (
    BotSays,
    FlowDefinition,
    FlowFile,
    Form,
    Place,
    UserSays,
)

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


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"' + r"|'(?:[^'\\]|\\.)*'")
_REFUSING = re.compile(r"(?:refuse|decline)\b")
_LONG = '"""'
_TWO, _FOUR = 2, 4


class OtherThanTopicsError(AppError):
    """A file has more than topics, so that it can only be shown."""

    def __init__(self, place: Place, why: str) -> None:
        super().__init__(f"{place}: {why}", tr("It is shown as it is and never changed here."))


@cache
def _taken() -> frozenset[str]:
    """Texts of the app itself that a topic must not change by chance."""
    return frozenset({ANSWER_FROM_DOCUMENTS, *(form.form for form in library_flows().bot_forms)})


def read_topics(text: str, file: str) -> tuple[RailTopic, ...]:
    """The topics of a file, in the order of their flows.

    FlowSyntaxError for a fault, OtherThanTopicsError for what writing would lose, such as comments
    below the first definition.
    """
    found = parse_flows(text, file)
    _check_lines(text, file)
    users = {form.form: form for form in found.user_forms}
    bots = {form.form: form.texts for form in found.bot_forms}
    _check_forms(found)
    topics = tuple(_topic(flow, users, bots) for flow in found.flows)
    used = Counter(topic.name for topic in topics)
    for form in found.user_forms:
        if used[form.form] != 1:
            _refuse(form.place, tr("“{name}” has not one flow.", name=form.form))
    said = {form for topic in topics for form in (topic.said_form, topic.then_form)}
    for bot in found.bot_forms:
        if bot.form not in said:
            _refuse(bot.place, tr("“{name}” is said by no topic.", name=bot.form))
    return topics


def write_topics(topics: Sequence[RailTopic], before: str = "") -> str:
    """The file of these topics, with the comments at the beginning of the one `before`.

    AppError where it would not be read as the same topics.
    """
    tidied = tuple(topic.tidied() for topic in topics)
    forms = _Forms()
    blocks = [block for topic in tidied for block in _blocks(topic, forms)]
    text = "\n\n".join([*filter(None, [_heading(before)]), *blocks]) + "\n"
    again = [_plain(topic) for topic in read_topics(text, "topics.co")]
    if again != [_plain(topic) for topic in tidied]:
        raise AppError(tr("These topics can't be written as a file."))
    return text


def _plain(topic: RailTopic) -> tuple[object, ...]:
    return topic.name, topic.examples, topic.reply, topic.texts, topic.then


def _check_lines(text: str, file: str) -> None:
    """Refuse long texts, and comments below the first definition: the tree has none."""
    is_begun = False
    for number, line in enumerate(text.split("\n"), 1):
        is_begun = is_begun or line.lstrip().startswith("define")
        if _LONG in line:
            _refuse(Place(file, number, line.index(_LONG) + 1), tr("A text of several lines."))
        rest = _STRING.sub(lambda found: " " * len(found[0]), line)
        if "#" in rest and is_begun:
            _refuse(Place(file, number, rest.index("#") + 1), tr("A comment within the topics."))


def _check_forms(found: FlowFile) -> None:
    for forms in (found.user_forms, found.bot_forms):
        counts = Counter(form.form for form in forms)
        for form in forms:
            if counts[form.form] > 1:
                _refuse(form.place, tr("“{name}” is defined twice.", name=form.form))
    for form in found.user_forms:
        if ANYTHING in form.texts:
            _refuse(form.place, tr("“{name}” takes any sentence.", name=form.form))
    for form in found.bot_forms:
        if form.form in _taken():
            _refuse(form.place, tr("“{name}” is a text of the app itself.", name=form.form))


def _topic(
    flow: FlowDefinition, users: Mapping[str, Form], bots: Mapping[str, tuple[str, ...]]
) -> RailTopic:
    lines = [line for line in flow.source.split("\n") if line.strip()]
    is_plain = not (flow.name or flow.is_subflow or flow.modifiers)
    if not is_plain or len(lines) != 1 + len(flow.body):
        _refuse(flow.place, tr("A flow that is more than a topic."))
    name = _form(flow, 0)
    if name not in users:
        _refuse(flow.place, tr("“{name}” has no examples in this file.", name=name))
    said_form = _form(flow, 1)
    said, topic = bots.get(said_form), RailTopic(name, users[name].texts)
    if len(flow.body) == _TWO and said_form == ANSWER_FROM_DOCUMENTS and said is None:
        return topic
    if not said:
        _refuse(flow.place, tr("“{name}” has no text in this file.", name=said_form))
    if len(flow.body) == _TWO:
        reply = TopicReply.REFUSAL if _REFUSING.match(said_form) else TopicReply.TEXT
        return RailTopic(name, topic.examples, reply, said, (), said_form)
    return _follow_up(flow, topic, said_form, bots)


def _follow_up(
    flow: FlowDefinition, topic: RailTopic, said_form: str, bots: Mapping[str, tuple[str, ...]]
) -> RailTopic:
    answered = flow.body[2] if len(flow.body) == _FOUR else None
    if not isinstance(answered, UserSays) or not answered.said.is_any or answered.said.texts:
        _refuse(flow.place, tr("A flow that is more than a topic."))
    then_form = _form(flow, 3)
    then = bots.get(then_form, ())
    if then_form == ANSWER_FROM_DOCUMENTS and not then:
        then_form = ""
    elif not then:
        _refuse(flow.place, tr("“{name}” has no text in this file.", name=then_form))
    return RailTopic(
        topic.name, topic.examples, TopicReply.FOLLOW_UP, bots[said_form], then, said_form,
        then_form,
    )  # fmt: skip


def _form(flow: FlowDefinition, place: int) -> str:
    """The form at a place of the flow: the user's at even places, else the bot's."""
    statement = flow.body[place] if place < len(flow.body) else None
    if isinstance(statement, BotSays if place % 2 else UserSays):
        said = statement.said
        is_told = isinstance(statement, BotSays) and statement.instruction
        if said.form and not (said.texts or said.variable or said.is_any or is_told):
            return said.form
    where = statement.place if statement else flow.place
    raise OtherThanTopicsError(where, tr("A flow that is more than a topic."))


def _refuse(place: Place, why: str) -> NoReturn:
    raise OtherThanTopicsError(place, why)


class _Forms:
    """Gives each text of the bot a form: that of the file where it is free."""

    def __init__(self) -> None:
        self._texts: dict[str, tuple[str, ...]] = {}

    def of(self, wanted: str, usual: str, texts: tuple[str, ...]) -> tuple[str, bool]:
        """The form for texts, and whether it is new in the file."""
        form, number = wanted or usual, 1
        while self._texts.get(form, texts) != texts or form in _taken():
            number += 1
            form = f"{usual} {number}"
        is_new = form not in self._texts
        self._texts[form] = texts
        return form, is_new


def _blocks(topic: RailTopic, forms: _Forms) -> Iterator[str]:
    yield "\n".join([f"define user {topic.name}", *map(_line, topic.examples)])
    said = [f"  user {topic.name}"]
    if topic.reply is TopicReply.DOCUMENTS:
        said.append(f"  bot {ANSWER_FROM_DOCUMENTS}")
    else:
        form, is_new = forms.of(_kept_form(topic), _usual_form(topic), topic.texts)
        said.append(f"  bot {form}")
        if is_new:
            yield "\n".join([f"define bot {form}", *map(_line, topic.texts)])
    if topic.reply is TopicReply.FOLLOW_UP:
        then, is_new = ANSWER_FROM_DOCUMENTS, False
        if topic.then:
            then, is_new = forms.of(topic.then_form, f"go on about {topic.name}", topic.then)
        if is_new:
            yield "\n".join([f"define bot {then}", *map(_line, topic.then)])
        said += ["  user ...", f"  bot {then}"]
    yield "\n".join(["define flow", *said])


def _usual_form(topic: RailTopic) -> str:
    begins = {TopicReply.REFUSAL: "refuse to", TopicReply.FOLLOW_UP: "ask back when asked to"}
    return f"{begins.get(topic.reply, 'reply when asked to')} {topic.name}"


def _kept_form(topic: RailTopic) -> str:
    """The form of the file, unless it means another kind of reply."""
    is_refusing = bool(_REFUSING.match(topic.said_form))
    if topic.reply is TopicReply.FOLLOW_UP or is_refusing == (topic.reply is TopicReply.REFUSAL):
        return topic.said_form
    return ""


def _line(text: str) -> str:
    written = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'  "{written}"'


def _heading(before: str) -> str:
    """The lines of comments above the first definition."""
    lines: list[str] = []
    for line in before.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            break
        lines.append(line.rstrip())
    return "\n".join(lines).strip("\n")
