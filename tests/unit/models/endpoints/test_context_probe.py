import pytest

from desktop_rag.models.endpoints.examination import (
    FAR,
    NEAR,
    Attempt,
    Bounds,
    MeasuredContext,
    ProbeOutcome,
    filler,
    measure,
)


class Model:
    """Reads so many tokens, several to a word, and behaves in one way when there are more."""

    def __init__(
        self,
        context_tokens: int,
        *,
        tokens_a_word: float = 1.0,
        counts: bool = True,
        says: bool = False,
        cuts: bool = False,
        seconds_a_token: float = 0.0,
        forgets: bool = False,
    ) -> None:
        self.context_tokens = context_tokens
        self.tokens_a_word = tokens_a_word
        self.counts = counts
        self.says = says
        self.cuts = cuts
        self.seconds_a_token = seconds_a_token
        self.forgets = forgets  # to count what it knows from the request before
        self._known = 0
        self.asked: list[int] = []

    def __call__(self, words: int, first: int) -> Attempt:
        tokens = int(words * self.tokens_a_word) + 30
        self.asked.append(tokens)
        if tokens > self.context_tokens and not self.cuts:
            limit = self.context_tokens if self.says else 0
            return Attempt(ProbeOutcome.REFUSED, limit=limit)
        read = min(tokens, self.context_tokens)
        counted = read if self.counts else 0
        if self.forgets and first == 0:
            counted, self._known = read - self._known, read
        return Attempt(ProbeOutcome.READ, counted=counted, seconds=tokens * self.seconds_a_token)


@pytest.mark.parametrize("context_tokens", [300, 1000, 2048, 4096, 8192, 20_000, 30_000])
@pytest.mark.parametrize("counts", [True, False])
def test_a_limit_that_is_only_refused_is_narrowed_down(context_tokens: int, counts: bool) -> None:
    model = Model(context_tokens, counts=counts)
    found = measure(model, NEAR)
    assert not found.is_open
    assert context_tokens - max(256, context_tokens // 8) <= found.tokens <= context_tokens
    assert len(model.asked) <= NEAR.requests


@pytest.mark.parametrize("context_tokens", [1000, 4096, 20_000])
def test_a_limit_that_is_said_is_believed(context_tokens: int) -> None:
    model = Model(context_tokens, says=True)
    assert measure(model, NEAR) == MeasuredContext(context_tokens, is_open=False)


@pytest.mark.parametrize("tokens_a_word", [1.0, 1.4, 5.5])
def test_a_silent_cut_is_seen_in_the_count(tokens_a_word: float) -> None:
    model = Model(4096, tokens_a_word=tokens_a_word, cuts=True)
    assert measure(model, NEAR, tokens_a_word) == MeasuredContext(4096, is_open=False)


def test_a_server_that_counts_only_what_is_new_does_not_seem_to_cut() -> None:
    model = Model(1_000_000, forgets=True)
    assert measure(model, NEAR) == MeasuredContext(32_768, is_open=True)
    model = Model(20_000, forgets=True, says=True)
    assert measure(model, NEAR) == MeasuredContext(20_000, is_open=False)


def test_far_endpoints_get_one_long_request_if_it_is_read() -> None:
    model = Model(1_000_000)
    assert measure(model, FAR) == MeasuredContext(16_384, is_open=True)
    assert len(model.asked) == 1


def test_far_endpoints_never_get_more_than_a_handful() -> None:
    model = Model(5000)
    found = measure(model, FAR)
    assert found == MeasuredContext(4096, is_open=False)
    assert len(model.asked) == 3
    assert max(model.asked) < 17_000


def test_a_slow_model_is_not_asked_for_ever_more() -> None:
    model = Model(1_000_000, seconds_a_token=0.003)
    assert measure(model, NEAR) == MeasuredContext(4096, is_open=True)


def test_what_was_read_before_the_server_fell_silent_counts() -> None:
    answers = [Attempt(ProbeOutcome.READ), Attempt(ProbeOutcome.UNKNOWN)]
    assert measure(lambda *_: answers.pop(0), NEAR) == MeasuredContext(2048, is_open=True)
    assert measure(lambda *_: Attempt(ProbeOutcome.UNKNOWN), NEAR) == MeasuredContext(
        0, is_open=False
    )


def test_requests_are_bounded() -> None:
    model = Model(1_000_000)
    measure(model, Bounds(first=1, most=10**9, requests=4, longest_s=1.0))
    assert len(model.asked) == 4


def test_a_longer_text_begins_like_a_shorter_one() -> None:
    assert filler(500).startswith(filler(499))
    assert len(filler(500).split()) == 500
    assert len(set(filler(70).split())) > 60
