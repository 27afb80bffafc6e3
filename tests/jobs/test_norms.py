"""Does the board run a norm benchmark as it runs a sweep?"""

from __future__ import annotations

from collections.abc import Callable

from normviz.cost import BenchConfig, NormBench, collect, from_bytes
from normviz.errors import InputError
from normviz.jobs.board import Board
from normviz.jobs.cluster import Cluster
from normviz.jobs.job import JobView
from normviz.jobs.store import Store

CONFIG = BenchConfig(
    kinds=("layer_norm", "rms_norm"), ways=("eager", "functional"), tokens=8, d=16, repeats=3, device="cpu"
)


def test_a_worker_measures_and_the_result_is_stored(
    make_board: Callable[..., Board], store: Store, ended: Callable[..., JobView]
) -> None:
    board = make_board()
    view = ended(board, board.submit("norms", CONFIG, "ada"), 60)
    assert (view.state, view.done, view.total, view.message) == ("done", 1, 1, None)
    result: NormBench = collect(CONFIG, view.points)
    assert result.measured == CONFIG.variants
    assert from_bytes(store.get(CONFIG.digest)).to_bytes() == result.to_bytes()
    # Another process finds it, and another run is another job.
    other = make_board(cluster=Cluster("tcp://127.0.0.1:1"))
    again = other.view(other.submit("norms", CONFIG))
    assert (again.state, again.cached) == ("done", True)
    assert collect(CONFIG, again.points).to_bytes() == result.to_bytes()
    assert not other.known("norms", BenchConfig(**{**CONFIG.to_dict(), "run": 1}))


def test_a_format_that_the_worker_lacks_is_the_jobs_message(board: Board, ended: Callable[..., JobView]) -> None:
    config = BenchConfig(**{**CONFIG.to_dict(), "dtype": "float8_e4m3fn"})
    view = ended(board, board.submit("norms", config), 60)
    assert view.state == "failed"
    assert isinstance(view.message, InputError)
    assert "cannot normalize in float8_e4m3fn" in str(view.message)
