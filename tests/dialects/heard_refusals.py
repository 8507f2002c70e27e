"""Refusals as servers have sent them, from public reports and manuals, with what each one means.

They were collected after the patterns were written, to measure them. At first sight 113 of the
first 126 were understood with 42 of 43 limits, and 32 of the next 35 with 5 of 5.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_rag.models.endpoints.client.endpoint_faults import Fault


@dataclass(frozen=True, slots=True)
class HeardRefusal:
    """A message with its status, 0 in a stream; `limit` is the context it states, in tokens."""

    source: str
    status: int
    said: str
    fault: Fault
    code: str = ""
    limit: int = 0


def heard_refusals() -> list[HeardRefusal]:
    """All of them."""
    lines = Path(__file__).with_suffix(".jsonl").read_text("utf-8").splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return [HeardRefusal(fault=Fault[row.pop("fault")], **row) for row in rows]
