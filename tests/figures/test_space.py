"""Does the picture in space show what `normviz.space` computed, to scale and where the camera sees it?"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from normviz.errors import InputError
from normviz.figures import solid
from normviz.figures.labels import text_size
from normviz.figures.picture import Picture
from normviz.figures.vector import space_picture
from normviz.geometry import cloud, space
from normviz.text import Text
from tests.figures.checks import check, numbers, trace_named

ENGLISH = Text("en")
THREE, FOUR = [1.0, 2.0, 4.0], [1.0, 2.0, 3.0, 4.0]
WEIGHT, BIAS = [1.5, 0.6, 1.0], [0.5, 0.0, 1.5]

vectors = arrays(np.float64, st.integers(3, 9), elements=st.floats(-1e6, 1e6).map(lambda value: round(value, 3)))


def coordinates(trace: dict[str, object]) -> np.ndarray:
    return np.stack([np.asarray(trace[axis]) for axis in "xyz"], axis=1)


def tip(picture: Picture, name: str) -> np.ndarray:
    """Where an arrow ends: the point of the cone behind its line."""
    data = picture.spec["data"]
    (place,) = [place for place, trace in enumerate(data) if trace.get("name") == name]
    assert data[place + 1]["type"] == "mesh3d"
    np.testing.assert_array_equal(coordinates(data[place])[0], 0)
    return coordinates(data[place + 1])[-2]


def test_three_entries_are_drawn_where_they_are(t: Text, mode: str) -> None:
    picture = space_picture(space(THREE), None, t=t, mode=mode)
    check(picture, t, mode)
    x = np.array(THREE)
    centred = x - x.mean()
    np.testing.assert_allclose(tip(picture, "x"), x)
    np.testing.assert_allclose(tip(picture, t("mean part")), np.full(3, 7 / 3))
    np.testing.assert_allclose(tip(picture, t("centred part")), centred, atol=1e-12)
    np.testing.assert_allclose(tip(picture, "LN(x)"), centred / centred.std(), atol=1e-12)
    np.testing.assert_allclose(tip(picture, "RMSNorm(x)"), x / np.sqrt((x**2).mean()))
    ring = coordinates(trace_named(picture, "ring"))
    np.testing.assert_allclose(np.linalg.norm(ring, axis=1), np.sqrt(3))
    np.testing.assert_allclose(ring.sum(axis=1), 0, atol=1e-12)
    assert "exact" in picture.title or "精确" in picture.title
    assert "1.73" in picture.title


def test_more_entries_are_drawn_in_their_frame_with_1_upwards(t: Text, mode: str) -> None:
    picture = space_picture(space(FOUR), None, t=t, mode=mode)
    check(picture, t, mode)
    np.testing.assert_allclose(tip(picture, "x"), [np.sqrt(5), 0, 5], atol=1e-12)
    np.testing.assert_allclose(tip(picture, "LN(x)"), [2, 0, 0], atol=1e-12)
    np.testing.assert_allclose(coordinates(trace_named(picture, "ring"))[:, 2], 0, atol=1e-12)
    np.testing.assert_allclose(picture.table.iloc[2, 1:].astype(float), [5, np.sqrt(5), 0, np.sqrt(30)], atol=1e-12)


def test_gain_and_bias_bend_the_ring_and_are_drawn_stronger(t: Text, mode: str) -> None:
    picture = space_picture(space(THREE, weight=WEIGHT, bias=BIAS), None, t=t, mode=mode)
    check(picture, t, mode)
    ring, ellipse = (coordinates(trace_named(picture, name)) for name in ("ring", "ellipse"))
    np.testing.assert_allclose(ellipse, ring * WEIGHT + BIAS, atol=1e-12)
    x = np.array(THREE)
    layer = (x - x.mean()) / x.std() * WEIGHT + BIAS
    np.testing.assert_allclose(tip(picture, "γ LN(x) + β"), layer, atol=1e-12)
    np.testing.assert_allclose(tip(picture, "γ RMSNorm(x)"), x / np.sqrt((x**2).mean()) * WEIGHT)
    widths = [trace_named(picture, name)["line"]["width"] for name in ("LN(x)", "γ LN(x) + β")]
    assert widths[0] < widths[1]
    plain = space_picture(space(THREE), None, t=t, mode=mode)
    assert "ellipse" not in {trace.get("name") for trace in plain.spec["data"]}


def test_the_share_outside_the_picture_is_said(t: Text, mode: str) -> None:
    generator = np.random.default_rng(3)
    seen = space(generator.normal(size=8), weight=generator.normal(size=8), bias=generator.normal(size=8))
    picture = space_picture(seen, None, t=t, mode=mode)
    check(picture, t, mode)
    assert seen.layer_outside is not None
    assert seen.rms_outside is not None
    for share in (seen.layer_outside, seen.rms_outside):
        assert f"{100 * share:.3g} %" in picture.title
    nothing = space_picture(space(FOUR), None, t=ENGLISH, mode=mode).title
    assert "nothing lies outside" in nothing
    assert "%" not in nothing


def test_what_is_undefined_is_left_out_and_said(t: Text, mode: str) -> None:
    picture = space_picture(space([2.0, 2.0, 2.0, 2.0]), None, t=t, mode=mode)
    check(picture, t, mode)
    assert "LN(x)" not in {trace.get("name") for trace in picture.spec["data"]}
    assert t("{name} is undefined here.", name="LN(x)") in picture.alt
    assert "LN(x)" not in set(picture.table.iloc[:, 0])
    assert space_picture(space([0.0, 0.0, 0.0]), None, t=ENGLISH, mode=mode).alt.count("undefined") == 2


def test_the_sphere_the_plane_and_the_perpendiculars_are_exact() -> None:
    seen = space([3.0, 1.0, -1.0])
    picture = space_picture(seen, None, t=ENGLISH, mode="light")
    ball, plane = (coordinates(trace) for trace in picture.spec["data"][:2])
    np.testing.assert_allclose(np.linalg.norm(ball, axis=1), np.sqrt(3))
    np.testing.assert_allclose(plane @ seen.ones, 0, atol=1e-12)
    joined = [
        coordinates(trace) for trace in picture.spec["data"] if trace["type"] == "scatter3d" and len(trace["x"]) == 2
    ]
    for part in (seen.centered, seen.mean_part):
        assert any(np.allclose(line, [seen.x, part]) for line in joined)


@pytest.mark.parametrize("x", [THREE, FOUR, [100.0, 103, 98], [-1.0, -2, -3, -4, 9], [0.01, 0.02, 0.0, 0.03]])
def test_the_camera_sees_everything_in_a_narrow_figure(x: list[float]) -> None:
    layout = space_picture(space(x, bias=np.full(len(x), 2.0)), None, t=ENGLISH, mode="light").spec["layout"]
    picture = space_picture(space(x, bias=np.full(len(x), 2.0)), None, t=ENGLISH, mode="light")
    scene = layout["scene"]
    low, high = (np.array([scene[f"{axis}axis"]["range"][end] for axis in "xyz"]) for end in (0, 1))
    # Equal units along the axes.
    assert np.ptp(high - low) < 1e-9 * (high - low).max()
    assert len(set(scene["aspectratio"].values())) == 1
    camera = solid.Camera(eye=np.array([scene["camera"]["eye"][axis] for axis in "xyz"]))
    for trace in picture.spec["data"]:
        points = coordinates(trace)
        assert ((points >= low) & (points <= high)).all()
        flat = camera.flat((points - (low + high) / 2) / (high - low) * scene["aspectratio"]["x"])
        assert (np.abs(flat) < 1).all()


def test_flat_agrees_with_a_camera_matrix() -> None:
    """The view matrix of a camera that looks at the origin, and plotly's field of view of 45 degrees."""
    eye = np.array([1.0, -2.0, 0.5])
    forward = -eye / np.linalg.norm(eye)
    right = np.array([-forward[1] * -1, -forward[0], 0]) / np.hypot(*forward[:2])
    up = np.cross(right, forward)
    points = np.random.default_rng(0).uniform(-0.5, 0.5, size=(20, 3))
    seen = (points - eye) @ np.stack([right, up, forward], axis=1)
    expected = seen[:, :2] / (seen[:, 2:] * np.tan(np.pi / 8))
    np.testing.assert_allclose(solid.Camera(eye=eye).flat(points), expected)


