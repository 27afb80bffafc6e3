"""How long does the server take to answer a click? A visitor without a browser, over Streamlit's protocol."""

from __future__ import annotations

import time
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect

ANSWER_LIMIT = 60.0  # seconds until the server must have answered


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a click cost.

    Attributes
    ----------
    seconds
        From sending the click until the message that the script has finished.
    script
        Seconds that the server spent in the script; None unless it runs with `browser.gatherUsageStats`, which
        makes it report them (a browser would pass them on, this client does not).
    messages, size
        Number and bytes of the messages in between.
    """

    seconds: float
    script: float | None
    messages: int
    size: int


class Visitor:
    """One person's session on a page, kept open until the block ends.

    Parameters
    ----------
    url
        Address of the server, such as `http://127.0.0.1:8501`.
    page
        Name of the page as in the address bar; empty for the first one.
    query
        Query string without the question mark.
    """

    def __init__(self, url: str, page: str = "", query: str = "") -> None:
        address = url.replace("http", "ws", 1) + "/_stcore/stream"
        self._socket = connect(address, subprotocols=["streamlit"], max_size=None, open_timeout=ANSWER_LIMIT)  # type: ignore[list-item]
        self._page = page
        self._query = query
        self._script_hash = ""
        self._widgets: dict[str, WidgetState] = {}
        self.ids: set[str] = set()
        """Ids of the widgets on the page."""
        self.first = self._run()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def widget(self, key: str) -> str:
        """Id of the widget with this session-state key, which Streamlit puts at the end of the id."""
        found = [widget for widget in self.ids if widget.endswith(f"-{key}")]
        if len(found) != 1:
            raise LookupError(f"no widget with the key {key!r}; the page has {sorted(self.ids)}")
        return found[0]

    def set(self, widget: str, value: str | float) -> Answer:
        """Give a widget a value, as a person does, and wait for the answer: a text, or the number of a slider."""
        state = WidgetState(id=widget)
        if isinstance(value, str):
            state.string_value = value
        else:
            state.double_array_value.data.append(value)
        self._widgets[widget] = state
        return self._run()

    def _run(self) -> Answer:
        click = BackMsg()
        click.rerun_script.query_string = self._query
        click.rerun_script.page_name = "" if self._script_hash else self._page
        click.rerun_script.page_script_hash = self._script_hash
        click.rerun_script.widget_states.widgets.extend(self._widgets.values())
        start = time.perf_counter()
        self._socket.send(click.SerializeToString())
        script, messages, size = None, 0, 0
        while True:
            data = self._socket.recv(timeout=ANSWER_LIMIT)
            assert isinstance(data, bytes)
            message = ForwardMsg.FromString(data)
            messages, size = messages + 1, size + len(data)
            kind = message.WhichOneof("type")
            if kind == "delta":
                self._note(message)
            elif kind == "navigation":
                self._script_hash = message.navigation.page_script_hash
            elif kind == "page_info_changed":
                self._query = message.page_info_changed.query_string
            elif kind == "page_profile":
                script = message.page_profile.exec_time / 1e6
            elif kind == "script_finished":
                return Answer(seconds=time.perf_counter() - start, script=script, messages=messages, size=size)

    def _note(self, message: ForwardMsg) -> None:
        element = message.delta.new_element
        kind: str | None = element.WhichOneof("type")
        if kind == "exception":
            raise RuntimeError(f"the page shows an exception: {element.exception.message}")
        identity = getattr(getattr(element, kind), "id", None) if kind else None
        if isinstance(identity, str) and identity:
            self.ids.add(identity)
