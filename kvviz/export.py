"""A Sizing to take away: the stable JSON object of ``kvviz size --json``, CSV, and code to embed the page."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from html import escape
from math import ceil
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit, urlunsplit

import kvviz
from kvviz import build, explain
from kvviz.budgets import Budget
from kvviz.core.architecture import Note
from kvviz.core.cache import letter
from kvviz.core.errors import KvvizError
from kvviz.core.units import GIB
from kvviz.engines.vllm import VllmPlan
from kvviz.estimate import Estimate
from kvviz.planning import step_tokens, version_of
from kvviz.scenario import DEFAULTS, ENGINES, ENGINES_WITH, FIELDS, Scenario, to_json
from kvviz.sizing import Sizing
from kvviz.text import Lang, Message, Text
from kvviz.text import charts as parts
from kvviz.text import explain as why
from kvviz.text import export as text
from kvviz.text import sizing as labels
from kvviz.verdict import one_line

Json = Mapping[str, object]
Row = Mapping[str, object]
"""One row of a table: value by heading."""

EMBED_HEIGHT_PX: Final = 620
"""The growth chart, its table folded, and the line that says what it was computed from."""
_NOT_SETTINGS: Final = frozenset({"engine", "revision", "config"})
"""Said elsewhere: the engine in the answer, the revision beside the link; a config is for machines."""
_IDLE_WITHOUT: Final = {"passage_tokens": "passages", "seconds_between": "users", "answer_s": "users", "users": "users"}
"""Settings that count for nothing unless the other one is set."""


def sizing_json(sizing: Sizing, lang: Lang = "en") -> dict[str, object]:
    """Everything as integers of bytes; only the sentences depend on the language. Keys stay as they are."""
    content = sizing.content
    return {
        "kvviz": kvviz.__version__,
        "model": sizing.scenario.model,
        "revision": sizing.scenario.revision,
        "scenario": to_json(sizing.scenario),
        "cache": {
            "layers": "".join(letter(layer) for layer in sizing.architecture.layers),
            "growing_bytes_per_token": number(content.growing_bytes_per_token),
            "limited": [
                {
                    "kind": limit.kind,
                    "limit_tokens": limit.limit_tokens,
                    "bytes_per_token": number(limit.bytes_per_token),
                }
                for limit in content.limited
            ],
            "state_bytes_per_sequence": content.state_bytes,
            "cross_bytes_per_sequence": ceil(content.cross_bytes),
        },
        "content_bytes": sizing.content_bytes,
        "engine": _engine(sizing),
        "budget": _budget(sizing.budget, lang) if sizing.budget else None,
        "max_sequences_counted": sizing.max_sequences_counted,
        "max_sequences_held": sizing.max_sequences_held,
        "max_tokens": sizing.max_tokens,
        "fits": sizing.fits,
        "requests": sizing.scenario.requests,
        "max_sequences_run": sizing.max_sequences_run,
        "notes": [{"code": note.code, "text": note.message(lang)} for note in all_notes(sizing)],
        "max_sequences_typical": sizing.max_sequences_typical,
        "commit": build.commit(),
    }


def json_text(sizing: Sizing, lang: Lang = "en") -> str:
    """``sizing_json`` as a file for people to look into: indented, in UTF-8."""
    return json.dumps(sizing_json(sizing, lang), indent=2, ensure_ascii=False) + "\n"


def all_notes(sizing: Sizing) -> tuple[Note, ...]:
    """What a reader must know, each once; why there is no engine figure, where there is none, included."""
    notes = (*sizing.notes, *([sizing.plan_missing] if sizing.plan_missing else []))
    return tuple({(note.code, str(note.message)): note for note in notes}.values())


def number(exact: Fraction) -> int | float:
    """An integer where it is one: packed layouts have fractional bytes per token."""
    return int(exact) if exact.denominator == 1 else float(exact)


def _engine(sizing: Sizing) -> Json | None:
    """Bytes of one request are those of one GPU."""
    plan = sizing.plan
    if plan is None:
        return None
    return {
        "name": sizing.scenario.engine,
        "version": version_of(sizing.scenario),
        "block_tokens": step_tokens(plan),
        "pool_block_bytes": plan.pool_block_bytes if isinstance(plan, VllmPlan) else None,
        "request_bytes": plan.request_bytes(sizing.tokens),
        "request_bytes_windows_ignored": sizing.request_bytes_windows_ignored,
        "per_gpu_request_bytes": list(plan.per_gpu_request_bytes(sizing.tokens)),
    }


def _budget(budget: Budget, lang: Lang) -> Json:
    """One GPU's memory. ``overhead_bytes`` is CUDA graphs and what lies outside the allocator together.

    ``max_concurrency`` and ``kv_cache_size_tokens`` are what the engine logs at start, at its longest length.
    """
    terms = {
        "hidden": budget.hidden,
        "weights": budget.weights,
        "activations": budget.activations,
        "graphs": budget.graphs,
        "non_torch": budget.non_torch,
    }
    return {
        "device_bytes": budget.device_bytes,
        "weights_bytes": budget.weights.value_bytes,
        "activations_bytes": budget.activations.value_bytes,
        "overhead_bytes": budget.graphs.value_bytes + budget.non_torch.value_bytes,
        "pool_bytes": budget.pool_bytes,
        "pool_blocks": budget.pool_blocks if budget.unit_bytes > 1 else None,
        "max_concurrency": budget.max_concurrency,
        "kv_cache_size_tokens": budget.kv_cache_size_tokens,
        "basis": {name: _estimate(term, lang) for name, term in terms.items()},
    }


def _estimate(estimate: Estimate, lang: Lang) -> Json:
    return {"bytes": estimate.value_bytes, "basis": estimate.basis, "source": estimate.source(lang)}


# --- CSV -------------------------------------------------------------------------------------------------------------


def csv_bytes(sizing: Sizing, lang: Lang, *, tables: Mapping[str, Sequence[Row]]) -> bytes:
    """``csv_text`` as a file, with the byte order mark that Excel needs to see that it is UTF-8."""
    return csv_text(sizing, lang, tables=tables).encode("utf-8-sig")


def csv_text(sizing: Sizing, lang: Lang, *, tables: Mapping[str, Sequence[Row]]) -> str:
    """One table (RFC 4180) that says in its first column which part a row is of.

    ``tables`` are those under the charts, by title; settings and the three numbers come before them.
    """
    table, part, value = text.TABLE(lang), parts.PART(lang), text.VALUE(lang)
    rows: list[Row] = [
        {table: text.SETTINGS(lang), part: name, value: setting} for name, setting in _settings(sizing, lang)
    ]
    rows += [
        {
            table: why.THREE(lang),
            part: title(lang),
            parts.BYTES(lang): count,
            parts.GIB(lang): round(count / GIB, 3),
            parts.SOURCE(lang): meaning(lang),
        }
        for title, count, meaning in explain.three_numbers(sizing)
    ]
    return _csv([*rows, *_titled(tables, lang)])


def tables_text(tables: Mapping[str, Sequence[Row]], lang: Lang) -> str:
    """These alone, by title, in the same way."""
    return _csv(list(_titled(tables, lang)))


def _titled(tables: Mapping[str, Sequence[Row]], lang: Lang) -> Iterator[Row]:
    return ({text.TABLE(lang): title, **row} for title, of_chart in tables.items() for row in of_chart)


def _csv(rows: Sequence[Row]) -> str:
    headings = list(dict.fromkeys(heading for row in rows for heading in row))
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(map(_cell, headings))
    writer.writerows([_cell(row.get(heading)) for heading in headings] for row in rows)
    return file.getvalue()


def _settings(sizing: Sizing, lang: Lang) -> Iterator[tuple[str, object]]:
    yield text.ANSWER(lang), one_line(sizing, lang)
    for name in settings_in_use(sizing.scenario):
        value = getattr(sizing.scenario, name)
        yield _label(name, lang), labels.AUTO(lang) if value is None else value
    yield text.MODEL_REVISION(lang), sizing.scenario.revision
    yield text.VERSION(lang), build.version()


def not_modelled(scenario: Scenario) -> tuple[Text, ...]:
    """What the numbers leave out, the engine's own part last."""
    return *text.NOT_MODELLED_LINES, text.NOT_MODELLED_OF[scenario.engine]


