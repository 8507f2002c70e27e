"""Rails of assistants, opened; folders of rails that a person writes: tried, saved, taught.

Any worker thread. Only the file of topics is ever written, and only where it holds nothing else.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any, cast

from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.files.own_files import read_object, write_atomically, write_object
from desktop_rag.core.language.translation import tr
from desktop_rag.core.records import Record, readable
from desktop_rag.features.rails.actions.action_calls import Action, ActionResult
from desktop_rag.features.rails.actions.rails_world import DocumentAnswer, Passage, RailsWorld
from desktop_rag.features.rails.actions.stage_actions import GENERAL_RESPONSE, generate_bot_message
from desktop_rag.features.rails.assistants.rail_names import folder_of, is_built_in
from desktop_rag.features.rails.configuration.rails_configuration import read_rails, read_text
from desktop_rag.features.rails.intent.intent_recognition import NearExample
from desktop_rag.features.rails.rail_engine import Rails, transcript
from desktop_rag.features.rails.rail_events import ActionFinished, BotIntent, UserIntent
from desktop_rag.features.rails.runtime.rail_loop import Limits
from desktop_rag.features.rails.runtime.run_files import shown_run
from desktop_rag.features.rails.topics.rail_topic import (
    RailTopic,
    problems,
    read_topics,
    write_topics,
)

# An answer from every file takes as long as there are files.
_LONGEST_S = 3600.0
_MOST_OPEN = 16


class RailSets:
    """Opens rails without running their code; keeps the last ones used, with embedded examples."""

    def __init__(self, world: RailsWorld) -> None:
        """`world` has what all of them may use."""
        self._world = world
        self._open: OrderedDict[Path, tuple[object, Rails]] = OrderedDict()
        self._lock = Lock()

    def rails(self, name: str) -> Rails:
        """The rails as they are on the disk; AppError, with the place, if they are broken."""
        folder = folder_of(name)
        state = _state(folder)
        with self._lock:
            known, opened = self._open.get(folder, (None, None))
            if opened is None or known != state:
                opened = Rails(
                    read_rails(folder), self._world, OUR_ACTIONS, Limits(time_s=_LONGEST_S)
                )
            self._open[folder] = (state, opened)
            self._open.move_to_end(folder)
            while len(self._open) > _MOST_OPEN:
                self._open.popitem(last=False)
        return opened


def _state(folder: Path) -> object:
    with os_error_as(f"The rails in {folder} can't be read."):
        return tuple(sorted(_written(folder)))


def _written(folder: Path) -> Iterable[tuple[str, int, int]]:
    for pattern in ("*.co", "*.yml", "*.yaml"):
        for path in folder.rglob(pattern):
            told = path.stat()
            yield str(path), told.st_mtime_ns, told.st_size


def _respond() -> ActionResult:
    """Sends what no flow knows to the documents, never to a model alone."""
    return ActionResult(GENERAL_RESPONSE, events=(BotIntent(GENERAL_RESPONSE),))


OUR_ACTIONS = (
    Action("generate_next_step", _respond, is_our_own=True),
    Action("generate_bot_message", generate_bot_message, _LONGEST_S, is_our_own=True),
)


@dataclass(frozen=True, slots=True)
class TriedSentence:
    """What rails would do: the intent with its probability, nearest examples, and words.

    `is_answered`: the app's own answer would be made. `events` has a line for each event.
    """

    intent: str
    score: float
    nearest: tuple[NearExample, ...]
    said: str
    is_answered: bool
    events: tuple[str, ...]

    def in_words(self) -> str:
        """Plain lines: the meaning, the words, the nearest examples."""
        lines: list[str] = []
        if self.nearest and all(near.intent != self.intent for near in self.nearest):
            lines.append(tr("No topic of these rails: only {score:.0%} sure.", score=self.score))
        elif self.intent and self.nearest:
            lines.append(
                tr("Understood as “{intent}” ({score:.0%} sure).", intent=self.intent,
                   score=self.score)
            )  # fmt: skip
        if self.is_answered:
            lines.append(tr("Answered from the documents as always."))
        else:
            lines.append(tr("Says: {said}", said=self.said or "…"))
        lines += [
            tr("{similarity:.2f}  “{text}”: {intent}", similarity=near.similarity, text=near.text,
               intent=near.intent)
            for near in self.nearest
        ]  # fmt: skip
        return "\n".join(lines)


def tried(rails: Rails, world: RailsWorld, text: str) -> TriedSentence:
    """Say a sentence to rails that have their examples only: no documents and no model."""
    is_answered = False

    def answer(_question: str) -> DocumentAnswer:
        nonlocal is_answered
        is_answered = True
        return DocumentAnswer("…")

    def passes(_text: str, _passages: Sequence[Passage]) -> float:
        return 1.0

    world = replace(world, answer=answer, check_facts=passes)
    turn = rails.in_world(world).say(rails.begin(), text)
    events = list(turn)
    intent, score, nearest = "", 0.0, ()
    for event in events:
        if isinstance(event, UserIntent):
            intent = event.intent
        elif isinstance(event, ActionFinished) and event.action_name == "generate_user_intent":
            found = cast("Mapping[str, Any]", event.result or {})
            score = float(found.get("score", 1.0 if found.get("by") == "example" else 0.0))
            nearest = tuple(NearExample(**row) for row in found.get("nearest", ()))
    said = "\n".join(text for who, text in transcript(events) if who == "bot")
    return TriedSentence(
        intent, score, nearest, "" if is_answered else said, is_answered, tuple(shown_run(events))
    )


@dataclass(frozen=True, slots=True)
class OpenedRails:
    """A folder as it was read.

    `text` is that of the `file` that topics are written to; the `others` stay as they are. Where
    `topics` are None the folder can only be `shown`: `fault` says why, with the place.
    """

    folder: Path
    file: Path
    text: str = ""
    topics: tuple[RailTopic, ...] | None = None
    others: tuple[str, ...] = ()
    shown: str = ""
    fault: AppError | None = None


@dataclass(frozen=True, slots=True)
class RailsDraft(Record):
    """Unsaved topics of a folder; `text` is that of the file they began with."""

    folder: Path
    text: str
    topics: tuple[RailTopic, ...]


TOPICS_FILE = "topics.co"
_DRAFT_FILE = "unsaved.json"
_ONLY_SHOWN = "They are more than topics with examples: change their files in an editor."
_NO_NAME = re.compile(r'[\\/:*?"<>|\x00-\x1f]+')
_LONGEST_NAME = 60
_MOST_SHOWN = 200_000


class OwnRails:
    """Reads and writes folders of rails; new ones are made in `root`."""

    def __init__(self, root: Path, world: RailsWorld) -> None:
        self._root = root
        self._world = world
        self._tried: tuple[Path, str, Rails] | None = None
        self._lock = Lock()

    def folders(self, assigned: Sequence[str]) -> list[Path]:
        """The folders made here, and those that assistants have, by their names."""
        found = {Path(rails) for rails in assigned if rails and not is_built_in(rails)}
        with os_error_as(f"{self._root} can't be used."), suppress(FileNotFoundError):
            found |= {path for path in self._root.iterdir() if path.is_dir()}
        return sorted(found, key=lambda path: (path.name.casefold(), str(path)))

    def create(self, name: str) -> OpenedRails:
        """A new empty folder with this name; AppError when there is one already."""
        plain = " ".join(_NO_NAME.sub(" ", name).split())[:_LONGEST_NAME].strip(". ")
        if not plain:
            raise AppError("These rails have no name.", "Write a few words.")
        folder = self._root / plain
        if folder.exists():
            raise AppError(f"There are rails with the name “{plain}”.", "Choose another name.")
        with os_error_as(f"{folder} can't be used."):
            folder.mkdir(parents=True)
            write_atomically(folder / TOPICS_FILE, "")
        return self.open(folder)

    def open(self, folder: Path) -> OpenedRails:
        """The folder as it is on the disk; AppError where it can't be read at all."""
        if not folder.is_dir():
            hint = "It was moved or deleted. Choose another."
            raise AppError(f"There is no folder {folder}.", hint)
        file, others = _files(folder)
        opened = OpenedRails(folder, file, others=others)
        try:
            if not file.name:
                raise AppError(
                    f"These rails are in several files, of which none is {TOPICS_FILE}.",
                    "They are shown as they are and never changed here.",
                )  # fmt: skip
            opened = replace(opened, text=read_text(file) if file.exists() else "")
            topics = read_topics(opened.text, file.name)
            write_topics(topics, opened.text)
            if topics or others:
                read_rails(folder)
            return replace(opened, topics=topics)
        except AppError as fault:
            return replace(opened, fault=fault, shown=_shown(folder))

    def save(self, opened: OpenedRails, topics: Sequence[RailTopic]) -> OpenedRails:
        """Write topics; returns the folder as it is then.

        AppError, and nothing is written, when the topics are incomplete or would break the folder,
        or when its file changed since it was read.
        """
        text = self._text(opened, topics)
        if topics or opened.others:
            read_rails(opened.folder, {opened.file: text})
        with self._lock:
            now = read_text(opened.file) if opened.file.exists() else ""
            if now != opened.text:
                raise AppError(
                    f"{opened.file.name} was changed by another program.",
                    "Nothing was saved. Read it again, or save once more after putting it back.",
                )
            with os_error_as(f"{opened.file} can't be used."):
                write_atomically(opened.file, text)
        tidied = tuple(topic.tidied() for topic in topics)
        return replace(opened, text=text, topics=tidied)

    def try_sentence(
        self, opened: OpenedRails, topics: Sequence[RailTopic], sentence: str
    ) -> TriedSentence:
        """What these topics, saved or not, would do with a sentence. No document is searched."""
        text = self._text(opened, topics)
        with self._lock:
            if self._tried is None or self._tried[:2] != (opened.folder, text):
                configuration = read_rails(opened.folder, {opened.file: text})
                self._tried = (
                    opened.folder, text, Rails(configuration, self._world, OUR_ACTIONS)
                )  # fmt: skip
            rails = self._tried[2]
        return tried(rails, self._world, sentence)

    def keep_draft(self, draft: RailsDraft | None) -> None:
        """Keep unsaved topics over a restart; None drops them."""
        if draft is None:
            self._draft_path.unlink(missing_ok=True)
            return
        self._root.mkdir(parents=True, exist_ok=True)
        write_object(self._draft_path, draft.to_json())

    def draft(self) -> RailsDraft | None:
        """The unsaved topics that were kept last; None without any."""
        return readable(RailsDraft, read_object(self._draft_path))

    @property
    def _draft_path(self) -> Path:
        return self._root / _DRAFT_FILE

    def topic_names(self, rails: str) -> tuple[str, ...]:
        """The topics that can be taught: none in built-in sets and folders that are only shown."""
        if not rails or is_built_in(rails) or not Path(rails).is_dir():
            return ()
        return tuple(topic.name for topic in self.open(Path(rails)).topics or ())

    def teach(self, rails: str, name: str, sentence: str) -> Callable[[], None]:
        """Add a sentence to the examples of a topic; returns what undoes it.

        AppError when the topic is gone, the folder can't be written, or the sentence is known.
        """
        example = " ".join(sentence.split())

        def add(topic: RailTopic) -> RailTopic:
            if example in topic.examples:
                raise AppError(f"“{name}” knows this sentence already.", "Nothing is left to do.")
            return replace(topic, examples=(*topic.examples, example))

        def take(topic: RailTopic) -> RailTopic:
            return replace(topic, examples=tuple(e for e in topic.examples if e != example))

        self._change(Path(rails), name, add)
        return lambda: self._change(Path(rails), name, take)

    def _change(self, folder: Path, name: str, change: Callable[[RailTopic], RailTopic]) -> None:
        opened = self.open(folder)
        if opened.topics is None:
            raise opened.fault or AppError("These rails can only be shown.", _ONLY_SHOWN)
        if all(topic.name != name for topic in opened.topics):
            raise AppError(f"There is no topic “{name}” any more.", "Choose another topic.")
        changed = [change(topic) if topic.name == name else topic for topic in opened.topics]
        self.save(opened, changed)

    def _text(self, opened: OpenedRails, topics: Sequence[RailTopic]) -> str:
        if opened.topics is None:
            raise opened.fault or AppError("These rails can only be shown.", _ONLY_SHOWN)
        if problem := next(problems(topics), None):
            raise AppError(problem.words)
        return write_topics(topics, opened.text) if topics else ""


def _files(folder: Path) -> tuple[Path, tuple[str, ...]]:
    """The file for topics, nameless where it is unclear which, and the files beside it."""
    every = sorted(
        path
        for pattern in ("*.co", "*.yml", "*.yaml", "*.py")
        for path in folder.rglob(pattern)
        if path.is_file() and not any(p.startswith(".") for p in path.relative_to(folder).parts)
    )
    flows = [path for path in every if path.suffix == ".co"]
    file = folder / TOPICS_FILE
    if file not in flows and flows:
        file = flows[0] if len(flows) == 1 else Path()
    return file, tuple(p.relative_to(folder).as_posix() for p in every if p != file)


def _shown(folder: Path) -> str:
    """The text of the files of flows, each below its name, with line numbers."""
    parts: list[str] = []
    for path in sorted(folder.rglob("*.co")):
        try:
            text = read_text(path)
        except AppError as error:
            text = str(error)
        lines = [f"{number:>4}  {line}" for number, line in enumerate(text.rstrip().split("\n"), 1)]
        parts.append("\n".join([path.relative_to(folder).as_posix(), *lines]))
    return "\n\n".join(parts)[:_MOST_SHOWN]
