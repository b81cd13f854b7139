"""Many runs of one model with other values: on all cores, or on any executor."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lissom._native import __version__
from lissom.errors import LissomError

if TYPE_CHECKING:
    from lissom.model import Model
    from lissom.recording import Recording

__all__ = ["sweep"]

Row = dict[str, Any]


def sweep(
    model: Model,
    values: Mapping[str, Sequence[Any]],
    *,
    measure: Callable[[Recording], Mapping[str, Any]],
    executor: Executor | None = None,
    out: str | os.PathLike[str] | None = None,
    window: int | None = None,
) -> list[Row]:
    """Run a model with every combination of ``values`` (by path, as :meth:`lissom.Model.replace` takes them) and measure each run.

    Returns one row per run, in order: its values, what ``measure`` returned, and ``error`` (``None`` where the run succeeded).
    Without an ``executor`` threads of this process do it; with one that has other processes ``measure`` must be a function that
    can be pickled. At most ``window`` runs are under way at a time.

    Every row is written into the folder ``out`` as soon as it is there. The same sweep with the same folder goes on where it was
    stopped: what is there is not run again. Rows of another version of lissom are refused.
    """
    points = [
        dict(zip(values, combination, strict=True)) for combination in itertools.product(*values.values())
    ]
    folder = None if out is None else _Folder(Path(out), model, points)
    rows: dict[int, Row] = {} if folder is None else folder.rows()
    todo = iter([at for at in range(len(points)) if at not in rows])
    pool: Executor = ThreadPoolExecutor(os.cpu_count()) if executor is None else executor
    most = window or 4 * (os.cpu_count() or 1)
    under_way: dict[Future[Row], int] = {}
    try:
        while True:
            for at in itertools.islice(todo, most - len(under_way)):
                under_way[pool.submit(_measured, __version__, model, points[at], measure)] = at
            if not under_way:
                break
            done, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                at = under_way.pop(future)
                rows[at] = future.result()
                if folder is not None:
                    folder.write(at, rows[at])
    finally:
        for future in under_way:
            future.cancel()
        if executor is None:
            pool.shutdown(cancel_futures=True)
    return [rows[at] for at in range(len(points))]


def _measured(
    version: str, model: Model, point: Row, measure: Callable[[Recording], Mapping[str, Any]]
) -> Row:
    if version != __version__:
        raise RuntimeError(f"the sweep is of lissom {version}, and this worker has {__version__}")
    try:
        found = measure(model.replace(point).build().simulate())
    except LissomError as error:
        return {**point, "error": str(error)}
    return {**point, **found, "error": None}


class _Folder:
    """Rows as files, with a note of which sweep they belong to."""

    def __init__(self, path: Path, model: Model, points: list[Row]) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self._path = path
        told = json.dumps([__version__, model.toml, points], default=_plain)
        self._sweep = hashlib.sha256(told.encode()).hexdigest()

    def rows(self) -> dict[int, Row]:
        """What is there already."""
        found: dict[int, Row] = {}
        for path in sorted(self._path.glob("row-*.json")):
            told = json.loads(path.read_text(encoding="utf-8"))
            if told["sweep"] != self._sweep:
                raise ValueError(f"{path} belongs to another sweep; name another folder")
            found[told["at"]] = told["row"]
        return found

    def write(self, at: int, row: Row) -> None:
        """One row, whole or not at all."""
        target = self._path / f"row-{at:06}.json"
        partial = target.with_suffix(".partial")
        text = json.dumps({"sweep": self._sweep, "at": at, "row": row}, default=_plain)
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, target)


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy for JSON."""
    return value.tolist()
