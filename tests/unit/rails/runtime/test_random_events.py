"""Whatever events come in whatever order: no exception, an end, and the same when replayed.

`benchmarks/rails/random_events.py` does the same with random flows and a million events.
"""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.features.rails.configuration.rails_configuration import make_configuration
from desktop_rag.features.rails.language.flow_parser import parse_flows
from desktop_rag.features.rails.rail_events import (
    ActionFinished,
    ActionStatus,
    BotIntent,
    BotSaid,
    CommandProposed,
    Confirmation,
    ContextUpdate,
    Listen,
    OwnEvent,
    RailEvent,
    StartAction,
    UserIntent,
    UserSaid,
    event_from_json,
    event_json,
)
from desktop_rag.features.rails.runtime.event_steps import receive, replay
from desktop_rag.features.rails.runtime.next_step import RailsState, next_step

FLOWS = """
define bot b
  "B $n"

define subflow helper
  $n = $n + 1
  if $n > 2
    bot b
    stop

define flow
  user a
  $x = execute act(n=$n)
  when user b
    bot b
  else when bot c
    do helper
  else
    bot $x
  while $n < 3
    do helper
  user ...
  bot a

define extension flow
  priority 3
  bot c
  create event own(x=$n.y)
  bot b

define parallel flow
  event own(x="...")
  do $x
"""
RAILS = {"rails": {"input": {"flows": ["helper"]}, "output": {"flows": ["helper"]}}}
PROGRAM = make_configuration("random", [parse_flows(FLOWS, "r.co")], RAILS).program

values = st.sampled_from([None, 0, 3, "a", "helper", [1], {"y": 2}])
forms = st.sampled_from(["a", "b", "c", "$x", "remove last message", "unknown", ""])
actions = st.sampled_from(["act", "generate_user_intent", "generate_bot_message", "check_facts"])
events = st.one_of(
    st.builds(UserSaid, forms),
    st.builds(UserIntent, forms),
    st.builds(BotIntent, forms),
    st.builds(BotSaid, forms),
    st.builds(StartAction, actions, st.dictionaries(st.just("n"), values)),
    st.builds(ActionFinished, actions, st.sampled_from(ActionStatus), values),
    st.builds(CommandProposed, st.sampled_from(["1", "2"]), actions),
    st.builds(Confirmation, st.sampled_from(["1", "2"]), st.booleans()),
    st.builds(ContextUpdate, st.dictionaries(st.sampled_from(["n", "x", "m"]), values)),
    st.builds(OwnEvent, st.sampled_from(["own", "turn_ended"]), st.dictionaries(forms, values)),
    st.just(Listen()),
)


@pytest.mark.everyday
@given(st.lists(events, max_size=40), st.randoms(use_true_random=False))
def test_random_events_come_to_an_end_and_can_be_replayed(
    given_events: list[RailEvent], chance: Random
) -> None:
    begin = state = RailsState({"n": 0})
    log: list[RailEvent] = []
    for event in given_events:
        log.append(event)
        state = receive(PROGRAM, state, event)
        while chance.random() < 0.6:
            log.append(next_step(PROGRAM, state).event)
            state = receive(PROGRAM, state, log[-1])
    for _ in range(300):
        log.append(next_step(PROGRAM, state).event)
        state = receive(PROGRAM, state, log[-1])
        if isinstance(log[-1], StartAction):
            log.append(ActionFinished(log[-1].action_name))
            state = receive(PROGRAM, state, log[-1])
        if isinstance(log[-1], Listen):
            break
    assert log[-1] == Listen()
    rows = [event_json(event) for event in log]
    assert replay(PROGRAM, begin, [event_from_json(row) for row in rows]) == state
