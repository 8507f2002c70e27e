"""The request to ask about a part of the library. A frozen value."""

from dataclasses import dataclass

from desktop_rag.core.question_scope import QuestionScope

# Keeps the chips and the stored question small; more are a folder or a collection.
MOST_ITEMS = 200


@dataclass(frozen=True, slots=True)
class AskAboutRequested:
    """Posted to the bridge: the window lets the person ask about this scope.

    If a chat is open, it continues there; otherwise a new chat is shown.
    """

    scope: QuestionScope
