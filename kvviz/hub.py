"""The Hugging Face Hub: a model's config.json and the size of its weights, and search.

Every call is one request (and the redirects it is given, on the Hub itself only) with a deadline over all of it, never
repeated: the client's own ``hf_hub_download`` retries for 23 s to minutes before it says anything. What comes back is
read as JSON and never run. Nobody's token is sent but the one handed in, which goes nowhere but into one header.

Imports the Hub client where it is first needed: reading a reference stays light.
"""

import asyncio
import json
import os
import re
import unicodedata
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

import kvviz
from kvviz.core.architecture import parse_config
from kvviz.core.architecture.reader import MAX_BYTES
from kvviz.core.errors import ConfigError, KvvizError
from kvviz.core.units import format_count
from kvviz.estimate import Estimate
from kvviz.hub_weights import stored_weights
from kvviz.text import Message, Text
from kvviz.text import hub as text

if TYPE_CHECKING:
    import httpx2

FETCH_SECONDS: Final = 10.0
SEARCH_SECONDS: Final = 3.0
MAX_HITS: Final = 50
_WEIGHTS_SECONDS: Final = 2.0
"""What the question for the weights gets at least, however long the config took."""
_REDIRECTS: Final = 5
_TYPED_CHARACTERS: Final = 500
_QUERY_CHARACTERS: Final = 100

Code = Literal[
    "hub-reference",
    "hub-token",
    "hub-not-found",
    "hub-private",
    "hub-gated",
    "hub-forbidden",
    "hub-no-config",
    "hub-bad-revision",
    "hub-rate-limited",
    "hub-down",
    "hub-timeout",
    "hub-offline",
    "hub-too-large",
    "hub-not-json",
    "hub-html",
    "hub-redirect",
    "hub-refused",
]
T = TypeVar("T")


