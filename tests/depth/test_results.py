"""Is a result kept as it was measured, and is a file that is not one refused?"""

from __future__ import annotations

import dataclasses
import io
import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from normviz.depth import files
from normviz.depth.config import MATRICES, PointKey, SweepConfig
from normviz.depth.results import LARGEST_UPLOAD, QUANTITIES, DepthPoint, DepthSweep, Profile, collect, from_bytes, load
from normviz.errors import InputError

CONFIG = SweepConfig(placements=("post_norm", "pre_norm"), depths=(1, 2), seeds=(0, 5))
DAMAGED = "The file is damaged or is not a result of a depth sweep"


def point(key: PointKey, **more: Any) -> DepthPoint:
    n = key.depth
    profiles = {
        "grad_w2": Profile(layer=np.arange(1.0, n + 1), value=np.arange(n) + 10.0 * key.seed),
        "residual_mean_square": Profile(layer=np.arange(n + 1.0), value=np.linspace(1, 2, n + 1)),
    }
    return DepthPoint(
        **{**key._asdict(), "profiles": profiles, "seconds": 0.5, "device": "cpu", "torch_version": "2", **more}
    )


FULL = collect(CONFIG, [point(key) for key in CONFIG.keys()])  # noqa: SIM118
numbers = st.floats(allow_nan=True, allow_infinity=True, width=64)


@st.composite
def sweeps(draw: st.DrawFn) -> DepthSweep:
    config = draw(st.sampled_from([CONFIG, SweepConfig(depths=(3,), eps=0)]))
    points = []
    for key in draw(st.sets(st.sampled_from(config.keys()))):
        names = draw(st.lists(st.sampled_from(list(QUANTITIES)), unique=True))
        sizes = {name: (len(name) + key.depth) % 6 for name in names}  # the same for every seed
        values = {name: draw(st.lists(numbers, min_size=n, max_size=n)) for name, n in sizes.items()}
        profiles = {name: Profile(layer=np.arange(len(v)) / 2, value=np.array(v)) for name, v in values.items()}
        times = {"seconds": draw(st.floats(0, 1e6)), "finished": draw(st.floats(0, 1e10))}
        device, halvings = draw(st.text(max_size=9)), draw(st.integers(0, 9))
        points.append(point(key, profiles=profiles, device=device, halvings=halvings, **times))
    return collect(config, points)


@given(sweeps())
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_a_result_survives_its_file(result: DepthSweep) -> None:
    back = from_bytes(result.to_bytes())
    assert back == result  # nan equals nan here: see Profile
    assert back.to_bytes() == result.to_bytes()
    assert from_bytes(pickle.loads(pickle.dumps(result)).to_bytes()) == result


def test_save_and_load_by_path_and_by_file(tmp_path: Path) -> None:
    FULL.save(tmp_path / "a.npz")
    FULL.save(str(tmp_path / "b.npz"))
    assert load(tmp_path / "a.npz") == load(str(tmp_path / "b.npz")) == FULL
    with (tmp_path / "a.npz").open("rb") as file:
        assert load(file) == FULL


def test_the_file_needs_no_pickle_and_opens_with_numpy_alone() -> None:
    with np.load(io.BytesIO(FULL.to_bytes()), allow_pickle=False) as archive:
        header = json.loads(archive["header"].tobytes())
        assert archive["value"].size == archive["layer"].size == len(FULL.to_frame())
    assert header["config"] == CONFIG.to_dict()


def test_points_are_read_only_also_after_a_pickle() -> None:
    for one in (FULL.points[0], pickle.loads(pickle.dumps(FULL.points[0]))):
        with pytest.raises(ValueError, match="read-only"):
            one.profiles["grad_w2"].value[0] = 1
        with pytest.raises(TypeError):
            one.profiles["loss"] = one.profiles["grad_w2"]


def test_a_profile_pairs_each_layer_with_a_value() -> None:
    with pytest.raises(InputError, match=r"one shape \[n\]; got \[2\] and \[3\]"):
        Profile(layer=np.zeros(2), value=np.zeros(3))


def test_a_partial_sweep_is_a_valid_shorter_result() -> None:
    keys = CONFIG.keys()
    part = collect(CONFIG, [point(keys[5]), point(keys[0])])
    assert [one.key for one in part.points] == [keys[0], keys[5]]
    assert not part.complete
    assert part.missing() == tuple(key for key in keys if key not in (keys[0], keys[5]))
    assert part.seconds == 1.0
    assert part.devices == ("cpu",)
    assert part.finished == 0
    assert from_bytes(part.to_bytes()) == part
    assert FULL.complete
    assert not FULL.missing()