def fraction_taken(sizing: Sizing) -> Message | None:
    """The memory fraction that the engine takes by itself, where it is left to it and known."""
    budget = sizing.budget
    if sizing.scenario.memory_fraction is not None or budget is None or budget.memory_fraction is None:
        return None
    return Message(text.AUTO_IS, {"value": f"{budget.memory_fraction:g}"})


def settings_in_use(scenario: Scenario) -> Iterator[str]:
    """The settings that the answer depends on."""
    for name in FIELDS:
        idle = name in _IDLE_WITHOUT and not getattr(scenario, _IDLE_WITHOUT[name])
        replaced = name == "sequences" and scenario.users is not None
        other_engines = scenario.engine not in ENGINES_WITH.get(name, ENGINES)
        if name not in _NOT_SETTINGS and not idle and not replaced and not other_engines:
            yield name


def _cell(value: object) -> str | int | float:
    """Numbers as they are; a text that a spreadsheet would calculate gets an apostrophe in front."""
    if value is None:
        return ""
    if isinstance(value, int | float):
        return value
    line = single_line(str(value))
    return f"'{line}" if re.match(r"[=+\-@＝＋－＠]", line) else line


def _label(name: str, lang: Lang) -> str:
    """What a setting is called beside its control."""
    return labels.LABELS[name](lang) if name in labels.LABELS else name


