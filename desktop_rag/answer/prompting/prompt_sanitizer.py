"""Foreign text before it is shown to a model: without orders that only a machine sees. Pure.

A person who looks into a document must be able to see all that a model reads of it. What is drawn
in white or kept in a comment is for the readers of formats; here it is about characters.
"""

import re

import regex

# Marks with which models are told who speaks; a server may take them at their word.
_ROLE_MARKS = re.compile(
    r"(?i)<(?=[|\uff5c][\w▁ ]{1,40}[|\uff5c]>)|<(?=/?(?:s|start_of_turn|end_of_turn|think)>)"
    r"|<(?=</?SYS>>)|\[(?=/?INST\])"
)
# Never seen by a person, but read by a model: tags and variation selectors, either of which can
# spell a whole letter, zero-width and direction marks, fillers, controls.
_INVISIBLE = regex.compile(
    r"[[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cc}]--[\t\n\u200c\u200d]]", regex.V1
)
# Joiners belong to Persian and Indian spelling and to emoji; elsewhere nobody sees them.
_SPELLED = r"[[\p{L}\p{M}\p{S}]--\p{ASCII}]"
_STRAY_JOINER = regex.compile(
    rf"(?<!{_SPELLED})[\u200c\u200d]|[\u200c\u200d](?!{_SPELLED})", regex.V1
)


def sanitized(text: str, fence: str) -> str:
    """The text without what a model could take for our marks or a server's, and without what
    nobody sees. `fence` is the random word of the request.
    """
    text = _STRAY_JOINER.sub("", _INVISIBLE.sub("", text))
    text = re.sub(re.escape(fence), "…", text, flags=re.IGNORECASE)
    return _ROLE_MARKS.sub(lambda match: f"{match[0]} ", text)
