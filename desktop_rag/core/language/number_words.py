"""The English words for whole numbers below a hundred. Pure."""

SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES = {
    **{word: value for value, word in enumerate(SMALL.split())},
    **{word: 10 * tens for tens, word in enumerate(TENS.split(), 2)},
}
# The digits of each, without the pronoun, and a word that rarely means a number.
NUMBER_WORDS = {word: f"{value}" for word, value in _VALUES.items() if word not in {"zero", "one"}}
