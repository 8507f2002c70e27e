"""Words for topics of rails. Pure."""

from desktop_rag.core.language.translation import tr
from desktop_rag.features.rails.topics.rail_topic import RailTopic, TopicReply
from desktop_rag.ui.foundation.wording import one_line

REPLIES = {
    TopicReply.DOCUMENTS: tr("Answer from the documents"),
    TopicReply.TEXT: tr("Say a given text"),
    TopicReply.REFUSAL: tr("Refuse politely"),
    TopicReply.FOLLOW_UP: tr("Ask back"),
}
TEXT_NAMES = {
    TopicReply.TEXT: tr("The text"),
    TopicReply.REFUSAL: tr("The refusal"),
    TopicReply.FOLLOW_UP: tr("The question"),
}
USUAL_REFUSAL = tr("I'd rather not speak about that. I am glad to help with anything else.")


def topic_in_words(topic: RailTopic) -> str:
    """`ask for the price · say a given text · 3 sentences`."""
    name = one_line(topic.name) or tr("(no name)")
    count = len(topic.tidied().examples)
    said = tr("1 sentence") if count == 1 else tr("{count} sentences", count=count)
    return f"{name} · {REPLIES[topic.reply]} · {said}"
