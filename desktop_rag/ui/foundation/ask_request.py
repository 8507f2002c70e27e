"""The request to ask about a part of the library, from anywhere in the app. A frozen value."""

from dataclasses import dataclass

from desktop_rag.core.question_scope import QuestionScope

# More are a folder or a collection; the chips and the stored question stay small.
MOST_ITEMS = 200


@dataclass(frozen=True, slots=True)
class AskAboutRequested:
    """Posted to the bridge: the window lets the person ask about this scope.

    In front of a chat it goes on there; else a new chat is shown.
    """

    scope: QuestionScope
