"""The person's rewritten answers, saved prompts and memory of answers. Worker threads only.

A remembered answer that is an example for a question shows only the form of an answer, so its
question must be nearly the same: the threshold holds on the calibrated scale of each model.
"""

import contextlib
import json
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

from desktop_rag.answer.citing.citations import normalise
from desktop_rag.answer.search.meaning import SimilarityCalibration
from desktop_rag.core.assistant import LONGEST_TEXT, SavedPrompt, plain_name
from desktop_rag.core.conversation import Interaction, Message, outcome_of
from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.files.own_files import write_atomically
from desktop_rag.core.query import parse_query, strip_invalid_characters
from desktop_rag.models.ports import Embedder, Vectors
from desktop_rag.store.contract.interaction_store import InteractionStore

log = logging.getLogger(__name__)

MOST_EXAMPLES = 3
# From 0, unrelated, to 1, the same text; decision 023 has the figures.
LEAST_SIMILARITY = 0.75
# The number of interactions that are embedded after an answer.
_BATCH = 32


class Memory:
    """Records interactions, finds similar ones, and forgets them on request."""

    def __init__(
        self,
        interactions: InteractionStore,
        embedder: Embedder | None,
        own_text: Callable[[str], str] = lambda _id: "",
    ) -> None:
        """Without an embedder, interactions are recorded and never found.

        `own_text` is the person's version of the answer with an id, "" without one.
        """
        self._interactions = interactions
        self.count, self.newest = interactions.count, interactions.newest
        self.recall, self.forget_all = interactions.get, interactions.forget_all
        self._own_text = own_text
        self._embedder = embedder
        self._calibration = SimilarityCalibration()
        # The question embedded last, which is recorded next; any thread may replace it.
        self._latest: tuple[str, Vectors] | None = None

    # --- for people ------------------------------------------------------------------------------

    def forget(self, interaction_id: str) -> None:
        """Remove an interaction for good; its chat stays."""
        self._interactions.forget([interaction_id])

    def put_back(self, interaction: Interaction) -> None:
        """Undo `forget`."""
        self._interactions.add(interaction)
        self._embed([interaction], Event())

    # --- for answers -----------------------------------------------------------------------------

    def examples(
        self, asked: str, plain_question: str, *, conversation_id: str, assistant_id: str
    ) -> tuple[Interaction, ...]:
        """Successful answers from other chats to similar questions; none when embedding fails.

        An answer that the person rewrote is shown as rewritten.
        """
        if self._embedder is None:
            return ()
        try:
            unrelated = self._calibration.unrelated(self._embedder)
            found = self._interactions.similar(
                self._vector(self._embedder, asked, plain_question),
                self._embedder.name,
                assistant_id=assistant_id,
                outside=conversation_id,
                least=unrelated + LEAST_SIMILARITY * (1 - unrelated),
                most=MOST_EXAMPLES,
            )
        except AppError as error:
            log.info("earlier answers could not be searched: %s", error.title)
            return ()
        return tuple(
            replace(each, answer=self._own_text(each.interaction_id) or each.answer)
            for each in found
        )

    def record(
        self, question: str, answer: Message, *, has_several_steps: bool, assistant_id: str
    ) -> None:
        """Record a question with its answer, however it ended.

        A missing vector is left to `catch_up`; errors are only logged, as the answer is already
        given.
        """
        asked = answer.notes.asked if answer.notes else ""
        interaction = Interaction(
            interaction_id=answer.message_id,
            conversation_id=answer.conversation_id,
            question=question,
            asked=asked or question,
            # Without its sources, citations mean nothing.
            answer=normalise(answer.text, frozenset())[0],
            outcome=outcome_of(answer),
            ended_at=answer.created_at,
            model=answer.model,
            has_several_steps=has_several_steps,
            assistant_id=assistant_id,
        )
        latest = self._latest
        try:
            if self._embedder and latest and latest[0] == interaction.asked:
                self._interactions.add(interaction, self._embedder.name, latest[1])
            else:
                self._interactions.add(interaction)
        except AppError as error:
            log.info("an answer could not be remembered: %s", error.title)

    def catch_up(self, cancel: Event) -> None:
        """Embed some interactions that have no vector of the current model."""
        if self._embedder:
            name = self._embedder.name
            self._embed(self._interactions.without_vector_of(name, _BATCH), cancel)

    def _embed(self, interactions: Sequence[Interaction], cancel: Event) -> None:
        if self._embedder is None:
            return
        try:
            for interaction in interactions:
                if cancel.is_set():
                    break
                asked = interaction.asked
                vector = self._vector(self._embedder, asked, _without_filters(asked))
                self._interactions.set_vector(
                    interaction.interaction_id, self._embedder.name, vector
                )
        except AppError as error:
            log.info("remembered questions were not embedded: %s", error.title)

    def _vector(self, embedder: Embedder, asked: str, plain_question: str) -> Vectors:
        latest = self._latest
        if latest is None or latest[0] != asked:
            latest = self._latest = asked, embedder.embed_query(plain_question)
        return latest[1]


