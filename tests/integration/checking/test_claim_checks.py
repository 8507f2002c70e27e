"""The sentences of a finished answer are checked against its sources."""

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.answer.checking.model_judge import ClaimJudge
from desktop_rag.app import Services
from desktop_rag.core.claims import CheckedClaim, Claim, Verdict
from desktop_rag.core.conversation import (
    AnswerChanged,
    Message,
    ModelCheckOffered,
    SourceRef,
    TextDelta,
)
from desktop_rag.core.parsed import Anchor
from desktop_rag.core.settings import AnswerSettings, EndpointSettings, ModelCheck, Settings
from desktop_rag.models.endpoints.client.chat_client import ChatClient
from tests.asking import ask
from tests.indexed import OpenIndexed, add_texts
from tests.servers.chat_server import ChatServer

QUESTION = "When is the lamp of the lighthouse lit?"
ANSWER = (
    "The lamp of the lighthouse is lit at dusk by the keeper [1]."
    " It was bought by seven cooks from Vienna in 1874 [1]."
)
ONLY_CHECKS = AnswerSettings(suggests_questions=False, model_check=ModelCheck.NEVER)


@pytest.fixture
def services(open_indexed: OpenIndexed) -> Services:
    return open_indexed({"lamp.md": "The lamp of the lighthouse is lit at dusk by the keeper."})


@pytest.fixture
def server(services: Services) -> Iterator[ChatServer]:
    with ChatServer(ANSWER) as running:
        services.chat.apply(Settings(endpoint=running.endpoint(), answers=ONLY_CHECKS))
        yield running


def gone_on(services: Services, answer: Message) -> list[AnswerChanged]:
    events = services.chat.go_on(answer, cancel=threading.Event())
    return [event for event in events if isinstance(event, AnswerChanged)]


def verdicts(message: Message) -> list[Verdict]:
    return [claim.verdict for claim in message.claims]


@pytest.mark.slow
def test_claims_are_checked_and_kept(services: Services, server: ChatServer) -> None:
    answer = ask(services, QUESTION)
    [change] = gone_on(services, answer)
    assert verdicts(change.message) == [Verdict.SUPPORTED, Verdict.NOT_IN_SOURCES]
    assert change.message.text == answer.text, "the answer is never changed"
    assert services.chat.history.messages(answer.conversation_id)[-1] == change.message
    assert len(server.chats) == 1, "no model was asked"
    assert gone_on(services, change.message) == [], "what is checked is not checked again"


@pytest.mark.everyday
def test_a_check_needs_not_wait_for_other_answers(services: Services, server: ChatServer) -> None:
    first = ask(services, QUESTION)
    server.mode = "stall"
    streaming = services.chat.ask(QUESTION, cancel=threading.Event())
    next(event for event in streaming if isinstance(event, TextDelta))
    assert len(gone_on(services, first)) == 1
    server.released.set()
    list(streaming)


def use_judge(services: Services, server: ChatServer, *, judging: float | None = 0.9) -> None:
    """Have the model, measured to judge that well, check answers too; it runs nearby."""
    wished = AnswerSettings(suggests_questions=False)
    services.chat.apply(Settings(endpoint=server.endpoint(), answers=wished))
    model = services.chat.models.helper()
    if model and judging is not None:
        model.note_judging(judging)


def judged_as(*judgements: tuple[int, str, str], words: str = "is lit at dusk") -> str:
    rows = [
        {"id": n, "verdict": verdict, "words": words, "why": why} for n, verdict, why in judgements
    ]
    return f"Sure:\n```json\n{json.dumps({'judgements': rows})}\n```"


@pytest.mark.slow
def test_a_model_that_runs_nearby_judges_what_is_open(
    services: Services, server: ChatServer
) -> None:
    use_judge(services, server)
    why = "Passage 1 names <b>no</b> cooks."
    server.first_answers = [ANSWER, judged_as((101, "partly", why))]
    answer = ask(services, QUESTION)
    last = gone_on(services, answer)[-1].message
    assert verdicts(last) == [Verdict.SUPPORTED, Verdict.PARTLY]
    assert [claim.judge for claim in last.claims] == ["", "test-model"]
    assert last.claims[1].reason == why
    assert services.chat.history.messages(answer.conversation_id)[-1] == last
    [_, request] = server.chats
    asked = request["messages"][-1]["content"]
    assert asked.count("is lit at dusk by the keeper") == 1, "what is settled is not asked"
    assert "101: It was bought by seven cooks" in asked


@pytest.mark.slow
@pytest.mark.parametrize("words", ["", "bought by seven cooks from Vienna"])
def test_a_verdict_that_rests_on_no_words_of_a_source_is_thrown_away(
    services: Services, server: ChatServer, words: str
) -> None:
    use_judge(services, server)
    judged = judged_as((101, "supported", "Passage 1 says so."), words=words)
    server.first_answers = [ANSWER, judged]
    last = gone_on(services, ask(services, QUESTION))[-1].message
    assert verdicts(last) == [Verdict.SUPPORTED, Verdict.NOT_IN_SOURCES]
    assert [claim.judge for claim in last.claims] == ["", ""]


