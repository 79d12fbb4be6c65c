"""A Sizing's answer in one sentence, without anything that only one place can show."""

from dataclasses import dataclass
from typing import Literal

from kvviz.core.units import format_bytes, format_count
from kvviz.planning import engine_name, most_requests
from kvviz.sizing import Fits, Sizing
from kvviz.text import Lang
from kvviz.text import verdict as text

Outcome = Fits | Literal["asks", "content"]
"""``asks``: a GPU or the weights must be known first; ``content``: this engine has no count for the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer, in one language."""

    outcome: Outcome
    head: str
    """Its beginning with the number; no markup."""
    rest: str
    """The rest of the sentence in Markdown, whose only mark is ``**`` round what counts."""


def verdict(sizing: Sizing, lang: Lang) -> Verdict:
    """How many fit, where, and by how much, or what is needed to say so."""
    scenario, budget, plan = sizing.scenario, sizing.budget, sizing.plan
    engine = engine_name(scenario)
    needed, tokens = format_count(scenario.requests), format_count(sizing.tokens)
    if budget is None or plan is None or sizing.fits is None or sizing.max_sequences_counted is None:
        head = text.NEED(lang, bytes=format_bytes(_need_bytes(sizing)))
        missing = text.NO_PLAN if plan is None else text.NO_WEIGHTS if scenario.gpu else text.CHOOSE_GPU
        rest = missing(lang, needed=needed, tokens=tokens)
        return Verdict(outcome="content" if plan is None else "asks", head=head, rest=rest)
    where = {"gpus": format_count(scenario.gpus), "gpu": short_name(budget.device.name), "tokens": tokens}
    side_by_side = ""
    if sizing.engines > 1:
        groups = text.GROUPS if plan.gpus > 1 else text.GROUPS_OF_ONE
        kind = groups if sizing.one_command else text.ENGINES
        side_by_side = kind(lang, count=sizing.engines, tp=plan.gpus)
    sentence = text.ANSWER_WHERE(lang, engines=side_by_side, engine=engine, needed=needed, **where)
    fewer, most = sizing.runs_fewer, format_count(sizing.max_sequences_run or 0)
    lacking = sizing.lacking_bytes or 0
    tail = (text.SHORT if lacking > 0 else text.SPARE)(lang, bytes=format_bytes(abs(lacking)))
    if sizing.fits == "no" and sizing.at_slots_limit:
        tail = text.NO_MORE_SLOTS(lang, most=format_count(most_requests(plan) or 0), bytes=format_bytes(-lacking))
    if budget.available_bytes <= 0:
        head = (text.WEIGHTS_TOO_LARGE if budget.weights.value_bytes > budget.requested_bytes else text.NO_ROOM)(lang)
    elif sizing.starts is False:
        longest = format_count(budget.longest_tokens)
        need = format_bytes(plan.request_bytes(budget.longest_tokens))
        values = where | {"tokens": longest, "need": need, "pool": format_bytes(budget.pool_bytes)}
        head, rest = text.NO_START(lang, engine=engine), text.NO_START_REST(lang, **values)
        return Verdict(outcome=sizing.fits, head=head, rest=rest)
    elif sizing.fits == "yes":
        head = (text.FIT_ALL_RUN if fewer else text.FIT_ALL)(lang, needed=needed, most=most)
        head = head if scenario.requests > 1 else text.FIT_ONE(lang)
    elif sizing.fits == "held-only":
        head = (text.FIT_HELD_RUN if fewer else text.FIT_HELD)(lang, needed=needed, most=most)
        counted = format_count(sizing.max_sequences_counted)
        tail = text.CERTAIN(lang, fit=counted, bytes=format_bytes(lacking))
    elif sizing.max_sequences_counted:
        counted = format_count(sizing.max_sequences_counted)
        head = (text.FIT_SOME_RUN if fewer else text.FIT_SOME)(lang, fit=counted, needed=needed, most=most)
    else:
        head = text.FIT_NONE(lang, needed=needed)
    return Verdict(outcome=sizing.fits, head=head, rest=f"{sentence}{'' if lang == 'ja' else ' '}{tail}")


def _need_bytes(sizing: Sizing) -> int:
    """All requests together, as the engine counts them where it does; what one engine's share is there once."""
    requests = sizing.scenario.requests
    each = sizing.content_bytes if sizing.request_bytes is None else sizing.request_bytes
    return requests * (each - sizing.shared_bytes) + min(sizing.engines, requests) * sizing.shared_bytes


def short_name(device_name: str) -> str:
    """A GPU as people call it."""
    return device_name.removeprefix("NVIDIA ")


def one_line(sizing: Sizing, lang: Lang, *, markdown: bool = False) -> str:
    """The whole answer on one line, as plain text or as Markdown with its head set bold."""
    answer = verdict(sizing, lang)
    if markdown:
        return text.SENTENCE(lang, head=f"**{answer.head}**", rest=answer.rest)
    return text.SENTENCE(lang, head=answer.head, rest=answer.rest.replace("**", ""))
