"""The actions of the three stages: intent, next step and message. Rail threads."""

import re
from collections.abc import Sequence

from desktop_rag.features.rails.actions.action_calls import ActionResult
from desktop_rag.features.rails.actions.rails_world import Around, DocumentAnswer, Passage
from desktop_rag.features.rails.intent.intent_recognition import RecognisedIntent
from desktop_rag.features.rails.language.expression_values import as_text, fill_in
from desktop_rag.features.rails.prompts import stage_prompts
from desktop_rag.features.rails.rail_events import BotIntent, BotSaid, RailEvent, UserIntent

# The form of what fits no example, and of what is said about it where no flow and no model knows.
OTHER_INTENT = "say something else"
GENERAL_RESPONSE = "respond to the user"
ANSWER_FROM_DOCUMENTS = "answer from the documents"
ANSWER_UNKNOWN = "inform answer unknown"
_ANYTHING = "..."
_NEAREST = 5
_FENCE = re.compile(r"<(/?\s*passages)", re.IGNORECASE)


def generate_user_intent(around: Around) -> ActionResult:
    """The canonical form of what the user said: by the examples, else by the model."""
    text = as_text(around.context.get("user_message") or "")
    forms = around.program.user_forms
    if not forms:
        return _understood(OTHER_INTENT, "none", None)
    if exact := _exact(text, around):
        return _understood(exact, "example", None)
    anything = next((form for form, said in forms.items() if _ANYTHING in said), "")
    found = around.nearest.recognise(text)
    settings = around.settings
    if found is not None and settings.is_by_examples_only:
        is_near = bool(found.nearest) and found.nearest[0].similarity >= settings.least_similarity
        other = settings.fallback_intent or anything or OTHER_INTENT
        return _understood(found.intent if is_near else other, "examples", found)
    if found is not None and found.is_accepted:
        return _understood(found.intent, "examples", found)
    if anything or around.world.complete is None:
        return _understood(anything or settings.fallback_intent or OTHER_INTENT, "none", found)
    examples = [(near.text, near.intent) for near in found.nearest] if found else _first(around)
    prompt = around.prompts.write(
        "generate_user_intent",
        examples=stage_prompts.user_examples(examples),
        history=stage_prompts.history(around.events),
        potential_user_intents=", ".join(dict.fromkeys(form for _, form in examples)),
        user_input=text,
    )
    form = stage_prompts.read_form(around.model.ask("generate_user_intent", prompt))
    return _understood(form or OTHER_INTENT, "model", found)


def generate_next_step(around: Around) -> ActionResult:
    """What the bot does about an intent of no flow: the model decides, shown the nearest flows."""
    intent = as_text(around.context.get("user_intent") or "")
    if around.world.complete is None or not around.program.written_flows:
        is_answered = around.world.complete is not None or around.world.answer is not None
        return _next(GENERAL_RESPONSE if is_answered else ANSWER_UNKNOWN)
    prompt = around.prompts.write(
        "generate_next_step",
        examples="\n\n".join(around.nearest.flows(intent)[:_NEAREST]),
        history=stage_prompts.history(around.events),
    )
    # Nothing but words: no model starts an action that no flow starts.
    form = stage_prompts.read_form(around.model.ask("generate_next_step", prompt))
    return _next(form or GENERAL_RESPONSE)


def retrieve_relevant_chunks(around: Around) -> ActionResult:
    """The numbered passages for the message that is about to be made."""
    intent = as_text(around.context.get("bot_intent") or "")
    is_given = intent in around.program.bot_texts or intent.startswith("$")
    if around.world.retrieve is None or is_given:
        return ActionResult("")
    question = as_text(around.context.get("user_message") or "")
    return _found(list(around.world.retrieve(question)))


def generate_bot_message(around: Around, is_held: bool = False) -> ActionResult:
    """The words for an intent of the bot: a given text, else a variable, else the model's.

    With `is_held` the model's words go into `$bot_message` for the rails to check.
    """
    intent = as_text(around.context.get("bot_intent") or "")
    if intent in around.program.bot_texts:
        said: tuple[RailEvent, ...] = (BotSaid(_given_text(intent, around)),)
        return ActionResult(None, {"is_held": False} if is_held else {}, said)
    answer = _generated(intent, around)
    updates = dict(_found(answer.passages).context_updates) if answer.passages else {}
    if answer.is_own_knowledge or around.context.get("is_own_knowledge"):
        updates["is_own_knowledge"] = answer.is_own_knowledge
    if not is_held:
        return ActionResult(None, updates, (BotSaid(answer.text),))
    return ActionResult(None, {**updates, "bot_message": answer.text, "is_held": True})


