"""A visitor without a browser: speaks Streamlit's protocol over a websocket, and changes settings."""

import contextlib
import itertools
import random
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Block_pb2 import Block
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

NUMBERS = itertools.count()
"""No visitor types what another has typed: nothing that is asked has been answered before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A page, and what a visitor does there."""

    url_path: str
    """Empty: the page that opens by itself."""
    opens: tuple[str, ...] = ()
    """Keys of the panels that must be open for that."""
    typed: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Key of a text box, and from which number on what is typed there, and in which steps."""
    chosen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Key of a select box, and what is chosen in turn; of a list of several: any as many as there are now."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Of all that is changed."""
        return (*self.typed, *self.chosen)


PLACES: Mapping[str, Place] = {
    "sizing": Place(url_path="", typed={"input": (6_000, 1)}, chosen={"kv_dtype": ("bf16", "fp8")}),
    "compare": Place(url_path="compare", chosen={"compare_counts": (), "compare_models": ()}),
    "blocks": Place(url_path="blocks", opens=("blocks_settings",), typed={"blocks_pool": (4_096, 16)}),
}


_PICTURES = frozenset({"plotly_chart", "bidi_component", "imgs"})


class FaultError(Exception):
    """The page showed an exception, or a run did not finish."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One run of a page, as a visitor sees it."""

    milliseconds: float
    """From sending what was changed until the run has finished."""
    received_bytes: int
    picture_bytes: int
    """Of charts, drawings and pictures."""
    messages: int


class Visitor:
    """All widgets' states go with every change, as a browser sends them."""

    def __init__(self, connection: ClientConnection, place: Place, seed: int) -> None:
        self.connection = connection
        self.place = place
        self.random = random.Random(seed)
        self.states: dict[str, WidgetState] = {}
        self.options: dict[str, list[str]] = {}
        self.panels: set[str] = set()
        self.page = ""
        self.cached: tuple[set[str], set[str]] = set(), set()
        """Messages of the last two runs, which the server need not send again."""

    async def open(self) -> Ran:
        """Open the page, and what must be open on it."""
        first = await self.run()
        if panels := [panel for panel in self.panels if _key(panel) in self.place.opens]:
            for panel in panels:
                self.states[panel] = WidgetState(id=panel, bool_value=True)
            await self.run()
        if missing := set(self.place.keys) - {_key(name) for name in self.states}:
            raise FaultError(f"The page has no {', '.join(sorted(missing))}.")
        return first

    async def change(self) -> Ran:
        """Change one setting."""
        key = self.random.choice(self.place.keys)
        state = next(state for name, state in self.states.items() if _key(name) == key)
        if key in self.place.typed:
            begin, step = self.place.typed[key]
            state.string_value = str(begin + step * next(NUMBERS))
        elif options := self.place.chosen[key]:
            state.string_value = (
                options[(options.index(state.string_value) + 1) % len(options)]
                if (state.string_value in options)
                else options[0]
            )
        else:
            now = list(state.string_array_value.data)
            state.string_array_value.data[:] = self.random.sample(self.options[state.id], len(now))
        return await self.run()

    async def run(self) -> Ran:
        """Ask for a run and wait for its end. Raises FaultError where the page shows an exception."""
        asked = ClientState(query_string="lang=en", page_script_hash=self.page)
        if not self.page:
            asked.page_name = self.place.url_path
        asked.widget_states.widgets.extend(self.states.values())
        asked.cached_message_hashes.extend(self.cached[0] | self.cached[1])
        self.cached = set(), self.cached[0]
        begun, received, pictures, messages, faults = time.perf_counter(), 0, 0, 0, []
        await self.connection.send(BackMsg(rerun_script=asked).SerializeToString())
        while True:
            frame = await self.connection.recv(decode=False)
            received, messages = received + len(frame), messages + 1
            answer = ForwardMsg.FromString(frame)
            if answer.metadata.cacheable:
                self.cached[0].add(answer.hash)
            match answer.WhichOneof("type"):
                case "ref_hash":
                    self.cached[0].add(answer.ref_hash)
                case "navigation":  # a new session's message comes before the script says which pages there are
                    self.page = answer.navigation.page_script_hash
                case "delta" if answer.delta.HasField("new_element"):
                    element = answer.delta.new_element
                    faults += self._learn(element)
                    if element.WhichOneof("type") in _PICTURES:
                        pictures += len(frame)
                case "delta" if answer.delta.HasField("add_block"):
                    self._learn_panel(answer.delta.add_block)
                case "script_finished":
                    took = 1000 * (time.perf_counter() - begun)
                    if answer.script_finished != ForwardMsg.FINISHED_SUCCESSFULLY:
                        faults.append("A run did not finish.")
                    if faults:
                        raise FaultError("; ".join(faults))
                    return Ran(milliseconds=took, received_bytes=received, picture_bytes=pictures, messages=messages)

    def _learn(self, element: Element) -> Iterator[str]:
        """Remember a widget and what it shows; an exception is a fault."""
        match element.WhichOneof("type"):
            case "exception":
                yield f"{element.exception.type}: {element.exception.message}"
            case "text_input":
                box = element.text_input
                if box.set_value or box.id not in self.states:
                    shown = box.value if box.set_value else box.default
                    self.states[box.id] = WidgetState(id=box.id, string_value=shown)
            case "selectbox":
                choice = element.selectbox
                if choice.set_value or choice.id not in self.states:
                    shown = choice.raw_value if choice.set_value else choice.options[choice.default]
                    self.states[choice.id] = WidgetState(id=choice.id, string_value=shown)
            case "multiselect":
                several = element.multiselect
                self.options[several.id] = list(several.options)
                if several.set_value or several.id not in self.states:
                    names = several.raw_values if several.set_value else [several.options[n] for n in several.default]
                    self.states[several.id] = WidgetState(id=several.id)
                    self.states[several.id].string_array_value.data[:] = names
            case _:
                pass

    def _learn_panel(self, block: Block) -> None:
        if block.HasField("expandable") and block.expandable.id:
            self.panels.add(block.expandable.id)


def _key(name: str) -> str:
    """The key a widget was given: the end of its id."""
    return name.split("-", 2)[-1]


@contextlib.asynccontextmanager
async def visiting(url: str, place: Place, seed: int = 0) -> AsyncIterator[Visitor]:
    """A visitor who has opened the page; leaves at the end."""
    address = f"{url.replace('http:', 'ws:', 1)}/_stcore/stream"
    async with connect(address, subprotocols=["streamlit"], origin=url, proxy=None, max_size=None) as connection:
        visitor = Visitor(connection, place, seed)
        await visitor.open()
        yield visitor
