"""The distance of two words in edits: inserted, removed and replaced letters, swapped neighbours.

The optimal string alignment distance (Damerau, 1964). Pure.
"""


def edits(first: str, second: str, most: int) -> int:
    """The number of edits between two words; `most` + 1 when there are more."""
    if abs(len(first) - len(second)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        now = [i]
        for j, b in enumerate(second, 1):
            cost = min(row[j] + 1, now[j - 1] + 1, row[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            now.append(cost)
        if min(now) > most and min(row) > most:
            return most + 1
        before, row = row, now
    return min(row[-1], most + 1)
