"""The app's own actions, with the aliases that configurations know them by. Any thread."""

import re
from collections.abc import Callable, Iterable

from desktop_rag.core.errors import AppError
from desktop_rag.features.rails.actions import stage_actions
from desktop_rag.features.rails.actions.action_calls import Action, ActionResult
from desktop_rag.features.rails.actions.rails_world import Around, Passage
from desktop_rag.features.rails.language.expression_values import as_text
from desktop_rag.features.rails.prompts.stage_prompts import read_yes
from desktop_rag.features.rails.rail_events import BotSaid

# What can be told of a message without a model.
_INJECTIONS = [
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instruction|rule|prompt|polic)",
    r"\b(?:reveal|show|print|repeat)\b.{0,40}\b(?:system|hidden|initial) (?:prompt|instruction)",
    r"\byou are (?:now|no longer)\b.{0,60}\b(?:dan|unrestricted|jailbroken|without rules)",
    r"\b(?:developer|jailbreak|god|dan) mode\b",
    r"\bpretend\b.{0,40}\b(?:no (?:rules|restrictions|limits)|without (?:rules|restrictions))",
    r"\b(?:ignorier|vergiss|missacht)\w*\b.{0,40}\b(?:anweisung|regel|vorgabe)",
    r"\b(?:ignore[sz]?|oublie[sz]?)\b.{0,40}\b(?:instructions?|règles?|consignes?)",
    r"\b(?:ignora|olvida)\b.{0,40}\b(?:instruccion|regla|indicacion)",
    r"\b(?:игнорируй|забудь)\w*\b.{0,40}(?:инструкц|правил|указан)",
    r"(?:忽略|无视|忘记).{0,20}(?:指令|规则|提示|说明)",
    r"<\|(?:im_start|system|endoftext)\|>|\[/?INST\]|<<SYS>>",
]
_INJECTION = re.compile("|".join(f"(?:{pattern})" for pattern in _INJECTIONS), re.IGNORECASE)
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_CARD = re.compile(r"\b\d(?:[ -]?\d){12,18}\b")
_PHONE = re.compile(r"(?<![\w.])(?:\+|00)\d[\d ()/-]{6,18}\d\b")
_LONGEST = 50_000
# Answers pass from this probability on.
_FACTS_FROM = 0.5


def takes_over(text: str) -> bool:
    """Whether a message reads like an attempt to make the bot forget its rules."""
    return _INJECTION.search(" ".join(text[:_LONGEST].split())) is not None


def mask_personal_data(text: str) -> str:
    """Cover mail addresses and the numbers of accounts, cards and telephones."""
    text = _MAIL.sub("[mail address]", text)
    text = _IBAN.sub("[account number]", text)
    text = _CARD.sub(lambda match: "[card number]" if _is_card(match[0]) else match[0], text)
    return _PHONE.sub("[telephone number]", text)