class HubError(KvvizError):
    """A model that cannot be read from the Hub. ``code`` says why; the message offers the ways that need no Hub."""

    def __init__(self, what: Message | Text, *, code: Code, wait_s: int | None = None) -> None:
        super().__init__(Message(text.WITH_OFFER, {"what": what, "offer": text.OFFER}), code=code)
        self.what = what
        """The message without the offer, for a page that shows the offer as buttons."""
        self.wait_s = wait_s
        """Seconds after which the Hub takes requests again, where it says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReference:
    """A model on the Hub as a person named it. Holds no secret: it may be a cache key."""

    repo_id: str
    """``owner/name``"""
    revision: str = "main"
    """A branch, a tag or a commit."""

    def __str__(self) -> str:
        return self.repo_id if self.revision == "main" else f"{self.repo_id}@{self.revision}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HubModel:
    """What was read from the Hub."""

    repo_id: str
    """As the Hub spells it now: a renamed model comes under its new name."""
    revision: str
    """What was asked for."""
    commit_sha: str | None
    """The commit that ``revision`` meant; None where the Hub (or a mirror of it) does not say."""
    config: dict[str, object]
    """config.json as it is."""
    weights: Estimate | None
    """All of the model, before any split; None where the Hub does not tell."""
    weights_unknown: Message | None
    """Why ``weights`` is None."""
    gated: bool | None
    """None: the Hub was not able to say."""
    cacheable: bool
    """False where a token was used, or where the answer is incomplete: keep it out of anything that others see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A model that a search found."""

    repo_id: str
    downloads: int | None
    """In the last 30 days, as the Hub counts."""
    gated: bool
    """True: its files need a token of an account that has accepted the terms."""


# --- What a person typed or pasted ---------------------------------------------------------------------------------

_ID = re.compile(r"\w(?:[\w.-]{0,94}\w)?/\w(?:[\w.-]{0,94}\w)?", re.ASCII)
_REVISION = re.compile(r"\w[\w./+-]{0,119}", re.ASCII)
_SHA = re.compile(r"[0-9a-f]{40}")
_SITE = re.compile(r"[\w-]+(?:\.[\w-]+)+(?::\d{1,5})?")
_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_HUB: Final = "huggingface.co"
_HUB_HOSTS: Final = frozenset({_HUB, "www.huggingface.co", "hf.co"})
_FILE_VIEWS: Final = frozenset({"blob", "tree", "resolve", "raw", "commit", "blame", "edit"})
_OTHER_PAGES: Final = frozenset(
    {
        "api", "blog", "buckets", "chat", "collections", "datasets", "docs", "join", "kernels", "learn", "login",
        "models", "organizations", "papers", "posts", "pricing", "settings", "spaces", "tasks",
    }
)  # fmt: skip


def parse_model_reference(typed: str, *, endpoint: str | None = None) -> ModelReference:
    """The model named by ``owner/name``, ``owner/name@revision`` or the address of its page or of a file in it.

    ``endpoint`` is the Hub that is asked (default: HF_ENDPOINT, else huggingface.co); addresses of its pages are
    understood too. Messages never repeat what was typed: it may be a secret in the wrong field.
    """
    typed = unicodedata.normalize("NFKC", typed[: _TYPED_CHARACTERS + 1]).strip().strip("\"'<>`")
    hub = _split(_endpoint(endpoint))
    if not typed or len(typed) > _TYPED_CHARACTERS:
        raise _reference_error(text.NOT_AN_ID)
    own = {hub.netloc.lower().rpartition("@")[2], hub.hostname} if hub and hub.hostname else {_HUB}
    first, slash, rest = typed.partition("/")
    if _SCHEME.match(typed):
        return _of_address(typed, own)
    if slash and (first.lower() in own | _HUB_HOSTS or (_SITE.fullmatch(first) and "/" in rest.strip("/"))):
        return _of_address("https://" + typed, own)
    if first.lower() in _OTHER_PAGES and slash:
        raise _reference_error(text.NOT_A_MODEL)
    repo_id, at, revision = typed.partition("@")
    if at and not revision:
        raise _reference_error(text.NOT_AN_ID)
    return _reference(repo_id.strip(), revision.strip())


def _of_address(address: str, own: set[str]) -> ModelReference:
    split = _split(address)
    if split is None or not split.hostname:
        raise _reference_error(text.NOT_AN_ID)
    place = split.netloc.lower().rpartition("@")[2]
    if split.hostname not in _HUB_HOSTS and place not in own:
        shown = re.sub(r"[^\w.-]", "·", split.hostname)[:60]
        hub = _HUB if own & _HUB_HOSTS else max(own, key=len)
        raise _reference_error(Message(text.OTHER_SITE, {"host": shown, "hub": hub}))
    parts = [part for part in split.path.split("/") if part]
    if len(parts) < 2 or parts[0].lower() in _OTHER_PAGES:
        raise _reference_error(text.NOT_A_MODEL)
    revision = unquote(parts[3]) if len(parts) > 3 and parts[2] in _FILE_VIEWS else ""
    # Branches of pull requests are written out in some addresses: /tree/refs/pr/1.
    if revision == "refs" and len(parts) > 5:
        revision = "/".join(parts[3:6])
    return _reference(f"{parts[0]}/{parts[1].removesuffix('.git')}", revision)


def _reference(repo_id: str, revision: str) -> ModelReference:
    # The Hub client refuses the same names (huggingface_hub utils/_validators.py); here without importing it.
    if not _ID.fullmatch(repo_id) or "--" in repo_id or ".." in repo_id or repo_id.endswith(".git"):
        raise _reference_error(text.NOT_AN_ID)
    if revision and (not _REVISION.fullmatch(revision) or ".." in revision):
        raise _reference_error(text.NOT_AN_ID)
    return ModelReference(repo_id=repo_id, revision=revision or "main")


def _reference_error(what: Message | Text) -> HubError:
    return HubError(what, code="hub-reference")


def _split(address: str) -> SplitResult | None:
    try:
        split = urlsplit(address)
        split.port  # noqa: B018 - raises where it is no number
    except ValueError:
        return None
    return split


def _endpoint(endpoint: str | None) -> str:
    """The Hub to ask. Read at every call; the client itself reads the variable once, when it is imported.

    Raises HubError where it is no address.
    """
    hub = (endpoint or os.environ.get("HF_ENDPOINT") or f"https://{_HUB}").strip().rstrip("/")
    split = _split(hub)
    if split is None or not _SCHEME.match(hub) or not split.hostname:
        raise HubError(text.BAD_ENDPOINT, code="hub-offline")
    return hub


def check_endpoint() -> None:
    """Raises HubError where HF_ENDPOINT is no address of a Hub."""
    _endpoint(None)


# --- Questions to the Hub ------------------------------------------------------------------------------------------


def fetch_config(
    reference: ModelReference, *, token: str | None, endpoint: str | None = None, timeout_s: float = FETCH_SECONDS
) -> HubModel:
    """config.json of a model, its commit and its weights, in two requests. Raises HubError.

    ``token`` is sent to the Hub and kept nowhere; None asks as anybody. A cache around this function must not take a
    token: keep only what is ``cacheable``. Where only the second question fails the weights are unknown, no more.
    """
    hub = _endpoint(endpoint)  # first: with one that is no address the client cannot even be imported
    from huggingface_hub import hf_hub_url

    token = _checked(token)
    until = monotonic() + timeout_s
    url = hf_hub_url(reference.repo_id, "config.json", revision=reference.revision, endpoint=hub)
    answer = _ask(url, reference=reference, token=token, seconds=timeout_s)
    repo_id = _renamed(answer.url) or reference.repo_id
    config = _parse(answer.body, repo_id)
    pinned = quote(answer.commit_sha or reference.revision, safe="")
    info: Mapping[str, object] = {}
    weights: Estimate | Message
    try:
        info = _ask_json(
            f"{hub}/api/models/{repo_id}/revision/{pinned}?blobs=true",
            reference=reference,
            token=token,
            seconds=max(until - monotonic(), min(_WEIGHTS_SECONDS, timeout_s)),
        )
        weights = stored_weights(info, config)
    except HubError as error:
        weights = Message(text.WEIGHTS_NOT_ASKED, {"why": error.what})
    return HubModel(
        repo_id=repo_id,
        revision=reference.revision,
        commit_sha=answer.commit_sha or _sha(info.get("sha")),
        config=config,
        weights=weights if isinstance(weights, Estimate) else None,
        weights_unknown=weights if isinstance(weights, Message) else None,
        gated=bool(info.get("gated")) if info else None,
        cacheable=token is None and bool(info),
    )


def _parse(body: bytes, repo_id: str) -> dict[str, object]:
    try:
        return parse_config(body)
    except ConfigError as error:
        why = Message(text.NOT_JSON, {"model": repo_id, "why": error.message})
    raise HubError(why, code="hub-not-json")


def search(
    query: str, *, limit: int = 10, endpoint: str | None = None, timeout_s: float = SEARCH_SECONDS
) -> tuple[Hit, ...]:
    """Models whose name holds ``query``, the most downloaded first, for type-ahead. Raises HubError.

    Asked as anybody. Repositories with nothing but GGUF files are left out: they have no config.json.
    """
    query = " ".join(query[:_QUERY_CHARACTERS].split())
    limit = min(limit, MAX_HITS)
    if not query or limit < 1:
        return ()
    words = quote(query, safe="", errors="replace")
    # Twice as many, since some are left out below.
    wanted = f"search={words}&sort=downloads&limit={2 * limit}&expand=downloads&expand=gated&expand=tags"
    rows = _ask_json(
        f"{_endpoint(endpoint)}/api/models?{wanted}", reference=None, token=None, seconds=timeout_s, kind=list
    )
    return tuple(hit for row in rows if (hit := _hit(row)) is not None)[:limit]


def _hit(row: object) -> Hit | None:
    if not isinstance(row, dict) or not isinstance(name := row.get("id"), str) or not _ID.fullmatch(name):
        return None
    tags = row.get("tags")
    if isinstance(tags, list) and "gguf" in tags and "safetensors" not in tags:
        return None
    downloads = row.get("downloads")
    return Hit(repo_id=name, downloads=downloads if isinstance(downloads, int) else None, gated=bool(row.get("gated")))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    url: str
    """Where it came from in the end."""
    body: bytes
    commit_sha: str | None


def _ask_json(
    url: str,
    *,
    reference: ModelReference | None,
    token: str | None,
    seconds: float,
    kind: type[T] = dict,  # type: ignore[assignment]
) -> T:
    body = _ask(url, reference=reference, token=token, seconds=seconds).body
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, kind):
        raise HubError(text.ANSWER_NOT_UNDERSTOOD, code="hub-not-json")
    return found


def _ask(url: str, *, reference: ModelReference | None, token: str | None, seconds: float) -> _Answer:
    """One request, answered within ``seconds``, everything included. Raises HubError and nothing else."""
    import httpx2
    from huggingface_hub.errors import OfflineModeIsEnabled

    try:
        return _within(seconds, _get(url, reference=reference, token=token, seconds=seconds))
    except OfflineModeIsEnabled:
        failure = HubError(text.OFFLINE, code="hub-offline")
    except (TimeoutError, httpx2.TimeoutException):
        shown = f"{seconds:.0f}" if seconds >= 1 else f"{seconds:.1f}"
        failure = HubError(Message(text.TIMEOUT, {"seconds": shown}), code="hub-timeout")
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, UnicodeError):
        failure = HubError(text.UNREACHABLE, code="hub-down")
    # Raised out here, so that it does not carry the client's exception, which holds the request and its token.
    raise failure


def _within(seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` on a loop of its own. A timeout of the client is one per read; this one is for the whole."""

    async def bounded() -> T:
        async with asyncio.timeout(seconds):
            return await work

    loop = asyncio.SelectorEventLoop()
    try:
        return loop.run_until_complete(bounded())
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()  # does not wait for a name server that does not answer, as asyncio.run would


