"""The written forms of a citation, as patterns. Pure data.

A form is a bracket, a raised number or a last line "Sources: 1, 2"; inside stands a list of
numbers, in the digits of any script, each perhaps after a word for source in any of many languages.
"""

import re
from functools import cache

_ZEROS = "0٠۰߀०০੦૦୦௦౦೦൦๐໐༠၀០᠐０"
_BLANK = "[ \\t\u00a0\u2009\u202f\u3000]"
_DASH = "[-–—‑−~〜～]"
# Words that are no English, German or other ordinary word in a bracket before a number.
_SOURCES = (
    r"sources?|src|quellen?|fuentes?|fontes?|fonti|bronnen|bron|källa|källor|kilder?|lähteet|lähde"
    r"|źródł[oa]|zdroje?|forrás(?:ok)?|surs[aăe]|izvori?|kaynak(?:lar)?|nguồn|sumber|источники?"
    r"|джерел[оа]|източни(?:к|ци)|πηγ(?:ή|ές)|מקורות|מקור|(?:ال)?مصدر|(?:ال)?مصادر|منبع|منابع"
    r"|स्रोत|সূত্র|ஆதாரம்|แหล่งที่มา|แหล่งอ้างอิง|出典|出处|出處|来源|來源|资料来源|参考资料|参考文献|출처|자료"
)
_OTHERS = (
    r"documents?|docs?|references?|refs?|citations?|cites?|cit|passages?|excerpts?|ids?|nos?|nr|núm|n\.?[º°]|dokumente?"
    r"|documentos?|документы?|文档|文件|文書|資料|参考|参照|引用|문서|참고|مستند|وثيقة|مرجع|दस्तावेज़|संदर्भ"
)
_SOURCE = rf"(?:{_SOURCES})"
_WORD = rf"(?:{_SOURCES}|{_OTHERS})"
# Not 0, which begins intervals and lists, and not a year.
NUMBER = rf"(?![{_ZEROS}])\d{{1,3}}(?!\d)"
_JOINT = rf"(?:{_BLANK}?[:：.#＃№_-]){{0,2}}{_BLANK}?"
_NAMED = rf"{_WORD}{_JOINT}"
# [S1], [#1], [@1] and [^1] name a source by a sign.
_SIGN = rf"(?:[S#＃@]|№{_BLANK}?)"
_ITEM = rf"(?:{_NAMED})?{NUMBER}(?:{_BLANK}?{_DASH}{_BLANK}?{NUMBER})?"
_SIGNED = rf"{_SIGN}{NUMBER}(?:{_BLANK}?{_DASH}{_BLANK}?{_SIGN}?{NUMBER})?"
_ANDS = r"and|und|et|y|e|en|i|og|och|ja|és|și|ve|và|dan|и|та|και|و|और"
_AND = rf"{_BLANK}?(?:[,;&+，、；،؛]|,?{_BLANK}(?:{_ANDS}){_BLANK}|[和与及と와과])[ \t]?"
_LIST = rf"{_ITEM}(?:{_AND}{_ITEM})*"
_SIGNED_LIST = rf"{_SIGNED}(?:{_AND}(?:{_SIGNED}|{_ITEM}))*"
_FOOTNOTES = rf"\^{NUMBER}\^?(?:{_AND}\^?{NUMBER}\^?)*"
_PAGES = (
    r"pages?|pp?|lines?|ll?|S|Seiten?|sections?|sec|chapters?|ch|Kap|pág(?:ina)?s?|pag(?:ina)?s?|стр|с"
    r"|σελ|§|第|ص|صفحة|पृष्ठ"
)
_PAGE = (
    rf"(?:[,;:，、：]{_BLANK}?(?:{_PAGES})\.?{_BLANK}?\d+(?:{_BLANK}?{_DASH}{_BLANK}?\d+)?"
    rf"{_BLANK}?[页頁ページ쪽]{{0,3}})?"
)
# What a model adds inside: [1†L1-L4], [1: Handbook], [1 – Handbook].
_ADDED = (
    rf"(?:(?::\d+)?†[^\[\]`\n]{{0,120}}"
    rf"|(?::{_BLANK}|{_BLANK}[-–—|]{_BLANK})[^\W\d][^\[\]`\n]{{0,120}})?"
)
_NOTE = rf"(?:{_BLANK}?[:：†,，–—-][^\[\]`\n]{{0,120}})?"
# A link is no citation, unless it leads to a place in the answer.
_NO_LINK = r"(?:\((?:#[^()\s]{0,80}|cite[^()\s]{0,80}|sources?[^()\s.]{0,80})\)|(?!\())"
_RAISED_DIGIT = "[¹²³⁴-⁹][⁰¹²³⁴-⁹]{0,2}"
_RAISED = rf"{_RAISED_DIGIT}(?:(?:[,˒،]{_BLANK}?|[⁻⁃–-]|⁾{_BLANK}?⁽){_RAISED_DIGIT})*"
_RAISED_LIST = rf"{NUMBER}(?:{_BLANK}?(?:[,;]|{_DASH}){_BLANK}?{NUMBER})*"

