"""The text that was read from one picture, or why it could not be read. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PictureText:
    """The text of a picture, "" where there is none; `failure` says why reading it failed."""

    text: str
    failure: str = ""

    def to_json(self) -> list[str]:
        """The values as JSON holds them."""
        return [self.text, self.failure]

    @classmethod
    def from_json(cls, values: object) -> "PictureText":
        """The inverse of `to_json`; TypeError for anything else."""
        match values:
            case [str(text), str(failure)]:
                return cls(text, failure)
            case _:
                raise TypeError("not the text of a picture")


def texts_to_json(texts: Mapping[str, PictureText]) -> dict[str, Any]:
    """The texts of the pictures in a file by their places, as JSON holds them."""
    return {place: text.to_json() for place, text in texts.items()}


def texts_from_json(fields: Mapping[str, Any]) -> dict[str, PictureText]:
    """The inverse of `texts_to_json`; TypeError for anything else."""
    return {str(place): PictureText.from_json(values) for place, values in fields.items()}
