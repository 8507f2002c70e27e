"""Switches off the usage reports of libraries. Any thread, before the library is imported."""

import os

# ONNX Runtime reads its switch once, while it is imported: disable_telemetry_events() afterwards
# is too late, the first host look-ups have happened by then.
_SWITCHES = {
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
}


def disable_telemetry() -> None:
    """Set every known switch in the environment of this process and of those it starts."""
    os.environ.update(_SWITCHES)
