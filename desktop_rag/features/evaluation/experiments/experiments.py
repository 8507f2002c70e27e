"""Sets of questions with their runs and judgements, and sets of measurements. Worker threads."""

import time
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event, Lock

from desktop_rag.answer.chat import Chat
from desktop_rag.core.answer_costs import CostlyError, RunEstimate, estimate
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.core.settings import Settings
from desktop_rag.features.evaluation.experiments.answer_grader import AnswerGrader
from desktop_rag.features.evaluation.experiments.answerer import setup_of
from desktop_rag.features.evaluation.experiments.experiment_store import ExperimentStore
from desktop_rag.features.evaluation.values.measurement import Measurement, app_version
from desktop_rag.features.evaluation.values.paired_comparison import Agreement, agreement
from desktop_rag.features.evaluation.values.run import (
    QUESTIONS,
    RUBRIC,
    SEARCH,
    Judgement,
    QuestionSet,
    Run,
    RunAnswer,
    RunState,
    SetQuestion,
    SetsChanged,
    SetUp,
    validated_set,
)
from desktop_rag.features.evaluation.values.scoring import (
    RunScores,
    SetResults,
    named,
    scored,
    without_citations,
)
from desktop_rag.ingest.library import Library


@dataclass(frozen=True, slots=True)
class ModelJudging:
    """How many pairs a model judged, and why it left others out.

    `known` pairs were judged before by the same rubric; of `unclear` ones the model named none;
    `missing` have no finished answer in both runs.
    """

    model: str
    judged: int
    known: int
    unclear: int
    missing: int

    def in_words(self) -> str:
        """`“amber” judged 3 pairs. Not judged: 2 judged before, 1 where it named no answer.`"""
        pairs = count_of(self.judged, tr("pair"), tr("pairs"))
        said = tr("“{model}” judged {pairs}.", model=self.model, pairs=pairs)
        left = (
            (self.known, tr("{count:,} it judged before", count=self.known)),
            (self.unclear, tr("{count:,} where its reply named no answer", count=self.unclear)),
            (self.missing, tr("{count:,} without a finished answer in both", count=self.missing)),
        )
        parts = ", ".join(words for count, words in left if count)
        rest = tr("Not judged: {parts}.", parts=parts)
        return f"{said} {rest}" if parts else said