RANGE = re.compile(rf"({NUMBER})(?:{_BLANK}?{_DASH}{_BLANK}?[S#^]?({NUMBER}))?")


@cache
def marker() -> re.Pattern[str]:
    """One citation in any form. Compiling takes a tenth of a second, so not before it is used."""
    return re.compile(
        rf"(?i)\[{_BLANK}?(?:see{_BLANK}|cf\.?{_BLANK})?(?P<named>{_NAMED}{_LIST}){_NOTE}{_BLANK}?\]{_NO_LINK}"
        rf"|\[\[{_BLANK}?(?P<double>\^?(?:{_LIST}|{_SIGNED_LIST})){_BLANK}?\]\]{_NO_LINK}"
        rf"|\[{_BLANK}?(?P<square>{_LIST})\.?(?:{_PAGE}|{_ADDED}){_BLANK}?\]{_NO_LINK}"
        rf"|\[{_BLANK}?(?P<signed>{_SIGNED_LIST})(?:{_PAGE}|{_ADDED}){_BLANK}?\]{_NO_LINK}"
        rf"|\[(?P<footnote>{_FOOTNOTES})\](?!\()"
        rf"|\[\*{{1,2}}(?P<bold>{_LIST})\*{{1,2}}\]{_NO_LINK}"
        rf"|\\\[{_BLANK}?(?P<escaped>\\?\^?(?:{_LIST}|{_SIGNED_LIST})){_BLANK}?\\\]"
        rf"|[【［〔〖﹝⟦❲]{_BLANK}?(?P<lenticular>\^?(?:{_LIST}|{_SIGNED_LIST}))"
        rf"(?:{_BLANK}?[:：†,，][^】］〕〗﹞⟧❳`\n]{{0,120}})?{_BLANK}?[】］〕〗﹞⟧❳]"
        rf"|[(（](?:see{_BLANK}|cf\.?{_BLANK})?(?P<round>{_SOURCE}{_JOINT}{_LIST})"
        rf"(?:{_BLANK}?[:：,，–—-][^()（）`\n]{{0,120}})?[)）]"
        rf"|\$\^\{{?\[?(?P<formula>{_RAISED_LIST})\]?\}}?\$"
        rf"|\\cite[pt]?\{{(?P<latex>{_LIST})\}}"
        rf"|<sup>{_BLANK}?\[(?P<sup>{_LIST})\]{_BLANK}?</sup>"
        rf"|<(?P<tag>cite|ref|citation|source)>{_BLANK}?\[?(?P<tagged>{_LIST})\]?{_BLANK}?</(?P=tag)>"
        rf"|<sup>{_BLANK}?(?P<raised_sup>{_RAISED_LIST}){_BLANK}?</sup>"
        rf"|\^\{{?(?P<raised_caret>{_RAISED_LIST})(?:\}}|\^)?(?![\w.]*\w)"
        rf"|⁽?(?P<raised>{_RAISED})⁾?(?![\w⁰¹²³⁴-⁹⁻⁺ⁿ])"
    )


@cache
def source_line() -> re.Pattern[str]:
    """The last line of an answer or of a paragraph: "Sources: 1, 2"."""
    return re.compile(
        rf"(?im)^[ \t>*_#(-]{{0,8}}{_SOURCE}[*_]{{0,3}}{_BLANK}?[:：]{_BLANK}?[*_]{{0,3}}{_BLANK}?"
        rf"(?P<listed>(?:{_LIST}|{_SIGNED_LIST}))(?=[.。)*_]{{0,3}}[ \t]*(?:\Z|\n[ \t]*(?:\n|\Z)))"
    )
