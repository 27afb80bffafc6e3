"""What do the diagrams hand to the browser?"""

from __future__ import annotations

import json

from streamlit.testing.v1 import AppTest

from normviz.figures import theme


def script() -> None:
    from normviz.figures.placements.variants import placement_diagrams
    from normviz.placements import PLACEMENTS
    from normviz.text import Text
    from normviz.ui.diagram import diagrams

    t = Text("en")
    drawn = [one for name in ("post_norm", "mix_ln") for one in placement_diagrams(PLACEMENTS[name], t=t, mode="dark")]
    diagrams(drawn, key="a", t=t, mode="dark")


def test_diagrams_mount_with_their_files_and_data() -> None:
    app = AppTest.from_function(script).run()
    assert not app.exception
    (part,) = app.get("bidi_component")
    files = part.proto.component_name, part.proto.js_source_path, part.proto.css_source_path
    assert files == ("normviz.diagram", "diagram.js", "diagram.css")
    sent = json.loads(part.proto.json)
    assert [one["title"] for one in sent["diagrams"]] == [
        "Post-Norm",
        "Mix-LN, layers 1 to 3 of 12",
        "Mix-LN, layers 4 to 12 of 12",
    ]
    post = sent["diagrams"][0]
    assert post["color"] == theme.PLACEMENT_COLORS["dark"]["post_norm"]
    assert [box["on_identity_path"] for box in post["boxes"] if box["kind"] == "norm"] == [True, True, True]
    assert post["words"]["tools"] == "Tools of the figure: Post-Norm"
    assert sent["colours"]["ink"] == theme.INK["dark"]
    assert all(sent["words"].values())
