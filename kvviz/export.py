"""A Sizing to take away: the stable JSON object of ``kvviz size --json``, CSV, Markdown, and code to embed the page."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from html import escape
from math import ceil
from typing import Final
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit, urlunsplit

import kvviz
from kvviz import build, explain
from kvviz.budgets import Budget
from kvviz.core.architecture import Fact, Note
from kvviz.core.cache import letter
from kvviz.core.errors import KvvizError
from kvviz.core.units import GIB, format_bytes, format_count
from kvviz.devices import TYPED, Device, device, memory_note
from kvviz.engines.vllm import VllmPlan
from kvviz.estimate import Estimate
from kvviz.planning import step_tokens, version_of
from kvviz.scenario import DEFAULTS, ENGINES, ENGINES_WITH, FIELDS, Scenario, Value, to_json
from kvviz.sizing import Sizing
from kvviz.text import Lang, Message, Text
from kvviz.text import charts as parts
from kvviz.text import explain as why
from kvviz.text import export as text
from kvviz.text import sizing as labels
from kvviz.verdict import one_line, short_name

Json = Mapping[str, object]
Row = Mapping[str, object]
"""One row of a table: value by heading."""

EMBED_HEIGHT_PX: Final = 620
"""The growth chart, its table folded, and the line that says what it was computed from."""
_FIRST_SETTINGS: Final = ("model", "gpu", "gpus", "input", "output", "sequences", "kv_dtype")
"""Those a reader wants to see even where nobody changed them."""
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
    rows += [{table: title, **row} for title, of_chart in tables.items() for row in of_chart]
    headings = list(dict.fromkeys(heading for row in rows for heading in row))
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(headings)
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
    line = _one_line(str(value))
    return f"'{line}" if re.match(r"[=+\-@＝＋－＠]", line) else line


# --- Markdown --------------------------------------------------------------------------------------------------------


def markdown_summary(sizing: Sizing, link: str, lang: Lang) -> str:
    """The answer on one page, with what it rests on: for a design document or an issue."""
    scenario = sizing.scenario
    made_by = text.MADE_BY(lang, version=build.version(), revision=_code(scenario.revision))
    opened = text.OPEN(lang, link=quote(link, safe="/:?#@!$&+,;=%-._~[]")) if _web_address(link) else ""
    out = [
        f"## {text.TITLE(lang, model=_code(scenario.model))}",
        one_line(sizing, lang, markdown=True),
    ]
    if sizing.max_sequences_counted is not None and sizing.max_sequences_held is not None:
        counts = {"counted": sizing.max_sequences_counted, "held": sizing.max_sequences_held}
        out.append(text.AT_ONCE(lang, **{name: format_count(count) for name, count in counts.items()}))
    out.append(" · ".join(said for said in (opened, made_by) if said))
    out += [f"### {text.SETTINGS(lang)}", *_scenario(sizing, lang)]
    out += [f"### {text.WORKING(lang)}", _formulas(sizing, lang), _three_numbers(sizing, lang)]
    out += [_escaped(sentence(lang)) for sentence in explain.differences(sizing)]
    if facts := sizing.architecture.facts:
        listed = text.SEPARATOR(lang).join(_fact(fact, lang) for fact in facts)
        out.append(text.FROM_CONFIG(lang, facts=listed))
    if sizing.budget is not None:
        out += [f"### {text.LEDGER(lang)}", _ledger(sizing, sizing.budget, lang)]
    if notes := list(_notes(sizing, lang)):
        out += [f"### {text.NOTES(lang)}", _list(notes)]
    out += [f"### {text.NOT_MODELLED(lang)}", _list(line(lang) for line in not_modelled(scenario))]
    return "\n\n".join(out) + "\n"


def _scenario(sizing: Sizing, lang: Lang) -> tuple[str, str]:
    """What was asked, each setting marked; then those nobody changed, which a later version may set otherwise."""
    scenario, budget = sizing.scenario, sizing.budget
    rows, rest = [], []
    for name in settings_in_use(scenario):
        value = getattr(scenario, name)
        changed = value != DEFAULTS[name]
        shown = _code(value) if isinstance(value, str) else _value(value, lang)
        mark = (text.CHANGED if changed else text.AS_DEFAULT)(lang)
        if name == "memory_fraction" and (taken := fraction_taken(sizing)):
            shown = taken(lang)
        if name == "gpu":
            shown = _gpu(scenario, lang)
        elif name == "kv_dtype" and value != sizing.kv_dtype.name:
            shown = f"{shown} → {_code(sizing.kv_dtype.name)}"
        elif name == "weights_gib" and value is None and budget is not None:
            shown = text.AUTO_WEIGHTS(lang, bytes=format_bytes(budget.weights.value_bytes))
            if budget.weights.basis != "exact":
                mark = text.WITH_ESTIMATE(lang, mark=mark, basis=parts.BASIS[budget.weights.basis](lang))
        elif not changed and name not in _FIRST_SETTINGS and name not in _IDLE_WITHOUT:
            rest.append(text.ONE_SETTING(lang, name=_label(name, lang), value=shown))
            continue
        rows.append((_label(name, lang), shown, mark))
    table = _table((text.SETTING(lang), text.VALUE(lang), text.MARK(lang)), rows)
    return table, text.THE_REST(lang, settings=text.SETTINGS_SEPARATOR(lang).join(rest))


def _gpu(scenario: Scenario, lang: Lang) -> str:
    return _escaped(short_name(device(scenario.gpu).name)) if scenario.gpu else labels.NO_GPU(lang)


def _formulas(sizing: Sizing, lang: Lang) -> str:
    rows = [
        (
            _escaped(line.what(lang)),
            _code(line.formula),
            why.ONCE(lang) if line.tokens is None else format_count(line.tokens),
            format_bytes(line.total_bytes),
            format_count(line.total_bytes),
        )
        for line in explain.lines(sizing)
    ]
    headings = (why.COLUMN_WHAT, why.COLUMN_FORMULA, why.COLUMN_TOKENS, why.COLUMN_SIZE, why.COLUMN_BYTES)
    return _table([heading(lang) for heading in headings], rows, numbers=3)


def _three_numbers(sizing: Sizing, lang: Lang) -> str:
    rows = [
        (title(lang), _escaped(meaning(lang)), format_bytes(count), format_count(count))
        for title, count, meaning in explain.three_numbers(sizing)
    ]
    headings = (why.COLUMN_WHAT, why.COLUMN_MEANING, why.COLUMN_SIZE, why.COLUMN_BYTES)
    return _table([heading(lang) for heading in headings], rows, numbers=2)


def _ledger(sizing: Sizing, budget: Budget, lang: Lang) -> str:
    """What takes one GPU's memory, what that leaves for the cache, and what the load needs of it."""
    terms = (
        (parts.WEIGHTS, budget.weights),
        (parts.ACTIVATIONS, budget.activations),
        (parts.GRAPHS, budget.graphs),
        (parts.NON_TORCH, budget.non_torch),
    )
    derived = "exact" if all(term.basis == "exact" for _, term in terms) else "estimated"
    seen = format_bytes(budget.device_bytes - budget.hidden.value_bytes)
    outside = {"total": seen, "fraction": f"{budget.memory_fraction or 1:g}"}
    listed: list[tuple[str, int, str, str]] = [
        (text.DEVICE(lang), budget.device_bytes, *_memory(budget.device, lang)),
        (parts.HIDDEN(lang), budget.hidden.value_bytes, budget.hidden.basis, budget.hidden.source(lang)),
        (parts.OUTSIDE(lang), budget.outside_bytes, "exact", parts.OUTSIDE_SOURCE(lang, **outside)),
        *((label(lang), term.value_bytes, term.basis, term.source(lang)) for label, term in terms),
        (text.LEFT(lang), budget.available_bytes, derived, text.LEFT_SOURCE(lang)),
    ]
    if budget.kept_free_bytes:
        share = text.KEPT_FREE_SOURCE(lang, share=f"{sizing.scenario.headroom:g}")
        listed.append((text.KEPT_FREE(lang), budget.kept_free_bytes, derived, share))
    if sizing.short_bytes is not None and sizing.lacking_bytes is not None:
        short = sizing.lacking_bytes > 0
        difference = labels.FACT_SHORT if short else labels.FACT_SPARE
        listed.append((text.NEEDED(lang), budget.usable_bytes + sizing.short_bytes, "exact", ""))
        listed.append((difference(lang), abs(sizing.lacking_bytes), derived, ""))
    rows = [
        (name, format_bytes(count), format_count(count), parts.BASIS[basis](lang), _escaped(source))
        for name, count, basis, source in listed
    ]
    headings = (parts.PART, why.COLUMN_SIZE, why.COLUMN_BYTES, parts.BASIS_HEADING, parts.SOURCE)
    return _table([heading(lang) for heading in headings], rows, numbers=2, at=1)


