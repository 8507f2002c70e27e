"""Opens embedders by their spec: a folder, the address of an endpoint, or nothing."""

from collections.abc import Callable, Mapping
from pathlib import Path
from weakref import WeakSet

from desktop_rag.activity.recorder import Recorder
from desktop_rag.models.embedding.bundled_models import BUNDLED_MULTILINGUAL
from desktop_rag.models.embedding.model_folder import check_files, read_description
from desktop_rag.models.embedding.onnx_embedder import OnnxEmbedder
from desktop_rag.models.embedding.remote_embedder import RemoteEmbedder, endpoint_of, is_address
from desktop_rag.models.ports import Embedder

# Reading its tokenizer holds the interpreter, and so the window, for a third of a second.
_LOADED_WHEN_NEEDED = frozenset({BUNDLED_MULTILINGUAL})


class EmbedderOpener:
    """Opens the bundled models, model folders and endpoints."""

    def __init__(
        self,
        bundled: Mapping[str, Path],
        key_of: Callable[[str], str],
        recorder: Recorder | None = None,
    ) -> None:
        """`bundled` are the folders of the models that ship with the app, by their specs."""
        self._bundled = bundled
        self._key_of = key_of
        self._recorder = recorder
        self._folders: WeakSet[OnnxEmbedder] = WeakSet()

    def let_go(self) -> None:
        """Free the memory of the models; each is loaded again when it is needed."""
        for embedder in list(self._folders):
            embedder.let_go()

    def prepare(self) -> None:
        """Load again what was let go. AppError when the files of a model are gone."""
        for embedder in list(self._folders):
            embedder.prepare()

    def open(self, spec: str, threads: int, dimensions: int = 0) -> Embedder:
        """The embedder of a spec; AppError when it can't be opened.

        Loading a folder takes a second or more; the bundled model for many languages is loaded when
        the first text needs it. An endpoint gets no request yet; its vectors must
        have this number of dimensions, 0 means any.
        """
        if is_address(spec):
            return RemoteEmbedder(
                endpoint_of(spec), self._key_of, dimensions=dimensions, recorder=self._recorder
            )
        embedder = OnnxEmbedder(
            self._folder(spec), threads=threads, loads_at_once=spec not in _LOADED_WHEN_NEEDED
        )
        self._folders.add(embedder)
        return embedder

    def check(self, spec: str) -> str:
        """A sentence that confirms a usable model; AppError says what is wrong with another."""
        if is_address(spec):
            embedder = RemoteEmbedder(endpoint_of(spec), self._key_of, recorder=self._recorder)
            try:
                return f"{embedder.name} answers with vectors of {embedder.dimensions:,} numbers."
            finally:
                embedder.close()
        folder = self._folder(spec)
        description = read_description(folder)
        check_files(folder, description)
        return f"{description.name} is complete and unaltered."

    def _folder(self, spec: str) -> Path:
        try:
            return self._bundled.get(spec) or Path(spec).expanduser()
        except RuntimeError:
            # The home of a user that there is not.
            return Path(spec)
