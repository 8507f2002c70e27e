"""Runs of sets of questions over a real library and a real endpoint: everything stored, resumed."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from desktop_rag import app
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Room, Settings
from desktop_rag.features.evaluation.experiments.experiments import Experiments
from desktop_rag.features.evaluation.services import EvaluationServices
from desktop_rag.features.evaluation.values.run import (
    Judgement,
    Preference,
    QuestionSet,
    RunState,
    SetQuestion,
    SetUp,
)
from desktop_rag.features.evaluation.values.scoring import Basis, compared, differences
from desktop_rag.models.endpoints.client.allowances import ProfileBook
from tests.servers.chat_server import ChatServer
from tests.servers.model_dialects import Dialect

QUESTIONS = (
    SetQuestion("lit", "When is the lamp of the lighthouse lit?", ("At dusk.",), tags=("sea",)),
    SetQuestion("who", "Who lights the lamp of the lighthouse?"),
)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer("The lamp is lit at dusk [1].") as running:
        running.dialect = Dialect(counts_usage=True)
        yield running


@pytest.fixture
def asked(
    home: Home, build_services: Callable[[], app.Services], server: ChatServer, tmp_path: Path
) -> app.Services:
    folder = tmp_path / "sea"
    folder.mkdir()
    (folder / "lamp.md").write_text("The lamp of the lighthouse is lit at dusk by the keeper.")
    home.create()
    ProfileBook(home.model_profiles).learn(server.base_url, "test-model", counts_usage=True)
    services = build_services()
    services.library.start(watch=False)
    services.library.sources.add(folder)
    assert services.library.indexing.wait_until_idle(30)
    endpoint = replace(server.endpoint(), price_in=1.0, price_out=2.0)
    services.chat.apply(Settings(endpoint=endpoint))
    return services


@pytest.fixture
def experiments(asked: app.Services) -> Experiments:
    return asked.wing(EvaluationServices).experiments


@pytest.fixture
def lamps(experiments: Experiments) -> QuestionSet:
    return experiments.add("Lamps", QUESTIONS)


@pytest.mark.everyday
def test_a_run_stores_all_that_is_known_of_each_answer(
    asked: app.Services, experiments: Experiments, lamps: QuestionSet, server: ChatServer
) -> None:
    up = SetUp("narrow", room=Room.FAST, lexical_weight=0.9, instructions="Answer like a keeper.")
    [run] = experiments.begin(lamps, [up])
    asked.wing(EvaluationServices).work_off()
    results = experiments.results(lamps.set_id)
    [scores] = results.runs
    assert (scores.run.run_id, scores.run.state) == (run.run_id, RunState.DONE)
    assert scores.run.settings["retrieval"]["room"] == "fast"
    answer = scores.answers["lit"]
    assert answer.text == "The lamp is lit at dusk [1]."
    assert [Path(source.path).name for source in answer.sources] == ["lamp.md"]
    assert [claim.verdict for claim in answer.claims] != []
    assert answer.tokens_in > 0
    assert answer.cost > 0
    assert answer.seconds > 0
    assert answer.app.peak >= answer.app.mean > 0
    assert scores.scores["lit"][Basis.EXPECTED] == 1.0
    asked_for = [chat for chat in server.chats if "like a keeper" in str(chat["messages"])]
    assert len(asked_for) == 2


@pytest.mark.slow
def test_a_set_up_that_is_gone_begins_nothing(experiments: Experiments, lamps: QuestionSet) -> None:
    with pytest.raises(AppError, match="The endpoint of “other”"):
        experiments.begin(lamps, [SetUp("a"), SetUp("other", base_url="http://x/v1", model="m")])
    with pytest.raises(AppError, match="The assistant of"):
        experiments.begin(lamps, [SetUp("b", assistant_id="none")])
    assert experiments.results(lamps.set_id).runs == ()


@pytest.mark.slow
def test_failures_in_a_row_pause_the_run_and_resuming_asks_them_again(
    asked: app.Services, experiments: Experiments, server: ChatServer
) -> None:
    more = [SetQuestion(str(n), f"When is lamp {n} lit?") for n in range(5)]
    many = experiments.add("Many", more)
    [run] = experiments.begin(many, [SetUp("a")])
    server.mode, server.status = "status", 401
    asked.wing(EvaluationServices).work_off()
    [scores] = experiments.results(many.set_id).runs
    assert scores.run.state is RunState.PAUSED
    assert scores.run.error_title
    assert len(scores.answers) == 3
    server.mode = "answer"
    experiments.set_state(run.run_id, RunState.WAITING)
    asked.wing(EvaluationServices).work_off()
    [scores] = experiments.results(many.set_id).runs
    assert scores.run.state is RunState.DONE
    assert [answer.has_failed for answer in scores.answers.values()] == [False] * 5


@pytest.mark.slow
def test_chunking_is_compared_in_a_library_of_its_own(
    asked: app.Services, experiments: Experiments, lamps: QuestionSet
) -> None:
    ups = [SetUp("as it is"), SetUp("words", chunking=ChunkSettings("words", 40, 0))]
    experiments.begin(lamps, ups)
    asked.wing(EvaluationServices).work_off()
    here, scratch = experiments.results(lamps.set_id).runs
    assert (here.run.state, scratch.run.state) == (RunState.DONE, RunState.DONE)
    assert [Path(s.path).name for s in scratch.answers["lit"].sources] == ["lamp.md"]
    assert len(asked.library.collections.all()) == 1


@pytest.mark.slow
def test_people_and_the_model_judge_pairs_and_corrections_are_expected(
    asked: app.Services, experiments: Experiments, lamps: QuestionSet, server: ChatServer
) -> None:
    experiments.begin(lamps, [SetUp("A"), SetUp("B")])
    asked.wing(EvaluationServices).work_off()
    results = experiments.results(lamps.set_id)
    first, second = results.runs
    for number, question in enumerate(lamps.questions):
        experiments.judge(
            Judgement(f"j{number}", lamps.set_id, question.question_id, second.run.run_id, 1.0,
                      first.run.run_id, Preference.FIRST)
        )  # fmt: skip
    # The same word in both orders is a bias, not a choice.
    server.answer = "first"
    done = experiments.judge_by_model(first, second, Event())
    assert done.in_words() == "“test-model” judged 2 pairs."
    again = experiments.judge_by_model(first, second, Event())
    assert again.in_words() == "“test-model” judged 0 pairs. Not judged: 2 it judged before."
    experiments.set_rubric(lamps.set_id, "Shorter is better.")
    [kept] = experiments.sets()
    assert (kept.rubric, kept.version) == ("Shorter is better.", lamps.version)
    assert experiments.judge_by_model(first, second, Event(), kept.rubric, ["lit"]).judged == 1
    assert "Shorter is better." in str(server.chats[-1]["messages"])
    server.answer = "I can't say."
    unclear = experiments.judge_by_model(first, second, Event(), "Longer is better.")
    assert unclear.in_words().endswith("Not judged: 2 where its reply named no answer.")
    results = experiments.results(lamps.set_id)
    found = differences(results.runs[0], results.runs[1], results.judgements)
    assert {(d.basis, d.difference) for d in found} == {(Basis.PEOPLE, 1.0)}
    assert compared(found).in_words("A", "B").startswith("B is ahead: 2 to 0, 0 equal.")
    agreed = experiments.agreement(lamps.set_id)
    assert (agreed.answers, agreed.kappa) == (2, 0.0)
    said = {j.preference for j in results.judgements if j.judge}
    assert said == {Preference.SAME}
    corrected = experiments.correct(lamps.set_id, "who", "The keeper does [1].")
    assert corrected.questions[1].expected == ("The keeper does.",)
    assert corrected.version == lamps.version + 1


@pytest.mark.slow
def test_an_estimate_comes_before_and_learns_from_runs(
    asked: app.Services, experiments: Experiments, lamps: QuestionSet
) -> None:
    before = experiments.estimate(lamps, [SetUp("A"), SetUp("B")])
    assert (before.answers, before.seconds) == (4, None)
    assert before.cost
    experiments.begin(lamps, [SetUp("A")])
    asked.wing(EvaluationServices).work_off()
    after = experiments.estimate(lamps, [SetUp("A"), SetUp("B")])
    assert after.seconds is not None
    assert after.tokens_in < before.tokens_in
    assert "a guess before the first answers are counted" in before.in_words()
    assert "by what earlier answers took" in after.in_words()
    other = SetUp("C", base_url=asked.chat.models.endpoint.base_url, model="unheard")
    assert experiments.estimate(lamps, [other]).tokens_in * 2 == after.tokens_in