def _memory(gpu: Device, lang: Lang) -> tuple[str, str]:
    """Basis and source of a GPU's memory."""
    if gpu.memory_source == TYPED:
        return "exact", memory_note(gpu)(lang)
    return "measured" if gpu.memory_basis == "measured" else "assumed", gpu.memory_source


def _notes(sizing: Sizing, lang: Lang) -> Iterator[str]:
    scenario = sizing.scenario
    if scenario.config:
        yield text.FROM_PASTED(lang)
    if scenario.kv_dtype == labels.AUTO("en"):
        reason = _escaped(sizing.kv_dtype_reason(lang))
        yield labels.RESOLVED_TO(lang, name=_escaped(sizing.kv_dtype.name), reason=reason)
    for note in all_notes(sizing):
        yield _escaped(note.message(lang))


def _fact(fact: Fact, lang: Lang) -> str:
    value = format_count(fact.value) if isinstance(fact.value, int) else _escaped(fact.value)
    where = _code(fact.where)
    match fact.origin:
        case "field":
            origin = where
        case "class default":
            origin = why.ORIGIN_DEFAULT(lang, where=where)
        case "derived":
            origin = why.ORIGIN_DERIVED(lang, where=where)
    return text.ONE_FACT(lang, term=_code(fact.term), value=value, origin=origin)


