"""Stores interactions and finds those similar to a question. Any thread.

A question is compared with all of them: ten thousand take a few milliseconds.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.claims import Verdict
from desktop_rag.core.conversation import Feedback, Interaction, InteractionOutcome
from desktop_rag.store.contract.database import Connection, Database, Entity, fetched
from desktop_rag.store.contract.vectors import packed, unpacked

_STORED = (
    "interaction_id, conversation_id, question, asked, answer, outcome, ended_at, model,"
    " has_several_steps, assistant_id"
)
_OPINION = (
    "coalesce((SELECT arg_max(value, number) FROM feedback f"
    " WHERE f.message_id = i.interaction_id), '')"
)
_SHOWN = f"SELECT {_STORED}, {_OPINION} FROM interactions i"
_IS_HIDDEN = "conversation_id IN (SELECT conversation_id FROM conversations WHERE is_deleted)"
# An answer that was replaced is no answer any more, unless it is restored.
_STANDS = "interaction_id IN (SELECT message_id FROM messages)"
# An answer that its sources don't support may follow instructions in one of them, or in an example.
# One that nobody checked may be such an answer.
_BACKED = {Verdict.SUPPORTED.value}
# An answer that obeyed a document is often supported in part.
_UNBACKED = {Verdict.CONTRADICTED.value, Verdict.NOT_IN_SOURCES.value, Verdict.PARTLY.value}
# Several may ask in the same words: this many are read for each one wanted.
_DEPTH = 4


class InteractionStore:
    """Interactions with the vectors of their questions, each of a named embedder.

    Those of a hidden conversation are hidden with it, and purged with it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        interaction: Interaction,
        embedder: str = "",
        vector: NDArray[np.float32] | None = None,
    ) -> None:
        """Store it in place of one with the same id. Without a vector it is never similar."""
        i = interaction
        row = [
            i.interaction_id, i.conversation_id, i.question, i.asked, i.answer, i.outcome.value,
            i.ended_at, i.model, i.has_several_steps, i.assistant_id,
            embedder, None if vector is None else packed(vector[None])[0],
        ]  # fmt: skip

        def work(con: Connection) -> None:
            con.execute("DELETE FROM interactions WHERE interaction_id = ?", [i.interaction_id])
            con.execute(
                f"INSERT INTO interactions ({_STORED}, embedder, vector, number)"
                f" SELECT {', '.join('?' * len(row))},"
                " (SELECT coalesce(max(number), 0) + 1 FROM interactions)",
                row,
            )

        self._database.write_uncached(work, changes=[Entity("answer", i.interaction_id)])

    def set_vector(self, interaction_id: str, embedder: str, vector: NDArray[np.float32]) -> None:
        """Set the vector of an interaction's question; no effect when the interaction is gone."""

        def work(con: Connection) -> None:
            rows = con.execute(
                f"DELETE FROM interactions WHERE interaction_id = ? RETURNING {_STORED}, number",
                [interaction_id],
            ).fetchall()
            for row in rows:
                con.execute(
                    f"INSERT INTO interactions ({_STORED}, number, embedder, vector)"
                    f" VALUES ({', '.join('?' * (len(row) + 2))})",
                    [*row, embedder, packed(vector[None])[0]],
                )

        self._database.write_uncached(work)

    def similar(
        self,
        vector: NDArray[np.float32],
        embedder: str,
        *,
        assistant_id: str,
        outside: str,
        least: float,
        most: int,
    ) -> list[Interaction]:
        """The most similar ones that may serve as examples, liked ones first.

        A model answered them successfully in one step for the same assistant. Their answer still
        exists in a conversation other than `outside` and is not disliked. Unless it is liked, none
        of its claims was found contradicted, unsupported or supported in part only. The inner
        product of their vector and `vector` is at least `least`. Questions in the same words are
        returned once.
        """
        rows = fetched(
            self._database,
            f"SELECT interaction_id, vector, {_OPINION} AS opinion FROM interactions i"
            " WHERE embedder = $embedder AND octet_length(vector) = $bytes"
            " AND assistant_id = $assistant"
            " AND conversation_id <> $outside AND outcome = $done AND model <> ''"
            f" AND NOT has_several_steps AND {_STANDS} AND NOT {_IS_HIDDEN}"
            f" AND {_OPINION} <> $disliked",
            {
                "embedder": embedder,
                # An endpoint may serve another model under the same name.
                "bytes": len(vector),
                "assistant": assistant_id,
                "outside": outside,
                "done": InteractionOutcome.DONE.value,
                "disliked": Feedback.DISLIKED.value,
            },
        )
        if not rows:
            return []
        alike = unpacked([row[1] for row in rows], len(vector)) @ vector
        ranked = sorted(
            (row[2] != Feedback.LIKED, -float(similarity), row[0])
            for row, similarity in zip(rows, alike, strict=True)
            if similarity >= least
        )
        backed = self._backed([interaction_id for *_, interaction_id in ranked])
        fitting = [i for is_not_liked, _, i in ranked if i in backed or not is_not_liked]
        return _distinct(self.get(fitting[: _DEPTH * most]))[:most]

    def _backed(self, interaction_ids: Sequence[str]) -> set[str]:
        """The interactions whose answer was checked, and has no claim without support."""
        rows = fetched(
            self._database,
            "SELECT message_id, claims FROM messages"
            " WHERE message_id IN (SELECT unnest(?::VARCHAR[])) AND claims <> '[]'",
            [list(interaction_ids)],
        )
        return {message_id for message_id, claims in rows if _is_backed(json.loads(claims))}

    def without_vector_of(self, embedder: str, most: int) -> list[Interaction]:
        """The newest interactions without a vector of this embedder."""
        return self._read(
            f"{_SHOWN} WHERE embedder <> ? ORDER BY number DESC LIMIT ?", [embedder, most]
        )

    def get(self, interaction_ids: Sequence[str]) -> list[Interaction]:
        """The stored ones among them, in the given order."""
        found = {
            i.interaction_id: i
            for i in self._read(
                f"{_SHOWN} WHERE interaction_id IN (SELECT unnest(?::VARCHAR[]))",
                [list(interaction_ids)],
            )
        }
        return [found[one] for one in interaction_ids if one in found]

    def newest(self, most: int) -> list[Interaction]:
        """The newest interactions that are not hidden, the newest first."""
        return self._read(f"{_SHOWN} WHERE NOT {_IS_HIDDEN} ORDER BY number DESC LIMIT ?", [most])

    def count(self) -> int:
        """The number of interactions that are not hidden."""
        sql = f"SELECT count(*) FROM interactions WHERE NOT {_IS_HIDDEN}"
        [(count,)] = fetched(self._database, sql)
        return int(count)

    def forget(self, interaction_ids: Sequence[str]) -> None:
        """Remove these permanently."""
        self._database.write_uncached(
            lambda con: con.execute(
                "DELETE FROM interactions WHERE interaction_id IN (SELECT unnest(?::VARCHAR[]))",
                [list(interaction_ids)],
            ),
            changes=[Entity("answer", one) for one in interaction_ids],
        )

    def forget_all(self) -> None:
        """Remove all permanently, hidden ones too."""
        changes: list[Entity] = []

        def work(con: Connection) -> None:
            gone = con.execute("DELETE FROM interactions RETURNING interaction_id").fetchall()
            changes.extend(Entity("answer", interaction_id) for (interaction_id,) in gone)

        self._database.write_uncached(work, changes=changes)

    def _read(self, sql: str, values: list[Any]) -> list[Interaction]:
        return [_interaction(row) for row in fetched(self._database, sql, values)]


def _interaction(row: tuple[Any, ...]) -> Interaction:
    *texts, outcome, ended_at, model, has_several_steps, assistant_id, opinion = row
    interaction_id, conversation_id, question, asked, answer = texts
    return Interaction(
        interaction_id, conversation_id, question, asked, answer, InteractionOutcome(outcome),
        ended_at, model, has_several_steps, assistant_id, Feedback(opinion),
    )  # fmt: skip


def _is_backed(claims: Sequence[dict[str, Any]]) -> bool:
    verdicts = {(claim.get("checked") or {}).get("verdict") for claim in claims}
    return bool(verdicts & _BACKED) and not verdicts & _UNBACKED


def _distinct(interactions: Sequence[Interaction]) -> list[Interaction]:
    """Without those that ask in the same words as an earlier one in the list."""
    firsts: dict[str, Interaction] = {}
    for interaction in interactions:
        firsts.setdefault(" ".join(interaction.asked.casefold().split()), interaction)
    return list(firsts.values())