async def _get(url: str, *, reference: ModelReference | None, token: str | None, seconds: float) -> _Answer:
    from huggingface_hub.utils import get_async_session

    # Not the client's build_hf_headers: it looks for a token on this machine, and asks the Hub which tools run here.
    headers = {"user-agent": f"kvviz/{kvviz.__version__}", "accept-encoding": "identity"}
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    commit_sha: str | None = None
    if _origin(url) is None:
        raise HubError(text.UNREACHABLE, code="hub-down")
    # A session is made for each call and shares nothing, cookies included, with what others asked.
    async with get_async_session() as session:
        for _ in range(_REDIRECTS + 1):
            async with session.stream("GET", url, headers=headers, timeout=seconds, follow_redirects=False) as response:
                commit_sha = _sha(response.headers.get("X-Repo-Commit")) or commit_sha
                if not response.has_redirect_location:
                    if response.status_code != 200:
                        raise _refusal(response.status_code, response.headers, reference=reference, token=token)
                    return _Answer(url=url, body=await _read(response), commit_sha=commit_sha)
                location = response.headers["Location"]
            target = urljoin(url, location) if _split(location) else location
            if _origin(target) != _origin(url):
                away = _split(target)
                host = re.sub(r"[^\w.-]", "·", away.hostname or "?")[:60] if away else "?"
                raise HubError(Message(text.REDIRECTED_AWAY, {"host": host}), code="hub-redirect")
            url = target
    raise HubError(text.REDIRECTED_ROUND, code="hub-redirect")


