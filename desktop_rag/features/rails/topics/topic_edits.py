"""The topics of a file while they are edited: what changed, undone and done again. Any thread."""

from dataclasses import dataclass, field, replace

from desktop_rag.features.rails.topics.rail_topic import RailTopic

Topics = tuple[RailTopic, ...]
_MOST_STEPS = 200


@dataclass(frozen=True, slots=True)
class TopicEdits:
    """Topics with the steps that led to them; each change gives a new value.

    `kind` names the last change: one of the same kind goes on with its step, so that undo takes
    back a field, and not a letter. "" is a step by itself.
    """

    topics: Topics = ()
    saved: Topics = ()
    before: tuple[Topics, ...] = ()
    after: tuple[Topics, ...] = ()
    kind: str = field(default="", compare=False)

    @property
    def is_changed(self) -> bool:
        """Whether there is something to save."""
        return self.topics != self.saved

    def changed(self, topics: Topics, kind: str = "") -> "TopicEdits":
        """With these topics now."""
        if topics == self.topics:
            return self
        if kind and kind == self.kind:
            return replace(self, topics=topics, after=())
        before = (*self.before, self.topics)[-_MOST_STEPS:]
        return TopicEdits(topics, self.saved, before, (), kind)

    def put(self, place: int, topic: RailTopic, kind: str = "") -> "TopicEdits":
        """With another topic at a place."""
        return self.changed((*self.topics[:place], topic, *self.topics[place + 1 :]), kind)

    def added(self, topic: RailTopic) -> "TopicEdits":
        """With a topic at the end."""
        return self.changed((*self.topics, topic))

    def removed(self, place: int) -> "TopicEdits":
        """Without the topic at a place."""
        return self.changed((*self.topics[:place], *self.topics[place + 1 :]))

    def moved(self, place: int, to: int) -> "TopicEdits":
        """With a topic at another place; the same where there is none."""
        if not 0 <= to < len(self.topics):
            return self
        rest = [*self.topics[:place], *self.topics[place + 1 :]]
        rest.insert(to, self.topics[place])
        return self.changed(tuple(rest))

    def undone(self) -> "TopicEdits":
        """Before the last step; the same without one."""
        if not self.before:
            return self
        return TopicEdits(self.before[-1], self.saved, self.before[:-1], (self.topics, *self.after))

    def redone(self) -> "TopicEdits":
        """With the step that was undone last; the same without one."""
        if not self.after:
            return self
        return TopicEdits(self.after[0], self.saved, (*self.before, self.topics), self.after[1:])

    def kept(self, topics: Topics) -> "TopicEdits":
        """With these topics saved. What changed meanwhile stays changed."""
        return replace(self, saved=topics, kind="")
