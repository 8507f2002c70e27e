"""What is made of the words, codes and statuses of refusals."""

import pytest

from desktop_rag.core.waits import wait_s_in
from desktop_rag.models.endpoints.client.endpoint_faults import Fault
from desktop_rag.models.endpoints.client.refusals.refusal_kinds import (
    allowance_in,
    fault_of,
    limit_in,
)
from tests.dialects.heard_refusals import HeardRefusal, heard_refusals

TPM = "Request too large for `m` on tokens per minute (TPM): Limit 6000, Requested 6530"


@pytest.mark.parametrize("heard", heard_refusals(), ids=lambda heard: heard.said[:60])
def test_refusals_of_real_servers(heard: HeardRefusal) -> None:
    assert fault_of(heard.said, heard.code, heard.status) is heard.fault
    if heard.fault is Fault.TOO_LONG:
        assert limit_in(heard.said) == heard.limit


@pytest.mark.parametrize(
    ("status", "said", "fault"),
    [
        (401, "", Fault.BAD_KEY),
        (401, "Insufficient balance", Fault.NO_CREDIT),
        (402, "", Fault.NO_CREDIT),
        (403, "", Fault.FORBIDDEN),
        (403, "Your API key has been revoked", Fault.BAD_KEY),
        (404, "Not Found", Fault.NOTHING_THERE),
        (413, "too many tokens per minute", Fault.BUSY),
        (413, "", Fault.TOO_LARGE),
        (413, "maximum context length is 4096 tokens", Fault.TOO_LONG),
        (413, TPM, Fault.OVER_RATE),
        (429, "", Fault.BUSY),
        (429, "Not enough capacity", Fault.OVERLOADED),
        (200, "Rate limit exceeded: too many tokens per minute", Fault.BUSY),
        (503, "Loading model", Fault.LOADING),
        (404, "No models loaded. Please load a model in the developer page.", Fault.NO_MODEL),
        (503, "Error loading model", Fault.UNKNOWN_MODEL),
        (500, "CUDA out of memory", Fault.FAILED),
        (529, "", Fault.OVERLOADED),
        (400, "temperature?", Fault.REJECTED),
        (0, "Out of memory", Fault.FAILED),
    ],
)
def test_words_decide_before_the_status(status: int, said: str, fault: Fault) -> None:
    assert fault_of(said, "", status) is fault


def test_a_code_in_a_stream_may_be_a_status() -> None:
    assert fault_of("No.", "error 401") is Fault.BAD_KEY
    assert fault_of("No.", "1004") is Fault.FAILED


def test_a_quota_with_a_wait_is_a_limit_of_the_rate() -> None:
    said = "You exceeded your current quota, please check your plan and billing details."
    assert fault_of(said, "", 429) is Fault.NO_CREDIT
    assert fault_of(said, "", 429, has_wait=True) is Fault.BUSY


def test_addresses_in_a_message_say_nothing() -> None:
    assert fault_of("Oops, see https://example.org/rate-limit", "", 400) is Fault.REJECTED


def test_waiting_doesn_t_help_a_request_that_is_over_the_rate_alone() -> None:
    assert allowance_in(TPM) == 6000
    assert allowance_in("(TPM): Limit 6,000, Used 4000, Requested 3000") == 0


@pytest.mark.parametrize(
    "said", ["1s ", "a", "model ", "wait 1", "context of ", "1,000", "max limit ", "sk-", "x1"]
)
def test_long_messages_of_hostile_servers_end(said: str) -> None:
    words = said * 20_000
    assert fault_of(words)
    wait_s_in(words)
    limit_in(words)
