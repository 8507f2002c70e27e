"""`/v1/embeddings`: vectors of the library's embedding model. Worker threads."""

import base64
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel

from desktop_rag.models.ports import Embedder
from desktop_rag.serve.refusals import Refusal

_MOST_TEXTS = 256
_BATCH = 16


class EmbeddingRequest(BaseModel):
    """The parameters that are used."""

    model: str
    input: str | list[str]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None


def model_name(embedder: Embedder) -> str:
    """The name of the model without the mark of its weights."""
    return embedder.name.partition("@")[0].partition("#")[0]


def embeddings(request: EmbeddingRequest, embedder: Embedder) -> dict[str, Any]:
    """The vectors of all texts in their order. Refuses what the model can't do."""
    texts = [request.input] if isinstance(request.input, str) else request.input
    if request.model not in (model_name(embedder), embedder.name):
        raise Refusal(
            404,
            f"There is no embedding model “{request.model}”; this is {model_name(embedder)}.",
            param="model",
            code="model_not_found",
        )
    if request.dimensions not in (None, embedder.dimensions):
        said = f"The vectors have {embedder.dimensions} numbers."
        raise Refusal(400, said, param="dimensions", code="unsupported_parameter")
    if not texts or len(texts) > _MOST_TEXTS or not all(texts):
        raise Refusal(400, f"1 to {_MOST_TEXTS} texts, none empty.", param="input")
    vectors = np.concatenate(
        [embedder.embed_passages(texts[i : i + _BATCH]) for i in range(0, len(texts), _BATCH)]
    )
    tokens = sum(embedder.count_tokens(texts))
    return {
        "object": "list",
        "model": request.model,
        "data": [
            {"object": "embedding", "index": index, "embedding": _encoded(vector, request)}
            for index, vector in enumerate(vectors.astype("<f4"))
        ],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def _encoded(vector: Any, request: EmbeddingRequest) -> Any:  # noqa: ANN401  one row of an array
    if request.encoding_format == "base64":
        return base64.b64encode(vector.tobytes()).decode()
    return vector.tolist()
