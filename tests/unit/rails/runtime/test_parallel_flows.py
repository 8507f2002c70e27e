"""Parallel flows: how many runs of one are under way."""

from desktop_rag.features.rails.rail_events import BotIntent, UserIntent
from tests.unit.rails.runtime.test_rail_flows import rails

_ECHO = """
define parallel flow echo
  user ...
  user ask again
  bot "Again."
"""


def test_a_parallel_flow_that_waits_for_ever_gives_way_to_newer_ones() -> None:
    engine = rails(_ECHO)
    conversation = engine.begin()
    begun: dict[int, None] = {}
    runs: list[int] = []
    for number in range(60):
        turn = engine.react(conversation, UserIntent(f"something {number}"))
        list(turn)
        conversation = turn.conversation
        runs = [run.run_id for run in conversation.state.runs if run.frames[0].flow == "echo"]
        begun.update(dict.fromkeys(runs))
    assert runs == list(begun)[10:]


def test_a_flow_that_answers_itself_at_once_is_bounded() -> None:
    engine = rails('define parallel flow echo\n  bot ...\n  while True\n    bot "Again."\n')
    turn = engine.react(engine.begin(), BotIntent("greet"))
    most = 0
    for _ in turn:
        runs = turn.conversation.state.runs
        most = max(most, sum(run.frames[0].flow == "echo" for run in runs))
    assert 1 < most <= 50