def _is_card(written: str) -> bool:
    """Whether the last digit is the check digit of the others (Luhn)."""
    digits = [int(sign) for sign in reversed(written) if sign.isdigit()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def check_facts(around: Around) -> ActionResult:
    """The probability that the passages support the last answer; 0 below the threshold.

    So `not $accurate` and `$accurate < 0.4` both mean what they say. With nothing to check by, the
    action fails, and with it what it was to protect.
    """
    answer = as_text(around.context.get("bot_message") or "")
    rows = around.context.get("relevant_passages") or []
    passages = [Passage(str(row["text"]), str(row["source"])) for row in rows]
    if around.world.check_facts is not None:
        score = float(around.world.check_facts(answer, passages)) if passages and answer else 0.0
    else:
        score = _checked_by_model(answer, passages, around)
    return ActionResult(score if score >= _FACTS_FROM else 0.0)


def check_input(around: Around) -> ActionResult:
    """Whether what the user said may be answered."""
    text = as_text(around.context.get("user_message") or "")
    return ActionResult(not takes_over(text) and _passes("self_check_input", text, around))


def check_output(around: Around) -> ActionResult:
    """Whether the message of the bot may be shown."""
    text = as_text(around.context.get("bot_message") or "")
    return ActionResult(not takes_over(text) and _passes("self_check_output", text, around))


def detect_jailbreak(around: Around) -> ActionResult:
    """Whether the user tries to take over, by the local patterns alone."""
    return ActionResult(takes_over(as_text(around.context.get("user_message") or "")))


def hide_personal_data(text: str) -> ActionResult:
    """The text with personal data covered."""
    return ActionResult(mask_personal_data(text))


def _passes(task: str, text: str, around: Around) -> bool:
    """What the model says; without a model all passes, with an unclear answer nothing."""
    if around.world.complete is None:
        return True
    shown = text.replace('"', "'")
    user = as_text(around.context.get("user_message") or "").replace('"', "'")
    prompt = around.prompts.write(
        task, message=shown, user_input=user, bot_response=shown, user_message=user
    )
    return read_yes(around.model.ask(task, prompt)) is False


def _checked_by_model(answer: str, passages: list[Passage], around: Around) -> float:
    if around.world.complete is None or not around.prompts.has_own("self_check_facts"):
        raise AppError("There is nothing to check the answer by.")
    evidence = "\n".join(passage.text for passage in passages)
    prompt = around.prompts.write("self_check_facts", evidence=evidence, response=answer)
    return 1.0 if read_yes(around.model.ask("self_check_facts", prompt)) else 0.0


_ALIASES = {
    "self_check_input": "check_input",
    "check_jailbreak": "check_input",
    "self_check_output": "check_output",
    "output_moderation": "check_output",
    "self_check_facts": "check_facts",
    "alignscore_check_facts": "check_facts",
    "jailbreak_detection_heuristics": "detect_jailbreak",
}
# A model on this computer may take minutes for an answer, and an answer from every file longer.
_MODEL_S = 180.0
_LONG_S = 1800.0
# Longer than a program of the person's may run.
_COMMAND_S = 900.0


def finder(own: Iterable[Action] = ()) -> Callable[[str], Action | None]:
    """Finds an action by a name or alias; the person's `own` replace built-in ones."""
    actions = {action.name: action for action in (*_BUILT_IN, *own)}
    return lambda name: actions.get(name) or actions.get(_ALIASES.get(name, ""))


def remove_last_message(around: Around) -> ActionResult:
    """Take back what the bot said last; the result is its text."""
    said = (event.content for event in reversed(around.events) if isinstance(event, BotSaid))
    return ActionResult(next(said, ""))


def search(around: Around, query: str) -> ActionResult:
    """The passages that fit a query best, each with its source."""
    if around.world.search is None:
        raise AppError("There is no library to search.")
    found = around.world.search(query)
    return ActionResult([{"text": p.text, "source": p.source} for p in found])


def ask_every_file(around: Around, question: str) -> ActionResult:
    """The answer to a question that each document is asked."""
    if around.world.ask_every_file is None:
        raise AppError("There is no library to ask.")
    return ActionResult(around.world.ask_every_file(question))


def is_command(around: Around) -> ActionResult:
    """Whether the user asked word for word for a command."""
    words = as_text(around.context.get("user_message") or "")
    changes = around.world.changes
    return ActionResult(changes is not None and changes.is_asked_for(words))


def run_command(around: Around, **values: object) -> ActionResult:
    """Carry out what the person agreed to; the values were for the proposal."""
    assert around.world.changes is not None, "nothing is agreed to where nobody can"
    return ActionResult(around.world.changes.carry_out(around.command_id))


_BUILT_IN = [
    Action(function.__name__, function, timeout_s, is_our_own=True)
    for function, timeout_s in (
        (stage_actions.generate_user_intent, _MODEL_S),
        (stage_actions.generate_next_step, _MODEL_S),
        (stage_actions.retrieve_relevant_chunks, _MODEL_S),
        (stage_actions.generate_bot_message, _MODEL_S),
        (stage_actions.generate_value, _MODEL_S),
        (check_facts, _MODEL_S),
        (check_input, _MODEL_S),
        (check_output, _MODEL_S),
        (detect_jailbreak, _MODEL_S),
        (hide_personal_data, _MODEL_S),
        (remove_last_message, _MODEL_S),
        (search, _MODEL_S),
        (ask_every_file, _LONG_S),
        (is_command, _MODEL_S),
    )
] + [
    Action(name, run_command, _COMMAND_S, is_our_own=True, changes=True)
    for name in ("save_note", "add_folder", "run_program", "do_as_asked")
]