async def _read(response: "httpx2.Response") -> bytes:
    """The body, no more than MAX_BYTES of it. Not decoded: nothing can unfold to more than was counted."""
    kind = response.headers.get("Content-Type", "").lower()
    if "html" in kind:
        raise HubError(text.HTML, code="hub-html")
    stated = response.headers.get("Content-Length", "")
    body = bytearray()
    if not stated.isdecimal() or (len(stated) < 19 and int(stated) <= MAX_BYTES):
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > MAX_BYTES:
                break
        else:
            if body.lstrip()[:1] == b"<":
                raise HubError(text.HTML, code="hub-html")
            return bytes(body)
    raise HubError(Message(text.TOO_LARGE, {"limit": format_count(MAX_BYTES)}), code="hub-too-large")


def _origin(address: str) -> tuple[str, str, int | None] | None:
    split = _split(address)
    if split is None or not split.hostname:
        return None
    return split.scheme, split.hostname, split.port or {"http": 80, "https": 443}.get(split.scheme)


def _renamed(url: str) -> str | None:
    """The model that the address of a config.json belongs to: the redirects of a renamed one end at its new name."""
    found = re.search(r"(?:/api/resolve-cache/models)?/([^/]+/[^/]+)/(?:resolve/)?[^/]+/config\.json$", _path(url))
    return found[1] if found and _ID.fullmatch(found[1]) else None


