import pytest

from desktop_rag.features.diagnosis.diagnosis import sandbox
from desktop_rag.features.diagnosis.finding import State


@pytest.mark.parametrize(
    ("guards", "is_ok", "said"),
    [
        ({"seccomp", "landlock"}, True, "no network, starts no program and opens no other file"),
        ({"seccomp"}, True, "could read other files"),
        ({"landlock"}, False, "could reach the network"),
        ({"seatbelt"}, True, "could read other files"),
        ({"no child processes"}, True, "does not keep it from the network"),
        (set[str](), False, "does not confine the parser process"),
    ],
)
def test_the_report_says_what_is_kept_from_the_process(
    guards: set[str], is_ok: bool, said: str
) -> None:
    found = sandbox(guards)
    assert (found.state is State.OK) is is_ok
    assert said in f"{found.title} {found.hint}"
