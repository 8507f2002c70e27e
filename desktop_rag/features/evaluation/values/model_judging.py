"""The result of having a model judge. Pure."""

from dataclasses import dataclass

from desktop_rag.core.language.translation import count_of, tr


@dataclass(frozen=True, slots=True)
class ModelJudging:
    """How many pairs a model judged, and why it left others out.

    `known` pairs were judged before by the same rubric; of `unclear` ones the model named none;
    `missing` have no finished answer in both runs.
    """

    model: str
    judged: int
    known: int
    unclear: int
    missing: int

    def in_words(self) -> str:
        """`“amber” judged 3 pairs. Not judged: 2 judged before, 1 where it named no answer.`"""
        pairs = count_of(self.judged, tr("pair"), tr("pairs"))
        said = tr("“{model}” judged {pairs}.", model=self.model, pairs=pairs)
        left = (
            (self.known, tr("{count:,} it judged before", count=self.known)),
            (self.unclear, tr("{count:,} where its reply named no answer", count=self.unclear)),
            (self.missing, tr("{count:,} without a finished answer in both", count=self.missing)),
        )
        parts = ", ".join(words for count, words in left if count)
        rest = tr("Not judged: {parts}.", parts=parts)
        return f"{said} {rest}" if parts else said
