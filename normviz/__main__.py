"""How are sweeps run, read and checked from a terminal?"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from normviz.depth.config import BOUNDS, CHOICES, SweepConfig
from normviz.depth.estimate import available_memory, check_limit, estimate
from normviz.depth.presets import PRESETS, preset
from normviz.depth.results import DepthPoint, DepthSweep, collect, load
from normviz.errors import InputError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is 0, 1 (a check failed), 2 (an input cannot be used) or 130 (interrupted)."""
    args = _parser().parse_args(argv)
    try:
        status: int = args.command(args)
    except InputError as error:
        print(f"normviz: {error}", file=sys.stderr)
        return 2
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="normviz", description="See and measure what normalization does.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    sweep = commands.add_parser("sweep", help="measure gradients and residual streams against depth")
    sweep.add_argument(
        "--preset",
        default="classroom",
        metavar="NAME",
        help=f"the setting that the options below change: {', '.join(PRESETS)} (default: classroom); where they "
        "change only the width, d_ff keeps its ratio to it",
    )
    for field in fields(SweepConfig):
        default = field.default
        shape: dict[str, Any] = {
            "type": _plain,
            "metavar": "VALUE",
            "nargs": "+" if isinstance(default, tuple) else None,
        }
        if isinstance(default, bool):
            shape = {"action": argparse.BooleanOptionalAction}
        sweep.add_argument(
            f"--{field.name.replace('_', '-')}",
            default=argparse.SUPPRESS,  # what is not given is the preset's business
            help=_help(field.name, default),
            **shape,
        )
    sweep.add_argument("-o", "--output", required=True, type=Path, metavar="FILE", help="the result file to write")
    sweep.add_argument("--json", action="store_true", help="print the summary as JSON")
    sweep.set_defaults(command=_sweep)

    show = commands.add_parser("show", help="print what a result file holds")
    show.add_argument("file", metavar="FILE")
    show.add_argument("--json", action="store_true", help="print the summary as JSON")
    show.set_defaults(command=_show)

    doctor = commands.add_parser("doctor", help="check versions, device, result store and compute cluster")
    doctor.set_defaults(command=_doctor)
    return parser


def _plain(text: str) -> int | float | str:
    """Read a number where there is one; what a field accepts is the configuration's business."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _help(name: str, default: Any) -> str:
    if name in CHOICES:
        allowed = ", ".join(CHOICES[name])
    elif name in BOUNDS:
        allowed = "{} to {}".format(*BOUNDS[name])
    else:
        allowed = "on or off" if isinstance(default, bool) else "zero or above"
    return f"{allowed} (default: {' '.join(map(str, default)) if isinstance(default, tuple) else default})"


def _sweep(args: argparse.Namespace) -> int:
    from tqdm import tqdm

    from normviz.depth.device import resolve_device
    from normviz.depth.sweep import sweep

    given = {field.name: getattr(args, field.name) for field in fields(SweepConfig) if hasattr(args, field.name)}
    config = preset(args.preset, **given)
    _check_target(args.output)
    if resolve_device(config.device).type == "cpu" and (available := available_memory()) is not None:
        expected = estimate(config, flops_per_second=1.0, seconds_per_op=0.0)  # its time is not asked for
        check_limit(expected, max_seconds=math.inf, max_bytes=available)
    points: list[DepthPoint] = []
    status = 0
    try:
        for point in tqdm(sweep(config), total=len(config.keys()), unit="model", file=sys.stderr):
            points.append(point)
    except KeyboardInterrupt:
        status = 130  # 128 + SIGINT, as shells have it
    finally:
        if points:
            collect(config, points).save(args.output)
    _report(collect(config, points), as_json=args.json)
    return status


def _check_target(path: Path) -> None:
    """Refuse, before hours are spent, a path to which no file can be written."""
    if path.is_dir():
        raise InputError("{path} is a folder; name a file to write the result to", path=str(path))
    if not path.parent.is_dir():
        raise InputError("There is no folder {path} to write the result to", path=str(path.parent))
    # The result is written beside its place first, so that the folder has to take a new file.
    for place in (path, path.parent):
        if place.exists() and not os.access(place, os.W_OK):
            raise InputError("{path} is not writable, and the result could not be kept", path=str(place))


def _show(args: argparse.Namespace) -> int:
    _report(load(args.file), as_json=args.json)
    return 0


def _doctor(args: argparse.Namespace) -> int:
    from normviz.jobs.doctor import report

    checks = report()
    width = max(len(check.name) for check in checks)
    for check in checks:
        print(f"{check.mark:6}  {check.name:{width}}  {check.detail}")
    return 0 if all(check.ok or not check.needed for check in checks) else 1


# Columns of the summary: its name, the quantity, the place among its layers.
SUMMARY = (
    ("residual_mean_square_last", "residual_mean_square", -1),
    ("grad_residual_first", "grad_residual", 0),
    ("grad_w2_first", "grad_w2", 0),
    ("grad_w2_last", "grad_w2", -1),
    ("loss", "loss", 0),
)


def _report(result: DepthSweep, *, as_json: bool) -> None:
    """Print how the sweep was made and, for each placement and depth that arrived, means over the seeds."""
    config, planned = result.config, len(result.config.keys())
    rows = []
    for placement in config.placements:
        for depth in config.depths:
            values = [(name, result.values(quantity, placement, depth), at) for name, quantity, at in SUMMARY]
            numbers = {name: float(value[:, at].mean()) for name, value, at in values if value.size}
            if numbers:
                rows.append({"placement": placement, "depth": depth, **numbers})
    finished = datetime.fromtimestamp(result.finished, UTC).isoformat(timespec="seconds") if result.finished else None
    if as_json:
        facts = {
            "digest": config.digest,
            "config": config.to_dict(),
            "measured": len(result.points),
            "planned": planned,
            "seconds": result.seconds,
            "devices": result.devices,
            "finished": finished,
            # JSON has no words for what diverged.
            "summary": [{name: _json_number(value) for name, value in row.items()} for row in rows],
        }
        print(json.dumps(facts, indent=2, allow_nan=False))
        return
    print(" ".join(f"{name}={_words(value)}" for name, value in config.to_dict().items()))
    where = ", ".join(result.devices) or "-"
    when = f", finished {finished}" if finished else ""
    print(f"{len(result.points)} of {planned} models in {result.seconds:.2f} s on {where}{when}")
    width = max(map(len, ("placement", *config.placements)))
    print(f"{'placement':{width}} depth", *(name for name, _, _ in SUMMARY))
    for row in rows:
        cells = (f"{row[name]:{len(name)}.5g}" for name, _, _ in SUMMARY)
        print(f"{row['placement']:{width}} {row['depth']:5}", *cells)


def _json_number(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _words(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


if __name__ == "__main__":
    sys.exit(main())