def _path(url: str) -> str:
    split = _split(url)
    return split.path if split else ""


def _sha(found: object) -> str | None:
    return found if isinstance(found, str) and _SHA.fullmatch(found) else None


def _checked(token: str | None) -> str | None:
    """``token`` without the spaces it was copied with; None for an empty field. It has to fit into a header."""
    if token is None or not token.strip():
        return None
    if not re.fullmatch(r"[\x21-\x7e]{1,300}", token.strip()):
        raise HubError(text.TOKEN_UNREADABLE, code="hub-token")
    return token.strip()


def _refusal(
    status: int, headers: Mapping[str, str], *, reference: ModelReference | None, token: str | None
) -> HubError:
    """An answer other than 200, in words.

    Told by the status and the Hub's own code, which the client sorts its exceptions by. Its ``hf_raise_for_status`` is
    not asked: it reads the body, and fails in other ways on one that is no JSON object.
    """
    if status == 429:
        wait_s = _wait_s(headers)
        if wait_s is None:
            return HubError(text.RATE_LIMITED_FOR_A_WHILE, code="hub-rate-limited")
        waiting = Message(text.RATE_LIMITED, {"seconds": format_count(wait_s)})
        return HubError(waiting, code="hub-rate-limited", wait_s=wait_s)
    if status >= 500:
        return HubError(Message(text.DOWN, {"status": status}), code="hub-down")
    if reference is None:
        return HubError(Message(text.REFUSED, {"status": status}), code="hub-refused")
    sentence: Text
    code: Code
    match headers.get("X-Error-Code", ""), status:
        case _, 401 if token:  # whoever is known is told 403 or 404
            sentence, code = text.TOKEN_REFUSED, "hub-token"
        case "GatedRepo", _:
            sentence, code = text.GATED_FOR_YOU if token else text.GATED, "hub-gated"
        case "RevisionNotFound", _:
            sentence, code = text.BAD_REVISION, "hub-bad-revision"
        case "EntryNotFound", _:
            sentence, code = text.NO_CONFIG, "hub-no-config"
        case _, 401:  # the Hub does not tell strangers whether a private model exists
            sentence, code = text.NOT_FOUND_OR_PRIVATE, "hub-private"
        case "RepoNotFound", _:
            sentence, code = text.NOT_FOUND, "hub-not-found"
        case _, 403:
            disabled = headers.get("X-Error-Message") == "Access to this resource is disabled."
            sentence, code = text.DISABLED if disabled else text.FORBIDDEN, "hub-forbidden"
        case _, 404:
            sentence, code = text.NOT_FOUND, "hub-not-found"
        case _:
            sentence, code = text.REFUSED, "hub-refused"
    revision = reference.revision[:12] if _SHA.fullmatch(reference.revision) else reference.revision
    values = {"model": reference.repo_id, "revision": revision, "status": status}
    return HubError(Message(sentence, values), code=code)


def _wait_s(headers: Mapping[str, str]) -> int | None:
    """Seconds until the Hub takes requests again: its RateLimit header, else Retry-After in either of its forms."""
    from huggingface_hub.utils import parse_ratelimit_headers

    try:
        limits = parse_ratelimit_headers(headers)
        if limits is not None and limits.remaining == 0:
            return max(limits.reset_in_seconds, 1)
        after = headers.get("Retry-After", "").strip()
        if after.isdecimal():
            return max(int(after), 1)
        if after:
            when = parsedate_to_datetime(after)
            # By the Hub's own clock: this machine's may be wrong by years.
            now = parsedate_to_datetime(headers["Date"]) if headers.get("Date") else datetime.now(UTC)
            return max(round((when - now).total_seconds()), 1)
    except (ValueError, TypeError, OverflowError):  # digits without end, a date without its zone
        pass
    return None
