"""The process that runs one model: the server of llama.cpp, for this computer and one key only.

Its first line of standard input says what to run. It ends with its standard input, and on Linux
with its parent, even where the library holds the interpreter for long.
"""

import ctypes
import json
import os
import signal
import sys
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

# Before each line for the parent; the library writes lines of its own.
MARK = "\x1e"
_PR_SET_PDEATHSIG = 1
# The system kills this process before others when memory is short.
_FIRST_TO_GO = "800"
# The memory of the server for prompts besides that of its slots is not needed.
_CHECKPOINTS = 4
_TRIAL_WORDS = 128
_TRIAL_TOKENS = 8


def main() -> int:
    """Serve until standard input ends."""
    _end_with_parent()
    order: dict[str, Any] = json.loads(sys.stdin.readline())
    threading.Thread(target=_wait_for_parent, name="parent", daemon=True).start()
    try:
        server = _started(order)
        told: dict[str, Any] = {"address": server.listening_address}
        if order["measures"]:
            told |= {**_measured(server), "device": _device()}
    except Exception as exc:
        _tell({"refused": str(exc)[:300]})
        return 1
    _tell(told)
    threading.Event().wait()
    return 0


def _end_with_parent() -> None:
    if sys.platform == "linux":
        parent = os.getppid()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO, "ascii")
        if os.getppid() != parent:  # it ended meanwhile
            os._exit(0)


def _wait_for_parent() -> NoReturn:
    sys.stdin.read()
    os._exit(0)


def _tell(told: dict[str, Any]) -> None:
    sys.stdout.write(f"\n{MARK}{json.dumps(told)}\n")
    sys.stdout.flush()


def _started(order: dict[str, Any]) -> Any:  # noqa: ANN401  the library is untyped
    library: Any = import_module("xllamacpp")
    chosen = library.CommonParams()
    chosen.model.path = order["path"]
    chosen.model_alias = {order["name"]}
    chosen.api_keys = [order["key"]]
    chosen.hostnames, chosen.port = ["127.0.0.1"], 0
    # No page, no other origin, nothing about the questions of others, nothing fetched.
    chosen.ui = chosen.endpoint_slots = chosen.cors_credentials = False
    chosen.cors_origins = ""
    chosen.offline = True
    chosen.n_ctx = order["all_tokens"]
    chosen.n_parallel = order["slots"]
    chosen.kv_unified, chosen.kv_unified_per_slot = True, order["context_tokens"]
    chosen.cache_ram_mib, chosen.n_ctx_checkpoints = 0, _CHECKPOINTS
    if order["is_quantised"]:
        chosen.cache_type_k = chosen.cache_type_v = library.ggml_type.GGML_TYPE_Q8_0
        chosen.flash_attn_type = library.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
    for part in (chosen.cpuparams, chosen.cpuparams_batch):
        part.n_threads = order["threads"]
    return library.Server(chosen)


def _device() -> str:
    """What runs the model: the graphics processors that the library knows, else the processor."""
    library: Any = import_module("xllamacpp")
    processor = library.ggml_backend_dev_type.GGML_BACKEND_DEVICE_TYPE_CPU
    known = library.get_device_info()
    others = [one for one in known if one["type"] != processor]
    return ", ".join(one["description"] for one in others or known)


def _measured(server: Any) -> dict[str, float]:  # noqa: ANN401  the library is untyped
    """The tokens that the model reads and writes a second; empty when it can't be found out."""
    words = " ".join(f"{n} lamps are lit." for n in range(_TRIAL_WORDS // 4))
    asked = {"prompt": words, "n_predict": _TRIAL_TOKENS, "cache_prompt": False, "id_slot": 0}
    timings = server.handle_completions(asked).get("timings", {})
    speeds = {
        "read_per_s": timings.get("prompt_per_second"),
        "written_per_s": timings.get("predicted_per_second"),
    }
    return {name: round(s, 1) for name, s in speeds.items() if isinstance(s, int | float)}
