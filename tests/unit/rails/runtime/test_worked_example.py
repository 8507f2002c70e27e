"""The worked example: a question about a monthly report, its stream of events, and its replay."""

import pytest

from desktop_rag.features.rails.actions.rails_world import Passage, RailsWorld
from desktop_rag.features.rails.configuration.rails_configuration import make_configuration
from desktop_rag.features.rails.language.flow_parser import parse_flows
from desktop_rag.features.rails.rail_engine import Rails
from desktop_rag.features.rails.rail_events import event_from_json, event_json

FLOWS = """
define user ask about headline numbers
  "How far did payrolls rise?"

define flow
  user ask about headline numbers
  bot response about headline numbers
"""
QUESTION = "how many unemployed people were there in March?"
REPORT = Passage("There were 8.4 million unemployed people in March.", "report.md")
STREAM = [
    ("user_said", QUESTION),
    ("start_action", "generate_user_intent"),
    ("action_finished", "success"),
    ("user_intent", "ask about headline numbers"),
    ("bot_intent", "response about headline numbers"),
    ("start_action", "retrieve_relevant_chunks"),
    ("context_update", "relevant_chunks"),
    ("action_finished", "success"),
    ("start_action", "generate_bot_message"),
    ("action_finished", "success"),
    ("bot_said", "8.4 million people [1], according to the report."),
    ("listen", ""),
]


def complete(prompt: str) -> str:
    """A model that says the form, or reads the sentence from the passage it was given."""
    if "# This is how the bot talks:" not in prompt:
        return "  ask about headline numbers"
    assert "[1] There were 8.4 million unemployed people in March. (report.md)" in prompt
    return '  "8.4 million people [1], according to the report."'


def engine(flows: str = FLOWS) -> Rails:
    configuration = make_configuration("report", [parse_flows(flows, "report.co")])
    return Rails(configuration, RailsWorld(complete=complete, retrieve=lambda _: [REPORT]))


def shown(row: dict[str, object]) -> tuple[object, object]:
    """The type of an event and what of it the example shows."""
    data = row.get("data")
    names = ("content", "status", "intent", "action_name")
    value = next((row[name] for name in names if name in row), "")
    return row["type"], next(iter(data)) if isinstance(data, dict) else value


def test_the_stream_is_that_of_the_example_in_its_order() -> None:
    turn = engine().say(engine().begin(), QUESTION)
    assert [shown(event_json(event)) for event in turn] == STREAM
    assert [call.task for call in turn.model_calls] == [
        "generate_user_intent",
        "generate_bot_message",
    ]


@pytest.mark.slow
def test_without_a_flow_the_model_chooses_the_next_step() -> None:
    """Stage 2 is a flow of a lower priority than those of a configuration."""
    flows = FLOWS.replace("user ask about headline numbers\n  bot", "user ask for a joke\n  bot")
    kinds = [event_json(event) for event in engine(flows).say(engine().begin(), QUESTION)]
    actions = [row["action_name"] for row in kinds if row["type"] == "start_action"]
    assert actions[1] == "generate_next_step"


def test_the_events_alone_make_the_same_conversation() -> None:
    turn = engine().say(engine().begin(), QUESTION)
    rows = [event_json(event) for event in turn]
    replayed = engine().replay([event_from_json(row) for row in rows])
    assert replayed == turn.conversation
    following = engine().say(replayed, QUESTION)
    assert [shown(event_json(event)) for event in following] == STREAM


def test_each_stage_can_be_overridden() -> None:
    """By a flow of its name: here the intent is the sentence itself."""
    own = """
define flow generate user intent
  event user_said
  create event user_intent(intent="ask about headline numbers")
"""
    turn = engine(FLOWS + own).say(engine().begin(), QUESTION)
    rows = [shown(event_json(event)) for event in turn]
    assert rows == [STREAM[0], *STREAM[3:]]


def test_the_prompt_of_stage_one_has_its_parts_in_their_order() -> None:
    turn = engine().say(engine().begin(), QUESTION)
    list(turn)
    prompt = turn.model_calls[0].prompt
    parts = [
        "Below is a conversation",
        "# This is how a conversation between a user and the bot can go:",
        "# This is how the user talks:",
        'user "How far did payrolls rise?"\n  ask about headline numbers',
        "# This is the current conversation",
        f'user "{QUESTION}"',
    ]
    places = [prompt.index(part) for part in parts]
    assert places == sorted(places)
    assert prompt.endswith(f'user "{QUESTION}"')
