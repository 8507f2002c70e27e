from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.model_profile import LearnedLimit, LengthField, ModelProfile, Thinking
from desktop_rag.models.endpoints.client.allowances import ProfileBook

URL = "http://localhost:1/v1"
KNOWN = ModelProfile(
    examined_at=5.0,
    streams=True,
    takes_system=False,
    context_tokens=4096,
    thinking=Thinking.TAGS,
    length_field=LengthField.MAX_TOKENS,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "models.json"


def test_what_is_known_survives_a_restart(path: Path) -> None:
    book = ProfileBook(path)
    book.put(URL, "small", KNOWN)
    book.learn(URL, "large", must_alternate=True)
    again = ProfileBook(path)
    assert again.get(URL, "small") == KNOWN
    assert again.get(URL, "large") == ModelProfile(must_alternate=True)
    assert again.get("http://localhost:2/v1", "small") == ModelProfile()


def test_a_limit_that_was_learned_survives_a_restart(path: Path) -> None:
    limit = LearnedLimit(900, 5.0, is_stated=True)
    ProfileBook(path).put(URL, "small", replace(KNOWN, learned_limit=limit))
    again = ProfileBook(path)
    assert again.get(URL, "small").learned_limit == limit
    assert any("900 tokens" in sentence for sentence in again.get(URL, "small").findings())


def test_what_an_earlier_version_learned_from_a_refusal_is_no_measurement() -> None:
    assert ModelProfile.from_json({"context_tokens": 512}) == ModelProfile()
    assert ModelProfile.from_json({"context_tokens": 512, "examined_at": 1}).context_tokens == 512
    assert ModelProfile.from_json({"learned_limit": {"tokens": "x"}}) == ModelProfile()


def test_one_fact_is_learned_and_the_others_stay() -> None:
    book = ProfileBook()
    book.put(URL, "small", KNOWN)
    learned = book.learn(URL, "small", takes_system=True)
    assert learned == book.get(URL, "small")
    assert (learned.takes_system, learned.context_tokens) == (True, 4096)


@pytest.mark.parametrize("broken", ["", "{", "[1]", '{"models": 3}', '{"models": [4, {}]}'])
def test_a_broken_file_is_begun_anew(path: Path, broken: str) -> None:
    path.write_text(broken)
    book = ProfileBook(path)
    assert book.get(URL, "small") == ModelProfile()
    book.put(URL, "small", KNOWN)
    assert ProfileBook(path).get(URL, "small") == KNOWN


def test_facts_of_the_wrong_kind_count_as_not_known() -> None:
    fields = {
        "streams": "yes",
        "context_tokens": -1,
        "thinking": "loud",
        "length_field": 5,
        "examined_at": "now",
        "future": 1,
        "takes_system": False,
    }
    assert ModelProfile.from_json(fields) == ModelProfile(takes_system=False)


def test_a_disk_that_refuses_costs_only_the_memory(tmp_path: Path) -> None:
    book = ProfileBook(tmp_path / "missing" / "models.json")
    book.put(URL, "small", KNOWN)
    assert book.get(URL, "small") == KNOWN


def test_findings_are_sentences() -> None:
    assert KNOWN.findings() == (
        "Reads 4,096 tokens.",
        "Takes no system message: it is sent with the question.",
        "Thinks aloud in <think> tags: kept apart from the answer.",
    )
    assert ModelProfile().findings() == ()
