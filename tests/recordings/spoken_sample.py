"""A meeting spoken by espeak-ng, and when each of its sentences begins and ends.

`meeting.wav` is 24 s long: `espeak-ng -v en-gb -s 155` for each sentence, as 8-bit mono at
8,000 Hz, with pauses of 0.4, 2.6, 0.5 and 3.0 s between them. The times were counted in frames.
"""

from pathlib import Path

from desktop_rag.features.recordings.transcripts import Spoken

MEETING = Path(__file__).parent / "meeting.wav"
SAID = (
    Spoken(0.0, 3.02, "Welcome to the meeting of the lighthouse society."),
    Spoken(3.42, 7.81, "The roof of the boat house was repaired in March for nine hundred pounds."),
    Spoken(10.41, 13.7, "Visitors may climb the tower on Saturdays only."),
    Spoken(14.2, 16.91, "The keeper trims the wick twice a night."),
    Spoken(19.91, 23.41, "The next meeting is on the fourth of June in the village hall."),
)
