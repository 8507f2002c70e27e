"""The rules of chats, sources and the other rows that exist nowhere else. Pure."""

from desktop_rag.store.duckdb.inspection.rules import Rule

# Table and key of the things that are listed once, with a word for them.
_LISTED_ONCE = (
    ("collections", "collection_id", "collections"),
    ("sources", "source_id", "folders and links"),
    ("file_tags", "path", "tagged files"),
    ("conversations", "conversation_id", "chats"),
    ("messages", "message_id", "messages"),
    ("assistants", "assistant_id", "assistants"),
    ("interactions", "interaction_id", "remembered answers"),
    ("attached_images", "attachment_id", "attached images"),
    ("standing_questions", "question_id", "scheduled questions"),
    ("standing_runs", "run_id", "answers to scheduled questions"),
    ("experiments", "record_id", "sets of questions and their runs"),
    ("evaluations", "evaluation_id", "evaluation runs"),
)

PERSONAL_RULES = (
    *(
        Rule(
            f"{word} listed twice",
            f"(SELECT {key} FROM {table} GROUP BY {key} HAVING count(*) > 1)",
            is_precious=True,
        )
        for table, key, word in _LISTED_ONCE
    ),
    Rule(
        "folders and links without a collection",
        "sources ANTI JOIN collections USING (collection_id)",
        is_precious=True,
    ),
    Rule(
        "messages without a chat",
        "messages ANTI JOIN conversations USING (conversation_id)",
        is_precious=True,
    ),
    Rule(
        "citations without a message",
        "citations ANTI JOIN messages USING (message_id)",
        is_precious=True,
    ),
    Rule(
        "remembered answers without a chat",
        "(FROM interactions WHERE conversation_id <> '')"
        " ANTI JOIN conversations USING (conversation_id)",
        is_precious=True,
    ),
    Rule(
        "answers without their scheduled question",
        "standing_runs ANTI JOIN standing_questions USING (question_id)",
        is_precious=True,
    ),
    Rule(
        "runs without their set of questions, or answers without their run",
        "(SELECT owner_id AS record_id FROM experiments WHERE owner_id <> '')"
        " ANTI JOIN experiments USING (record_id)",
        is_precious=True,
    ),
)
