"""What a turn costs without the model: milliseconds of the loop, and calls of the model by kind.

    .venv/bin/python benchmarks/rails/turns.py [--turns 300]

The bar is 2 ms a turn for the loop with its actions, whose model and documents take no time. A
longer conversation must not cost more, so the last turns of one are measured too. On a
busy computer the milliseconds of the processor say more than those of the clock.
"""

import argparse
import json
import statistics
import time
from collections.abc import Mapping

from desktop_rag.features.rails.actions.rails_world import Passage, RailsWorld
from desktop_rag.features.rails.configuration.rails_configuration import make_configuration
from desktop_rag.features.rails.language.flow_parser import parse_flows
from desktop_rag.features.rails.rail_engine import Rails

_BAR_MS = 2.0
_PASSAGE = Passage("Dogs sleep on the red sofa.", "house.md")
_FLOWS = """
define user greet
  "hello"

define bot greet
  "Good day!"

define user ask about the documents
  "where do dogs sleep"

define flow
  user greet
  bot greet

define flow
  user ask about the documents
  bot answer from the documents
"""
_TOPIC = """
define user ask about topic {0}
  "tell me about topic {0}"

define flow topic {0}
  user ask about topic {0}
  bot refuse to respond
"""
_CASES: dict[str, tuple[str, Mapping[str, object]]] = {
    "given text": ("hello", {}),
    "refused topic": ("tell me about topic 7", {}),
    "words by the model": ("where do dogs sleep", {}),
    "with grounding": ("where do dogs sleep", {"grounding": True}),
    "no example, all stages": ("something else entirely", {}),
    "with rails for input and output": (
        "where do dogs sleep",
        {
            "input": {"flows": ["self check input"]},
            "output": {"flows": ["self check output", "check grounding"]},
        },
    ),
}


def main() -> None:
    """Measure all cases and print them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=300)
    turns = parser.parse_args().turns
    topics = "".join(_TOPIC.format(number) for number in range(100))
    found = {name: measured(_FLOWS + topics, *case, turns) for name, case in _CASES.items()}
    print(json.dumps({"bar_ms": _BAR_MS, "cases": found}, indent=1))


def measured(flows: str, text: str, rails: Mapping[str, object], turns: int) -> dict[str, object]:
    """Times of turns that begin a conversation, of those in a long one, and the model's calls."""
    configuration = make_configuration("t", [parse_flows(flows, "t.co")], {"rails": rails})
    world = RailsWorld(
        complete=lambda prompt: "No" if "Yes or No" in prompt else "some words",
        retrieve=lambda _: [_PASSAGE],
        check_facts=lambda *_: 1.0,
    )
    engine = Rails(configuration, world)
    begins = time.process_time()
    first_ms, calls = times(engine, text, turns, is_long=False)
    cpu_ms = (time.process_time() - begins) * 1000 / turns
    long_ms, _ = times(engine, text, min(turns, 100), is_long=True)
    return {
        "mean_cpu_ms": round(cpu_ms, 2),
        "median_ms": round(statistics.median(first_ms), 2),
        "p95_ms": round(statistics.quantiles(first_ms, n=20)[-1], 2),
        "median_ms_in_a_long_conversation": round(statistics.median(long_ms[-20:]), 2),
        "model_calls": calls,
    }


def times(engine: Rails, text: str, turns: int, *, is_long: bool) -> tuple[list[float], list[str]]:
    """Milliseconds of each turn, and what the model was asked in the last."""
    found: list[float] = []
    tasks: list[str] = []
    conversation = engine.begin()
    for _ in range(turns):
        begins = time.perf_counter()
        turn = engine.say(conversation, text)
        for _event in turn:
            pass
        found.append((time.perf_counter() - begins) * 1000)
        tasks = [call.task for call in turn.model_calls]
        conversation = turn.conversation if is_long else engine.begin()
    return found, tasks


if __name__ == "__main__":
    main()
