"""The same configuration, the same scripted model, here and in NeMo Guardrails: what is the same?

    .venv/bin/python benchmarks/rails/peer.py DIR... > ours.json
    NEMO/bin/python benchmarks/rails/peer.py --nemo DIR... > theirs.json
    .venv/bin/python benchmarks/rails/peer.py --compare ours.json theirs.json

DIR are folders of rails. Each example sentence of `define user` is said in a conversation of its
own. The model is a script: it gives the form of the example, the next step of the flow, and words
made of the form of the bot; everything it is asked is counted. NEMO is an environment of its own
with nemoguardrails 0.24. Vectors are counts of letters on both sides, so that no model is needed.
The sentences are examples to the letter, for which ours needs no model to tell the intent.
"""

import argparse
import asyncio
import contextlib
import json
import random
import re
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

_DEFINED = re.compile(
    r"^define user (?P<form>[^\n]+)\n(?P<texts>(?:[ \t]+\"[^\n]*\n?)+)", re.MULTILINE
)
_TEXT = re.compile(r'"([^"]*)"')
_SIZE = 256


def main() -> None:
    """One side, or the comparison."""
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--nemo", action="store_true")
    parser.add_argument("--compare", action="store_true")
    arguments = parser.parse_args()
    if arguments.compare:
        ours, theirs = (json.loads(path.read_text("utf-8")) for path in arguments.paths)
        print(json.dumps(compared(ours, theirs), indent=1, ensure_ascii=False))
        return
    say = nemo_turns if arguments.nemo else our_turns
    print(json.dumps([row for path in arguments.paths for row in say(path)], ensure_ascii=False))


