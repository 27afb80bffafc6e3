"""Where does Streamlit find the files of this package's components?"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

_lock = Lock()


def renderer(name: str, html: str) -> ComponentRenderer:
    """The mount command of a component of ours, with its files known to the runtime at work.

    Streamlit serves the files of components that installed packages declare. A plain clone is not installed, and
    plotly's own copy of plotly.js is declared by nobody, so both folders are declared here, once per runtime.

    Parameters
    ----------
    name
        "plot", "part", "diagram" or "pad"; its script is `frontend/{name}.js`, its style sheet `frontend/{name}.css`.
    html
        Holds the place until the script is there.
    """
    frontend = Path(__file__).parent / "frontend"
    manager = get_bidi_component_manager()
    with _lock:  # a second declaration would empty the component under a session that is mounting it
        if manager.get_component_asset_root("normviz.pad") is None:
            ours = ("plot", "part", "diagram", "pad")
            for part, folder in (("plotly", plotly_files()), *((own, frontend) for own in ours)):
                component = ComponentConfig(name=part, asset_dir=folder.name)
                manifest = ComponentManifest(name="normviz", version="1", components=[component])
                manager.register_from_manifest(manifest, folder.parent)
        return _component(name, html)


@cache
def _component(name: str, html: str) -> ComponentRenderer:
    return st.components.v2.component(
        f"normviz.{name}",
        html=html,
        js=f"{name}.js",
        css=f"{name}.css",
        isolate_styles=False,  # plotly puts its style sheet into the document's head
    )


@cache
def plotly_files() -> Path:
    """The folder with the plotly.js of the installed plotly.

    Raises
    ------
    ModuleNotFoundError
        If plotly is not installed; the message says how to get it.
    """
    spec = find_spec("plotly")  # importing plotly would cost a second and change its default template
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("The dashboard draws with plotly; install it with: pip install 'normviz[app]'")
    return Path(spec.submodule_search_locations[0]) / "package_data"
