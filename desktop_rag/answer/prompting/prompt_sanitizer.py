"""Sanitises untrusted text for a prompt: removes instructions that only a machine sees. Pure.

A person who opens a document must be able to see everything that a model reads of it. The format
readers handle white text and comments; this module handles characters.
"""

import re

import regex

# Role markers of chat templates, which a server may obey.
_ROLE_MARKS = re.compile(
    r"(?i)<(?=[|\uff5c][\w▁ ]{1,40}[|\uff5c]>)|<(?=/?(?:s|start_of_turn|end_of_turn|think)>)"
    r"|<(?=</?SYS>>)|\[(?=/?INST\])"
)
# Invisible to a person but read by a model: tags and variation selectors, which can encode whole
# messages, zero-width and direction marks, fillers, controls.
_INVISIBLE = regex.compile(
    r"[[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cc}]--[\t\n\u200c\u200d]]", regex.V1
)
# Joiners are part of Persian and Indic spelling and of emoji; elsewhere they are invisible.
_SPELLED = r"[[\p{L}\p{M}\p{S}]--\p{ASCII}]"
_STRAY_JOINER = regex.compile(
    rf"(?<!{_SPELLED})[\u200c\u200d]|[\u200c\u200d](?!{_SPELLED})", regex.V1
)


def sanitized(text: str, fence: str) -> str:
    """The text without invisible characters, role markers, and the `fence` of the request."""
    text = _STRAY_JOINER.sub("", _INVISIBLE.sub("", text))
    text = re.sub(re.escape(fence), "…", text, flags=re.IGNORECASE)
    return _ROLE_MARKS.sub(lambda match: f"{match[0]} ", text)
