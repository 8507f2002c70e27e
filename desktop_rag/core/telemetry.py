"""Switches off the telemetry of libraries. Any thread, before the library is imported."""

import os

# ONNX Runtime reads its switch once, during import: calling disable_telemetry_events() later is too
# late, because the first host look-ups have already happened.
_SWITCHES = {
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
}


def disable_telemetry() -> None:
    """Set every known switch in the environment of this process and its children."""
    os.environ.update(_SWITCHES)
