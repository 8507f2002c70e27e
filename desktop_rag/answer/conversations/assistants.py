"""The person's assistants, and the setup of a question for each. Worker threads only."""

import itertools
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace

from desktop_rag.core.assistant import LONGEST_NAME, Assistant, parse_filters, validated_assistant
from desktop_rag.core.domain import Collection
from desktop_rag.core.errors import AppError
from desktop_rag.core.question import SearchScope, Setup
from desktop_rag.core.settings import Settings
from desktop_rag.store.contract.records import AssistantStore

_COPY = " (copy{number})"
_DELETED = "The assistant of this chat was deleted, so this was answered without it."


class Assistants:
    """Keeps assistants under unique names, and sets up questions for them."""

    def __init__(
        self,
        store: AssistantStore,
        collections: Callable[[], Sequence[Collection]],
        check_rails: Callable[[str], None] | None = None,
    ) -> None:
        """`check_rails` raises AppError for rails that an assistant can't use."""
        self._check_rails = check_rails
        self._store = store
        # Deleted ones are purged when the app starts.
        self.all, self.purge_deleted = store.all, store.purge_deleted
        self._collections = collections

    def get(self, assistant_id: str) -> Assistant | None:
        """The assistant; None for "" and for a deleted one."""
        every = self._store.all() if assistant_id else []
        return next((a for a in every if a.assistant_id == assistant_id), None)

    def find(self, name: str) -> Assistant:
        """The assistant of this name, ignoring case. AppError when there is none."""
        every = self._store.all()
        wanted = _folded(name)
        for assistant in every:
            if _folded(assistant.name) == wanted:
                return assistant
        names = ", ".join(assistant.name for assistant in every)
        none_yet = "Make one above the chat, or with `assistant add`."
        hint = f"There are: {names}." if names else none_yet
        raise AppError(f"There is no assistant “{name}”.", hint)

    def add(self, assistant: Assistant) -> Assistant:
        """Store a new assistant; returns it with its id. AppError as in `change`."""
        return self.change(replace(assistant, assistant_id=uuid.uuid4().hex))

    def change(self, assistant: Assistant) -> Assistant:
        """Store and return a changed assistant.

        AppError, with nothing changed, when it is not valid, its name is taken, or its rails are
        broken.
        """
        kept = replace(validated_assistant(assistant), changed_at=time.time())
        if self._is_taken(kept.name, kept.assistant_id):
            title = f"There is another assistant called “{kept.name}”."
            raise AppError(title, "Choose another name.")
        if self._check_rails:
            self._check_rails(kept.rails)
        self._store.put(kept)
        return kept

    def copy(self, assistant: Assistant) -> Assistant:
        """A copy of this assistant under a free name; it asks the same documents, and owns none."""
        name = self._free_name(assistant.name)
        return self.add(replace(assistant, name=name, own_collection_id=""))

    def delete(self, assistant_id: str) -> None:
        """Hide the assistant; it is removed for good at the next start. Its chats stay."""
        self._store.set_deleted(assistant_id, True)

    def restore(self, assistant: Assistant) -> None:
        """Undo `delete`. When its name has been taken since, it gets another one."""
        if self._is_taken(assistant.name, assistant.assistant_id):
            named = replace(assistant, name=self._free_name(assistant.name))
            self._store.put(named)
        else:
            self._store.set_deleted(assistant.assistant_id, False)

    def set_up(self, assistant_id: str, collection_id: str, settings: Settings) -> Setup:
        """The setup of a question to this assistant; "" means none, and all documents.

        `settings` apply where the assistant has none of its own. Hints mention collections that no
        longer exist; when the question would then go elsewhere, it is refused.
        """
        assistant = self.get(assistant_id)
        if assistant is None:
            hints = (_DELETED,) if assistant_id else ()
            return Setup(
                settings, SearchScope.of_collection(collection_id), assistant_id, hints=hints
            )
        used = settings
        if assistant.has_model:
            used = settings.using(assistant.base_url, assistant.model)
        if assistant.retrieval:
            used = replace(used, retrieval=assistant.retrieval)
        asked, hints = self._asked(assistant, collection_id)
        reach = SearchScope(asked, parse_filters(assistant.filters))
        refusal = _refusal(assistant, asked, used)
        used = settings if refusal else used
        return Setup(used, reach, assistant_id, assistant, hints, refusal)

    def _asked(
        self, assistant: Assistant, collection_id: str
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The collections to search, none for all, and the hints about them."""
        own = assistant.collection_ids
        if not own:
            return SearchScope.of_collection(collection_id).collection_ids, ()
        there = {collection.collection_id for collection in self._collections()}
        left = tuple(i for i in own if i in there)
        if collection_id in left:
            return (collection_id,), ()
        hints: list[str] = []
        if collection_id:
            hints.append(f"“{assistant.name}” asks collections of its own, not the one chosen.")
        if gone := len(own) - len(left):
            are = "is" if gone == 1 else "are"
            hints.append(f"{gone:,} of the collections of “{assistant.name}” {are} gone.")
        return left, tuple(hints)

    def _is_taken(self, name: str, assistant_id: str) -> bool:
        return any(
            _folded(other.name) == _folded(name) and other.assistant_id != assistant_id
            for other in self._store.all()
        )

    def _free_name(self, name: str) -> str:
        """The first free name of `Name (copy)`, `Name (copy 2)` …, within the allowed length."""
        for number in itertools.count(1):
            ending = _COPY.format(number=f" {number}" if number > 1 else "")
            candidate = name[: LONGEST_NAME - len(ending)].rstrip() + ending
            if not self._is_taken(candidate, ""):
                return candidate
        raise AssertionError("numbers do not end")


def _refusal(assistant: Assistant, asked: Sequence[str], used: Settings) -> AppError | None:
    if assistant.has_model and not used.endpoint.is_set:
        return AppError(
            f"The endpoint of “{assistant.name}” is no longer set up.",
            f"It was {assistant.base_url}. Choose another model for the assistant, or ask without"
            " it.",
        )
    if assistant.collection_ids and not asked:
        return AppError(
            f"The collections of “{assistant.name}” are gone.",
            "Choose others for the assistant, or ask without it.",
        )
    return None


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()
