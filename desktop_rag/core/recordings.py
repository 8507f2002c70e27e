"""Names and first bytes of recordings. Pure."""

import re

# The format of the documents.
RECORDING = "recording"
RECORDING_SUFFIXES = (
    ".3gp", ".aac", ".aif", ".aiff", ".amr", ".ape", ".au", ".avi", ".divx", ".f4v", ".flac",
    ".flv", ".m2ts", ".m4a", ".m4b", ".m4v", ".mka", ".mkv", ".mov", ".mp2", ".mp3", ".mp4",
    ".mpeg", ".mpg", ".oga", ".ogg", ".ogv", ".opus", ".ra", ".rm", ".vob", ".wav", ".weba",
    ".webm", ".wma", ".wmv",
)  # fmt: skip
# Pictures share the container of MP4; these are their brands.
_PICTURE_BRANDS = rb"(?!hei[cfmsx]|hevc|mif1|msf1|avi[fs]|crx |jp2 |jxl )"
RECORDING_START = re.compile(
    rb"RIFF.{4}(?:WAVE|AVI )|RF64.{4}WAVE|OggS|fLaC|\x1a\x45\xdf\xa3"
    rb"|.{4}ftyp" + _PICTURE_BRANDS + rb"|.{4}(?:moov|mdat|wide)|FORM.{4}AIF[FC]|#!AMR|\.snd\0"
    rb"|FLV\x01|\x30\x26\xb2\x75\x8e\x66\xcf\x11|\0\0\x01[\xb3\xba]|MAC |\.RMF|\.ra\xfd",
    re.DOTALL,
)
# So short that a text or other data may begin with it by chance.
RECORDING_WEAK_START = re.compile(
    rb"ID3[\x02-\x04]|\xff[\xe2-\xe7\xf0-\xff][\0-\xef]|\x47.{187}\x47", re.DOTALL
)


def is_recording_name(name: str) -> bool:
    """True when a file name has the suffix of a recording."""
    return name.lower().endswith(RECORDING_SUFFIXES)


def begins_like_recording(header: bytes, *, is_named: bool) -> bool:
    """True for the first bytes of a recording; `is_named` if its name is one's too."""
    if RECORDING_START.match(header):
        return True
    return is_named and RECORDING_WEAK_START.match(header) is not None
