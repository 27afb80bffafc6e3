"""A small experiment for the board's tests: squares of whole numbers, with troubles on demand."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from normviz.errors import InputError
from normviz.jobs.experiments import Experiment


@dataclass(frozen=True, kw_only=True)
class ToyConfig:
    name: str
    size: int
    group: int = 1  # numbers to a slice
    seconds: float = 0.0  # for a slice
    device: str = "cpu"
    trouble: str = ""  # what happens at `trouble_at`, once if there is a `marker` file to remember it by
    trouble_at: int = -1
    marker: str = ""
    log: str = ""  # a file that gets a line for each slice: its first number, the worker's process

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class ToyResult:
    config: ToyConfig
    points: tuple[tuple[int, int], ...]


def keys(config: ToyConfig) -> tuple[tuple[int, ...], ...]:
    starts = range(0, config.size, config.group)
    return tuple(tuple(range(start, min(start + config.group, config.size))) for start in starts)


def measure(config: ToyConfig, key: tuple[int, ...]) -> list[tuple[int, int]]:
    if config.log:
        with Path(config.log).open("a") as log:
            log.write(f"{key[0]} {os.getpid()}\n")
    time.sleep(config.seconds)
    if config.trouble_at in key and not (config.marker and Path(config.marker).exists()):
        if config.marker:
            Path(config.marker).touch()
        if config.trouble == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if config.trouble == "memory":
            held = []
            while True:
                held.append(b"x" * 2**25)
                time.sleep(0.01)
        if config.trouble == "input":
            raise InputError("{field} is too large; got {got}", field="size", got=config.size)
        raise ArithmeticError("seven is\nnot measured")
    return [(number, number * number) for number in key]


def collect(config: ToyConfig, points: Iterable[tuple[int, int]]) -> ToyResult:
    return ToyResult(config=config, points=tuple(sorted(points)))


def to_bytes(result: ToyResult) -> bytes:
    return json.dumps([asdict(result.config), result.points]).encode()


def from_bytes(data: bytes) -> ToyResult:
    config, points = json.loads(data)
    return ToyResult(config=ToyConfig(**config), points=tuple((key, value) for key, value in points))


TOY = Experiment(
    name="toy",
    config_type=ToyConfig,
    keys=keys,
    measure="toy_experiment:measure",
    collect=collect,
    to_bytes=to_bytes,
    from_bytes=from_bytes,
    points=len,
    resources=lambda config: {"GPU": 1.0} if config.device == "cuda" else {},
)
