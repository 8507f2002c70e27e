import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.models.endpoints.client.allowances import Allowances, cost_of, money_in_words
from desktop_rag.models.endpoints.client.chat_stream import Usage
from tests.standing_clock import Clock

ENDPOINT = EndpointSettings("https://api.example.com/v1", "m")
PRICED = replace(ENDPOINT, price_in=2.0, price_out=10.0, spend_per_day=1.0)
DAY_S = 86_400.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def allowances(clock: Clock) -> Allowances:
    return Allowances(clock=clock)


def test_without_limits_nothing_waits(allowances: Allowances) -> None:
    for _ in range(100):
        assert allowances.begin(ENDPOINT, 10_000) == 0


def test_requests_a_minute(allowances: Allowances, clock: Clock) -> None:
    limited = replace(ENDPOINT, requests_per_minute=2)
    allowances.begin(limited, 5)
    clock.now += 45
    allowances.begin(limited, 5)
    assert allowances.begin(limited, 5) == 15
    clock.now += 15
    assert allowances.begin(limited, 5) == 0


def test_a_long_wait_is_an_error_that_says_the_way_out(allowances: Allowances) -> None:
    limited = replace(ENDPOINT, requests_per_minute=1, tokens_per_minute=500)
    allowances.begin(limited, 5)
    with pytest.raises(AppError) as caught:
        allowances.begin(limited, 5)
    assert "1 request and 500 tokens a minute" in caught.value.title
    assert caught.value.hint.startswith("Wait 60 seconds")


def test_tokens_a_minute_count_what_really_was_used(allowances: Allowances, clock: Clock) -> None:
    limited = replace(ENDPOINT, tokens_per_minute=1000)
    allowances.begin(limited, 300)
    allowances.finish(limited, Usage(400, 300), 300)
    assert allowances.begin(limited, 300) == 0
    clock.now += 50
    assert allowances.begin(limited, 301) == 10
    # One that is larger than all of a minute's is let through alone.
    clock.now += 10
    assert allowances.begin(limited, 5000) == 0


def test_only_so_many_leave_as_must(allowances: Allowances, clock: Clock) -> None:
    limited = replace(ENDPOINT, tokens_per_minute=1000)
    for _ in range(4):
        allowances.begin(limited, 250)
        clock.now += 10
    # Of 10, 20, 30 and 40 seconds ago the oldest two have to go, the second 30 seconds from now.
    assert allowances.begin(limited, 500, is_patient=True) > 20
    assert allowances.begin(limited, 250) == 20


def test_what_is_patient_leaves_half_to_others(allowances: Allowances) -> None:
    limited = replace(ENDPOINT, requests_per_minute=2)
    allowances.begin(limited, 5)
    assert allowances.begin(limited, 5) == 0
    assert allowances.begin(limited, 5, is_patient=True) == 60


def test_a_clock_that_was_set_back_holds_nothing_up(allowances: Allowances, clock: Clock) -> None:
    limited = replace(ENDPOINT, requests_per_minute=1)
    allowances.begin(limited, 5)
    clock.now -= 3600
    assert allowances.begin(limited, 5) == 0


def test_endpoints_are_counted_apart(allowances: Allowances) -> None:
    limited = replace(ENDPOINT, requests_per_minute=1)
    allowances.begin(limited, 5)
    assert allowances.begin(replace(limited, base_url="http://other/v1"), 5) == 0


def test_what_a_day_costs_survives_a_restart_and_ends_with_the_day(
    tmp_path: Path, clock: Clock
) -> None:
    path = tmp_path / "spending.json"
    used = Usage(100_000, 80_000)
    assert cost_of(used, PRICED) == 1.0
    Allowances(path, clock).finish(PRICED, used, 0)
    again = Allowances(path, clock)
    assert again.spent_today(PRICED.base_url) == 1.0
    with pytest.raises(AppError) as caught:
        again.begin(PRICED, 1)
    assert "1.00 a day" in caught.value.title
    assert "Raise the limit" in caught.value.hint
    clock.now += DAY_S
    assert again.begin(PRICED, 1) == 0
    assert again.spent_today(PRICED.base_url) == 0


def test_a_request_that_would_pass_the_limit_is_not_sent(allowances: Allowances) -> None:
    assert allowances.begin(PRICED, 500_000) == 0
    with pytest.raises(AppError):
        allowances.begin(PRICED, 500_001)


@pytest.mark.parametrize("broken", ["", '{"spent": 3}', '{"day": 5, "spent": {"x": "y"}}'])
def test_a_broken_file_is_begun_anew(tmp_path: Path, broken: str, clock: Clock) -> None:
    path = tmp_path / "spending.json"
    path.write_text(broken)
    assert Allowances(path, clock).spent_today(PRICED.base_url) == 0


BEGINNING = """
import sys
from pathlib import Path
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.models.endpoints.client.allowances import Allowances

endpoint = EndpointSettings("https://api.example.com/v1", "m", requests_per_minute=40)
allowances = Allowances(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
print(sum(allowances.begin(endpoint, 5, is_patient=True) == 0 for _ in range(20)))
"""


def test_processes_of_one_home_count_together(tmp_path: Path, clock: Clock) -> None:
    path, limited = tmp_path / "spending.json", replace(ENDPOINT, requests_per_minute=2)
    one, other = Allowances(path, clock), Allowances(path, clock)
    assert one.begin(limited, 5) == 0
    clock.now += 50
    assert other.begin(limited, 5) == 0
    assert one.begin(limited, 5) == 10
    other.finish(PRICED, Usage(500_000, 0), 0)
    one.finish(PRICED, Usage(500_000, 0), 0)
    assert other.spent_today(PRICED.base_url) == 2.0


@pytest.mark.slow
def test_processes_that_ask_at_once_pass_the_limit_together(tmp_path: Path) -> None:
    """A patient request leaves half of the limit of 40 to others."""
    command = [sys.executable, "-c", BEGINNING, str(tmp_path / "spending.json")]
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for child in children:
        assert child.stdout
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin
        child.stdin.write("go\n")
        child.stdin.flush()
    told = [child.communicate()[0] for child in children]
    assert sum(map(int, told)) == 20, told


def test_a_halted_holder_of_the_lock_holds_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / "spending.json"
    with FileLock(path.with_suffix(".lock")):
        assert Allowances(path).begin(ENDPOINT, 5) == 0


def test_counts_that_cannot_be_written_are_kept(tmp_path: Path, clock: Clock) -> None:
    path, limited = tmp_path / "missing" / "spending.json", replace(ENDPOINT, requests_per_minute=1)
    allowances = Allowances(path, clock)
    assert allowances.begin(limited, 5) == 0
    clock.now += 45
    assert allowances.begin(limited, 5) == 15


@pytest.mark.parametrize(
    ("amount", "words"),
    [(0.0, "0.00"), (1204.5, "1,204.50"), (0.25, "0.25"), (0.0312, "0.031"),
     (0.000_312, "0.00031"), (0.999, "1.00")],
)  # fmt: skip
def test_money_has_as_many_digits_as_tell_it_from_nothing(amount: float, words: str) -> None:
    assert money_in_words(amount) == words
