import threading

from desktop_rag.models.answer_priority import AnswerPriority


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
