import json
from typing import Any

import pytest

from desktop_rag.ingest.read.foundation.source_file import Unreadable
from tests.unit.ingest.read.samples import parse


def notebook(*cells: dict[str, Any]) -> bytes:
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": list(cells)}).encode()


def test_cells_come_in_order_and_know_their_number_and_heading() -> None:
    data = notebook(
        {"cell_type": "markdown", "source": ["# Tides\n", "\n", "High at noon."]},
        {
            "cell_type": "code",
            "source": "print(tide)",
            "outputs": [{"text": ["5.40\n"]}, {"data": {"text/plain": "6.20", "image/png": "i"}}],
        },
    )
    found = parse("a.ipynb", data)
    assert found.format == "notebook"
    assert found.text == "# Tides\n\nHigh at noon.\n\n```\nprint(tide)\n```\n\n5.40\n6.20"
    assert [h.title for h in found.headings] == ["Tides"]
    assert [m.anchor.heading for m in found.marks] == [
        "Cell 1", "Tides › Cell 1", "Tides › Cell 2",
    ]  # fmt: skip


def test_the_older_form_with_worksheets_is_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Tides"},
        {"cell_type": "code", "input": "x = 1", "outputs": []},
    ]
    data = json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}).encode()
    assert parse("a.ipynb", data).text == "## Tides\n\n```\nx = 1\n```"


@pytest.mark.parametrize("data", [b"[1, 2]", b"{broken", b"[" * 100_000])
def test_what_is_no_notebook_is_damaged(data: bytes) -> None:
    with pytest.raises(Unreadable, match="damaged"):
        parse("a.ipynb", data)


def test_outputs_without_end_are_cut() -> None:
    cell = {"cell_type": "code", "source": "x", "outputs": [{"text": "5.40 " * 100_000}]}
    assert len(parse("a.ipynb", notebook(cell)).text) < 20_000


def test_an_error_is_told_and_a_picture_in_the_text_is_no_text() -> None:
    cells = [
        {"cell_type": "markdown", "source": "See ![a](data:image/png;base64,iVBORw0KGgo=)"},
        {"cell_type": "code", "source": "1/0", "outputs": [{"ename": "Zero", "evalue": "by 0"}]},
    ]
    text = parse("a.ipynb", notebook(*cells)).text
    assert "iVBOR" not in text
    assert text.endswith("Zero: by 0")


@pytest.mark.parametrize("field", ["cells", "worksheets", "metadata"])
def test_fields_of_another_kind_do_no_harm(field: str) -> None:
    cells = [{"cell_type": "code", "source": "x = 1", "outputs": 5}]
    data = json.dumps({"cells": cells, field: 5}).encode()
    if field == "cells":
        with pytest.raises(Unreadable, match="No text"):
            parse("a.ipynb", data)
    else:
        assert "x = 1" in parse("a.ipynb", data).text
