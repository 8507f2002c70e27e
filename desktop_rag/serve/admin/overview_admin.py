"""The first page: what there is, and what is being done. Worker threads."""

from collections.abc import Sequence

from desktop_rag.core.domain import DocumentState
from desktop_rag.serve.admin.admin_visits import Handled, Shown, Visit
from desktop_rag.serve.admin.page_parts import section, stacked, table
from desktop_rag.serve.html_writer import Html, tag
from desktop_rag.serve.serving import Serving


class OverviewAdmin:
    """Figures of the library and of those who may ask it."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    def handlers(self) -> Sequence[Handled]:
        """The page alone."""
        return [("/admin", "GET", self._show)]

    def _show(self, _visit: Visit) -> Shown:
        library = self._serving.library
        counts, progress = library.documents.counts(), library.indexing.progress()
        figures = [
            ("Collections", len(library.collections.all()), "/admin/collections"),
            ("Documents", counts.total, "/admin/documents"),
            ("Tokens", len(self._serving.tokens.all()), "/admin/tokens"),
            ("Prompts", len(self._serving.chat.prompts.all()), "/admin/prompts"),
        ]
        states = [
            (tag("a", state.value, href=f"/admin/documents?state={state.name}"), f"{number:,}")
            for state in DocumentState
            if (number := counts.of(state))
        ]
        doing = f"Indexing: {progress.stage.value}"
        if progress.files_total and progress.step:
            doing += f", {progress.files_done:,} of {progress.files_total:,} files"
        body = stacked(
            tag("ul", [_figure(*figure) for figure in figures], class_="figures"),
            section(
                "Documents by state",
                tag("p", doing + "."),
                table(("State", "Documents"), states, empty="There are no documents yet."),
            ),
        )
        return Shown("Overview", body)


def _figure(label: str, number: int, path: str) -> Html:
    return tag("li", tag("a", tag("strong", f"{number:,}"), " ", label, href=path))
