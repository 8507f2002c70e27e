"""Bytes that are written as letters, such as a picture in base64: no text to search or to quote.

They are told by their shape, and by how often the kinds of their letters change, which in words and
names is seldom. Each run becomes `[data]`. Runs in the parser process.
"""

import re
from bisect import bisect_right
from collections.abc import Callable

_LETTER = "[A-Za-z0-9_+/=-]"
# Looked for only where they begin: from each letter of many runs that are a little shorter it would
# take minutes.
_DATA = re.compile(
    # Letters and digits without a space, or several lines of them.
    rf"(?P<letters>(?<!{_LETTER}){_LETTER}{{200,}}+"
    rf"|(?<!{_LETTER})(?:{_LETTER}{{40,}}+(?:\s++(?={_LETTER})|\Z|(?=\s))){{4,}}+)"
    # A dump: the place in the file, then bytes as pairs of digits.
    r"|(?m:(?P<dump>(?:^[ \t]*[0-9A-Fa-f]{4,16}:?[ \t]+"
    r"(?:(?:[0-9A-Fa-f]{2}){1,4}[ \t-]{1,3}){4,}[^\n]*(?:\n|\Z)){4,}+))"
    # uuencode, the form of PDF and Git, and bytes as in addresses.
    r"|(?m:^begin [0-7]{3,4} [^\n]+\n(?:[ -`]{1,62}\n){4,}?end$)"
    r"|<~[!-uz\s]{100,}+~>"
    r"|(?:%[0-9A-Fa-f]{2}[\w.~+-]{0,8}+){60,}+"
)