@pytest.mark.slow
def test_a_verdict_has_its_words_as_evidence_and_mends_the_citation(
    services: Services, server: ChatServer, tmp_path: Path
) -> None:
    use_judge(services, server)
    more = {"watch.md": "The keeper tends the lamp of the lighthouse at nightfall."}
    add_texts(services, tmp_path / "more", more)
    answer = ask(services, QUESTION)
    [other] = [one for one in answer.sources if "nightfall" in one.text]
    cited = next(one.n for one in answer.sources if one.n != other.n)
    wrong = f"Somebody looks after the lighthouse when darkness comes [{cited}]."
    said = judged_as((101, "supported", "It says so."), words="the lighthouse at nightfall")
    server.first_answers = [wrong, said]
    last = gone_on(services, ask(services, QUESTION))[-1].message
    [claim] = last.claims
    [source] = [one for one in last.sources if one.n == claim.n]
    evidence = claim.checked.evidence
    assert evidence is not None
    assert source.text[evidence.start : evidence.end] == "the lighthouse at nightfall"
    assert claim.verdict is Verdict.SUPPORTED
    assert last.text == wrong.replace(f"[{cited}]", f"[{claim.n}]")
    assert services.chat.history.messages(last.conversation_id)[-1] == last
    assert Claim.from_json(json.loads(json.dumps(claim.to_json()))) == claim


@pytest.mark.slow
def test_a_model_does_not_talk_away_a_figure_that_no_source_has(
    services: Services, server: ChatServer
) -> None:
    use_judge(services, server)
    server.first_answers = [
        "The lamp of the lighthouse was lit for 4,812 years [1].",
        judged_as((101, "supported", "Passage 1 says so.")),
    ]
    [claim] = gone_on(services, ask(services, QUESTION))[-1].message.claims
    assert claim.verdict is not Verdict.SUPPORTED
    assert claim.is_disputed
    assert claim.checked.named


def measured_as(server: ChatServer, verdict: str) -> list[str]:
    """Replies to the four requests of the measurement, each claim with this verdict."""
    rows = [{"id": 101 + n, "words": "a", "why": "", "verdict": verdict} for n in range(10)]
    server.answer = json.dumps({"judgements": rows})
    return [ANSWER, *[server.answer] * 4]


@pytest.mark.slow
def test_a_model_that_calls_everything_missing_is_measured_once_and_not_asked(
    services: Services, server: ChatServer
) -> None:
    use_judge(services, server, judging=None)
    server.first_answers = measured_as(server, "missing")
    last = gone_on(services, ask(services, QUESTION))[-1].message
    assert verdicts(last) == [Verdict.SUPPORTED, Verdict.NOT_IN_SOURCES]
    assert not any(claim.judge for claim in last.claims)
    assert len(server.chats) == 5, "an answer, and the samples of four sources"
    server.first_answers = [ANSWER]
    gone_on(services, ask(services, QUESTION))
    assert len(server.chats) == 6
    profile = services.chat.models.profile(server.endpoint())
    assert profile.judging == 0
    assert any("not asked to check" in finding for finding in profile.findings())


@pytest.mark.slow
def test_a_remote_model_is_offered_and_not_asked(services: Services, server: ChatServer) -> None:
    answer = ask(services, QUESTION)
    remote = EndpointSettings("https://ai.example.com/v1", "big", price_in=2.0, price_out=8.0)
    wished = AnswerSettings(suggests_questions=False)
    services.chat.apply(Settings(endpoint=remote, answers=wished))
    events = list(services.chat.go_on(answer, cancel=threading.Event()))
    [offer] = [event for event in events if isinstance(event, ModelCheckOffered)]
    assert (offer.model, offer.host) == ("big", "ai.example.com")
    assert offer.tokens > 300
    assert 0 < offer.cost < 0.01
    assert len(server.chats) == 1
    services.chat.apply(
        Settings(endpoint=remote, answers=replace(wished, model_check=ModelCheck.NEVER))
    )
    assert list(services.chat.go_on(offer.answer, cancel=threading.Event())) == []


@pytest.mark.slow
def test_a_program_does_not_wait_for_a_model_that_nobody_wished(
    services: Services, server: ChatServer
) -> None:
    use_judge(services, server)
    conversation = ask(services, QUESTION).conversation_id
    question, answer = services.chat.history.messages(conversation)
    setup = services.chat.set_up("", "")
    list(services.chat.complete(answer, [question], setup, cancel=threading.Event()))
    assert len(server.chats) == 1


@pytest.mark.slow
def test_what_was_judged_is_not_asked_again(services: Services, server: ChatServer) -> None:
    use_judge(services, server)
    server.first_answers = [ANSWER, judged_as((101, "missing", "It does not.")), ANSWER]
    first = gone_on(services, ask(services, QUESTION))[-1].message
    again = gone_on(services, ask(services, QUESTION))[-1].message
    assert [claim.reason for claim in again.claims] == [claim.reason for claim in first.claims]
    assert len(server.chats) == 3, "two answers and one judgement"


