"""Does a store on an S3 server give back what it got, and leave the app alone when the server does not answer?"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module

import boto3
import pytest
from moto.server import ThreadedMotoServer
from s3fs import S3FileSystem
from toy_experiment import ToyConfig

from normviz.errors import InputError
from normviz.jobs.board import Board
from normviz.jobs.job import JobView
from normviz.jobs.store import Store, open_store

Ended = Callable[..., JobView]

DIGEST = "5" * 64
URL = "s3://results/course/2026"


def buckets() -> list[str]:
    return [bucket["Name"] for bucket in boto3.client("s3").list_buckets()["Buckets"]]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadedMotoServer]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "name")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    boto3.client("s3").create_bucket(Bucket="results")
    S3FileSystem.clear_instance_cache()
    yield server
    server.stop()
    S3FileSystem.clear_instance_cache()


@pytest.mark.usefixtures("server")
def test_what_is_put_is_got(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NORMVIZ_STORE", URL)
    store = open_store()
    assert store.url == URL
    assert store.get(DIGEST) is None
    assert not store.has(DIGEST)
    store.put(DIGEST, b"first" * 100_000)
    assert Store(URL).get(DIGEST) == b"first" * 100_000
    assert Store(URL).has(DIGEST)
    store.put(DIGEST, b"again")
    assert store.get(DIGEST) == b"again"
    found = boto3.client("s3").list_objects_v2(Bucket="results")["Contents"]
    assert [entry["Key"] for entry in found] == [f"course/2026/{DIGEST}.npz"]
    store.discard(DIGEST)
    store.discard(DIGEST)
    assert (store.get(DIGEST), store.has(DIGEST)) == (None, False)


@pytest.mark.usefixtures("server")
def test_a_board_finds_what_another_one_has_stored(make_board: Callable[..., Board], ended: Ended) -> None:
    config = ToyConfig(name="in a bucket", size=4)
    first = make_board(store=Store(URL))
    view = ended(first, first.submit("toy", config))
    assert (view.state, view.cached, view.message) == ("done", False, None)
    second = make_board(store=Store(URL))
    assert second.known("toy", config)
    view = second.view(second.submit("toy", config))
    assert (view.state, view.cached, view.points) == ("done", True, ((0, 0), (1, 1), (2, 4), (3, 9)))


@pytest.mark.usefixtures("server")
def test_a_bucket_that_is_not_there_is_a_sentence_and_is_not_made(
    make_board: Callable[..., Board], ended: Ended
) -> None:
    board = make_board(store=Store("s3://no-bucket/course"))
    config = ToyConfig(name="no bucket", size=2)
    assert not board.known("toy", config)
    view = ended(board, board.submit("toy", config))
    assert (view.state, view.done) == ("done", 2)
    assert str(view.message) == (
        "The result store s3://no-bucket/course cannot be written: "
        "FileNotFoundError: The specified bucket does not exist"
    )
    assert buckets() == ["results"]


def test_a_server_that_is_down_is_a_sentence_and_delays_nobody_for_long(
    server: ThreadedMotoServer, make_board: Callable[..., Board], ended: Ended
) -> None:
    server.stop()
    board = make_board(store=Store(URL))
    start = time.monotonic()
    with pytest.raises(InputError, match=rf"The result store {URL} cannot be read: .*Could not connect"):
        board.store.has(DIGEST)
    config = ToyConfig(name="down", size=2)
    assert not board.known("toy", config)
    view = ended(board, board.submit("toy", config))
    assert (view.state, view.done) == ("done", 2)
    assert f"The result store {URL} cannot be written: " in str(view.message)
    assert time.monotonic() - start < 10
    start = time.monotonic()
    for number in range(20):  # every knob that is turned asks for another result
        assert not board.known("toy", ToyConfig(name=f"down {number}", size=2))
    assert time.monotonic() - start < 0.1


def test_without_s3fs_the_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.delitem(import_module("fsspec.registry")._registry, "s3", raising=False)
    with pytest.raises(InputError, match=rf"The result store {URL} cannot be read: .*Install s3fs"):
        Store(URL).get(DIGEST)