CROWDED = [THREE, FOUR, [-1.0, -2.0, -3.0, -4.0], [10.0, 12.0, 9.0], [3.0, 1.0, -1.0]]


@pytest.mark.parametrize("x", CROWDED)
def test_labels_do_not_cover_each_other(x: list[float], t: Text) -> None:
    picture = space_picture(space(x), None, t=t, mode="light")
    scene, width = picture.spec["layout"]["scene"], 320
    low, high = (np.array([scene[f"{axis}axis"]["range"][end] for axis in "xyz"]) for end in (0, 1))
    camera = solid.Camera(eye=np.array([scene["camera"]["eye"][axis] for axis in "xyz"]))
    boxes = []
    for note in scene["annotations"]:
        point = np.array([[note[axis] for axis in "xyz"]])
        flat = camera.flat((point - (low + high) / 2) / (high - low) * scene["aspectratio"]["x"])[0]
        middle = flat * width / 2 + (note["ax"], -note["ay"])
        half = text_size(note["text"]) * 0.85 / 2
        boxes.append((middle - half, middle + half))
    for (one_low, one_high), (other_low, other_high) in combinations(boxes, 2):
        assert ((one_high <= other_low) | (other_high <= one_low)).any()
    for one_low, one_high in boxes:
        assert (one_low >= -width / 2).all()
        assert (one_high <= width / 2).all()


