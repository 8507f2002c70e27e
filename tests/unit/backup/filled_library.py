"""Fills a library with one of everything that can't be made again, and tells what it holds."""

import json
import time
import uuid
from dataclasses import dataclass, replace
from typing import Any

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.claims import (
    CheckedClaim,
    Claim,
    Difference,
    DifferenceKind,
    Evidence,
    Verdict,
)
from desktop_rag.core.conversation import (
    AnswerStep,
    Attachment,
    AttachmentKind,
    Conversation,
    Feedback,
    FileCounts,
    Image,
    Interaction,
    InteractionOutcome,
    Message,
    MessageState,
    PastAnswer,
    Role,
    SearchNotes,
    SourceRef,
)
from desktop_rag.core.domain import (
    Collection,
    Document,
    DocumentState,
    FileStat,
    Source,
    SourceRules,
    WebLinks,
)
from desktop_rag.core.parsed import Anchor, ChunkSettings
from desktop_rag.core.paths import Home
from desktop_rag.core.question_scope import QuestionScope, ScopeItem, ScopeKind
from desktop_rag.core.settings import RetrievalSettings, Room
from desktop_rag.features.backup.backups import Backups
from desktop_rag.features.evaluation.experiments.experiment_store import ExperimentStore
from desktop_rag.features.evaluation.values.run import (
    Judgement,
    Memory,
    Preference,
    QuestionSet,
    Run,
    RunAnswer,
    RunState,
    SetQuestion,
    SetUp,
)
from desktop_rag.features.rails.commands.command import Command, CommandKind, CommandState, to_text
from desktop_rag.features.schedules.schedule_store import ScheduleStore
from desktop_rag.features.schedules.values.scheduled_question import (
    RUNS_KEPT,
    ComparedSentence,
    Rhythm,
    ScheduledQuestion,
    ScheduledRun,
    ScheduleState,
    SentenceChange,
)
from desktop_rag.store.contract.database import Connection, Entity
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.precious import Entry

SET = QuestionSet(
    "s1", "Lamps", (SetQuestion("one", "When?", ("At dusk.",), ("At noon.",), ("sea",), ("/a",)),),
    2, 6.0,
)  # fmt: skip
RUN = Run(
    "e1", "s1", 2,
    SetUp("small", "a1", "http://localhost:1/v1", "m", "c1", Room.FAST, 0.5, "Be brief.",
          ChunkSettings("words", 100, 3), "/models/small"),
    SET.questions, 5.0, RunState.DONE, 4.5, "0.1.0", {"retrieval": {"room": "fast"}}, "No", "Try",
)  # fmt: skip
PNG = Image("image/png", b"\x89PNG\r\n\x1a\n\x00\xff bytes")


@dataclass(frozen=True)
class Place:
    """One library with its home and backups."""

    home: Home
    engine: Engine
    backups: Backups


def message(conversation: Conversation, text: str, role: Role = Role.USER, **more: Any) -> Message:
    message_id = more.pop("message_id", uuid.uuid4().hex)
    return Message(message_id, conversation.conversation_id, role, text, time.time(), **more)


def fill(place: Place) -> Conversation:
    """One of each kind, with every field set somewhere."""
    sea, file = _fill_sources(place)
    chat, answer = _fill_chat(place.engine, sea, file)
    _fill_other_chats(place.engine, sea, answer)
    _fill_schedule(place.engine.store(ScheduleStore), answer)
    _fill_experiment(place.engine.store(ExperimentStore), answer)
    _write_commands(place.home)
    _write_texts(place.home, answer)
    return chat


def _fill_schedule(schedule: ScheduleStore, answer: Message) -> None:
    scope = QuestionScope.of(ScopeItem(ScopeKind.FOLDER, "/docs/sea", "sea"))
    schedule.put(
        ScheduledQuestion(
            "q1", "Lamps", "When is it lit?", Rhythm.WEEKLY, 510, 3, scope, "a1", True, 7.0
        )
    )
    schedule.set_state("q1", ScheduleState("2026-11-19 08:30", 2, 8.0, 9.0, "No", "Try"))
    compared = (ComparedSentence(SentenceChange.CHANGED, "At dusk.", "At dawn."),)
    for number in ("r1", "r2"):
        schedule.add_run(
            ScheduledRun(
                number, "q1", 5.0, "When?", "At dusk [1].", "keeper", True, 1.5,
                answer.sources, compared, "Not compared.",
            ),
            RUNS_KEPT,
        )  # fmt: skip


