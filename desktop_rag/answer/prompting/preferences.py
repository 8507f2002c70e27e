"""Puts the person's preferences for answers into the system prompt. Pure.

The result is the same for every question, so that servers can reuse a cached prefix.
"""

from desktop_rag.answer.prompting.prompt_sanitizer import sanitized
from desktop_rag.core.settings import AnswerLength, PreferenceSettings

# The exact wording of the app's own rules.
LANGUAGE_RULE = "Answer in the language of the question."
_LANGUAGE_RULES = (
    LANGUAGE_RULE,
    "Write in the language of the sources.",
    "Write in the language of the summaries.",
)
LENGTH_RULE = "Be brief."

_LENGTHS = {
    AnswerLength.BRIEF: "Answer in one or two sentences.",
    AnswerLength.NORMAL: LENGTH_RULE,
    AnswerLength.DETAILED: "Answer in detail: give all that the sources say about the question.",
}
_LONGEST_LANGUAGE = 40
_LONGEST_TONE = 200
# Unlikely to be typed by chance, and constant.
_FENCE = "tone-of-the-person"


def in_manner(rules: str, preferences: PreferenceSettings) -> str:
    """The app's rules with the preferred language, length and tone."""
    rules = in_language(rules, preferences)
    rules = rules.replace(LENGTH_RULE, _LENGTHS[preferences.length])
    tone = _plain(preferences.tone, _LONGEST_TONE)
    return rules + (
        f"\n- As far as the rules above allow, write in the tone that the person wishes: {tone}"
        if tone
        else ""
    )


def in_language(rules: str, preferences: PreferenceSettings) -> str:
    """The app's rules with the preferred language only."""
    if language := _plain(preferences.language, _LONGEST_LANGUAGE):
        wanted = f"Answer in {language}, whatever the language of the question and the sources."
        for rule in _LANGUAGE_RULES:
            rules = rules.replace(rule, wanted)
    return rules


def _plain(text: str, most: int) -> str:
    return " ".join(sanitized(text, _FENCE).split())[:most].rstrip()
