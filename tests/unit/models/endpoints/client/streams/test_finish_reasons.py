"""Only a reason that is known to be good ends a whole answer."""

import pytest

from desktop_rag.models.endpoints.client.chat_stream import check_ending, reason_in
from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError

GOOD = """
stop STOP end_turn EOS eos_token stop_sequence COMPLETE completed eosFound FINISH_REASON_STOP done
"""


@pytest.mark.parametrize("reason", GOOD.split())
def test_a_good_ending(reason: str) -> None:
    check_ending(reason_in(reason), has_answer=True)


@pytest.mark.parametrize(
    ("reason", "fault"),
    [
        ("", Fault.CUT),
        ("length", Fault.UNFINISHED),
        ("model_length", Fault.UNFINISHED),
        ("MAX_TOKENS", Fault.UNFINISHED),
        ("max-tokens", Fault.UNFINISHED),
        ("maxPredictedTokensReached", Fault.UNFINISHED),
        ("ERROR_LIMIT", Fault.UNFINISHED),
        ("content_filter", Fault.FILTERED),
        ("content-filter", Fault.FILTERED),
        ("SAFETY", Fault.FILTERED),
        ("sensitive", Fault.FILTERED),
        ("refusal", Fault.FILTERED),
        ("error", Fault.BROKEN_OFF),
        ("insufficient_system_resource", Fault.BROKEN_OFF),
        ("abort", Fault.BROKEN_OFF),
        ("network_error", Fault.BROKEN_OFF),
        ("tool_calls", Fault.ODD_ENDING),
        ("OTHER", Fault.ODD_ENDING),
        ("moon_phase", Fault.ODD_ENDING),
    ],
)
def test_any_other_ending_is_told(reason: str, fault: Fault) -> None:
    with pytest.raises(StreamError) as caught:
        check_ending(reason_in(reason), has_answer=True)
    assert caught.value.fault is fault


@pytest.mark.parametrize("reason", ["stop", "tool_calls", "moon_phase"])
def test_a_good_ending_without_an_answer_is_none(reason: str) -> None:
    with pytest.raises(StreamError) as caught:
        check_ending(reason, has_answer=False)
    assert caught.value.fault is Fault.EMPTY


@pytest.mark.parametrize("written", ["null", "None", "", " ", "FINISH_REASON_UNSPECIFIED"])
def test_what_says_that_the_answer_goes_on(written: str) -> None:
    assert reason_in(written) == ""