@pytest.mark.slow
def test_a_model_does_not_talk_away_another_number(services: Services, server: ChatServer) -> None:
    use_judge(services, server)
    wrong = "The lamp of the lighthouse is not lit at dusk by the keeper [1]."
    server.first_answers = [wrong, judged_as((101, "supported", "Passage 1 says so."))]
    [claim] = gone_on(services, ask(services, QUESTION))[-1].message.claims
    assert claim.verdict is Verdict.CONTRADICTED
    assert claim.checked.explanation
    assert len(server.chats) == 1, "what is certain is not asked"


@pytest.mark.slow
def test_a_reply_that_is_no_judgement_changes_nothing(
    services: Services, server: ChatServer
) -> None:
    use_judge(services, server)
    server.first_answers = [ANSWER]
    server.answer = "supported, partly, contradicted or missing?"
    [only] = gone_on(services, ask(services, QUESTION))
    assert verdicts(only.message) == [Verdict.SUPPORTED, Verdict.NOT_IN_SOURCES]
    assert not any(claim.judge for claim in only.message.claims)


@pytest.mark.slow
def test_a_judge_that_fails_is_not_asked_again(services: Services, server: ChatServer) -> None:
    use_judge(services, server)
    answer = ask(services, QUESTION)
    server.mode, server.status = "status", 401
    assert len(gone_on(services, answer)) == 1
    assert len(server.chats) == 2


@pytest.mark.slow
@pytest.mark.usefixtures("server")
def test_excerpts_are_the_words_of_the_sources_and_need_no_check(services: Services) -> None:
    services.chat.apply(Settings(answers=ONLY_CHECKS))
    assert gone_on(services, ask(services, QUESTION)) == []


@pytest.mark.slow
def test_checks_can_be_switched_off(services: Services, server: ChatServer) -> None:
    off = replace(ONLY_CHECKS, checks_claims=False)
    services.chat.apply(Settings(endpoint=server.endpoint(), answers=off))
    assert gone_on(services, ask(services, QUESTION)) == []


@pytest.mark.slow
@pytest.mark.usefixtures("server")
def test_a_cancel_keeps_nothing(services: Services) -> None:
    answer = ask(services, QUESTION)
    cancel = threading.Event()
    cancel.set()
    assert list(services.chat.go_on(answer, cancel=cancel)) == []
    assert services.chat.history.messages(answer.conversation_id)[-1].claims == ()


@pytest.mark.slow
@pytest.mark.usefixtures("server")
def test_a_place_to_verify_a_claim_is_in_the_documents_of_the_answer(services: Services) -> None:
    sources = ask(services, QUESTION).sources
    place = services.chat.place_about("the lamp of the lighthouse (lit: at dusk)", sources)
    assert place is not None
    assert Path(place.path).name == "lamp.md"
    assert services.chat.place_about("Fishing quotas of the parliament in 1974", sources) is None


@pytest.mark.slow
def test_no_place_is_offered_in_a_report_of_another_firm(
    services: Services, tmp_path: Path
) -> None:
    said = "# Report\n\nThe operating margin of {} was stable. {} sells goods.\n"
    reports = {
        f"{firm.upper()}_{year}_10K.md": said.format(year, firm)
        for firm in ("Adobe", "Boeing", "Nike", "Walmart", "Amcor")
        for year in (2019, 2020)
    }
    add_texts(services, tmp_path / "reports", reports)
    sources = ask(services, "What does NIKE_2019_10K.md say about the operating margin?").sources
    assert {Path(source.path).name for source in sources} == {"NIKE_2019_10K.md"}
    for claim in (
        "The operating margin of 2020 was stable.",
        "Nike sells goods.",
        "It was stable.",
    ):
        place = services.chat.place_about(claim, sources)
        assert place is None or Path(place.path).name.startswith("NIKE_")
    other = services.chat.place_about("Boeing sells goods.", sources)
    assert other is None or Path(other.path).name.startswith(("BOEING_", "NIKE_"))


@pytest.mark.slow
def test_a_model_that_reads_little_is_shown_less_of_the_sources() -> None:
    claim = Claim(0, 4, CheckedClaim("It is lit.", Verdict.NOT_IN_SOURCES, 0.1, None, (), ""), 0)
    text = "The lamp is lit at dusk. " * 70
    sources = [SourceRef(n, f"d{n}", "/d.md", "D", Anchor(), text, 1.0) for n in range(1, 21)]
    with ChatServer("[]") as server:
        for context_tokens in (2_000, 32_000):
            endpoint = replace(server.endpoint(), context_tokens=context_tokens)
            with closing(ChatClient(endpoint)) as model:
                ClaimJudge().judge([claim], sources, model, threading.Event())
    short, long = (len(chat["messages"][-1]["content"]) for chat in server.chats)
    assert short < 5_000
    assert 16_000 < long < 17_000
