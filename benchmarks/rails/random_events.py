"""Random events against random flows: no exception, no endless loop.

    .venv/bin/python benchmarks/rails/random_events.py [--events 1000000] [--seed 1]

Flows are made of random statements, events are chosen from those that the flows know and from some
that nobody knows, in any order. Each event is received, and now and then the flows may act until
they listen, with actions that succeed, fail or say something. Every conversation is replayed from
its events at its end and has to come to the same state. The time of a turn is processor time.
"""

import argparse
import json
import random
import time

from desktop_rag.features.rails.configuration.rails_configuration import make_configuration
from desktop_rag.features.rails.language.flow_parser import parse_flows
from desktop_rag.features.rails.language.flow_program import Program
from desktop_rag.features.rails.rail_events import (
    ActionFinished,
    ActionStatus,
    BotIntent,
    BotSaid,
    ContextUpdate,
    Listen,
    OwnEvent,
    RailEvent,
    StartAction,
    UserIntent,
    UserSaid,
)
from desktop_rag.features.rails.runtime.event_steps import TURN_ENDED, receive, replay
from desktop_rag.features.rails.runtime.next_step import RailsState, next_step

_FORMS = ["a", "b", "c", "ask the price"]
_ACTIONS = ["act", "work", "check_facts", "generate_user_intent", "generate_bot_message"]
_EVENTS_OF_A_CONVERSATION = 250
_MOST_IN_A_TURN = 300
_DEEPEST = 3


def main() -> None:
    """Run, and print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    begins = time.perf_counter()
    count = conversations = longest = 0
    slowest_ms = 0.0
    while count < arguments.events:
        program = random_program(chance)
        state = RailsState({"n": 0})
        events: list[RailEvent] = []
        while len(events) < _EVENTS_OF_A_CONVERSATION:
            at = time.process_time()
            added, state = one_turn(program, state, chance)
            slowest_ms = max(slowest_ms, (time.process_time() - at) * 1000)
            longest = max(longest, len(added))
            events += added
        assert replay(program, RailsState({"n": 0}), events) == state
        count += len(events)
        conversations += 1
    seconds = time.perf_counter() - begins
    found = {"events": count, "conversations": conversations, "longest_turn": longest}
    found |= {"slowest_turn_ms": round(slowest_ms, 1), "seconds": round(seconds, 1)}
    print(json.dumps(found))


def one_turn(
    program: Program, state: RailsState, chance: random.Random
) -> tuple[list[RailEvent], RailsState]:
    """A few events from outside, then what the flows make of them, up to the limit of a turn."""
    events: list[RailEvent] = []
    waiting: list[RailEvent] = [random_event(chance) for _ in range(chance.randint(1, 4))]
    while True:
        if len(events) >= _MOST_IN_A_TURN:
            ended: list[RailEvent] = [OwnEvent(TURN_ENDED, {"reason": "events"}), Listen()]
            for event in ended:
                state = receive(program, state, event)
            return [*events, *ended], state
        event = waiting.pop(0) if waiting else next_step(program, state).event
        state = receive(program, state, event)
        events.append(event)
        if isinstance(event, StartAction) and not waiting:
            waiting = outcome(event, chance)
        if isinstance(event, Listen) and not waiting:
            return events, state


def outcome(started: StartAction, chance: random.Random) -> list[RailEvent]:
    """What an action leads to."""
    status = chance.choice([*[ActionStatus.SUCCESS] * 6, *ActionStatus])
    events: list[RailEvent] = [ActionFinished(started.action_name, status, random_value(chance))]
    if chance.random() < 0.3:
        events.insert(0, ContextUpdate({"n": chance.randint(0, 3)}))
    if chance.random() < 0.4:
        events.append(random_event(chance))
    return events


def random_event(chance: random.Random) -> RailEvent:
    """Any event, also one that nobody waits for."""
    form = chance.choice([*_FORMS, "unknown", "$n", "remove last message", ""])
    return chance.choice(
        [
            UserSaid(form),
            UserIntent(form),
            UserIntent(form),
            BotIntent(form),
            BotSaid(form),
            StartAction(chance.choice(_ACTIONS), {"x": random_value(chance)}),
            ActionFinished(chance.choice(_ACTIONS), chance.choice(list(ActionStatus))),
            ContextUpdate({chance.choice("mnx"): random_value(chance)}),
            OwnEvent(chance.choice(["own", "other"]), {"x": random_value(chance)}),
            Listen(),
        ]
    )


def random_value(chance: random.Random) -> object:
    """A value of JSON."""
    return chance.choice([None, True, 0, 3, 0.5, "a", "", [1, "b"], {"x": 1}])


# --- flows ---------------------------------------------------------------------------------------


def random_program(chance: random.Random) -> Program:
    """Flows of random statements on top of the library."""
    parts = ['define bot a\n  "A $n."\n', "define subflow helper\n  bot b\n"]
    parts.append("define subflow other\n" + "\n".join(block(chance, 1, 1)) + "\n")
    for number in range(chance.randint(1, 5)):
        kind = chance.choice(["flow", "flow", "extension flow", "parallel flow"])
        opening = chance.choice(
            [
                "user a",
                "user b",
                "user ...",
                "bot ...",
                "bot c",
                "event own(x=...)",
                "event bot_said",
            ]
        ).replace("(x=...)", '(x="...")')
        lines = [f"define {kind} f{number}", f"  priority {chance.choice([0.5, 1, 2, 200])}"]
        parts.append("\n".join([*lines, f"  {opening}", *block(chance, 1, 0)]) + "\n")
    rails = {"input": {"flows": ["helper"]}} if chance.random() < 0.3 else {}
    if chance.random() < 0.3:
        rails["output"] = {"flows": ["other"]}
    entries = {"rails": {**rails, "grounding": chance.random() < 0.3}}
    return make_configuration("random", [parse_flows("\n".join(parts), "r.co")], entries).program


def block(chance: random.Random, depth: int, least: int) -> list[str]:
    """A few statements, indented."""
    count = chance.randint(max(least, 1), 4)
    return [line for _ in range(count) for line in statement(chance, depth)]


def statement(chance: random.Random, depth: int) -> list[str]:
    """A statement with what is in it."""
    indent = "  " * depth
    if depth < _DEEPEST and chance.random() < 0.35:
        inner = block(chance, depth + 1, 1)
        head = chance.choice(["if $n > 1", "while $n < 3", "when user b", "if $x in $m"])
        lines = [f"{indent}{head}", *inner]
        if head.startswith(("if", "when")) and chance.random() < 0.5:
            middle = " when user c" if head.startswith("when") and chance.random() < 0.5 else ""
            lines += [f"{indent}else{middle}", *block(chance, depth + 1, 1)]
        return lines
    return [
        indent
        + chance.choice(
            [
                "bot a", "bot b", "bot $n", 'bot "text"', "user c", "user ...", "bot ...",
                "$n = $n + 1", "$n = 0", "$x = $m.a[0]", "$n = execute act(x=$n)",
                "execute work", "do helper", "do other", "do $x", "stop", "return",
                "create event own(x=$n)", 'event own(x="...")', "bot remove last message",
                "continue", "pass",
            ]
        )
    ]  # fmt: skip


if __name__ == "__main__":
    main()
