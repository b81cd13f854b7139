"""Many runs of one model with other values: on all cores, or on any executor."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lissom._native import Stop, SweepFolder, __version__, drawn, limit_threads
from lissom.errors import Interrupted, LissomError, SweepError
from lissom.model import Model

if TYPE_CHECKING:
    from lissom.recording import Recording

__all__ = ["draw", "sweep", "threads"]

Row = dict[str, Any]


@contextmanager
def threads(most: int) -> Iterator[None]:
    """Limit the threads that calls from this thread take inside the ``with`` block.

    >>> import lissom
    >>> with lissom.threads(1):
    ...     mech = lissom.shipped("two-link-arm").build()
    """
    if most < 1:
        raise ValueError(f"most is {most}, expected at least one thread")
    before = limit_threads(most)
    try:
        yield
    finally:
        limit_threads(before)


def draw(
    values: Mapping[str, str],
    *,
    runs: int,
    seed: int = 0,
    latin_hypercube: bool = False,
) -> list[dict[str, float]]:
    """Draw the values of runs by path, for :func:`sweep`: each is ``"uniform(low, high)"`` or ``"normal(mean, deviation)"``.

    What is drawn is what ``lissom sweep`` draws: it depends on the seed, the path and the number of the run, and on the number of runs only
    with ``latin_hypercube``, which spreads them evenly over every distribution.

    >>> import lissom
    >>> points = lissom.draw({"payload.gripper.mass_kg": "uniform(0.2, 1.0)"}, runs=3, seed=1)
    >>> points[:2] == lissom.draw({"payload.gripper.mass_kg": "uniform(0.2, 1.0)"}, runs=2, seed=1)
    True
    """
    rows = drawn(list(values.items()), runs, seed, latin_hypercube)
    return [dict(zip(values, row, strict=True)) for row in rows]


def sweep(
    model: Model,
    values: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
    *,
    measure: Callable[[Recording], Mapping[str, Any]],
    executor: Executor | None = None,
    out: str | os.PathLike[str] | None = None,
    window: int | None = None,
) -> list[Row]:
    """Run a model with every combination of ``values`` (by path, as :meth:`lissom.Model.replace` takes them) and measure each run.

    Where ``values`` is a list, each entry is one run: that is what :func:`draw` gives. Returns one row per run, in order: its values,
    what ``measure`` returned, and ``error`` (``None`` where the run succeeded). Without an ``executor`` threads of this process do
    it; with one that has other processes ``measure`` must be a function that can be pickled. Each run takes one thread. At most
    ``window`` runs are under way at a time, by default four per core of this machine: name about twice the workers of a cluster.

    Every row is written into the folder ``out`` as soon as it is there. The same sweep with the same folder goes on where it was
    stopped: what is there is not run again. Rows of another version of lissom are refused, and so are workers that have one.

    Raises :class:`lissom.SweepError` when the executor breaks and :class:`lissom.Interrupted` on Ctrl-C; both have the ``rows``
    until then. What ``measure`` raises comes through, except a :class:`lissom.LissomError`, which is the row's ``error``.
    """
    if not isinstance(model, Model):
        raise TypeError(f"a sweep runs a Model, not {model!r}; a mechanism has its own as .model")
    if not callable(measure):
        raise TypeError(f"measure is {measure!r}, expected a function of a recording that returns numbers by name")
    if window is not None and window < 1:
        raise ValueError(f"window is {window}, expected at least one run at a time")
    points = _points(values)
    folder = None if out is None else _Folder(Path(out), model, points)
    rows: dict[int, Row] = {} if folder is None else folder.rows()
    todo = iter([at for at in range(len(points)) if at not in rows])
    pool: Executor = ThreadPoolExecutor(os.cpu_count()) if executor is None else executor
    most = window or 4 * (os.cpu_count() or 1)
    under_way: dict[Future[Row], int] = {}
    stop = Stop() if executor is None else None
    try:
        while True:
            for at in itertools.islice(todo, most - len(under_way)):
                task = pool.submit(_measured, __version__, model, points[at], measure, stop)
                under_way[task] = at
            if not under_way:
                break
            _receive(under_way, rows, folder)
    except BrokenExecutor as error:
        so_far = [rows[at] for at in sorted(rows)]
        raise SweepError(
            f"the executor broke after {len(rows)} of {len(points)} runs: {error}; {_remedy(out)}",
            rows=so_far,
        ) from error
    except KeyboardInterrupt as error:
        so_far = [rows[at] for at in sorted(rows)]
        message = f"interrupted after {len(rows)} of {len(points)} runs; {_remedy(out)}"
        raise Interrupted(message, rows=so_far) from error
    finally:
        for future in under_way:
            future.cancel()
        if stop is not None:
            # signals do not reach the runs that are under way
            stop.ask()
            pool.shutdown(cancel_futures=True)
        if folder is not None:
            folder.close()
    return [rows[at] for at in range(len(points))]


def _remedy(out: str | os.PathLike[str] | None) -> str:
    if out is None:
        return "rows has them; with out= the same sweep would go on where it was stopped"
    return f"the same sweep with out={os.fspath(out)!r} goes on where it was stopped"


def _receive(under_way: dict[Future[Row], int], rows: dict[int, Row], folder: _Folder | None) -> None:
    """Take the results that are there. Futures are let go of at once, so that a cluster does not compute again what is lost with
    one of its workers."""
    done, _ = wait(under_way, return_when=FIRST_COMPLETED)
    failure: BaseException | None = None
    while done:
        future = done.pop()
        at = under_way.pop(future)
        error = future.exception()
        if error is not None:
            failure = error
            continue
        rows[at] = _plain(future.result())
        if folder is not None:
            folder.write(at, rows[at])
    if failure is not None:
        raise failure


def _points(values: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]) -> list[Row]:
    if not isinstance(values, Mapping):
        return [_plain(dict(point)) for point in values]
    single = [path for path, own in values.items() if isinstance(own, str) or not isinstance(own, Iterable)]
    if single:
        path = single[0]
        raise TypeError(f"the values of {path!r} are {values[path]!r}, expected a list of values")
    combinations = itertools.product(*values.values())
    return [_plain(dict(zip(values, combination, strict=True))) for combination in combinations]


def _measured(
    version: str,
    model: Model,
    point: Row,
    measure: Callable[[Recording], Mapping[str, Any]],
    stop: Stop | None = None,
) -> Row:
    if version != __version__:
        raise RuntimeError(
            f"the sweep is of lissom {version}, and this worker has {__version__}; install the same version everywhere"
        )
    with threads(1), stop or nullcontext():
        try:
            found = measure(model.replace(point).build().simulate())
        except LissomError as error:
            return {**point, "error": str(error)}
        if not isinstance(found, Mapping):
            raise TypeError(f"measure returned {found!r}, expected a dictionary of what was measured, by name")
        return {**point, **found, "error": None}


class _Folder:
    """Rows as lines of JSON in the folder of a sweep."""

    def __init__(self, path: Path, model: Model, points: list[Row]) -> None:
        identity = {"lissom_version": __version__, "points": points, "model": model.toml}
        self._folder = SweepFolder(os.fspath(path), json.dumps(identity) + "\n")

    def rows(self) -> dict[int, Row]:
        """What is there already."""
        return {at: json.loads(row) for at, row in self._folder.found().items()}

    def write(self, at: int, row: Row) -> None:
        """One row, whole or not at all."""
        self._folder.add(at, json.dumps(row))

    def close(self) -> None:
        """Let others write to the folder."""
        self._folder.close()


def _plain(value: Any) -> Any:
    """Values as JSON has them: lists and numbers instead of arrays, tuples and numbers of NumPy."""
    to_python = getattr(value, "tolist", None)
    if to_python is not None:
        return to_python()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    raise TypeError(f"a row of a sweep holds numbers, texts and lists, and no {type(value).__name__}: {value!r}")
