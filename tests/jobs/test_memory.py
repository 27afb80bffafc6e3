"""Is a worker that takes too much memory ended, and does the job go on afterwards?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from outside import HERE, ROOT

# A process of its own, because the machine's memory is read when distributed is imported: here it is made small.
SCRIPT = """
import json, resource, sys, time
resource.setrlimit(resource.RLIMIT_RSS, (700 * 2**20, 700 * 2**20))
from toy_experiment import TOY, ToyConfig
from normviz.jobs.board import Board
from normviz.jobs.cluster import Cluster
from normviz.jobs.store import Store
if __name__ == "__main__":
    cluster = Cluster("", workers=1)
    board = Board(cluster, Store("memory://results"), experiments={"toy": TOY}, lease=60)
    config = ToyConfig(name="greedy", size=6, trouble="memory", trouble_at=3, marker=sys.argv[1])
    views = []
    for attempt in range(2):
        board.submit("toy", config, "ada")
        while board.view(config.digest).state in ("waiting", "running"):
            time.sleep(0.05)
        view = board.view(config.digest)
        views.append((view.state, view.done, str(view.message), cluster.session))
    print(json.dumps(views))
    board.close()
    cluster.close()
"""


def test_a_worker_over_its_memory_interrupts_and_the_job_goes_on(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"import sys\nsys.path[:0] = [{str(ROOT)!r}, {str(HERE)!r}]\n" + SCRIPT)
    command = [sys.executable, str(script), str(tmp_path / "marker")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    first, second = json.loads(found.stdout.splitlines()[-1])
    assert first[:2] == ["interrupted", 3]
    assert "A compute worker stopped in the middle, out of memory or killed, after 3 of 6 parts" in first[2]
    assert second == ["done", 6, "None", first[3]]  # in the same session: only the worker was started anew