def test_an_empty_sweep_is_a_valid_result() -> None:
    empty = collect(CONFIG, [])
    assert from_bytes(empty.to_bytes()) == empty
    assert list(empty.to_frame().columns) == list(FULL.to_frame().columns)
    assert empty.to_frame().empty
    assert empty.values("loss", "pre_norm", 2).shape == (0, 0)
    assert empty.layers("loss", "pre_norm", 2).shape == (0,)


def test_the_later_of_two_equal_points_counts() -> None:
    key = CONFIG.keys()[0]
    assert collect(CONFIG, [point(key), point(key, seconds=9.0)]).seconds == 9.0


def test_a_sweep_finished_when_its_last_point_did() -> None:
    times = [1.7e9, 1.8e9, 0.0]
    part = collect(CONFIG, [point(key, finished=time) for key, time in zip(CONFIG.keys(), times, strict=False)])
    assert part.finished == from_bytes(part.to_bytes()).finished == 1.8e9
    assert collect(CONFIG, []).finished == 0


def test_a_point_of_another_sweep_is_refused() -> None:
    with pytest.raises(InputError, match="no model with placement no_norm, depth 1 and seed 0"):
        collect(CONFIG, [point(PointKey("no_norm", 1, 0))])


def test_the_frame_is_tidy_and_ordered() -> None:
    frame = FULL.to_frame()
    assert list(frame.columns) == ["placement", "depth", "seed", "quantity", "layer", "value"]
    first = frame.iloc[:3].values.tolist()
    assert first == [
        ["post_norm", 1, 0, "residual_mean_square", 0.0, 1.0],
        ["post_norm", 1, 0, "residual_mean_square", 1.0, 2.0],
        ["post_norm", 1, 0, "grad_w2", 1.0, 0.0],
    ]
    keys = list(dict.fromkeys(zip(frame.placement, frame.depth, frame.seed, strict=True)))
    assert keys == list(CONFIG.keys())
    assert str(frame.dtypes["value"]) == str(frame.dtypes["layer"]) == "float64"


def test_values_are_seeds_by_layers() -> None:
    np.testing.assert_array_equal(FULL.values("grad_w2", "pre_norm", 2), [[0, 1], [50, 51]])
    np.testing.assert_array_equal(FULL.layers("grad_w2", "pre_norm", 2), [1, 2])
    with pytest.raises(InputError, match=r"quantity can be residual_mean_square, .*; got 'grad'"):
        FULL.values("grad", "pre_norm", 2)


@given(st.data())
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_a_damaged_file_is_refused_or_gives_the_same_result(data: st.DataObject) -> None:
    content = bytearray(FULL.to_bytes())
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        assert from_bytes(bytes(content)) == FULL  # a bit that nothing reads, such as a date
    except InputError as error:
        assert error.template == DAMAGED  # noqa: PT017