def _without_filters(asked: str) -> str:
    try:
        return parse_query(asked).text or asked
    except AppError:  # a wrong date
        return asked


COLLECTION = "Your answers"
_HEADING = "# Your answer: "
_ID_CHARS = 12
_LONGEST_NAME = 60
_BODY = re.compile(rf"^{re.escape(_HEADING)}.*\n+", re.MULTILINE)


class Rewrites:
    """The person's own versions of answers, one Markdown file each, which later questions find.

    The folder is a source of the library, so changes by other programs are found too.
    """

    def __init__(self, folder: Path, on_write: Callable[[Path], None]) -> None:
        """`on_write` is called with the folder after each write, to make it searchable."""
        self._folder = folder
        self._on_write = on_write

    def names(self) -> frozenset[str]:
        """The names of all files, which identify the rewritten answers; see `is_of`."""
        return frozenset(path.stem for path in self._folder.glob("*.md"))

    def questions(self) -> list[tuple[str, Path]]:
        """The questions whose answers were rewritten, with the files, the last written first."""
        found: list[tuple[float, str, Path]] = []
        for path in self._folder.glob("*.md"):
            with contextlib.suppress(OSError, UnicodeDecodeError):  # deleted or replaced meanwhile
                heading = _BODY.search(path.read_text(encoding="utf-8"))
                said = heading[0].strip().removeprefix(_HEADING) if heading else path.stem
                found.append((path.stat().st_mtime, said, path))
        return [(said, path) for _, said, path in sorted(found, reverse=True)]

    def written_at(self) -> dict[str, float]:
        """The times when answers were rewritten, by the first characters of the answers' ids."""
        times: dict[str, float] = {}
        for path in self._folder.glob("*.md"):
            with contextlib.suppress(OSError):  # deleted meanwhile
                times[path.stem.rpartition("-")[2]] = path.stat().st_mtime
        return times

    def text(self, message: Message) -> str:
        """The answer as rewritten, or as given."""
        # Without its sources, citations mean nothing.
        return self.text_of(message.message_id) or normalise(message.text, frozenset())[0].strip()

    def text_of(self, message_id: str) -> str:
        """The person's version of the answer with this id; "" when there is none."""
        path = self._file(message_id)
        if path is None:
            return ""
        return _BODY.split(path.read_text(encoding="utf-8"), maxsplit=1)[-1].strip()

    def write(self, question: str, message: Message, text: str) -> Path:
        """Keep the person's version, replacing an earlier one."""
        path = self.file_of(message) or self._folder / f"{_slug(question)}-{_id_of(message)}.md"
        heading = " ".join(question.split())
        front = [f"question: {json.dumps(heading, ensure_ascii=False)}"]
        front.append(f"date: {datetime.now(UTC).astimezone():%Y-%m-%d}")
        front += ["sources:", *_sources(message)] if message.sources else []
        lines = ["---", *front, "---", "", f"{_HEADING}{heading}", "", text.strip(), ""]
        with os_error_as("The answer could not be kept.", path):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            write_atomically(path, "\n".join(lines))
        self._on_write(self._folder)
        return path

    def delete(self, message: Message) -> None:
        """Delete the person's version; the given answer stays in its chat."""
        if path := self.file_of(message):
            path.unlink(missing_ok=True)

    def file_of(self, message: Message) -> Path | None:
        """The file of the person's version, if there is one."""
        return self._file(message.message_id)

    def _file(self, message_id: str) -> Path | None:
        return next(iter(self._folder.glob(f"*-{message_id[:_ID_CHARS]}.md")), None)


