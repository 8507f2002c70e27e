import threading

import pytest

from desktop_rag.models.answer_priority import AnswerPriority, FairShare


def test_background_work_waits_for_the_last_question() -> None:
    priority, passed = AnswerPriority(), threading.Event()

    def work() -> None:
        priority.wait(20)
        passed.set()

    worker = threading.Thread(target=work)
    with priority.answering():
        with priority.answering():
            worker.start()
        assert not passed.wait(0.1)
    assert passed.wait(20)
    worker.join()


def test_it_does_not_wait_for_ever() -> None:
    priority = AnswerPriority()
    with priority.answering():
        priority.wait(0.01)


def test_work_that_always_waits_as_long_as_it_may_has_two_thirds_of_the_time() -> None:
    patience, worked, waited = FairShare(AnswerPriority(), most_s=2.0), 0.0, 0.0
    for _ in range(1_000):
        patience.worked(0.1)
        worked += 0.1
        waited += patience.left_s
        patience.waited(patience.left_s)
    assert waited - 2.0 == pytest.approx(worked / 2, rel=0.01)


def test_patience_is_not_saved_up_beyond_its_limit() -> None:
    patience = FairShare(AnswerPriority(), most_s=2.0)
    patience.worked(3600)
    assert patience.left_s == pytest.approx(2.0)
    patience.waited(3600)
    assert not patience.left_s


def test_work_gets_on_although_answers_never_end() -> None:
    priority = AnswerPriority()
    share = FairShare(priority, most_s=0.1)
    with priority.answering():
        for _ in range(10_000):
            share.wait()


def test_work_with_patience_waits_for_the_answer() -> None:
    priority, passed = AnswerPriority(), threading.Event()
    share = FairShare(priority, most_s=1000.0)

    def work() -> None:
        share.wait()
        passed.set()

    worker = threading.Thread(target=work)
    with priority.answering():
        worker.start()
        assert not passed.wait(0.1)
    assert passed.wait(20)
    worker.join()
