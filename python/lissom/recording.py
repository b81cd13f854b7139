"""Recordings: channels with their units over one time axis."""

from __future__ import annotations

import html
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lissom import _native
from lissom._names import listed, meant

if TYPE_CHECKING:
    from lissom._native import State
    from lissom.model import Model

__all__ = ["Page", "Recording"]

Array = NDArray[np.float64]

_COMPONENTS = (("x", "y", "z"), ("w", "x", "y", "z"))


class Page:
    """The page of a report, to look at: notebooks show it below their cell."""

    def __init__(self, path: Path, height_px: int) -> None:
        self.path = path
        """Where the page is."""
        self._height_px = height_px

    def _repr_html_(self) -> str:
        page = html.escape(self.path.read_text(encoding="utf-8"), quote=True)
        style = f"width: 100%; height: {self._height_px}px; border: 0"
        return f'<iframe srcdoc="{page}" style="{style}"></iframe>'

    def __repr__(self) -> str:
        return f"<lissom.Page {str(self.path)!r}>"


class Recording(Mapping[str, Array]):
    """What a run leaves behind: channels by name, each with one value per instant.

    ``rec["hand.position.x"]`` is one channel; ``rec["hand.position"]`` are its components side by side, n × 3, or n × 4
    (w, x, y, z) for a quaternion.
    """

    def __init__(
        self,
        time_s: ArrayLike,
        channels: Mapping[str, ArrayLike],
        units: Mapping[str, str],
        *,
        summary: Mapping[str, Any] | None = None,
        last: State | None = None,
        stopped_at_s: float | None = None,
        model: Model | None = None,
    ) -> None:
        self.time_s: Array = np.asarray(time_s, dtype=np.float64)
        """Instants of the samples, in s."""
        if self.time_s.ndim != 1:
            raise ValueError(f"the instants have the shape {self.time_s.shape}, expected one axis")
        self._channels: dict[str, Array] = {
            name: np.asarray(samples, dtype=np.float64) for name, samples in channels.items()
        }
        for name, samples in self._channels.items():
            if samples.shape != self.time_s.shape:
                raise ValueError(
                    f"channel {name!r} has the shape {samples.shape}, the instants {self.time_s.shape}"
                )
        self.units: dict[str, str] = {name: units.get(name, "1") for name in self._channels}
        """SI unit of every channel, ``1`` where it has none."""
        self.summary: dict[str, Any] = dict(summary or {})
        """What the run says of itself: extremes, audit of energy and momentum, cost; see ``lissom run --json``. Of a run under a
        :class:`Sampled` controller, which is made step by step, there is no audit, and its cost are the seconds that it took."""
        self.last = last
        """The state that was reached, from which a run can go on."""
        self.stopped_at_s = stopped_at_s
        """Instant at which the run ended early; ``None`` where it reached its end."""
        self.model = model
        """The model that was run."""

    # channels

    def __getitem__(self, name: str) -> Array:
        if not isinstance(name, str):
            raise TypeError(f"channels go by name, not {name!r}; time_s has the instants")
        found = self._channels.get(name)
        if found is not None:
            return found
        for components in _COMPONENTS:
            names = [f"{name}.{component}" for component in components]
            if all(own in self._channels for own in names) and len(names) == len(self._below(name)):
                return np.stack([self._channels[own] for own in names], axis=-1)
        raise KeyError(self._missing(name))

    def _missing(self, name: str) -> str:
        below = self._below(name) or [own for own in self._channels if own.startswith(f"{name}.")]
        if below:
            return f"{name!r} is no channel and no vector; there are {', '.join(below[:4])}{', …' * (len(below) > 4)}"
        vectors = {own.rpartition(".")[0] for own in self._channels}
        return f"there is no channel {name!r}{meant(name, [*self._channels, *vectors])}"

    def _below(self, name: str) -> list[str]:
        start = f"{name}."
        return [own for own in self._channels if own.startswith(start) and "." not in own[len(start) :]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._channels)

    def __len__(self) -> int:
        return len(self._channels)

    def __contains__(self, name: object) -> bool:
        try:
            self[str(name)]
        except KeyError:
            return False
        return True

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Recording)
            and self.units == other.units
            and np.array_equal(self.time_s, other.time_s)
            and all(np.array_equal(self[name], other[name], equal_nan=True) for name in self)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def completed(self) -> bool:
        """Whether the run reached its end."""
        return self.stopped_at_s is None

    def unit(self, name: str) -> str:
        """The unit of a channel, or of components side by side."""
        if name in self.units:
            return self.units[name]
        below = self._below(name)
        if not below:
            raise KeyError(self._missing(name))
        return self.units[below[0]]

    # other packages

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` with one column per channel over ``time_s``; units are in its ``attrs``."""
        import pandas

        index = pandas.Index(self.time_s, name="time_s")
        frame = pandas.DataFrame(self._channels, index=index)
        frame.attrs["units"] = dict(self.units)
        return frame

    def to_xarray(self) -> Any:
        """An ``xarray.Dataset`` with one variable per channel over ``time_s``; each has its unit in ``attrs``."""
        import xarray

        variables = {
            name: ("time_s", samples, {"units": self.units[name]})
            for name, samples in self._channels.items()
        }
        coordinates = {"time_s": ("time_s", self.time_s, {"units": "s"})}
        return xarray.Dataset(variables, coordinates)

    def plot(
        self,
        names: str | Sequence[str] | None = None,
        *,
        ax: Any = None,
        overlay: Recording | None = None,
    ) -> Any:
        """Draw channels over time with matplotlib, into ``ax`` or a new figure; returns the axes.

        By default positions of the first marker are drawn. An ``overlay``, such as measured data, is drawn as dots, as far as it
        has channels of the same names.
        """
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=(5.0, 3.2), layout="constrained")
        wanted = self._drawn(names)
        for name in wanted:
            (line,) = ax.plot(self.time_s, self._channels[name], linewidth=1.2, label=name)
            if overlay is not None and name in overlay.units:
                given, own = overlay.units[name], self.units[name]
                if given not in ("1", own):
                    raise ValueError(f"{name} of the overlay is in {given}, and in {own} here")
                ax.plot(overlay.time_s, overlay[name], ".", markersize=3, color=line.get_color())
        units = sorted({self.units[name] for name in wanted})
        ax.set_xlabel("time [s]")
        ax.set_ylabel(f"[{', '.join(units)}]" if units != ["1"] else "")
        ax.legend(frameon=False)
        ax.grid(alpha=0.3, linewidth=0.5)
        return ax

    def _drawn(self, names: str | Sequence[str] | None) -> list[str]:
        if names is None:
            first = next((own for own in self if own.endswith(".position.x")), None)
            names = list(self)[:3] if first is None else first.removesuffix(".x")
        wanted: list[str] = []
        for name in [names] if isinstance(names, str) else names:
            found = [name] if name in self._channels else self._below(name)
            if not found:
                raise KeyError(self._missing(name))
            wanted += found
        return wanted

    # files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the channels to a ``.csv``, ``.npz`` or ``.mat`` file; or, to any other path, the folder that
        ``lissom run`` writes, which ``lissom report`` reads."""
        target = Path(path)
        if target.suffix in (".csv", ".npz", ".mat"):
            _native.write_recording(target, self.time_s, self._samples())
            return
        if target.suffix[1:].isalpha() and not target.is_dir():
            raise ValueError(
                f"{target} ends with {target.suffix}; files end with .csv, .npz or .mat, and a folder has no ending"
            )
        _native.write_run(target, self._of_run())

    def _of_run(self) -> dict[str, Any]:
        """The run with its model, as files and pages hold it."""
        if self.model is None:
            raise ValueError(
                "this recording has no model, which folders of runs and pages hold; name a .csv or .npz file to save it"
            )
        options: dict[str, Any] = {"verb": "run", "model": self.model.label, "from": None, "set": [], "at_s": []}
        return {
            "model": self.model._native,
            "time_s": self.time_s,
            "channels": self._samples(),
            "summary": json.dumps(self.summary),
            "options": json.dumps(options),
            "stopped_at_s": self.stopped_at_s,
            "last": self.last,
        }

    def _samples(self) -> list[tuple[str, str, Array]]:
        return [(name, self.units[name], samples) for name, samples in self._channels.items()]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Recording:
        """Read what :meth:`save` or ``lissom run`` has written: a folder, a ``.csv`` or an ``.npz`` file."""
        told, native, summary = _native.read_recording(Path(path))
        model = None
        if native is not None:
            from lissom.model import Model

            model = Model(native)
        last = None
        if model is not None and (Path(path) / "state.json").exists():
            last = model.build().state_from(path)
        found = json.loads(summary) if summary is not None else None
        return cls(**told, summary=found, model=model, last=last)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        channels: Sequence[str] = (),
        others: Mapping[str, Recording] | None = None,
    ) -> Path:
        """Write the page that ``lissom report`` makes: the motion to look at, plots, the audit. Returns its path.

        ``channels`` are beginnings of the names to be plotted first, ``others`` recordings that are laid over this one, by the names
        to show.
        """
        target = Path(path)
        label = self.model.label if self.model else "run"
        runs = {label: self, **(others or {})}
        if len(runs) == len(others or {}):
            raise ValueError(f"others has {label!r}, which is this recording; name it otherwise")
        shown = [(name, recording._of_run()) for name, recording in runs.items()]
        _native.write_page(target, shown, listed("channels", channels) or [])
        return target

    def show(self, *, height_px: int = 640) -> Page:
        """The page of :meth:`report`, with the motion: a notebook shows it below the cell, elsewhere the browser opens it.

        The page stays in a folder for temporary files; :meth:`report` writes one to keep.
        """
        folder = tempfile.mkdtemp(prefix="lissom-")
        page = Page(self.report(Path(folder) / "run.html"), height_px)
        if "ipykernel" not in sys.modules:
            import webbrowser

            webbrowser.open(page.path.as_uri())
        return page

    # to look at

    def __repr__(self) -> str:
        return f"<lissom.Recording of {len(self)} channels at {len(self.time_s)} instants{self._span()}>"

    def _span(self) -> str:
        if len(self.time_s) == 0:
            return ""
        return f", {self.time_s[0]:g} to {self.time_s[-1]:g} s"

    def _repr_html_(self) -> str:
        """A summary and a small plot, for notebooks."""
        title = html.escape(self.model.name if self.model else "recording")
        text = f"<b>{title}</b>: {len(self)} channels, {len(self.time_s)} instants{self._span()}"
        drift = self.summary.get("audit", {}).get("energy", {}).get("max_drift_percent")
        if drift is not None:
            text += f"; energy drift at most {drift:.2g} %"
        return f"<div>{text}</div>{self._svg()}"

    def _svg(self) -> str:
        names = self._drawn(None) if len(self) else []
        if not names or len(self.time_s) < 2:
            return ""
        width, height, edge = 480.0, 160.0, 8.0
        values = np.stack([self._channels[name] for name in names])
        finite = values[np.isfinite(values)]
        if finite.size == 0:
            return ""
        low, high = float(finite.min()), float(finite.max())
        t = (self.time_s - self.time_s[0]) / (self.time_s[-1] - self.time_s[0])
        x = edge + t * (width - 2 * edge)
        y = height - edge - (values - low) / ((high - low) or 1.0) * (height - 2 * edge)
        colours = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd")
        lines = []
        for at, name in enumerate(names):
            keep = np.isfinite(y[at])
            points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x[keep], y[at][keep], strict=True))
            colour = colours[at % len(colours)]
            lines.append(
                f'<polyline fill="none" stroke="{colour}" points="{points}"><title>{html.escape(name)}</title></polyline>'
            )
        label = html.escape(f"{', '.join(names)} [{self.units[names[0]]}], {low:.4g} to {high:.4g}")
        return (
            f'<svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" '
            f'role="img" aria-label="{label}">{"".join(lines)}</svg><div><small>{label}</small></div>'
        )
