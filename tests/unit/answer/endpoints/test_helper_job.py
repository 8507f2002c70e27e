import threading

from desktop_rag.answer.endpoints.helper_job import CancelWhen
from desktop_rag.models.answer_priority import AnswerPriority


def test_a_job_that_was_cut_stays_cut() -> None:
    priority = AnswerPriority()
    gives_way = CancelWhen(threading.Event(), lambda: priority.is_answering)
    assert not gives_way.is_set()
    with priority.answering():
        assert gives_way.is_set()
    assert gives_way.is_set(), "half a text must not count as whole"


def test_a_wait_ends_with_what_it_is_for() -> None:
    cancel = threading.Event()
    job = CancelWhen(cancel, lambda: False)
    assert not job.wait(0.01)
    threading.Timer(0.05, cancel.set).start()
    assert job.wait(3600)
