"""Topics as files of flows: readable, read again the same, and nothing else taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import resources_dir
from desktop_rag.features.rails.configuration.rails_configuration import make_configuration
from desktop_rag.features.rails.language.flow_parser import parse_flows
from desktop_rag.features.rails.language.flow_syntax import FlowSyntaxError
from desktop_rag.features.rails.topics.rail_topic import (
    OtherThanTopicsError,
    RailTopic,
    TopicReply,
    problems,
    read_topics,
    write_topics,
)

_WRITTEN = """# Rails of the museum.

define user ask for the price
  "How much is a ticket?"
  "What does \\"all in\\" cost?"

define bot tell the price
  "Three euros."
  "It is three euros."

define flow
  user ask for the price
  bot tell the price

define user ask about politics
  "Who should I vote for?"

define bot decline politely
  "I'd rather not speak about that."

define flow
  user ask about politics
  bot decline politely

define user ask for a tour
  "Can somebody show us around?"

define bot ask for the number
  "How many are you?"

define flow
  user ask for a tour
  bot ask for the number
  user ...
  bot answer from the documents

define user ask about a picture
  "Who painted this?"

define flow
  user ask about a picture
  bot answer from the documents
"""


def test_a_file_written_by_hand_is_read_as_topics_and_written_the_same() -> None:
    topics = read_topics(_WRITTEN, "topics.co")
    assert [topic.reply for topic in topics] == [
        TopicReply.TEXT, TopicReply.REFUSAL, TopicReply.FOLLOW_UP, TopicReply.DOCUMENTS,
    ]  # fmt: skip
    assert topics[0].examples[1] == 'What does "all in" cost?'
    assert topics[0].texts == ("Three euros.", "It is three euros.")
    assert write_topics(topics, _WRITTEN) == _WRITTEN
    # The polite refusals of the app, in which topics share their texts.
    text = (resources_dir() / "rails" / "polite-refusal" / "topics.co").read_text("utf-8")
    polite = read_topics(text, "topics.co")
    assert read_topics(write_topics(polite), "topics.co") == polite
    assert write_topics(polite).count("define bot decline politely") == 1


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ("define flow\n  user ask about a picture\n  $n = 1\n  bot tell the price\n", 46),
        ("# A comment of mine.\n", 44),
        ("define subflow count\n  $n = 1\n", 44),
        ("define flow greeting\n  user ask for the price\n  bot tell the price\n", 44),
        ("define bot say nothing\n  \"Nothing.\"\n", 44),
        ("define user say hello\n  \"Hello\"\n", 44),
        ("define bot refuse to respond\n  \"No.\"\n", 44),
        ("define flow\n  user ask about a picture\n  priority 2\n  bot tell the price\n", 44),
        ("define flow\n  user ask about a picture\n  # Be brief.\n  bot tell the price\n", 46),
    ],
)  # fmt: skip
def test_what_no_topic_can_hold_is_refused_with_its_place(change: str, place: int) -> None:
    with pytest.raises(OtherThanTopicsError, match=rf"^topics\.co:{place}:\d+: "):
        read_topics(f"{_WRITTEN}\n{change}", "topics.co")


def test_a_fault_of_the_file_has_its_place() -> None:
    with pytest.raises(FlowSyntaxError, match=r"topics\.co:2:3"):
        read_topics('define flow\n  usr hello\n', "topics.co")  # fmt: skip


def test_a_text_that_is_changed_leaves_the_topics_that_share_it() -> None:
    polite = [
        RailTopic("a", ("A?",), TopicReply.REFUSAL, ("No.",), said_form="decline politely"),
        RailTopic("b", ("B?",), TopicReply.REFUSAL, ("Never.",), said_form="decline politely"),
    ]
    again = read_topics(write_topics(polite), "topics.co")
    assert [topic.texts for topic in again] == [("No.",), ("Never.",)]


def test_what_is_missing_is_named() -> None:
    good = RailTopic("a", ("A?",))
    assert not list(problems([good]))
    for topic in (
        RailTopic("", ("A?",)),
        RailTopic("a # b", ("A?",)),
        RailTopic("A", ("A?",)),
        RailTopic("b", (" ",)),
        RailTopic("b", ("...",)),
        RailTopic("b", ("B?",), TopicReply.TEXT),
        RailTopic("b", ("B?",), TopicReply.FOLLOW_UP, (" ",), ("Then.",)),
    ):
        assert [problem.place for problem in problems([good, topic])][-1] == 1


_words = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=20)
_topic = st.builds(
    RailTopic,
    name=_words,
    examples=st.lists(_words, max_size=3).map(tuple),
    reply=st.sampled_from(TopicReply),
    texts=st.lists(st.text(max_size=30), max_size=2).map(tuple),
    then=st.lists(st.text(max_size=30), max_size=2).map(tuple),
)


@pytest.mark.slow
@given(st.lists(_topic, max_size=4))
def test_topics_without_a_problem_are_written_and_read_again(topics: list[RailTopic]) -> None:
    if any(problems(topics)):
        return
    try:
        text = write_topics(topics)
    except AppError:
        return
    again = read_topics(text, "topics.co")
    assert [t.name for t in again] == [t.tidied().name for t in topics]
    assert write_topics(again, text) == text
    if topics:
        make_configuration("own", [parse_flows(text, "topics.co")])


def test_topics_in_any_language_and_with_any_signs_are_written() -> None:
    texts = ('Er sagt: "Drei"\\n', "Zwei\nZeilen", "# kein Kommentar", "$5", "'")
    topics = [
        RailTopic("nach dem Preis fragen", ("Was kostet's?",), TopicReply.TEXT, texts),
        RailTopic("询问价格", ("多少钱？",), TopicReply.FOLLOW_UP, ("几个人？",), ("好。",)),
        RailTopic("if user when flow", ("\\",), TopicReply.REFUSAL, ('\\"',)),
    ]
    again = read_topics(write_topics(topics), "topics.co")
    assert [t.texts for t in again] == [t.tidied().texts for t in topics]
    assert [t.examples for t in again] == [t.examples for t in topics]
    assert again[1].then == ("好。",)
