"""One thread for each test process: two threads on a shared machine wait for each other more than they compute."""

from __future__ import annotations

import torch

torch.set_num_threads(1)
