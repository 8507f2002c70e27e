"""The hook of the bot for Matrix rooms, which asks the local server for its answers."""

from desktop_rag.registry import Verbs


def verbs() -> Verbs:
    """The bot."""
    return Verbs(
        {"matrix": ("cli.matrix_verb:add_matrix", "Answer in rooms of Matrix, where teams talk.")}
    )
