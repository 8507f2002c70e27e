"""What can be asked about, by its name, and what of a scope can't be read. Worker threads."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from desktop_rag.answer.understanding.chosen_scope import ChosenScope
from desktop_rag.core.domain import Source
from desktop_rag.core.question import Setup
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.scope import EVERYWHERE

_MOST_FOLDERS = 4


class Scopes:
    """Offers the items of scopes, and checks scopes: `chat.scopes`."""

    def __init__(self, engine: Engine, chosen: ChosenScope, set_up: Callable[[str], Setup]) -> None:
        """`set_up` gives the setup of an assistant by its id."""
        self._engine = engine
        self._chosen = chosen
        self._set_up = set_up

    def completing(self, text: str, limit: int) -> list[ScopeItem]:
        """Collections, folders, links and up to `limit` files with this text in their names.

        Of equal kinds, names that begin with it come first, then the shorter ones; for no text the
        files that changed last.
        """
        wanted = text.casefold()
        sources = self._engine.sources.sources()
        collections = map(ScopeItem.of_collection, self._engine.sources.collections())
        links = (ScopeItem.of_source(source) for source in sources if not source.is_on_disk)
        found = [
            *_fitting(collections, wanted),
            *_fitting(self._folders(sources, wanted), wanted)[:_MOST_FOLDERS],
            *_fitting(links, wanted),
        ]
        files = self._engine.names.completing(text, limit)
        rows = {d.document_id: d for d in self._engine.documents.get(files)}
        return found + [ScopeItem.of_document(rows[i]) for i in files if i in rows]

    def missing(self, scope: QuestionScope, assistant_id: str = "") -> list[tuple[ScopeItem, str]]:
        """The items of which nothing can be read for a question to this assistant, and why."""
        return list(self._chosen.missing(scope.items, self._set_up(assistant_id).reach).items())

    def _folders(self, sources: Sequence[Source], wanted: str) -> Iterator[ScopeItem]:
        """The folders that the person added, and for a text those below them that hold files."""
        roots = [source.path for source in sources if source.is_on_disk]
        found = set(roots)
        for folder in self._engine.names.folders(EVERYWHERE) if wanted else ():
            place = Path(folder)
            for root in roots:
                if place.is_relative_to(root):
                    above = (parent for parent in place.parents if parent.is_relative_to(root))
                    found.update((place, *above))
        return (ScopeItem.of_folder(place) for place in sorted(found))


def _fitting(items: Iterator[ScopeItem], wanted: str) -> list[ScopeItem]:
    fitting = [item for item in items if wanted in item.name.casefold()]
    return sorted(
        fitting, key=lambda i: (not i.name.casefold().startswith(wanted), len(i.name), i.name)
    )
