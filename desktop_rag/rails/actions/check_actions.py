"""The actions that check: facts against documents, what goes in and what comes out.

Rail threads.
"""

from desktop_rag.core.errors import AppError
from desktop_rag.rails.actions.local_checks import mask_personal_data, takes_over
from desktop_rag.rails.actions.rail_action import ActionResult
from desktop_rag.rails.actions.rails_world import Around, Passage
from desktop_rag.rails.language.expression_values import as_text
from desktop_rag.rails.prompts.stage_prompts import read_yes


def check_facts(around: Around) -> ActionResult:
    """The probability that its passages support the last answer; 0 where that is too little.

    So `not $accurate` and `$accurate < 0.4` both mean what they say. Without anything to check it
    by this fails, and so does what it was to protect.
    """
    answer = as_text(around.context.get("bot_message") or "")
    rows = around.context.get("relevant_passages") or []
    passages = [Passage(str(row["text"]), str(row["source"])) for row in rows]
    if around.world.check_facts is not None:
        score = float(around.world.check_facts(answer, passages)) if passages and answer else 0.0
    else:
        score = _checked_by_model(answer, passages, around)
    return ActionResult(score if score >= around.settings.facts_from else 0.0)


def check_input(around: Around) -> ActionResult:
    """Whether what the user said may be answered."""
    text = as_text(around.context.get("user_message") or "")
    return ActionResult(not takes_over(text) and _passes("self_check_input", text, around))


def check_output(around: Around) -> ActionResult:
    """Whether the message of the bot may be shown."""
    text = as_text(around.context.get("bot_message") or "")
    return ActionResult(not takes_over(text) and _passes("self_check_output", text, around))


def detect_jailbreak(around: Around) -> ActionResult:
    """Whether what the user said is an attempt to take over, by the local patterns alone."""
    return ActionResult(takes_over(as_text(around.context.get("user_message") or "")))


def hide_personal_data(text: str) -> ActionResult:
    """The text with personal data covered."""
    return ActionResult(mask_personal_data(text))


def _passes(task: str, text: str, around: Around) -> bool:
    """What the model says, if one is set; an answer that is neither yes nor no doesn't pass."""
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
