"""Where the frozen program begins: the same as `python -m desktop_rag`."""

import os
import runpy
import sys

# The bootloader names its own libraries to the loader. Programs that the app starts, such as the
# viewer of a file, are to find those of the system; this process has found its own already.
if sys.platform == "linux":
    before = os.environ.pop("LD_LIBRARY_PATH_ORIG", "")
    os.environ.pop("LD_LIBRARY_PATH", None)
    if before:
        os.environ["LD_LIBRARY_PATH"] = before

runpy.run_module("desktop_rag", run_name="__main__")
