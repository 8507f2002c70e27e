"""How answers end: reasons, cuts, errors after the first words."""

from tests.dialects.row import ANSWER, DONE, Reply, Row, delta, event, streamed

HALF = "The lamp is lit"
BROKEN = {"error": {"message": "Out of memory", "code": 500}}

ROWS = (
    Row("an answer in pieces", (streamed(),)),
    Row("the length limit", (streamed(ANSWER, delta(finish_reason="length"), DONE),),
        told="not complete", text=ANSWER),
    Row("the connection breaks", (Reply((delta(HALF),), breaks=True),),
        told="cut off", text=HALF),
    Row("an error after the first words", (Reply((delta(HALF), event(BROKEN))),),
        told="failed", says="Out of memory", text=HALF),
)  # fmt: skip
