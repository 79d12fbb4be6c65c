"""``kvviz size``, ``models``, ``gpus``, ``check-log``, ``simulate``, ``prefix``, ``live``: the core for scripts.

``--json`` is a stable contract.
"""

import argparse
import contextlib
import errno
import json
import os
import secrets
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import kvviz
from kvviz import build, catalogue, cli_live
from kvviz.budgets import Budget
from kvviz.core.cache import letter
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.errors import ConfigError, KvvizError, ScenarioError
from kvviz.core.units import format_bytes, format_count, format_exact
from kvviz.devices import device, meant, memory_note, named
from kvviz.devices import search as search_gpus
from kvviz.engines.vllm import VllmPlan
from kvviz.estimate import Estimate
from kvviz.export import all_notes, sizing_json
from kvviz.links import pack_config
from kvviz.planning import accepted, engine_name
from kvviz.resolve import resolve
from kvviz.scenario import DEFAULTS, FIELDS, WEIGHT_DTYPES, Scenario, parse_total_tokens, parse_value, shown
from kvviz.sizing import Sizing
from kvviz.text import LANGUAGES, Lang, Message, Text
from kvviz.text import allocation as allocation_text
from kvviz.text import catalogue as catalogue_text
from kvviz.text import cli as text

if TYPE_CHECKING:
    from kvviz.log_check import Check

MISMATCH: Final = 1
BAD_INPUT: Final = 2
_INTERRUPTED: Final = 130
_MODEL: Final = "MODEL_OR_FILE"
_STDIN: Final = "-"
_LENGTHS: Final = ("input", "passages", "output")
"""What ``--tokens`` stands for."""
_ALLOCATION: Final = ("simulate", "prefix")
"""Imported only where they are asked for: no other command should start later because of them."""
_REPORTS: Final = (".html", ".md")
_MOST_IDS: Final = 8
"""GPUs that are named where what was written may mean several."""
_NOT_WRITTEN: Final = 74
"""EX_IOERR of sysexits.h: there is an answer and nowhere to put it."""
_NOT_WRITTEN_CODE: Final = "report-not-written"


class _BadUsageError(KvvizError):
    """A command line that cannot be understood."""

    def __init__(self, message: Message) -> None:
        super().__init__(message, code="usage")