def is_of(name: str, message: Message) -> bool:
    """True when a name of `Rewrites.names` belongs to this answer."""
    return bool(message.message_id) and name.endswith(f"-{_id_of(message)}")


def _id_of(message: Message) -> str:
    return message.message_id[:_ID_CHARS]


def _slug(question: str) -> str:
    words = "".join(c if c.isalnum() else " " for c in question.casefold()).split()
    return "-".join(words)[:_LONGEST_NAME].strip("-") or "answer"


def _sources(message: Message) -> list[str]:
    places = [
        ", ".join(part for part in (s.title, s.anchor.label(), s.url or s.path) if part)
        for s in message.sources
        if s.is_cited
    ]
    return [f"  - {json.dumps(' '.join(p.split()), ensure_ascii=False)}" for p in places]


# More are not read: the folder may have been replaced by another one.
_MOST = 500
# With room for blank lines around the text.
_MOST_BYTES = 4 * LONGEST_TEXT + 1_000


class PromptLibrary:
    """The person's saved prompts, one Markdown file each, kept in their folder only.

    The app adds its own prompts once; from then on they are the person's to change or delete.
    """

    def __init__(self, folder: Path, built_in: Path) -> None:
        """`built_in` holds the app's own prompts."""
        self.folder = folder
        self._built_in = built_in

    def all(self) -> list[SavedPrompt]:
        """All prompts that can be read and named, by name; AppError without a folder."""
        if not self.folder.exists():
            self.restore_built_in()
        paths = sorted(self.folder.glob("*.md"))[:_MOST]
        found = {name: text for path in paths for name, text in _read(path)}
        return [SavedPrompt(name, found[name]) for name in sorted(found)]

    def save(self, prompt: SavedPrompt, former: str = "") -> SavedPrompt:
        """Save a prompt in place of the `former` one; AppError for a bad name, text or disk."""
        name, text = plain_name(prompt.name), strip_invalid_characters(prompt.text).strip()
        if not name:
            raise AppError("This name can't be used.", "Letters, digits, - and _ make a name.")
        if not text or len(text) > LONGEST_TEXT:
            hint = f"A prompt has up to {LONGEST_TEXT:,} characters."
            raise AppError("There is no prompt." if not text else "The prompt is too long.", hint)
        if name != former and self._find(name):
            raise AppError(f"There is a prompt /{name} already.", "Give this one another name.")
        path = self._find(name) or self.folder / f"{name}.md"
        with os_error_as("The prompt could not be kept.", path):
            self.folder.mkdir(mode=0o700, exist_ok=True)
            write_atomically(path, f"{text}\n")
            if former and former != name:
                self._remove(former)
        return SavedPrompt(name, text)

    def delete(self, name: str) -> None:
        """Delete the file of a prompt, if it exists. AppError when the disk refuses."""
        with os_error_as("The prompt could not be deleted."):
            self._remove(name)

    def restore_built_in(self) -> None:
        """Add the app's own prompts whose names are free."""
        for path in sorted(self._built_in.glob("*.md")):
            if not self._find(path.stem):
                self.save(SavedPrompt(path.stem, path.read_text(encoding="utf-8")))

    def _find(self, name: str) -> Path | None:
        """The file of this name, however it is spelled on disk."""
        return next((p for p in self.folder.glob("*.md") if plain_name(p.stem) == name), None)

    def _remove(self, name: str) -> None:
        if path := self._find(name):
            path.unlink(missing_ok=True)


def _read(path: Path) -> list[tuple[str, str]]:
    name = plain_name(path.stem)
    try:
        if not (name and path.is_file() and path.stat().st_size <= _MOST_BYTES):
            return []
        text = strip_invalid_characters(path.read_text(encoding="utf-8-sig")).strip()
    except (OSError, UnicodeDecodeError) as exc:
        log.info("a prompt cannot be read: %s", type(exc).__name__)
        return []
    return [(name, text)] if text and len(text) <= LONGEST_TEXT else []


@dataclass(frozen=True, slots=True)
class Personal:
    """The person's own answers, the memory of earlier ones, and the saved prompts."""

    rewrites: Rewrites
    memory: Memory
    prompts: PromptLibrary
