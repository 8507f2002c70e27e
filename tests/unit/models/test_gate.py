import threading

from desktop_rag.models.gate import ModelGate


def test_background_work_waits_for_the_last_question() -> None:
    gate, passed = ModelGate(), threading.Event()

    def work() -> None:
        gate.wait(20)
        passed.set()

    worker = threading.Thread(target=work)
    with gate.question():
        with gate.question():
            worker.start()
        assert not passed.wait(0.1)
    assert passed.wait(20)
    worker.join()


def test_it_does_not_wait_for_ever() -> None:
    gate = ModelGate()
    with gate.question():
        gate.wait(0.01)
