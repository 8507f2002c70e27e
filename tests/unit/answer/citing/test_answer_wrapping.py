"""A fence around a whole answer, and the tokens of templates."""

import pytest

from desktop_rag.answer.citing.citations import finish_answer, unwrapped
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Anchor

KNOWN = frozenset({1})


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("```markdown\n# Lamp\n\nLit at dusk [1].\n```", "# Lamp\n\nLit at dusk [1]."),
        ("```md\nLit.\n```\n", "Lit."),
        ("```\nLit at dusk [1].\n```", "Lit at dusk [1]."),
        ("~~~text\nLit at dusk [1].\n~~~<|im_end|>", "Lit at dusk [1]."),
        ("```markdown\nA\n```python\nx\n```\nB\n```", "A\n```python\nx\n```\nB"),
        ("Lit at dusk [1].<|im_end|>", "Lit at dusk [1]."),
        ("Lit [1].<|eot_id|>\n<|end|>\n", "Lit [1]."),
        ("Lit [1].<｜end▁of▁sentence｜>", "Lit [1]."),
        ("<start_of_turn>model\nLit.<end_of_turn>", "\nLit."),
        ("Lit [1].</s>", "Lit [1]."),
    ],
)
def test_what_is_around_an_answer_goes(written: str, shown: str) -> None:
    assert unwrapped(written, KNOWN) == shown


@pytest.mark.parametrize(
    "text",
    [
        "```\nprint(3)\n```",
        "```python\nprint([1])\n```",
        "```\nx[9]\n```",
        "```md\na\n```\nLit [1].\n```md\nb\n```",
        "```md\na\n```\nLit.\n```\nb\n```",
        "The token `<|im_end|>` ends a turn.",
        "```\n<|im_end|>\n```\nends it",
        "a <b> c | d <|> e",
        "",
    ],
)
def test_what_belongs_to_the_answer_stays(text: str) -> None:
    assert unwrapped(text, KNOWN) == text


def test_a_fenced_answer_is_cited() -> None:
    sources = (SourceRef(1, "d1", "/1.md", "T", Anchor(), "The lamp is lit at dusk.", 1.0),)
    text, (cited,) = finish_answer("```markdown\nIt is lit at dusk [1].\n```<|im_end|>", sources)
    assert (text, cited.is_cited) == ("It is lit at dusk [1].", True)