class _Parser(argparse.ArgumentParser):
    """Errors as one line, like every other bad input."""

    def error(self, message: str) -> NoReturn:
        command = self.prog.partition(" ")[2]
        values = {"why": message.replace("\n", " "), "command": f"{command} " if command else ""}
        raise _BadUsageError(Message(text.USAGE, values))

    def _print_message(self, message: str, file: object = None) -> None:
        """Help and version, which argparse loses without a word where they cannot be written."""
        _say(message.rstrip("\n"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0 when it answered, 1 when a log is not as
    predicted, 2 for bad input, 74 when the answer cannot be written."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    flags = given[: given.index("--")] if "--" in given else given
    lang: Lang = "ja" if _follows(flags, "--lang") == "ja" else "en"
    try:
        try:
            return _run(given, lang, as_json="--json" in flags)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has enough
        _discard_output()
        return 0
    except OSError as error:  # files are read with errors of their own: this is the output
        _discard_output()
        _complain(text.NOT_WRITTEN(lang, why=error.strerror or type(error).__name__))
        return _NOT_WRITTEN
    except KeyboardInterrupt:
        return _INTERRUPTED


def _run(given: list[str], lang: Lang, *, as_json: bool) -> int:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a character shows "?" instead of a traceback
            stream.reconfigure(errors="replace")
    try:
        options = _parser(lang, given).parse_args(given)
        if options.command == "models":
            _models(" ".join(options.query), options, lang)
        elif options.command == "live":
            return cli_live.live(options, lang, _say)
        elif options.command == "gpus":
            _gpus(" ".join(options.query), options, lang)
        elif options.command == "check-log":
            return _check_log(options, lang)
        elif options.command in _ALLOCATION:
            from kvviz import cli_allocation

            run = cli_allocation.run_simulate if options.command == "simulate" else cli_allocation.run_prefix
            run(options, lang, _say, _table)
        else:
            _size(options, lang)
    except KvvizError as error:
        return _failed([error], as_json, lang)
    except ExceptionGroup as several:
        return _failed([e for e in several.exceptions if isinstance(e, KvvizError)], as_json, lang)
    return 0


def _say(answer: str) -> None:
    if sys.stdout is None:  # closed by whoever started this
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    print(answer)


def _complain(line: str) -> None:
    """A line on standard error, if there is one and it takes it."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(f"kvviz: {line}", file=sys.stderr)


def _discard_output() -> None:
    """Python flushes standard output once more on exit: give it somewhere to go."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser(lang: Lang, given: Sequence[str]) -> _Parser:
    parser = _Parser(prog="kvviz", description=text.DESCRIPTION(lang), allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"kvviz {build.version()}")
    choices = {"kv_dtype": ("auto", *KV_DTYPES), "weight_dtype": WEIGHT_DTYPES}
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    summaries = {
        "size": text.SIZE,
        "models": text.MODELS,
        "gpus": text.GPUS,
        "check-log": text.CHECK_LOG,
        "simulate": allocation_text.SIMULATE,
        "prefix": allocation_text.PREFIX,
        "live": cli_live.SUMMARY,
    }
    for name, summary in summaries.items():
        means = {"size": text.JSON_MEANS, "live": cli_live.JSON_MEANS}.get(name)
        more = means(lang) if means else None
        command = commands.add_parser(
            name, help=summary(lang), description=summary(lang), epilog=more, allow_abbrev=False
        )
        command.add_argument("--json", action="store_true", help=text.JSON(lang))
        command.add_argument("--lang", choices=LANGUAGES, default="en", help=text.LANG(lang))
        if name in ("models", "gpus"):
            query = text.QUERY if name == "models" else text.GPU_QUERY
            command.add_argument("query", nargs="*", metavar="QUERY", help=query(lang))
            continue
        if name == "live":
            if name in given:
                cli_live.add_flags(command, lang)
            continue
        if name in _ALLOCATION:
            if name in given:
                from kvviz import cli_allocation

                cli_allocation.add_arguments(command, name, lang)
            continue
        if name == "check-log":
            command.add_argument("file", metavar="FILE", help=text.LOG_FILE(lang))
            command.add_argument("--model", metavar=_MODEL, help=text.LOG_MODEL(lang))
            for setting, meaning in text.LOG_SETTINGS.items():
                command.add_argument(_flag(setting), dest=setting, metavar="X", help=meaning(lang))
            continue
        command.add_argument("model", metavar=_MODEL, help=text.FLAGS["model"](lang))
        command.add_argument("--tokens", metavar="N", help=text.TOKENS(lang))
        command.add_argument("--report", metavar="FILE", help=text.REPORT(lang))
        for field in FIELDS:
            if field == "model":
                continue
            what, default = text.FLAGS[field](lang), DEFAULTS[field]
            if field in choices:
                what = text.ONE_OF(lang, help=what, choices=", ".join(choices[field]))
            if field != "gpu" and default != "":  # no GPU is this command's own default
                what = text.DEFAULT(lang, help=what, value="auto" if default is None else default)
            command.add_argument(_flag(field), dest=field, metavar="X", help=what.replace("%", "%%"))
    return parser


def _models(query: str, options: argparse.Namespace, lang: Lang) -> None:
    found = catalogue.search(query)
    if options.json:
        _say(json.dumps({"kvviz": kvviz.__version__, "models": found}))
    elif found:
        _say("\n".join(found))
    else:
        _complain(text.NO_MATCH(lang, query=shown(query)))


def _gpus(query: str, options: argparse.Namespace, lang: Lang) -> None:
    found = search_gpus(query)
    if options.json:
        listed = [
            {"id": g.id, "name": g.name, "memory_bytes": g.memory_bytes, "memory_basis": g.memory_basis} for g in found
        ]
        _say(json.dumps({"kvviz": kvviz.__version__, "gpus": listed}))
    elif found:
        ids, sizes = [g.id for g in found], [format_bytes(g.memory_bytes) for g in found]
        wide, most = max(map(len, ids)), max(map(len, sizes))
        _say("\n".join(f"{g.id:{wide}}  {size:>{most}}  {g.name}" for g, size in zip(found, sizes, strict=True)))
    else:
        _complain(text.NO_GPU_MATCH(lang, query=shown(query)))


def _gpu(written: str) -> str:
    """The id of a GPU as people write it; ``none`` is none. Raises ScenarioError with what may be meant."""
    if found := named(written):
        return found
    with contextlib.suppress(ScenarioError):
        value = str(parse_value("gpu", written))
        return device(value).id if value else value
    values = {"gpu": shown(written)}
    if not (hits := [gpu.id for gpu in meant(written)]):
        raise ScenarioError(Message(text.UNKNOWN_GPU, values), field="gpu")
    ids = ", ".join([*hits[:_MOST_IDS], *(["…"] if len(hits) > _MOST_IDS else [])])
    raise ScenarioError(Message(text.SEVERAL_GPUS, {**values, "ids": ids}), field="gpu")


def _check_log(options: argparse.Namespace, lang: Lang) -> int:
    """0 where the log agrees or cannot be judged, 1 where it is not what is predicted from it."""
    # Here: the other commands start sooner without the shapes of a hundred log lines.
    from kvviz.engine_log import MAX_CHARACTERS, read_log
    from kvviz.log_check import as_json, check, decode, model_of, named_in, read_model

    log = read_log(decode(_log_bytes(options.file, 4 * MAX_CHARACTERS + 1)))  # a character has up to four bytes
    if not options.model:
        model = named_in(log)
    elif options.model != _STDIN and _is_path(options.model):
        model = read_model(Path(options.model).expanduser())
    else:
        model = model_of(_load_path(_STDIN) if options.model == _STDIN else catalogue.load(options.model))
    # Read as Sizing reads them; llama.cpp's context is its length.
    fields = {"tp": "tp", "kv_dtype": "kv_dtype", "n_ctx": "max_model_len"}
    written = {name: parse_value(field, value) for name, field in fields.items() if (value := getattr(options, name))}
    given = {"context_tokens" if name == "n_ctx" else name: value for name, value in written.items()}
    checked = check(log, model=model, given=given)
    if options.json:
        _say(json.dumps(as_json(checked)))
    else:
        _say("\n".join(_log_report(checked, lang)))
    return MISMATCH if checked.verdict in ("differs", "explained") else 0


def _log_bytes(file: str, most: int) -> bytes:
    """The log, cut after what can be read at most: the reader says that it is too long."""
    try:
        if file != _STDIN:
            with Path(file).open("rb") as opened:
                return opened.read(most)
        if sys.stdin is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return sys.stdin.buffer.read(most)
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        why = getattr(error, "strerror", None) or type(error).__name__
        raise KvvizError(Message(text.LOG_UNREADABLE, {"file": shown(file), "why": why}), code="no-file") from None


def _log_report(checked: "Check", lang: Lang) -> Iterator[str]:
    from kvviz.log_check import report

    yield report.headline(checked, lang)
    yield from (f"- {cause}" for cause in report.causes(checked, lang))
    if checked.asked and checked.verdict != "unknown":
        yield report.more(checked, lang)
    if compared := report.compared_with(checked, lang):
        yield compared
    if basis := report.basis(checked, lang):
        yield basis
    for table in (report.rows(checked, lang), report.said(checked, lang)):
        if table:
            yield ""
            yield from _columned(table)


def _columned(rows: Sequence[dict[str, str]]) -> Iterator[str]:
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    widths = [max(map(_columns, column)) for column in zip(*lines, strict=True)]
    for first, *cells in lines:
        padded = [first + " " * (widths[0] - _columns(first))]
        padded += [" " * (width - _columns(cell)) + cell for cell, width in zip(cells, widths[1:], strict=True)]
        yield "  ".join(padded).rstrip()


def _size(options: argparse.Namespace, lang: Lang) -> None:
    if options.report and Path(options.report).suffix.lower() not in _REPORTS:
        raise _BadUsageError(Message(text.REPORT_KIND, {"file": options.report}))
    sizing = answer(vars(options))
    if options.report:
        _write_report(sizing, Path(options.report), lang)
    if options.json:
        _say(json.dumps(sizing_json(sizing, lang)))
    else:
        _say("\n".join(_report(sizing, lang)))


def _write_report(sizing: Sizing, file: Path, lang: Lang) -> None:
    from kvviz import report  # here, like all that only few ask for: no other answer should start later
    from kvviz.levers import levers

    made = report.as_html if file.suffix.lower() == ".html" else report.as_markdown
    possible = levers(sizing, weigh=lambda asked: resolve(asked).weights)
    written = made(sizing, lang, link="", day=datetime.now(UTC).date(), possible=possible)
    try:
        _replace(file, written.encode())
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        values = {"file": str(file), "why": getattr(error, "strerror", None) or type(error).__name__}
        raise KvvizError(Message(text.REPORT_NOT_WRITTEN, values), code=_NOT_WRITTEN_CODE) from None


def _replace(file: Path, content: bytes) -> None:
    """Write beside ``file`` and rename: what stood there stays until the new one is whole."""
    place = file.resolve()  # of a link, what it leads to
    if place.exists() and not place.is_file():  # a pipe or a terminal is written to, never replaced
        place.write_bytes(content)
        return
    beside = place.with_name(f".kvviz-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with beside.open("xb") as new:
            if place.exists():
                beside.chmod(place.stat().st_mode & 0o7777)
            new.write(content)
            new.flush()
            os.fsync(new.fileno())
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)


def answer(options: dict[str, Any]) -> Sizing:
    """The sizing of the flags that were given (text; None: not given). Raises all that is wrong with them at once."""
    values: dict[str, Any] = {"gpu": ""}
    problems: list[KvvizError] = []
    if options.get("tokens") is not None:
        if any(options.get(part) is not None for part in _LENGTHS):
            problems.append(_BadUsageError(Message(text.BOTH_LENGTHS)))
        options = {**options, **dict.fromkeys(_LENGTHS)}
        try:
            values |= {"input": parse_total_tokens(options["tokens"]), "output": 0}
        except ScenarioError as error:
            problems.append(error)
    for field in FIELDS:
        written = options.get(field)
        if written is None or field == "model":
            continue
        try:
            values[field] = _gpu(written) if field == "gpu" else parse_value(field, written)
        except ScenarioError as error:
            problems.append(error)
    if options.get("gpus") is None:  # as many as the engines asked for are made of, and none besides
        inside = ("tp", "pp") if values.get("attention_dp") == "on" and values.get("tp") else ("tp", "pp", "dp")
        values["gpus"] = prod(values.get(ranks) or 1 for ranks in inside)
    given: catalogue.Loaded | None = None
    try:
        if options.get("config"):
            values["model"] = parse_value("model", options["model"])  # a name and no more
        elif _is_path(options["model"]):
            given = _load_path(options["model"])
            values |= {"model": given.model, "config": _packed(given)}
        else:
            values["model"] = catalogue.load(options["model"]).model
    except KvvizError as error:
        problems.append(error)
    if problems:
        raise ExceptionGroup("bad input", [_with_choices(problem, values, given) for problem in problems])
    try:
        resolved = resolve(Scenario(**values), given=given)
        sizing = resolved.size()
    except ScenarioError as error:
        raise _with_choices(error, values, given) from None
    return replace(sizing, notes=(*resolved.notes, *sizing.notes))


def _with_choices(problem: KvvizError, values: dict[str, Any], given: catalogue.Loaded | None) -> KvvizError:
    """The same with no other choices than those that this model can have with the other flags."""
    if not isinstance(problem, ScenarioError):
        return problem
    about = {name: values[name] for name in ("model", "config") if name in values}
    try:
        architecture = resolve(Scenario(**about), given=given).architecture
        gpu = device(values["gpu"]) if values["gpu"] else None
    except KvvizError:
        return problem  # of a model or GPU that nobody knows nothing more can be said
    return ScenarioError(accepted(architecture, values, problem.field, problem.message, gpu), field=problem.field)


def _is_path(model: str) -> bool:
    """A bundled id stays one whatever lies in this directory; ``./`` in front says a path, ``-`` standard input."""
    if not model or model in catalogue.models():
        return False
    looks = model == _STDIN or model.startswith((".", "/", "~")) or model.endswith(".json") or "\\" in model
    return looks or os.path.exists(model)  # noqa: PTH110 - Path.exists raises for names that are too long


def _load_path(model: str) -> catalogue.Loaded:
    if model != _STDIN:
        path = Path(model)
        with contextlib.suppress(RuntimeError):  # "~" of nobody: a file of that name, then
            path = path.expanduser()
        return catalogue.load_file(path)
    try:
        if sys.stdin is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return catalogue.load_stream(sys.stdin.buffer, name="stdin", shown=_STDIN)
    except OSError as error:
        values = {"path": _STDIN, "why": error.strerror or type(error).__name__}
        raise KvvizError(Message(catalogue_text.UNREADABLE, values), code="unreadable-file") from None


def _packed(given: catalogue.Loaded) -> str:
    try:
        return pack_config(given.config)
    except ScenarioError:
        return ""  # too large for a link, not for an answer


def _failed(errors: Sequence[KvvizError], as_json: bool, lang: Lang) -> int:
    """One line for each thing that is wrong."""
    for error in errors:
        for line in _lines(error, lang):
            _complain(line)
    if as_json:
        first = errors[0]
        problems = [problem for error in errors for problem in _problems(error, lang)]
        error_object = {"code": first.code, "message": _lines(first, lang)[0], "problems": problems}
        _say(json.dumps({"error": error_object}))
    return _NOT_WRITTEN if errors[0].code == _NOT_WRITTEN_CODE else BAD_INPUT


def _problems(error: KvvizError, lang: Lang) -> list[dict[str, str]]:
    if isinstance(error, ConfigError) and error.problems:
        return [{"message": p.message(lang), "path": p.path} for p in error.problems]
    path = _flag(error.field) if isinstance(error, ScenarioError) else ""
    return [{"message": _lines(error, lang)[0], "path": path}]


def _lines(error: KvvizError, lang: Lang) -> tuple[str, ...]:
    """What is wrong, where it is a setting after its flag: here nobody knows the field's name."""
    if not isinstance(error, ScenarioError):
        return error.lines(lang)
    colon = "：" if lang == "ja" else ": "
    return (f"{_flag(error.field)}{colon}{error.message(lang).removeprefix(f'{error.field}: ')}",)


def _report(sizing: Sizing, lang: Lang) -> Iterator[str]:
    """The answer first, then the three numbers, then where one GPU's memory goes."""
    yield _sentence(sizing, lang)
    yield ""
    yield from _table(_three_numbers(sizing, lang), lang)
    if sizing.budget is not None:
        yield ""
        yield from _table(_ledger(sizing.budget, sizing.scenario, lang), lang)
    if notes := all_notes(sizing):
        yield ""
        yield text.NOTES(lang)
        yield from (f"- {note.message(lang)}" for note in notes)


def _sentence(sizing: Sizing, lang: Lang) -> str:
    scenario, budget = sizing.scenario, sizing.budget
    tokens = format_count(sizing.tokens)
    if budget is None or sizing.fits is None or sizing.short_bytes is None:
        content = format_bytes(sizing.content_bytes)
        if sizing.request_bytes is None:
            return text.NO_BUDGET(lang, tokens=tokens, content=content)
        counted = format_bytes(sizing.request_bytes)
        return text.NO_BUDGET_COUNTED(
            lang, tokens=tokens, content=content, engine=engine_name(sizing.scenario), counted=counted
        )
    gpus = f"{scenario.gpus} × {budget.device.name}"
    if budget.available_bytes < 0:
        return text.NO_ROOM(lang, gpus=gpus, tokens=tokens, bytes=format_bytes(-budget.available_bytes))
    sentence = {"yes": text.FIT_YES, "held-only": text.FIT_HELD, "no": text.FIT_NO}[sizing.fits]
    fewer = sizing.runs_fewer and bool(sizing.starts)
    if fewer:
        sentence = {text.FIT_YES: text.FIT_YES_MEMORY, text.FIT_NO: text.FIT_NO_MEMORY}.get(sentence, sentence)
    if sizing.plan is not None and not sizing.starts:
        sentence = text.NOT_STARTED
    elif sizing.fits == "no" and sizing.at_slots_limit:
        sentence = text.FIT_SLOTS
    elif scenario.requests == 1 and sizing.fits == "yes":
        sentence = text.FIT_ONE
    said = sentence(
        lang,
        length=format_count(budget.longest_tokens),
        need=format_bytes(sizing.plan.request_bytes(budget.longest_tokens) if sizing.plan else 0),
        pool=format_bytes(budget.pool_bytes),
        needed=format_count(scenario.requests),
        counted=format_count(sizing.max_sequences_counted or 0),
        held=format_count(sizing.max_sequences_held or 0),
        gpus=gpus,
        tokens=tokens,
        engine=engine_name(sizing.scenario),
        bytes=format_bytes(abs(sizing.short_bytes)),
    )
    if not fewer:
        return said
    engine, most = engine_name(sizing.scenario), format_count(sizing.max_sequences_run or 0)
    return text.RUNS_FEWER(lang, said=said, engine=engine, most=most)


def _three_numbers(sizing: Sizing, lang: Lang) -> Iterator[tuple[Text, str, str]]:
    content, plan = sizing.content, sizing.plan
    yield text.MODEL, "", f"{sizing.scenario.model}  {sizing.scenario.revision}"
    yield text.LAYERS, "", _runs([letter(layer) for layer in sizing.architecture.layers])
    yield text.KV_TYPE, "", f"{sizing.kv_dtype.name}  {sizing.kv_dtype_reason(lang)}"
    more = [
        text.AND_WINDOWS(lang, bytes=format_exact(m.bytes_per_token), limit=format_count(m.limit_tokens))
        for m in content.limited
    ]
    if content.state_bytes:
        more.append(text.AND_STATE(lang, bytes=format_bytes(content.state_bytes)))
    if content.cross_bytes:
        more.append(text.AND_CROSS(lang, bytes=format_bytes(content.cross_bytes)))
    growing = format_exact(content.growing_bytes_per_token)
    note = text.CONTENT_NOTE(lang, growing=growing, more="".join(more))
    yield text.CONTENT, format_bytes(sizing.content_bytes), note
    if plan is None or sizing.request_bytes is None:
        return
    engine = engine_name(sizing.scenario)
    note = text.COUNTED_NOTE(lang, engine=engine)
    if isinstance(plan, VllmPlan):
        blocks = format_count(plan.request_blocks(sizing.tokens))
        note = text.RESERVATION_NOTE(lang, engine=engine, blocks=blocks)
    yield text.RESERVATION, format_bytes(sizing.request_bytes), note
    if sizing.held_bytes is not None:
        yield text.HELD, format_bytes(sizing.held_bytes), text.HELD_NOTE(lang)
    if sizing.budget is not None:
        note = text.ROOM_NOTE(lang, engine=engine)
        if isinstance(plan, VllmPlan):
            note = text.POOL_NOTE(lang, engine=engine, blocks=format_count(sizing.budget.pool_blocks))
        yield text.POOL, format_bytes(sizing.budget.pool_bytes), note
        if sizing.budget.max_concurrency is not None and sizing.budget.kv_cache_size_tokens is not None:
            logged = {
                "tokens": format_count(sizing.budget.kv_cache_size_tokens),
                "length": format_count(sizing.budget.longest_tokens),
                "concurrency": f"{sizing.budget.max_concurrency:.2f}",
            }
            yield text.LOG, "", text.LOG_LINE(lang, **logged)


def _ledger(budget: Budget, scenario: Scenario, lang: Lang) -> Iterator[tuple[Text, str, str]]:
    yield text.DEVICE, format_bytes(budget.device_bytes), memory_note(budget.device)(lang)
    yield text.HIDDEN, format_bytes(budget.hidden.value_bytes), _basis(budget.hidden, lang)
    outside = text.OUTSIDE_NOTE(lang, fraction=f"{budget.memory_fraction or 1:g}")
    yield text.OUTSIDE, format_bytes(budget.outside_bytes), outside
    for label, term in (
        (text.WEIGHTS, budget.weights),
        (text.ACTIVATIONS, budget.activations),
        (text.GRAPHS, budget.graphs),
        (text.NON_TORCH, budget.non_torch),
    ):
        yield label, format_bytes(term.value_bytes), _basis(term, lang)
    yield text.LEFT, format_bytes(budget.available_bytes), ""
    if scenario.headroom:
        note = text.KEPT_FREE_NOTE(lang, headroom=f"{scenario.headroom:g}")
        yield text.KEPT_FREE, format_bytes(budget.kept_free_bytes), note


def _basis(term: Estimate, lang: Lang) -> str:
    return text.BASIS[term.basis](lang, source=term.source(lang))


def _table(rows: Iterator[tuple[Text, str, str]], lang: Lang) -> Iterator[str]:
    """Label, amount (aligned to the right) and a remark; a row without an amount starts its remark there."""
    cells = [(label(lang), amount, remark) for label, amount, remark in rows]
    first = max((_columns(label) for label, _, _ in cells), default=0)
    second = max((_columns(amount) for _, amount, _ in cells), default=0)
    for label, amount, remark in cells:
        start = label + " " * (first - _columns(label))
        right = " " * (second - _columns(amount)) + amount + "  " + remark if amount else remark
        yield f"{start}  {right}".rstrip()


def _columns(line: str) -> int:
    """Columns of a terminal: kanji and kana take two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def _runs(letters: Sequence[str]) -> str:
    """``wwwwwf`` over and over is easier to read than counted runs; long rows of one letter are not."""
    if len(set(letters)) == 1:
        return f"{len(letters)} × {letters[0]}"
    return f"{len(letters)}: {''.join(letters)}"


def _flag(field: str) -> str:
    if field.startswith("KVVIZ_"):  # an environment variable has its own name
        return field
    return _MODEL if field == "model" else "--" + field.replace("_", "-")


def _follows(given: Sequence[str], flag: str) -> str | None:
    for position, argument in enumerate(given):
        if argument == flag and position + 1 < len(given):
            return given[position + 1]
        if argument.startswith(flag + "="):
            return argument.partition("=")[2]
    return None