class Experiments:
    """Keeps sets, runs and judgements; `run_worker.py` answers."""

    def __init__(self, store: ExperimentStore, chat: Chat, library: Library) -> None:
        self.store = store
        self._chat = chat
        self._library = library
        self._grader = AnswerGrader(chat)
        self.publish = chat.changes.publish
        self._changing = Lock()

    # --- sets --------------------------------------------------------------------------------

    def sets(self) -> list[QuestionSet]:
        """All sets by name, those from disk last."""
        return self.store.sets()

    def keep(self, measured: Measurement) -> None:
        """Store a measurement as runs of its set."""
        self.store.keep(measured)
        self.publish(SetsChanged())

    def find(self, name: str) -> QuestionSet:
        """The set of this name, ignoring case. AppError when there is none."""
        every = self.sets()
        for each in every:
            if each.name.casefold() == name.strip().casefold():
                return each
        names = ", ".join(f"“{each.name}”" for each in every)
        hint = f"There are: {names}." if names else "Make one under Compare models in Settings."
        raise AppError(f"There is no set of questions “{name}”.", hint)

    def add(
        self, name: str, questions: Sequence[SetQuestion] = (), documents: str = ""
    ) -> QuestionSet:
        """A new set. AppError when it is not valid or the name is taken."""
        made = QuestionSet(uuid.uuid4().hex, name, tuple(questions), 0, documents=documents)
        return self.change(made)

    def change(self, given: QuestionSet) -> QuestionSet:
        """Store a changed set as its next version; AppError as in `add`."""
        kept = validated_set(given)
        taken = [s for s in self.sets() if s.name.casefold() == kept.name.casefold()]
        if any(each.set_id != kept.set_id for each in taken):
            raise AppError(f"There is another set called “{kept.name}”.", "Choose another name.")
        kept = replace(kept, version=kept.version + 1, changed_at=time.time())
        self.store.put(kept)
        self.publish(SetsChanged())
        return kept

    def extend(self, set_id: str, questions: Iterable[SetQuestion]) -> QuestionSet:
        """Add questions that the set doesn't have yet. AppError when it is gone or too large."""
        with self._changing:
            present = self._get(set_id)
            added = (replace(q, question_id=uuid.uuid4().hex) for q in questions)
            return self.change(replace(present, questions=(*present.questions, *added)))

    def put_in(self, name: str, questions: Sequence[SetQuestion]) -> QuestionSet:
        """Have the set of this name consist of these questions. AppError when it is not valid."""
        known = [each for each in self.sets() if each.name == name]
        if not known:
            return self.add(name, questions)
        return self.change(replace(known[0], questions=tuple(questions)))

    def correct(self, set_id: str, question_id: str, expected: str) -> QuestionSet:
        """Make a person's correction an expected answer. AppError when the set is gone."""
        with self._changing:
            present = self._get(set_id)
            questions = tuple(
                replace(q, expected=(*q.expected, without_citations(expected)))
                if q.question_id == question_id else q
                for q in present.questions
            )  # fmt: skip
            return self.change(replace(present, questions=questions))

    def set_rubric(self, set_id: str, rubric: str) -> None:
        """Have a model judge the answers to this set by another rubric. AppError when it is gone.

        The usual one is not written down, so that a better one takes its place.
        """
        with self._changing:
            present, kept = self._get(set_id), "" if rubric == RUBRIC else rubric
            if present.rubric != kept:
                self.store.put(replace(present, rubric=kept, changed_at=time.time()))
                self.publish(SetsChanged())

    def remove(self, record_id: str) -> None:
        """Remove a set with its runs and judgements, or a run with its answers."""
        self.store.remove(record_id)
        self.publish(SetsChanged())

    def _get(self, set_id: str) -> QuestionSet:
        if found := self.store.get(QuestionSet, set_id):
            return found
        raise AppError("This set of questions is gone.", "Choose another one.")

    # --- runs --------------------------------------------------------------------------------

    def estimate(self, question_set: QuestionSet, set_ups: Sequence[SetUp]) -> RunEstimate:
        """What asking the set with these set-ups may take. AppError when one can't be used."""
        setups = [(set_up, setup_of(self._chat, set_up).settings) for set_up in set_ups]
        settings = [
            Settings() if set_up.only_searches else self._chat.models.with_prices(own)
            for set_up, own in setups
        ]
        known: list[RunAnswer] = []
        for run in self.store.all(Run):
            if run.kind == QUESTIONS:
                known += self.store.all(RunAnswer, run.run_id)
        return estimate(len(question_set.questions), settings, known)

    def begin(
        self, question_set: QuestionSet, set_ups: Sequence[SetUp], *, has_consent: bool = False
    ) -> list[Run]:
        """Store a run for each set-up, to be answered by the worker.

        AppError, with nothing stored, when there is no question, a set-up can't be used, or it may
        cost more than the person set and `has_consent` does not say that they saw that.
        """
        if not has_consent and (found := self.estimate(question_set, set_ups)).needs_consent:
            raise CostlyError(found)
        if not question_set.questions:
            raise AppError(f"“{question_set.name}” has no questions.", "Add some first.")
        if question_set.documents:
            set_ups = [replace(each, documents=question_set.documents) for each in set_ups]
        for set_up in set_ups:
            setup_of(self._chat, set_up)
        runs = [
            Run(
                uuid.uuid4().hex, question_set.set_id, question_set.version, set_up,
                question_set.questions, time.time(), app_version=app_version(),
                kind=SEARCH if set_up.only_searches else QUESTIONS,
            )
            for set_up in set_ups
        ]  # fmt: skip
        self.store.put(*runs)
        self.publish(SetsChanged())
        return runs

    def set_state(self, run_id: str, state: RunState) -> None:
        """Let a run go on (WAITING), which asks what is unanswered or failed, or pause it.

        The answer under way is given up.
        """
        run = self.store.get(Run, run_id)
        if run and run.state is not state:
            resumed_at = time.time() if state is RunState.WAITING else run.resumed_at
            cleared = replace(run, state=state, resumed_at=resumed_at)
            self.store.put(replace(cleared, error_title="", error_hint=""))
        self.publish(SetsChanged())

    def results(self, set_id: str) -> SetResults:
        """A set with everything that is known of its runs. AppError when it is gone."""
        question_set, judgements = self._get(set_id), self.store.all(Judgement, set_id)
        runs = [
            scored(run, self.store.all(RunAnswer, run.run_id), judgements)
            for run in self.store.all(Run, set_id)
        ]
        return SetResults(question_set, tuple(named(runs)), tuple(judgements))

    def use_chunks(self, chunkings: Mapping[str, ChunkSettings]) -> dict[str, ChunkSettings]:
        """Use chunks for collections by their ids; returns the former ones, to undo that.

        The old chunks answer until the new ones are there. AppError when a collection is gone.
        """
        collections = self._library.collections
        former = {each.collection_id: each.chunking for each in collections.all()}
        if not chunkings.keys() <= former.keys():
            raise AppError("This collection is gone.", "Choose another one.")
        for collection_id, chunking in chunkings.items():
            collections.set_chunking(collection_id, chunking)
        return {collection_id: former[collection_id] for collection_id in chunkings}

    def collections_of(self, set_up: SetUp) -> list[str]:
        """The ids of the collections that a set-up asks."""
        every = [each.collection_id for each in self._library.collections.all()]
        return [set_up.collection_id] if set_up.collection_id else every

    # --- judging -----------------------------------------------------------------------------

    def judge(self, judgement: Judgement) -> None:
        """Store what a judge said; one with the id of another replaces it."""
        self.store.put(judgement)
        self.publish(SetsChanged())

    def judge_by_model(
        self,
        first: RunScores,
        second: RunScores,
        cancel: Event,
        rubric: str = RUBRIC,
        among: Collection[str] | None = None,
    ) -> ModelJudging:
        """Have the background model compare two runs, where it did not yet by this rubric.

        `among` are the ids of the questions, None for all.

        AppError when no model is set, or the endpoint fails; what was judged before is kept.
        """
        model = self.judging_model()
        set_id = first.run.set_id
        pair = (first.run.run_id, second.run.run_id)
        done = {
            j.question_id
            for j in self.store.all(Judgement, set_id)
            if j.judge and j.of_pair(*pair) and (j.rubric or RUBRIC) == rubric
        }
        count = known = unclear = missing = 0
        for question in first.run.questions:
            one, other = (each.answers.get(question.question_id) for each in (first, second))
            is_wanted = among is None or question.question_id in among
            if cancel.is_set() or not is_wanted:
                continue
            if question.question_id in done:
                known += 1
            elif one and other and not one.has_failed and not other.has_failed:
                texts = without_citations(one.text), without_citations(other.text)
                preference = self._grader.prefer(question.text, texts, rubric, cancel)
                unclear += preference is None
                if preference:
                    count += 1
                    self.judge(
                        Judgement(
                            uuid.uuid4().hex, set_id, question.question_id, pair[0], time.time(),
                            pair[1], preference, judge=model,
                            rubric="" if rubric == RUBRIC else rubric,
                        )
                    )  # fmt: skip
            else:
                missing += 1
        return ModelJudging(model, count, known, unclear, missing)

    def judging_model(self) -> str:
        """The name of the model that judges. AppError when none is set."""
        if model := self._grader.model_name:
            return model
        raise AppError("No model is set that could judge.", "Set one up in the settings.")

    def agreement(self, set_id: str) -> Agreement:
        """How far the person and the model agree on the pairs that both judged."""
        judgements = self.store.all(Judgement, set_id)
        by_model = {(j.question_id, j.first_run, j.second_run): j for j in judgements if j.judge}
        own: list[str] = []
        model: list[str] = []
        for judgement in judgements:
            if judgement.judge or not judgement.preference:
                continue
            for other in by_model.values():
                said = other.of_pair(judgement.first_run, judgement.second_run)
                if said and other.question_id == judgement.question_id:
                    own.append(judgement.preference.value)
                    model.append(said.value)
        return agreement(own, model)
