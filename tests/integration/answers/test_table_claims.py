"""Badges of sentences about a piece of a sheet that begins below the heads of its columns."""

import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.claims import Verdict
from desktop_rag.core.settings import Settings
from tests.asking import answer_of
from tests.indexed import index
from tests.servers.chat_server import ChatServer

_PART = re.compile(r"\[(\d+)\] (?:(?!\[\d+\] ).)*?R-171 \|", re.DOTALL)


def _said(prompt: str) -> str:
    if "<tables" in prompt:
        return "NONE"
    found = _PART.search(prompt)
    assert found, "the row is in what is sent"
    n = found[1]
    return f"R-171 is unpaid [{n}]. R-172 is unpaid [{n}]. R-171 is dated 21 March 2025 [{n}]."


@pytest.mark.slow
def test_a_row_is_read_below_the_heads_of_its_columns(services: Services, tmp_path: Path) -> None:
    rows = [
        f"R-{n},Customer {n},2025-0{n % 8 + 1}-{n % 27 + 1:02},{n}.50,{'yes' if n % 2 else 'no'}"
        for n in range(1, 300)
    ]
    rows[170] = "R-171,Halden AG,2025-03-21,1500.00,no"
    rows[171] = "R-172,Tern Ltd,2025-03-22,1200.00,yes"
    folder = tmp_path / "papers"
    folder.mkdir()
    heads = "Invoice,Customer,Date,Net,Paid"
    (folder / "invoices.csv").write_text("\n".join([heads, *rows]))
    index(services, folder)
    with ChatServer("") as server:
        server.answer_to = _said
        services.chat.apply(Settings(endpoint=replace(server.endpoint(), context_tokens=8_192)))
        events = list(services.chat.ask("Is R-171 of Halden AG paid?", cancel=threading.Event()))
    claims = services.chat.checked(answer_of(events), threading.Event()).claims
    verdicts = [claim.verdict for claim in claims]
    assert verdicts == [Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.SUPPORTED]