def archive(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def edited(**changes: Any) -> bytes:
    with np.load(io.BytesIO(FULL.to_bytes())) as found:
        header = {**json.loads(found["header"].tobytes()), **changes}
        text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        return archive(header=text, layer=found["layer"], value=found["value"])


@pytest.mark.parametrize(
    "content",
    [b"", b"hello", b"PK\x03\x04", pickle.dumps({"a": 1}), archive(a=np.zeros(2)), archive(header=np.zeros(3)),
     archive(header=np.array([{}], dtype=object)), edited(points=[]), edited(points=3), edited(config=3),
     edited(points=[{"key": ["pre_norm", 1, 0]}]), edited(format="2"), edited(format=0), edited(format=None),
     edited(config={"depths": 3})],
)  # fmt: skip
def test_a_foreign_file_is_refused(content: bytes) -> None:
    with pytest.raises(InputError, match=DAMAGED):
        from_bytes(content)


def test_a_file_of_another_kind_format_or_configuration_says_so() -> None:
    with pytest.raises(InputError, match="The file holds norm benchmark, not a depth sweep"):
        from_bytes(edited(kind="norm benchmark"))
    with pytest.raises(InputError, match=r"a newer version of normviz: it has format 3, and .* reads formats up to 2"):
        from_bytes(edited(format=3, points="not yet invented"))
    with pytest.raises(InputError, match="d_model takes whole numbers"):
        from_bytes(edited(config={**CONFIG.to_dict(), "d_model": 0}))
    with pytest.raises(InputError, match="no model with placement post_norm, depth 2 and seed 0"):
        from_bytes(edited(config={**CONFIG.to_dict(), "depths": [1]}))


FORMAT_1 = Path(__file__).parent / "format_1.npz"


def test_a_file_of_the_first_format_opens_as_what_it_measured() -> None:
    """Written by normviz 0.1.0 before halvings, times and chosen gradients; that version printed these numbers."""
    with np.load(FORMAT_1, allow_pickle=False) as archive:
        header = json.loads(archive["header"].tobytes())
    assert header["format"] == 1
    assert not {"gradients"} & set(header["config"])
    result = load(FORMAT_1)
    assert result.complete
    assert result.finished == 0
    assert {one.halvings for one in result.points} == {0}
    assert result.config == SweepConfig(
        depths=(1, 2), seeds=(0,), d_model=8, n_heads=2, d_ff=16, batch=1, seq_len=4, vocab_size=16, device="cpu",
        gradients=MATRICES,
    )  # fmt: skip
    post, pre = ([0.5897898773273468, 0.6574113282559156], [0.628595164031593, 0.3520100022461506])
    np.testing.assert_array_equal(result.values("grad_w2", "post_norm", 2), [post])
    np.testing.assert_array_equal(result.values("grad_w2", "pre_norm", 2), [pre])
    assert from_bytes(result.to_bytes()) == result


def test_a_file_larger_than_allowed_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = FULL.to_bytes()
    assert from_bytes(content, largest=LARGEST_UPLOAD) == FULL
    with pytest.raises(InputError, match="The file is larger than 64 MiB"):
        from_bytes(bytes(LARGEST_UPLOAD + 1), largest=LARGEST_UPLOAD)
    monkeypatch.setattr("normviz.depth.results.LARGEST_FILE", 100)
    FULL.save(tmp_path / "large.npz")
    with (tmp_path / "large.npz").open("rb") as file, pytest.raises(InputError, match="The file is larger than"):
        load(file)
    with pytest.raises(InputError, match="The file is larger than"):
        load(tmp_path / "large.npz")


def test_a_file_that_plans_more_models_than_anyone_measures_is_refused() -> None:
    many = {**CONFIG.to_dict(), "depths": list(range(1, 1001)), "seeds": list(range(1000))}
    with pytest.raises(InputError, match="The file plans 2000000 models; at most 262144 are read"):
        from_bytes(edited(config=many))


def test_a_file_that_unpacks_to_too_much_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_FILE", 2**20)
    bomb = io.BytesIO()
    np.savez_compressed(bomb, header=np.zeros(2**21, dtype=np.uint8))
    with pytest.raises(InputError, match="unpacks to more than 1 MiB"):
        from_bytes(bomb.getvalue())


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.npz cannot be read: No such file"):
        load(tmp_path / "nothing.npz")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -1.0, 1e300])
@pytest.mark.parametrize("field", ["seconds", "finished"])
def test_times_are_finite_in_a_point_and_in_a_file(field: str, number: float) -> None:
    sentence = f"{field} is a number of seconds from 0 to 253402300799; got"
    with pytest.raises(InputError, match=sentence):
        point(CONFIG.keys()[0], **{field: number})
    with np.load(io.BytesIO(FULL.to_bytes())) as found:
        points = json.loads(found["header"].tobytes())["points"]
    with pytest.raises(InputError, match=sentence):
        from_bytes(edited(points=[{**points[0], field: number}, *points[1:]]))


def longer(first: DepthPoint) -> DepthPoint:
    profile = Profile(layer=np.arange(9.0), value=np.zeros(9))
    return dataclasses.replace(first, profiles={**first.profiles, "grad_w2": profile})


def test_points_of_one_placement_and_depth_have_their_values_at_the_same_layers() -> None:
    points = [*FULL.points[:-1], longer(FULL.points[-1])]
    sentence = "have grad_w2 at the same layers; the one with seed"
    with pytest.raises(InputError, match=sentence):
        collect(CONFIG, points)
    with pytest.raises(InputError, match=sentence):
        from_bytes(DepthSweep(config=CONFIG, points=tuple(points)).to_bytes())


@pytest.mark.parametrize("config", [{}, None])
def test_only_points_of_a_configuration_are_collected(config: Any) -> None:
    with pytest.raises(InputError, match="config is a SweepConfig; got"):
        collect(config, [])
    for points in (3, [3], [None]):
        with pytest.raises(InputError, match="points are the DepthPoints of a sweep; got"):
            collect(CONFIG, points)  # type: ignore[arg-type]


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.npz"
    file.write_text("old")

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", full)
        with pytest.raises(InputError, match=r"a\.npz cannot be written: No space left on device"):
            FULL.save(file)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]
    FULL.save(file)
    assert load(file) == FULL
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_is_followed_and_a_device_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "a.npz")
    FULL.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "a.npz") == FULL
    FULL.save(os.devnull)
    assert Path(os.devnull).is_char_device()


@pytest.mark.parametrize("path", ["", "no/a.npz", "a\0b"])
def test_a_place_that_takes_no_file_is_named(path: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: "):
        FULL.save(f"{tmp_path}/{path}")


@pytest.mark.parametrize(
    ("source", "sentence"), [("a\0b", "cannot be read: "), (3, "from a path or an open binary file; got 3")]
)
def test_what_is_no_file_is_not_loaded(source: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        load(source)
