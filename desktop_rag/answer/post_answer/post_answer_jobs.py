"""What is done about an answer once it stands. Worker threads.

What asks a model never begins while an answer is on its way, in whatever conversation, and gives
way to one: a server on the person's own computer does one thing at a time.
"""

import logging
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Event, Lock
from typing import TypeVar

from desktop_rag.answer.checking.answer_checking import CheckClaim, claims_of
from desktop_rag.answer.checking.claim_judge import judged
from desktop_rag.answer.endpoints.helper_job import Unless
from desktop_rag.answer.post_answer.follow_ups import FollowUps
from desktop_rag.core.answer_claims import Claim
from desktop_rag.core.conversation import AnswerChanged, Message, MessageState
from desktop_rag.core.errors import AppError
from desktop_rag.core.question import SearchScope
from desktop_rag.core.settings import Settings
from desktop_rag.models.gate import ModelGate
from desktop_rag.models.ports import ChatModel
from desktop_rag.store.contract.records import ConversationStore

log = logging.getLogger(__name__)

T = TypeVar("T")
# What is found on the way, and the answer as it is at the end.
_Changes = Generator[AnswerChanged, None, Message]

_WAIT_S = 0.2
# So often a job begins anew that gave way to an answer.
_TRIES = 3
# Claims that a model is asked about: each is a request.
_MOST_JUDGED = 40


@dataclass(frozen=True, slots=True)
class After:
    """What a job about an answer is to know: `history` ends with the question it answers.

    Unless it `asks_model`, only this computer works at it.
    """

    history: Sequence[Message]
    reach: SearchScope
    settings: Settings
    asks_model: bool = True


class PostAnswerJobs:
    """Checks the claims of an answer, and finds what may be asked after it."""

    def __init__(
        self,
        conversations: ConversationStore,
        follow_ups: FollowUps,
        check: CheckClaim,
        helper: Callable[[Settings], ChatModel | None],
        answers: ModelGate,
    ) -> None:
        """`helper` gives the model for small jobs by given settings; `answers` is closed while one
        is on its way.
        """
        self._conversations = conversations
        self._follow_ups = follow_ups
        self._check = check
        self._helper = helper
        self._answers = answers
        # The checker is made for one thread, and two answers may have come at once.
        self._checking = Lock()

    def about(self, answer: Message, after: After, cancel: Event) -> Iterator[AnswerChanged]:
        """The answer each time more is known of it; all of that is stored in the end.

        Of one that was stopped, failed or rests on nothing there is nothing to find. When the
        endpoint fails, nothing more is found: nobody asked for it, so it is only logged.
        """
        if answer.state is not MessageState.DONE or not answer.sources:
            return
        wanted = after.settings.answers
        # Excerpts are the words of the sources.
        is_checked = wanted.checks_claims and not answer.is_excerpts
        is_new = is_checked and not answer.claims
        try:
            if is_new:
                answer = yield from self._with_claims(answer, cancel)
            if not after.asks_model:
                return
            if wanted.suggests_questions and not answer.follow_ups:
                answer = yield from self._with_questions(answer, after, cancel)
            if is_new and wanted.checks_with_model:
                yield from self._judged(answer, after.settings, cancel)
        except AppError as error:
            log.info("no more was found about an answer: %s", error.title)

    def _stored(self, answer: Message, cancel: Event) -> Message:
        if not cancel.is_set():
            self._conversations.set_after(answer)
        return answer

    def _with_claims(self, answer: Message, cancel: Event) -> _Changes:
        """The answer with its claims. Milliseconds, so that it needn't wait for other answers."""
        with self._checking:
            claims = claims_of(answer.text, answer.sources, self._check, cancel)
        if claims:
            answer = self._stored(replace(answer, claims=claims), cancel)
            yield AnswerChanged(answer)
        return answer

    def _with_questions(self, answer: Message, after: After, cancel: Event) -> _Changes:
        def find(gives_way: Event) -> tuple[str, ...]:
            return self._follow_ups.find(
                answer,
                after.history,
                after.settings.retrieval,
                reach=after.reach,
                model=self._helper(after.settings),
                cancel=gives_way,
            )

        if found := self._when_free(find, cancel):
            answer = self._stored(replace(answer, follow_ups=found), cancel)
            yield AnswerChanged(answer)
        return answer

    def _judged(self, answer: Message, settings: Settings, cancel: Event) -> _Changes:
        """The answer each time the model has changed the verdict on one of its claims."""

        def judge(claim: Claim, gives_way: Event) -> Claim | None:
            model = self._helper(settings)
            return judged(claim, answer.sources, model, gives_way) if model else None

        try:
            for place, claim in enumerate(answer.claims[:_MOST_JUDGED]):
                found = self._when_free(partial(judge, claim), cancel)
                if found is None or cancel.is_set():
                    break
                if found != claim:
                    claims = (*answer.claims[:place], found, *answer.claims[place + 1 :])
                    answer = replace(answer, claims=claims)
                    yield AnswerChanged(answer)
        finally:
            self._stored(answer, cancel)
        return answer

    def _when_free(self, job: Callable[[Event], T], cancel: Event) -> T | None:
        """What a job gives that was not disturbed by an answer; None when all tries were."""
        for _ in range(_TRIES):
            while self._answers.is_closed and not cancel.is_set():
                self._answers.wait(_WAIT_S)
            gives_way = Unless(cancel, lambda: self._answers.is_closed)
            found = job(gives_way)
            if not gives_way.is_set():
                return found
        return None
