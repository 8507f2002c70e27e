"""The names that mail and web pages use for encodings, and the encodings meant.

Runs in the parser process.
"""

# Programs name the old set and write its extension. After the Encoding Standard of the WHATWG.
_USUAL = {
    "ascii": "cp1252", "us-ascii": "cp1252", "iso-8859-1": "cp1252", "latin1": "cp1252",
    "latin-1": "cp1252", "iso-8859-9": "cp1254", "iso-8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "big5": "big5hkscs",
    "shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932",
    "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "x-mac-roman": "mac-roman",
    "iso-8859-8-i": "iso-8859-8", "unicode-1-1-utf-7": "utf-7",
}  # fmt: skip
# In these every byte is ASCII, so that nothing but the name tells what they are.
DISGUISED = {"utf-7", "hz", "hz-gb-2312", "iso-2022-kr"}


def usual_name(declared: str) -> str:
    """The codec that a mail or web page means by this name."""
    name = declared.strip().lower()
    return _USUAL.get(name, name)
