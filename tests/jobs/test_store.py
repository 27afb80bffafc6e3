"""Does the result store give back what it got, whole, and keep to its bound?"""

from __future__ import annotations

import os
import tempfile
import threading
import uuid
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normviz.errors import InputError
from normviz.jobs.store import Store, open_store

DIGESTS = st.text("0123456789abcdef", min_size=8, max_size=64)


def digest(number: int) -> str:
    return f"{number:064x}"


@pytest.fixture(params=["folder", "file", "memory"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return {
        "folder": str(tmp_path / "a folder" / "results"),
        "file": f"file://{tmp_path}/results",
        "memory": f"memory://{uuid.uuid4().hex}/results",
    }[request.param]


def test_what_is_put_is_got(url: str) -> None:
    store = Store(url)
    assert store.get(digest(1)) is None
    assert not store.has(digest(1))
    store.put(digest(1), b"first")
    store.put(digest(2), b"")
    assert store.get(digest(1)) == b"first"
    assert store.get(digest(2)) == b""
    assert store.has(digest(1))
    store.put(digest(1), b"again")
    assert Store(url).get(digest(1)) == b"again"
    store.discard(digest(1))
    store.discard(digest(1))
    assert store.get(digest(1)) is None


@settings(max_examples=30, deadline=None)
@given(contents=st.dictionaries(DIGESTS, st.binary(max_size=2000), max_size=5))
def test_any_bytes_come_back(contents: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        for name, data in contents.items():
            store.put(name, data)
        assert {name: store.get(name) for name in contents} == contents


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "ABCDEF0123", "0123456", "g" * 64, "0" * 129, "01234567\n"])
def test_a_digest_is_hexadecimal(name: str, tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    for action in (store.get, store.has, store.discard, lambda name: store.put(name, b"x")):
        with pytest.raises(InputError, match="hexadecimal"):
            action(name)
    assert list(tmp_path.iterdir()) == []


def test_the_least_recently_used_result_makes_room(tmp_path: Path) -> None:
    store = Store(str(tmp_path), max_bytes=300)
    for number in range(3):
        store.put(digest(number), bytes(100))
        os.utime(tmp_path / f"{digest(number)}.npz", (1000 + number, 1000 + number))
    assert store.get(digest(0)) is not None  # now the most recently used
    store.put(digest(3), bytes(100))
    assert [store.has(digest(number)) for number in range(4)] == [True, False, True, True]
    store.put(digest(4), bytes(250))
    assert [store.has(digest(number)) for number in range(5)] == [False, False, False, False, True]


def test_the_bound_holds_whatever_is_put(tmp_path: Path) -> None:
    store = Store(str(tmp_path), max_bytes=1000)
    for number in range(40):
        store.put(digest(number), bytes(37 * number % 400))
        assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 1000
    with pytest.raises(InputError, match=r"1001 bytes does not fit .* 1000 bytes"):
        store.put(digest(99), bytes(1001))


def test_what_a_dead_writer_left_is_removed(tmp_path: Path) -> None:
    old, new = tmp_path / ".aa.part", tmp_path / ".bb.part"
    old.write_bytes(b"half")
    new.write_bytes(b"half")
    os.utime(old, (1, 1))
    Store(str(tmp_path)).put(digest(1), b"whole")
    assert not old.exists()
    assert new.exists()


def test_readers_never_see_half_a_result(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    contents = [bytes([number]) * 200_000 for number in range(4)]
    store.put(digest(7), contents[0])
    seen: set[bytes] = set()
    troubles: list[BaseException] = []

    def write(data: bytes) -> None:
        try:
            for _ in range(20):
                store.put(digest(7), data)
                seen.add(store.get(digest(7)) or b"")
        except BaseException as error:
            troubles.append(error)

    threads = [threading.Thread(target=write, args=(data,)) for data in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not troubles
    assert seen <= set(contents)
    assert [file.name for file in tmp_path.iterdir()] == [f"{digest(7)}.npz"]


def test_an_unusable_store_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    store = Store(str(tmp_path / "file" / "results"))
    assert store.get(digest(1)) is None
    with pytest.raises(InputError, match=r"result store .* cannot be written: Not a directory"):
        store.put(digest(1), b"x")
    with pytest.raises(InputError, match=r"nosuch://bucket cannot be written"):
        Store("nosuch://bucket").put(digest(1), b"x")
    with pytest.raises(InputError, match=r"nosuch://bucket cannot be read"):
        Store("nosuch://bucket").has(digest(1))


def test_the_environment_names_the_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NORMVIZ_STORE", "memory://shared")
    assert open_store().url == "memory://shared"
    monkeypatch.setenv("NORMVIZ_STORE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert Path(open_store().url).is_relative_to(tmp_path)
    with pytest.raises(InputError, match="max_bytes"):
        Store("x", max_bytes=0)