def _fill_experiment(experiments: ExperimentStore, answer: Message) -> None:
    experiments.put(SET)
    for run_id in ("e1", "e2"):
        experiments.put(replace(RUN, run_id=run_id))
        experiments.put(
            RunAnswer(
                f"{run_id}a", run_id, "one", "At dusk [1].", 6.0, model="keeper", seconds=1.5,
                sources=answer.sources, claims=answer.claims, tokens_in=900, tokens_out=20,
                cost=0.01, app=Memory(200, 100), server=Memory(9, 8), grade="correct",
            )
        )  # fmt: skip
    experiments.put(
        Judgement("j1", "s1", "one", "e1", 7.0, "e2", Preference.SECOND, 0, "Clearer.", "judge")
    )


def _fill_sources(place: Place) -> tuple[Collection, Source]:
    engine, home = place.engine, place.home
    sea = engine.sources.add_collection("Sea")
    engine.sources.set_chunking(sea.collection_id, ChunkSettings("words", 100, 3))
    engine.sources.set_embedder(sea.collection_id, "http://localhost:11434/v1#nomic")
    land = engine.sources.add_collection("Land")
    docs = home.root.parent / "documents"
    rules = SourceRules(True, True, ("*.tmp", "drafts/"), 12)
    boats = engine.sources.add_source(docs / "sea", sea.collection_id, rules)
    tag(engine, boats, "lamp.md", "Öl", "to do")
    fields = engine.sources.add_source(docs / "land", land.collection_id)
    tag(engine, fields, "field.md", "grass")
    engine.sources.add_source(home.rewrites, land.collection_id)
    engine.sources.add_links(
        WebLinks(("https://example.com/a",), 7, 2.5), home.pages, land.collection_id
    )
    file = engine.sources.add_attached(docs / "note.txt", sea.collection_id)
    return sea, file


def tag(engine: Engine, source: Source, name: str, *tags: str) -> None:
    """Give tags to a file of the source, which the index does not hold any more afterwards."""
    stat = FileStat(1, 2, 3)
    row = Document(
        uuid.uuid4().hex, source.source_id, source.path / name, name, "text", stat, "",
        DocumentState.WAITING,
    )  # fmt: skip
    engine.documents.apply_changes(source.source_id, [row], {}, [])
    engine.tags.change([row.document_id], tags, [])
    engine.documents.apply_changes(source.source_id, [], {}, [row.document_id])


def _fill_chat(engine: Engine, sea: Collection, file: Source) -> tuple[Conversation, Message]:
    engine.assistants.put(
        Assistant(
            "a1", "Keeper", "Be brief.", "https://models.example/v1", "keeper",
            (sea.collection_id,), "type:md", RetrievalSettings(Room.FAST), is_open=True,
            changed_at=5.0, rails="grounding",
        )
    )  # fmt: skip
    attached = (
        Attachment(file.source_id, "note.txt", document_id="d9", words=3, pages=1),
        Attachment("i1", "lamp.png", AttachmentKind.IMAGE),
    )
    engine.attachments.put_image("i1", PNG)
    chat = engine.conversations.add("Lamps — “sea”", sea.collection_id, "a1")
    engine.conversations.add_message(message(chat, "When is it lit? 灯", attachments=attached))
    engine.attachments.set(chat.conversation_id, attached)
    answer = message(chat, "At dusk [1]. It burns oil.", Role.ASSISTANT, **_answer_fields())
    engine.conversations.add_message(answer)
    engine.conversations.add_feedback(answer.message_id, Feedback.DISLIKED)
    engine.conversations.add_feedback(answer.message_id, Feedback.LIKED)
    engine.conversations.set_pinned(chat.conversation_id, True)
    engine.interactions.add(
        Interaction(
            answer.message_id, chat.conversation_id, "When?", "When is the lamp lit?", "At dusk.",
            InteractionOutcome.DONE, 12.5, "keeper", True, "a1",
        )
    )  # fmt: skip
    return chat, answer


def _fill_other_chats(engine: Engine, sea: Collection, answer: Message) -> None:
    other = engine.conversations.add("All documents", "")
    engine.conversations.add_message(message(other, "Where?"))
    failed = {"state": MessageState.FAILED, "error_title": "No", "error_hint": "Try"}
    engine.conversations.add_message(message(other, "", Role.ASSISTANT, **failed))
    copy = engine.conversations.add("A copy", sea.collection_id)
    engine.conversations.add_message(
        message(copy, answer.text, Role.ASSISTANT, copy_of=answer.message_id)
    )
    _write_earlier(engine)