def generate_value(around: Around, name: str = "", instructions: str = "") -> ActionResult:
    """The value of a variable, as the comment above `$name = ...` asks for it."""
    prompt = around.prompts.write(
        "generate_value",
        name=name,
        instructions=" ".join(instructions.split()) or f"What is {name}?",
        history=stage_prompts.history(around.events),
    )
    return ActionResult(stage_prompts.read_message(around.model.ask("generate_value", prompt)))


def _exact(text: str, around: Around) -> str:
    """The form of the example that equals the sentence."""
    wanted = _plain(text)
    for form, examples in around.program.user_forms.items():
        if any(_plain(example) == wanted for example in examples if example != _ANYTHING):
            return form
    return ""


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(".!?… ")


def _first(around: Around) -> list[tuple[str, str]]:
    """An example of each of the first forms, where nothing can be compared."""
    forms = around.program.user_forms.items()
    return [(said[0], form) for form, said in forms if said][:_NEAREST]


def _understood(intent: str, by: str, found: RecognisedIntent | None) -> ActionResult:
    value = {"intent": intent, "by": by}
    if found is not None:
        near = [
            {"text": n.text, "intent": n.intent, "similarity": round(n.similarity, 4)}
            for n in found.nearest
        ]
        value |= {"score": round(found.score, 4), "nearest": near}
    return ActionResult(value, events=(UserIntent(intent),))


def _next(form: str) -> ActionResult:
    return ActionResult(form, events=(BotIntent(form),))


def _given_text(intent: str, around: Around) -> str:
    """The given texts in turn."""
    texts = around.program.bot_texts[intent]
    said = sum(isinstance(e, BotIntent) and e.intent == intent for e in around.events)
    return fill_in(texts[(said - 1) % len(texts)], around.context)


def _generated(intent: str, around: Around) -> DocumentAnswer:
    if intent.startswith("$"):
        return DocumentAnswer(as_text(around.context.get(intent[1:]) or ""))
    is_about_documents = intent in (GENERAL_RESPONSE, ANSWER_FROM_DOCUMENTS)
    if around.world.answer and (is_about_documents or around.world.complete is None):
        return around.world.answer(as_text(around.context.get("user_message") or ""))
    if around.world.complete is None:
        return DocumentAnswer(_given_text(ANSWER_UNKNOWN, around))
    chunks = as_text(around.context.get("relevant_chunks") or "")
    prompt = around.prompts.write(
        "generate_bot_message",
        examples=stage_prompts.bot_examples(_bot_examples(intent, around)),
        relevant_chunks=chunks,
        history=stage_prompts.history(around.events),
    )
    text = stage_prompts.read_message(around.model.ask("generate_bot_message", prompt))
    return DocumentAnswer(text or _given_text(ANSWER_UNKNOWN, around))


def _bot_examples(intent: str, around: Around) -> list[tuple[str, str]]:
    """The given texts whose forms share most words with the intent."""
    words = set(intent.split())
    texts = around.program.bot_texts
    forms = sorted(texts, key=lambda form: -len(words.intersection(form.split())))
    return [(form, texts[form][0]) for form in forms[:_NEAREST] if texts[form]]


def _found(passages: Sequence[Passage]) -> ActionResult:
    rows = [{"text": _fenced(p.text), "source": _fenced(p.source)} for p in passages]
    numbered = (
        f"[{number}] {row['text']}" + (f" ({row['source']})" if row["source"] else "")
        for number, row in enumerate(rows, 1)
    )
    chunks = "\n\n".join(numbered)
    return ActionResult(chunks, {"relevant_chunks": chunks, "relevant_passages": rows})


def _fenced(text: str) -> str:
    """The text of a document without the tag that would end its fence."""
    return _FENCE.sub(r"‹\1", text)