def _label(name: str, lang: Lang) -> str:
    """What a setting is called beside its control."""
    return labels.LABELS[name](lang) if name in labels.LABELS else name


def _value(value: Value, lang: Lang) -> str:
    if value is None:
        return labels.AUTO(lang)
    return format_count(value) if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else value


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: int = 0, at: int | None = None) -> str:
    """``numbers`` columns, beginning with ``at`` or else the last ones, are aligned to the right."""
    first = len(headings) - numbers if at is None else at
    rules = ["---:" if first <= place < first + numbers else "---" for place in range(len(headings))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (headings, rules, *rows))


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _escaped(said: str) -> str:
    """A sentence or name as it is: nothing in it becomes a link, a picture, a mention or a column."""
    line = _one_line(said)
    # Sites link addresses, @names and #numbers even where signs are escaped: an invisible space parts them.
    line = re.sub(r"(?<=:)(?=//)|(?i:(?<=www)(?=\.))|(?<=@)(?=\w)|(?<=#)(?=\d)", "\u200b", line)
    line = re.sub(r"([\\`*_\[\]<>~$|&])", r"\\\1", line)
    # At the start of a line these begin a heading or a list.
    return re.sub(r"^(\d{0,9})(?=[#+=-]|[.)]\s)", r"\1\\", line)


def _code(said: str) -> str:
    """A name, path or formula set as code where it can be: nothing inside is read as markup."""
    line = _one_line(said)
    return f"`{line}`" if line and not re.search(r"[`|\\]", line) else _escaped(line)


def _one_line(said: str) -> str:
    """Without breaks and other control characters; spaces run together."""
    return " ".join("".join(c if c.isprintable() else " " for c in said).split())


# --- Sharing ---------------------------------------------------------------------------------------------------------


def embed_code(link: str, lang: Lang) -> str:
    """HTML that shows the answer in another page. Raises KvvizError where ``link`` is no web address.

    The frame gets what the app needs and no more: scripts with their own origin (its connection and storage), the
    link to the whole page in a tab of its own, and saving a chart.
    """
    address = _web_address(link)
    if address is None:
        raise KvvizError(Message(text.NO_ADDRESS), code="no-address")
    query = dict(parse_qsl(address.query, keep_blank_values=True)) | {"lang": lang, "embed": "true"}
    source = urlunsplit(address._replace(query=urlencode(query)))
    attributes = {
        "src": source,
        "title": text.EMBED_TITLE(lang, model=_one_line(query.get("model") or DEFAULTS["model"])),
        "width": "100%",
        "height": str(EMBED_HEIGHT_PX),
        "style": "border:0",
        "loading": "lazy",
        "referrerpolicy": "no-referrer",
        "sandbox": "allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-downloads",
    }
    written = " ".join(f'{name}="{escape(value)}"' for name, value in attributes.items())
    return f"<iframe {written}></iframe>"


def _web_address(link: str) -> SplitResult | None:
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