def _write_earlier(engine: Engine) -> None:
    """A measurement and compared chunks as earlier versions stored them."""
    row = ("e1", "ranking", "set", 3.0, 1.5, "0.1", '{"k": 10}', '[{"ndcg": 0.5}]', '[{"q": "?"}]')
    compared = {
        "comparison_id": "k1", "collection_id": "c1", "collection": "Sea", "made_at": 8.0,
        "questions": [{"question_id": "q", "text": "When?", "place": "/a.md"}],
        "trials": [{"chunking": {"method": "structure"}, "chunks": 7,
                    "retrieved": [{"question_id": "q", "is_found": True, "rank": 1}]}],
    }  # fmt: skip

    def work(con: Connection) -> None:
        con.execute("INSERT INTO evaluations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)", list(row))
        con.execute(
            "INSERT INTO experiments (record_id, kind, owner_id, made_of, number)"
            " VALUES ('k1', 'comparison', '', ?, 99)",
            [json.dumps(compared)],
        )

    changed = [Entity("evaluation", "e1"), Entity("experiment", "k1")]
    engine.storage.write(work, changes=changed)


def _write_texts(home: Home, answer: Message) -> None:
    for folder, name, text in (
        (home.prompts, "shorter.md", "Make it shorter.\n"),
        (
            home.rewrites,
            f"when-is-it-lit-{answer.message_id[:12]}.md",
            "# Your answer: …\n\nDusk.\n",
        ),
    ):
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def _write_commands(home: Home) -> None:
    done = Command(
        "c1", CommandKind.NOTE, "Save a note", "Keep that.", (("File", "lamp.md"),),
        {"path": "/notes/lamp.md"}, 1.0, state=CommandState.DONE, outcome="Saved.",
        decided_at=2.0, ended_at=3.0, undo={"path": "/notes/lamp.md"},
    )  # fmt: skip
    begun = replace(done, command_id="c2", state=CommandState.RUNNING, proposed_at=4.0, undo={})
    home.commands.write_text(to_text([done, begun]), encoding="utf-8")


def _answer_fields() -> dict[str, Any]:
    checked = CheckedClaim(
        "At dusk.", Verdict.SUPPORTED, 0.75, Evidence(0, 0, 7),
        (Difference(DifferenceKind.WORD, (0, 2), None),), "The words agree.",
    )  # fmt: skip
    source = SourceRef(
        1, "d1", "/docs/sea/lamp.md", "Lamp", Anchor(heading="Fees", line=3), "Lit at dusk.", 0.5,
        "dusk", 7, 11, is_cited=True, part="p", url="https://example.com/x",
        also_in=("/docs/b.md",), query="SELECT 1",
    )  # fmt: skip
    notes = SearchNotes(
        (("lapm", "lamp"),),
        "type: md",
        12,
        ("Hint.",),
        "When?",
        FileCounts(3, 2),
        rails=("1 listen",),
        proposal="c1",
        steps=(AnswerStep("Looked up the lamp.", (1, 2)),),
        unbacked=("It is red.",),
    )
    return {
        "model": "keeper", "seconds": 1.25, "thinking": "Hm.", "sources": (source,),
        "nearest": (
            SourceRef(1, "", "/x", "X", Anchor(page=2), "t", -1.5),
            SourceRef(2, "", "/y.ogg", "Y", Anchor(second=12), "t", 0.5),
            SourceRef(3, "", "/z.md", "Z", Anchor(line=1, by_app=True), "t", 0.5),
        ),
        "notes": notes,
        "follow_ups": ("And at dawn?",), "claims": (Claim(0, 7, checked, 1),),
        "remembered": (PastAnswer("p1", "Before?"),), "is_own_knowledge": True,
    }  # fmt: skip


def entries(place: Place) -> dict[tuple[str, str], Entry]:
    """Everything precious in the library, images included."""
    found: list[Entry] = []
    place.engine.precious.read(found.append)
    return {(entry.kind, entry.key): entry for entry in found}


def shown(place: Place) -> dict[str, Any]:
    """What the person sees of it, in the order of the lists."""
    engine = place.engine
    chats = engine.conversations.all()
    schedule, experiments = engine.store(ScheduleStore), engine.store(ExperimentStore)
    return {
        "chats": chats,
        "messages": [engine.conversations.messages(chat.conversation_id) for chat in chats],
        "collections": engine.sources.collections(),
        "assistants": engine.assistants.all(),
        "tags": engine.tags.given(),
        "answers": engine.interactions.newest(100),
        "image": engine.attachments.image("i1"),
        "scheduled": schedule.all(),
        "runs": schedule.runs("q1"),
        "sets": experiments.sets(),
        "set_runs": experiments.all(Run),
        "set_answers": [experiments.all(RunAnswer, run.run_id) for run in experiments.all(Run)],
        "judgements": experiments.all(Judgement, "s1"),
    }


def texts(home: Home) -> dict[str, str]:
    """The person's own text files."""
    files = [*home.prompts.glob("*"), *home.rewrites.glob("*")]
    return {file.name: file.read_text("utf-8") for file in files}