def compared(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> dict[str, Any]:
    """Both sides in one table, and where they differ."""
    pairs = list(zip(ours, theirs, strict=True))
    assert all(mine["text"] == other["text"] for mine, other in pairs)
    differing = [
        {"ours": mine, "theirs": other}
        for mine, other in pairs
        if (mine["intent"], mine["says"]) != (other["intent"], other["says"])
    ]
    sides = {}
    for name, rows in (("ours", ours), ("theirs", theirs)):
        times = sorted(row["ms"] for row in rows)
        sides[name] = {
            "calls_a_turn": round(sum(row["calls"] for row in rows) / len(rows), 2),
            "most_calls": max(row["calls"] for row in rows),
            "prompt_tokens_a_turn": round(sum(row["tokens"] for row in rows) / len(rows)),
            "median_ms": times[len(times) // 2],
        }
    same = {
        key: sum(mine[key] == other[key] for mine, other in pairs) for key in ("intent", "says")
    }
    return {"sentences": len(pairs), "same": same, **sides, "differing": differing[:20]}


def examples(folder: Path) -> Iterator[tuple[str, str]]:
    """The example sentences of a folder with their forms."""
    for path in sorted(folder.rglob("*.co")):
        for found in _DEFINED.finditer(path.read_text("utf-8")):
            for text in _TEXT.findall(found["texts"]):
                if text != "...":
                    yield text, found["form"].strip()


class ScriptedModel:
    """Answers by what it is asked for; counts calls, and words and signs as tokens."""

    def __init__(self, folder: Path) -> None:
        self._forms = {text.casefold(): form for text, form in examples(folder)}
        self.calls = 0
        self.tokens = 0

    def answer(self, prompt: str) -> str:
        """The scripted answer to a prompt."""
        self.calls += 1
        self.tokens += len(re.findall(r"\w+|[^\w\s]", prompt))
        lines = [line for line in prompt.strip().splitlines() if line.strip()]
        last = lines[-1].strip()
        if "Yes or No" in prompt or "yes/no" in prompt:
            return "No"
        if last.startswith('user "'):
            said = last.removeprefix('user "').rstrip('"').casefold()
            return f"  {self._forms.get(said, 'say something else')}"
        if last.startswith("bot "):
            return f'  "Words for {last.removeprefix("bot ")}."'
        return f"bot respond about {last.removeprefix('user ')}"


def letters(texts: Sequence[str]) -> np.ndarray:
    """A vector of each text by its pairs of letters."""
    vectors = np.zeros((len(texts), _SIZE), np.float32)
    for number, text in enumerate(texts):
        for left, right in pairwise(f" {text.casefold()} "):
            vectors[number, (ord(left) + 31 * ord(right)) % _SIZE] += 1
        vectors[number] /= np.linalg.norm(vectors[number]) or 1
    return vectors


# --- the two sides -------------------------------------------------------------------------------


def our_turns(folder: Path) -> list[dict[str, Any]]:
    """Every example sentence here. Examples are told by nobody: the model is asked as theirs is."""
    from dataclasses import replace

    from desktop_rag.features.rails.actions.rails_world import Passage, RailsWorld
    from desktop_rag.features.rails.configuration.rails_configuration import read_rails
    from desktop_rag.features.rails.rail_engine import Rails, transcript
    from desktop_rag.features.rails.rail_events import UserIntent

    model = ScriptedModel(folder)
    retrieve = (lambda _: [Passage("A passage.")]) if (folder / "kb").is_dir() else None
    world = RailsWorld(complete=model.answer, retrieve=retrieve, embed=letters)
    engine = Rails(read_rails(folder), replace(world, check_facts=lambda *_: 1.0), _blocked())
    rows: list[dict[str, Any]] = []
    for text, _ in examples(folder):
        model.calls = model.tokens = 0
        begins = time.perf_counter()
        events = list(engine.say(engine.begin(), text))
        spent_ms = (time.perf_counter() - begins) * 1000
        intents = [event.intent for event in events if isinstance(event, UserIntent)]
        said = "\n".join(words for who, words in transcript(events) if who == "bot")
        rows.append(_row(text, intents, said, spent_ms, model))
    return rows


def _blocked() -> list[Any]:
    from desktop_rag.features.rails.actions.action_calls import make_action

    def check_blocked_terms(context: dict) -> bool:  # type: ignore[type-arg]
        return "proprietary" in str(context.get("bot_message")).lower()

    return [make_action("check_blocked_terms", check_blocked_terms)]


def nemo_turns(folder: Path) -> list[dict[str, Any]]:
    """Every example sentence in NeMo Guardrails."""
    model = ScriptedModel(folder)
    rails = opened_nemo(folder, model)
    rows: list[dict[str, Any]] = []

    async def say(text: str) -> tuple[str, list[str]]:
        result = await rails.generate_async(
            messages=[{"role": "user", "content": text}], options={"log": {"internal_events": True}}
        )
        events = result.log.internal_events
        intents = [event["intent"] for event in events if event["type"] == "UserIntent"]
        return result.response[-1]["content"], intents

    for text, _ in examples(folder):
        model.calls = model.tokens = 0
        begins = time.perf_counter()
        said, intents = asyncio.run(say(text))
        rows.append(_row(text, intents, said, (time.perf_counter() - begins) * 1000, model))
    return rows


def opened_nemo(folder: Path, model: ScriptedModel) -> Any:  # noqa: ANN401  of another environment
    """Its rails of a folder, with the scripted model and the vectors of letters."""
    from nemoguardrails import LLMRails, RailsConfig
    from nemoguardrails.embeddings.providers import register_embedding_provider
    from nemoguardrails.types import LLMResponse

    class Letters:
        """Its interface to vectors."""

        engine_name = "letters"

        def __init__(self, embedding_model: str, **_: object) -> None:
            self.model = embedding_model

        def encode(self, documents: list[str]) -> list[list[float]]:
            return letters(documents).tolist()

        async def encode_async(self, documents: list[str]) -> list[list[float]]:
            return self.encode(documents)

    class Model:
        """Its interface to models."""

        model_name = provider_name = "scripted"
        provider_url = None

        async def generate_async(self, prompt: Any, **_: object) -> LLMResponse:  # noqa: ANN401
            parts = [{"content": prompt}] if isinstance(prompt, str) else prompt
            return LLMResponse(content=model.answer("\n".join(map(_content, parts))))

        def stream_async(self, prompt: object, **_: object) -> None:
            raise NotImplementedError

    with contextlib.suppress(ValueError):  # known from the folder before
        register_embedding_provider(Letters, "letters")
    # Of several given texts it takes one by chance, and we the first.
    random.choice = lambda texts: texts[0]
    config = RailsConfig.from_path(str(folder))
    kept = [entry for entry in config.models if entry.type != "embeddings"]
    config.models = [*kept, type(kept[0])(type="embeddings", engine="letters", model="letters")]
    return LLMRails(config, llm=Model())


def _content(part: Any) -> str:  # noqa: ANN401
    return str(part["content"] if isinstance(part, dict) else part.content)


def _row(
    text: str, intents: Sequence[str], said: str, ms: float, model: ScriptedModel
) -> dict[str, Any]:
    intent = intents[0] if intents else ""
    counts = {"ms": round(ms, 2), "calls": model.calls, "tokens": model.tokens}
    return {"text": text, "intent": intent, "says": said, **counts}


if __name__ == "__main__":
    sys.exit(main())
