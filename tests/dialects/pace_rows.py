"""Streams that go on and are no answer any more, and odd but harmless ways of sending one."""

from tests.dialects.row import ANSWER, DONE, Reply, Row, delta, event, streamed

_PING = b": ping\n\n"
_LOOP = "The lamp is lit. "
_HALVES = [b'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n' % half
           for half in (rb"Lit \ud83d", rb"\ude00 at dusk [1].")]  # fmt: skip

ROWS = (
    Row(
        "the same words again and again",
        (Reply(tuple(delta(_LOOP) for _ in range(2_000)), hangs=True),),
        "repeats itself",
        text=_LOOP * 10,
    ),
    Row(
        "the same thought again and again",
        (Reply(tuple(delta(reasoning_content=_LOOP) for _ in range(2_000)), hangs=True),),
        "repeats itself",
    ),
    Row(
        "pings, then silence",
        (Reply((*([_PING] * 50), delta(ANSWER[:9]), *([_PING] * 50)), hangs=True),),
        "sent nothing for too long",
        text=ANSWER[:9],
        timeout_s=0.3,
    ),
    Row(
        "silence in the place of [DONE]",
        (Reply((*streamed().parts[:-1],), hangs=True),),
        timeout_s=30.0,
    ),
    Row("pings between the words", (Reply((_PING, *streamed().parts[:1], _PING, _PING,
                                           *streamed().parts[1:])),)),
    Row("a byte order mark", (Reply((b"\xef\xbb\xbf", *streamed().parts)),)),
    Row("a byte order mark before the first word", (streamed(f"\ufeff{ANSWER}"),)),
    Row("a byte order mark before every event",
        (Reply(tuple(b"\xef\xbb\xbf" + part for part in streamed().parts)),)),
    Row("an emoji in two halves", (Reply((*_HALVES, delta(finish_reason="stop"), DONE)),),
        text="Lit \U0001f600 at dusk [1]."),
    Row(
        "the answer once more beside the last delta",
        (
            streamed(
                ANSWER,
                event({"choices": [{"delta": {}, "message": {"content": ANSWER},
                                    "finish_reason": "stop"}]}),
                DONE,
            ),
        ),
    ),
    Row("text in the way of completions",
        (Reply((event({"choices": [{"text": ANSWER, "finish_reason": "stop"}]}), DONE)),)),
)  # fmt: skip
