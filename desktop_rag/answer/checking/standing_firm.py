"""What a model is told when a person insists on something, and what is shown without one. Pure.

It names the sources and leaves the judgement to them: the person may be right, and a new source may
say so.
"""

from collections.abc import Sequence

from desktop_rag.answer.checking.disputes import CheckedDispute, Finding
from desktop_rag.answer.prompting.prompt_sanitizer import sanitized
from desktop_rag.answer.writing.excerpt_markdown import quoted

OTHERWISE = "The sources say otherwise."
_AGREED = "The sources say this too."
_DIFFERENT = "The sources disagree."
_LONGEST_EVIDENCE_CHARS = 400
_MOST_NAMED = 3

_DENIED = "The person says that the last answer is wrong, and does not say what is right."
_SAID = "The person contradicts the last answer. They say: “{claim}”"
_COMPARED = "The words of the sources above were compared with that:"
_SAYS_SO = "- Source [{n}] says it: <source-{fence}>{evidence}</source-{fence}>"
_SAYS_OTHERWISE = "- Source [{n}] says otherwise: <source-{fence}>{evidence}</source-{fence}>"
_NONE = "- No source was found to say it in these words, and none to deny it."
_FIRM = (
    "Stay with the sources: say politely what they say instead, and cite it. Don't agree, and don't"
    " apologise for what is right."
)
_RIGHT = "The person seems to be right: say so, correct the last answer, and cite the source."
_BOTH = "The sources disagree: say so plainly, and cite both sides."
_READ_AGAIN = (
    "Read the sources again. If they say what the person says, correct the last answer and cite"
    " them. If not, stay politely with what they say: insisting is no source."
)


def remark(found: CheckedDispute, fence: str) -> str:
    """The lines about the dispute for the prompt; its evidence is quoted data."""
    lines = [_said(found.dispute.claim, fence)]
    if found.dispute.claim:
        lines += [_COMPARED, *_listed(_SAYS_SO, found.supporting, fence)]
        lines += _listed(_SAYS_OTHERWISE, found.denying, fence)
        lines += [] if found.supporting or found.denying else [_NONE]
    lines.append(_advice(found))
    return "\n".join(lines)


def excerpt(found: CheckedDispute) -> str:
    """What the sources say to the claim, cited; "" when no source says it or denies it."""
    shown = [*found.supporting[:1], *found.denying[:1]]
    if not shown:
        return ""
    is_both = bool(found.supporting and found.denying)
    heading = _DIFFERENT if is_both else _AGREED if found.supporting else OTHERWISE
    passages = [f"{quoted(' '.join(finding.evidence.split()))} [{finding.n}]" for finding in shown]
    return "\n\n".join([heading, *passages])


def _said(claim: str, fence: str) -> str:
    plain = " ".join(sanitized(claim, fence).split())
    return _SAID.format(claim=plain) if plain else _DENIED


def _listed(form: str, findings: Sequence[Finding], fence: str) -> list[str]:
    return [
        form.format(n=found.n, fence=fence, evidence=_shortened(sanitized(found.evidence, fence)))
        for found in findings[:_MOST_NAMED]
    ]


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_EVIDENCE_CHARS else f"{line[:_LONGEST_EVIDENCE_CHARS]} …"


def _advice(found: CheckedDispute) -> str:
    if found.supporting and found.denying:
        return _BOTH
    if found.denying:
        return _FIRM
    return _RIGHT if found.supporting else _READ_AGAIN
