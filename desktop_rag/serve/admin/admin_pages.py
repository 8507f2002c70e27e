"""The list of the admin pages, and which handler answers which path."""

from collections.abc import Sequence
from typing import Protocol

from desktop_rag.serve.admin.access_admin import AccessAdmin
from desktop_rag.serve.admin.admin_visits import Handled
from desktop_rag.serve.admin.collection_admin import CollectionAdmin
from desktop_rag.serve.admin.crawl_admin import CrawlAdmin
from desktop_rag.serve.admin.database_admin import DatabaseAdmin
from desktop_rag.serve.admin.document_admin import DocumentAdmin
from desktop_rag.serve.admin.feedback_admin import FeedbackAdmin
from desktop_rag.serve.admin.log_admin import LogAdmin
from desktop_rag.serve.admin.model_admin import ModelAdmin
from desktop_rag.serve.admin.overview_admin import OverviewAdmin
from desktop_rag.serve.admin.prompt_admin import PromptAdmin
from desktop_rag.serve.admin.token_admin import TokenAdmin
from desktop_rag.serve.admin.usage_admin import UsageAdmin
from desktop_rag.serve.serving import Serving


class AdminPage(Protocol):
    """A page with what can be done on it. Handlers run on worker threads."""

    def handlers(self) -> Sequence[Handled]:
        """The first is the page itself."""
        ...


class AdminPages:
    """All pages in the order of the list."""

    def __init__(self, serving: Serving) -> None:
        library = serving.library
        self._pages: tuple[tuple[str, AdminPage], ...] = (
            ("Overview", OverviewAdmin(serving)),
            ("Collections", CollectionAdmin(library)),
            ("Documents", DocumentAdmin(library)),
            ("Models", ModelAdmin(serving)),
            ("Tokens", TokenAdmin(serving)),
            ("Users", AccessAdmin(serving)),
            ("Prompts", PromptAdmin(serving.chat)),
            ("Crawls", CrawlAdmin(library)),
            ("Log", LogAdmin(serving)),
            ("Feedback", FeedbackAdmin(serving.chat)),
            ("Usage", UsageAdmin(serving)),
            *([("Database", DatabaseAdmin(library))] if library.is_on_server else []),
        )

    @property
    def listed(self) -> list[tuple[str, str]]:
        """The path and title of each page."""
        return [(page.handlers()[0][0], title) for title, page in self._pages]

    def handlers(self) -> list[Handled]:
        """Everything that can be asked, without login and logout."""
        return [handled for _, page in self._pages for handled in page.handlers()]