def test_a_cloud_of_three_entries_lies_on_the_ring_and_the_sphere(t: Text, mode: str) -> None:
    picture = space_picture(space(THREE), cloud(3, n=50), t=t, mode=mode)
    check(picture, t, mode)
    layer = coordinates(trace_named(picture, t("their LN(x)")))
    rms = coordinates(trace_named(picture, t("their RMSNorm(x)")))
    assert len(layer) == len(rms) == 50
    for points in (layer, rms):
        np.testing.assert_allclose(np.linalg.norm(points, axis=1), np.sqrt(3))
    np.testing.assert_allclose(layer.sum(axis=1), 0, atol=1e-12)
    assert picture.spec["layout"]["showlegend"]
    symbols = {trace["marker"]["symbol"] for trace in picture.spec["data"] if trace.get("showlegend")}
    assert len(symbols) == 3
    assert "50" in picture.alt


def test_far_points_of_a_cloud_do_not_shrink_the_drawing() -> None:
    near = space_picture(space(THREE), None, t=ENGLISH, mode="light")
    far = space_picture(space(THREE), cloud(3, mean=1000.0), t=ENGLISH, mode="light")
    ranges = [np.ptp(picture.spec["layout"]["scene"]["xaxis"]["range"]) for picture in (near, far)]
    assert ranges[1] == pytest.approx(ranges[0], rel=0.02)
    assert len(trace_named(far, "random x")["x"]) == 0


def test_a_cloud_of_other_lengths_is_not_drawn() -> None:
    with_cloud = space_picture(space(FOUR), cloud(4), t=ENGLISH, mode="light")
    without = space_picture(space(FOUR), None, t=ENGLISH, mode="light")
    assert len(with_cloud.spec["data"]) == len(without.spec["data"])
    assert with_cloud.alt == without.alt


def test_the_camera_stays_while_x_changes() -> None:
    cameras = [
        space_picture(space(x), None, t=ENGLISH, mode="light").spec["layout"]["scene"]["camera"] for x in CROWDED
    ]
    for d in (3, 4):
        (first, *others) = [camera for camera, x in zip(cameras, CROWDED, strict=True) if len(x) == d]
        assert all(camera == first for camera in others)


@settings(max_examples=40, deadline=None)
@given(vectors, st.sampled_from([0.0, 1e-5, 10.0]), st.sampled_from([None, 0.0, -2.5]))
def test_every_vector_is_drawable(x: np.ndarray, eps: float, weight: float | None) -> None:
    try:
        seen = space(x, eps=eps, weight=None if weight is None else np.full(x.size, weight))
    except InputError:
        return  # too small to divide by
    picture = space_picture(seen, None, t=ENGLISH, mode="light")
    assert all(np.isfinite(values).all() for values in numbers(picture.spec))
