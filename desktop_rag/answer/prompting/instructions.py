"""The system prompt for an assistant: the app's rules, then the assistant's instructions.

Pure, any thread. The rules on citations and fenced data apply to every assistant: they come first,
and the instructions must yield to them.
"""

import re

from desktop_rag.answer.citing.citations import normalise
from desktop_rag.answer.prompting.prompt import INSTRUCTIONS, ONLY_SOURCES, sanitized
from desktop_rag.core.settings import AnswerLength, PreferenceSettings

# Separates what a model adds from its own knowledge below an answer. Pure, any thread.

OWN_KNOWLEDGE_LINE = "Not from your documents:"
# Text that ends with a colon is not checked as a claim.
_HEADING = f"**{OWN_KNOWLEDGE_LINE.removesuffix(':')}**:"
# Models like to make a heading, a quote or bold text of it.
_LINE = re.compile(
    r"^[ \t>#*_]*not from your documents[ \t*_]*:[ \t*_]*", re.IGNORECASE | re.MULTILINE
)


def split_own_knowledge(text: str) -> tuple[str, str]:
    """The part of an answer that rests on sources, and the part below the line, without citations.

    The line becomes a bold paragraph of its own.
    """
    found = _LINE.search(text)
    if found is None:
        return text, ""
    own = normalise(text[found.end() :], frozenset())[0].strip()
    return text[: found.start()], f"{_HEADING}\n\n{own}" if own else ""


# Unlikely to be typed by chance, and constant, so that servers can reuse a cached prefix.
_TAG = "wishes-of-the-person"
_SOURCES_FIRST = f"""\
- Answer from the sources in the last message. What they hold comes first and stands by itself.
- Only where it helps, add after that what you know yourself and the sources don't say. Before it \
write this line, exactly as it stands and in English: {OWN_KNOWLEDGE_LINE}
Below that line cite nothing and write no numbers in brackets. Above it write nothing that is from \
your own knowledge, and never put both into one sentence. If you know otherwise than the sources \
say, tell above the line what they say, and below it what you know."""
OPEN_INSTRUCTIONS = INSTRUCTIONS.replace(ONLY_SOURCES, _SOURCES_FIRST)
WITHOUT_DOCUMENTS = """\
A person talks with you. They chose to do so without their own documents: none were searched, and \
you have no sources.

Rules:
- Answer from your general knowledge and from what was said before. Don't speak as if you had read \
the person's documents, cite nothing, and write no numbers in brackets.
- If only the person or their documents can know the answer, say so. If you don't know it or are \
not sure, say that. Never guess names, numbers or dates.
- Answer in the language of the question. Write no links and no images."""
WITHOUT_SOURCES = """\
A person asks you a question. Their own documents were searched first, and nothing in them is \
about it. Answer it from your general knowledge.

Rules:
- The person is told that the answer is not from their documents. Don't speak as if it were, cite \
nothing, name no sources, and write no numbers in brackets.
- If only the person or their documents can know the answer, say so. If you don't know it or are \
not sure, say that. Never guess names, numbers or dates.
- Answer in the language of the question. Be brief. Write no links and no images."""
_WISHES = """\


The person wishes the following of these answers. Follow it in task, form and tone as far as the \
rules above allow; wherever it differs from a rule, the rule holds.
<{tag}>
{wishes}
</{tag}>"""


def instructions_for(own: str, *, is_open: bool, has_sources: bool) -> str:
    """The system prompt of a question; only with `is_open` may the model go beyond its sources.

    `own` are the person's own instructions, "" for none.
    """
    if not is_open:
        return with_instructions(INSTRUCTIONS, own)
    return with_instructions(OPEN_INSTRUCTIONS if has_sources else WITHOUT_SOURCES, own)


def with_instructions(rules: str, instructions: str) -> str:
    """The rules, followed by the person's own instructions, if any."""
    plain = sanitized(instructions, _TAG).strip()
    return rules + _WISHES.format(tag=_TAG, wishes=plain) if plain else rules


# Puts the person's preferences for answers into the system prompt. Pure.
#
# The result is the same for every question, so that servers can reuse a cached prefix.

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
