"""The demo library: a collection over the documents in resources/demo. Worker threads only."""

import tomllib

from desktop_rag.core.paths import resources_dir
from desktop_rag.ingest.library import Library

DEMO_COLLECTION = "Demo"


def add_demo(library: Library) -> str:
    """Add the demo library as a collection, once; returns its first question.

    The demo of another copy of the app is removed: its documents would be found twice, or no longer
    exist.
    """
    demo = resources_dir() / "demo"
    folder = demo / "documents"
    sources = library.sources.all()
    own = {c.collection_id for c in library.collections.all() if c.name == DEMO_COLLECTION}
    for source in sources:
        is_demo = source.collection_id in own and source.path.parts[-2:] == folder.parts[-2:]
        if is_demo and source.path != folder:
            library.sources.remove(source.source_id)
    if all(source.path != folder for source in sources):
        collection = library.collections.find_or_add(DEMO_COLLECTION)
        library.sources.add(folder, collection.collection_id)
    questions = (demo / "questions.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(questions)["first_question"])
