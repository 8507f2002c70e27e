"""The one error people are shown. Everything else that is raised is our bug and stays loud."""


class AppError(Exception):
    """The world's fault: something the person can understand and act on.

    `title` says what happened in one plain sentence, `hint` says the way out. Both are shown as
    plain text, so they may hold file names and server messages. Raise it at the edge where the
    foreign error appears, `from` that error. It may be raised on any thread.
    """

    def __init__(self, title: str, hint: str = "") -> None:
        super().__init__(title if not hint else f"{title} {hint}")
        self.title = title
        self.hint = hint


class Cancelled(Exception):  # noqa: N818  it ends work early, it reports no failure
    """The person stopped the work. Raised between tokens, files or batches; never shown."""
