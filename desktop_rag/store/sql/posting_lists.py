"""Postings as arrays: the chunks a word occurs in, and how often. Pure; for every engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.integer]
Numbers = NDArray[np.float64]
Counts = NDArray[np.integer]
Number = TypeVar("Number", bound=np.number)


@dataclass(frozen=True, slots=True)
class PostingList:
    """The occurrences of a word: arrays of one length, one row per chunk and term."""

    chunk_ids: Ids
    tf: Counts
    lengths: Counts

    def where(self, rows: NDArray[np.bool_] | Ids) -> "PostingList":
        """The selected rows."""
        return PostingList(self.chunk_ids[rows], self.tf[rows], self.lengths[rows])

    def in_chunks(self, chunk_ids: Ids) -> "PostingList":
        """The postings in the given chunks. Both in ascending order."""
        # With two types, searchsorted would convert the whole list.
        chunk_ids = chunk_ids.astype(self.chunk_ids.dtype)
        places = np.searchsorted(self.chunk_ids, chunk_ids)
        places = places[places < len(self.chunk_ids)]
        return self.where(places[self.chunk_ids[places] == chunk_ids[: len(places)]])

    @property
    def nbytes(self) -> int:
        """The size of the arrays in memory."""
        return self.chunk_ids.nbytes + self.tf.nbytes + self.lengths.nbytes


def merged(lists: Sequence[PostingList]) -> PostingList:
    """The postings of a word's alternative terms as those of one term."""
    if len(lists) == 1:
        return lists[0]
    if not lists:
        return PostingList(*(np.empty(0, np.int64) for _ in range(3)))
    chunk_ids = np.concatenate([each.chunk_ids for each in lists])
    ids, tf = summed(chunk_ids, np.concatenate([each.tf.astype(np.int64) for each in lists]))
    _, first = np.unique(chunk_ids, return_index=True)
    return PostingList(ids, tf, np.concatenate([each.lengths for each in lists])[first])


def summed(ids: Ids, values: NDArray[Number]) -> tuple[Ids, NDArray[Number]]:
    """The distinct ids in ascending order, each with the sum of its values."""
    if not len(ids):
        return ids, values
    order = np.argsort(ids, kind="stable")  # fast: the input is a few sorted pieces
    in_order = ids[order]
    begins = np.flatnonzero(np.concatenate(([True], in_order[1:] != in_order[:-1])))
    return in_order[begins], np.add.reduceat(values[order], begins)