def single_line(said: str) -> str:
    """Without breaks and other control characters; spaces run together."""
    return " ".join("".join(c if c.isprintable() else " " for c in said).split())


# --- Sharing ---------------------------------------------------------------------------------------------------------


def embed_code(link: str, lang: Lang) -> str:
    """HTML that shows the answer in another page. Raises KvvizError where ``link`` is no web address.

    The frame gets what the app needs and no more: scripts with their own origin (its connection and storage), the
    link to the whole page in a tab of its own, and saving a chart.
    """
    address = web_address(link)
    if address is None:
        raise KvvizError(Message(text.NO_ADDRESS), code="no-address")
    query = dict(parse_qsl(address.query, keep_blank_values=True)) | {"lang": lang, "embed": "true"}
    source = urlunsplit(address._replace(query=urlencode(query)))
    attributes = {
        "src": source,
        "title": text.EMBED_TITLE(lang, model=single_line(query.get("model") or DEFAULTS["model"])),
        "width": "100%",
        "height": str(EMBED_HEIGHT_PX),
        "style": "border:0",
        "loading": "lazy",
        "referrerpolicy": "no-referrer",
        "sandbox": "allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-downloads",
    }
    written = " ".join(f'{name}="{escape(value)}"' for name, value in attributes.items())
    return f"<iframe {written}></iframe>"


def web_address(link: str) -> SplitResult | None:
    """``link`` where it leads somewhere from any page: not relative, and nothing that runs."""
    try:
        address = urlsplit(link)
    except ValueError:
        return None
    return address if address.scheme in ("http", "https") and address.netloc else None


def file_name(sizing: Sizing, extension: str) -> str:
    """What a saved file is called on any system: ``kvviz-Qwen3-32B-FP8.csv``."""
    model = re.sub(r"[^A-Za-z0-9._-]+", "-", sizing.scenario.model.split("/")[-1]).strip("-.")
    return f"kvviz-{model or 'model'}.{extension}"
