"""Linear models, and the bridges to other packages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lissom import _native
from lissom._arrays import complex_of, instants, refuse_below_one
from lissom._names import components, listed, place

if TYPE_CHECKING:
    from lissom.model import Model
    from lissom.response import Response

__all__ = ["Linearization"]

Array = NDArray[np.float64]


class Linearization:
    """Linearised equations of a mechanism at one state, or at the instants ``time_s`` of a motion.

    ``x' = A x + B u`` and ``y = C x + D u``, where ``x`` holds deviations of independent coordinates and then of their
    rates, ``u`` deviations of the inputs and ``y`` deviations of the positions of markers and of joints. Along a motion matrices and vectors
    have one more axis in front, for the instants.
    """

    def __init__(self, arrays: Mapping[str, Any], *, model: Model | None = None) -> None:
        self.arrays: dict[str, Any] = dict(arrays)
        """Everything by name, as ``lissom linearize`` writes it."""
        self.model = model

    @property
    def time_s(self) -> Array:
        """Instants, in s."""
        return self._array("time_s")

    @property
    def is_trajectory(self) -> bool:
        """Whether there are several instants."""
        return len(self.time_s) > 1

    @property
    def A(self) -> Array:
        """Derivatives of the rates of the states by the states."""
        return self._array("A")

    @property
    def B(self) -> Array:
        """Derivatives of the rates of the states by the inputs."""
        return self._array("B_state")

    @property
    def C(self) -> Array:
        """Derivatives of the outputs by the states."""
        return self._array("C_output")

    @property
    def D(self) -> Array:
        """Derivatives of the outputs by the inputs."""
        return self._array("D")

    @property
    def mass(self) -> Array:
        """Mass matrix of the second-order form ``M q'' + C q' + K q = B u``."""
        return self._array("M")

    @property
    def damping(self) -> Array:
        """Velocity terms of the second-order form."""
        return self._array("C")

    @property
    def stiffness(self) -> Array:
        """Stiffness of the second-order form: structural, dynamic and geometric."""
        return self._array("K0") + self._array("N0") + self._array("G0")

    @property
    def x0(self) -> Array:
        """States that deviations are taken from: coordinates, then rates; NaN for states of controllers and actuators in the loop."""
        found = np.concatenate([self._array("q0"), self._array("v0")], axis=-1)
        others = self.A.shape[-1] - found.shape[-1]
        return np.concatenate([found, np.full((*found.shape[:-1], others), np.nan)], axis=-1) if others else found

    @property
    def y0(self) -> Array:
        """Outputs there: positions of markers in m, coordinates of joints, and states that are outputs."""
        return self._array("y0")

    @property
    def u0(self) -> Array:
        """Inputs there, NaN where the model does not say."""
        known = dict(zip(self.arrays.get("u0_names", []), np.moveaxis(self._array("u0"), -1, 0)))
        shape = self._array("u0").shape[:-1]
        found = [known.get(name, np.full(shape, np.nan)) for name in self.inputs]
        return np.stack(found, axis=-1) if found else np.zeros((*shape, 0))

    @property
    def states(self) -> list[str]:
        """Names of the states."""
        return list(self.arrays["state_names"])

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs."""
        return list(self.arrays["input_names"])

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        return list(self.arrays["output_names"])

    def _array(self, name: str) -> Array:
        found: Array = self.arrays[name]
        return found

    def select(
        self, *, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None
    ) -> Linearization:
        """The same with some of the inputs and outputs, in the order of their names. A state may be an output too, and a position
        such as ``hand.position`` is its components.

        Other outputs leave out ``H_output``, the second derivatives of the former ones.
        """
        inputs = listed("inputs", inputs)
        if outputs is not None:
            outputs = components(listed("outputs", outputs) or [], [*self.outputs, *self.states])
        chosen = dict(self.arrays)
        if inputs is not None:
            columns = [place("input", name, self.inputs) for name in inputs]
            for name in ("B", "B_state", "D"):
                chosen[name] = self._array(name)[..., columns]
            for name in ("input_names", "input_units"):
                chosen[name] = [self.arrays[name][at] for at in columns]
        if outputs is not None:
            chosen.pop("H_output", None)
            known = [*self.outputs, *self.states]
            rows = [place("output", name, known) for name in outputs]
            units = [*self.arrays["output_units"], *self.arrays["state_units"]]
            states, lead = len(self.states), self.A.shape[:-2]
            identity = np.broadcast_to(np.eye(states), (*lead, states, states))
            nothing = np.zeros((*lead, states, chosen["D"].shape[-1]))
            chosen["C_output"] = np.concatenate([self.C, identity], axis=-2)[..., rows, :]
            chosen["D"] = np.concatenate([chosen["D"], nothing], axis=-2)[..., rows, :]
            chosen["y0"] = np.concatenate([self.y0, self.x0], axis=-1)[..., rows]
            chosen["output_names"] = [known[at] for at in rows]
            chosen["output_units"] = [units[at] for at in rows]
        return Linearization(chosen, model=self.model)

    def at(self, time_s: float) -> Linearization:
        """The equations at an instant of a motion, straight lines between the instants that were linearised."""
        times = self.time_s
        if not self.is_trajectory or not times[0] <= time_s <= times[-1]:
            raise ValueError(f"{time_s} s is not on the motion; it has {times[0]} to {times[-1]} s")
        if "coordinate_set" in self.arrays:
            raise ValueError("the independent coordinates change along the motion; linearize a part of it")
        after = int(np.clip(np.searchsorted(times, time_s), 1, len(times) - 1))
        share = (time_s - times[after - 1]) / (times[after] - times[after - 1])
        chosen = dict(self.arrays)
        for name, array in self.arrays.items():
            if isinstance(array, np.ndarray) and name not in ("time_s", "x_start"):
                chosen[name] = (1.0 - share) * array[after - 1] + share * array[after]
        chosen["time_s"] = np.array([time_s])
        return Linearization(chosen, model=self.model)

    def _single(self) -> None:
        if self.is_trajectory:
            raise ValueError("these are equations along a motion; take those of an instant with at(time_s)")

    def response(
        self,
        frequencies_rad_per_s: ArrayLike | None = None,
        *,
        range_rad_per_s: tuple[float, float] | None = None,
        count: int = 400,
    ) -> Response:
        """Frequency response, static gains, poles and transmission zeros between its inputs and outputs, as ``lissom response`` tells them.

        At the angular frequencies that are given; otherwise at about ``count`` in a range, from below the slowest pole to above the
        fastest unless it is said, evenly by their logarithms and closer where lightly damped vibrations peak.

        >>> import lissom
        >>> lin = lissom.shipped("two-link-arm").build().linearize(outputs=["hand.position"])
        >>> lin.response(count=50).minimum_phase.shape
        (3, 2)
        """
        from lissom.response import Response, gain_unit

        self._single()
        refuse_below_one("count", count)
        if frequencies_rad_per_s is not None and range_rad_per_s is not None:
            raise ValueError("frequencies_rad_per_s names the frequencies and range_rad_per_s where to choose them; give one of them")
        named = None if frequencies_rad_per_s is None else instants(frequencies_rad_per_s)
        if named is not None and not all(0.0 <= own < math.inf for own in named):
            raise ValueError("frequencies_rad_per_s has entries that are negative or not finite")
        if range_rad_per_s is not None and not 0.0 < range_rad_per_s[0] < range_rad_per_s[1] < math.inf:
            raise ValueError(f"range_rad_per_s is {range_rad_per_s}, expected two rising positive numbers")
        if not self.inputs or not self.outputs:
            raise ValueError('there is no input or no output; linearize(inputs="all") has the efforts on all joints')
        units = [list(self.arrays[f"{kind}_units"]) for kind in ("input", "output")]
        equations = {
            "time_s": float(self.time_s[0]),
            "mass": self.mass,
            "damping": self.damping,
            "stiffness": self.stiffness,
            "state": self.A,
            "input": self._array("B"),
            "output": self.C,
            "feedthrough": self.D,
            "inputs": list(zip(self.inputs, units[0], strict=True)),
            "outputs": list(zip(self.outputs, units[1], strict=True)),
        }
        found = _native.responded(equations, (named, range_rad_per_s, count))
        shape = (len(self.outputs), len(self.inputs))
        zeros = iter(found.pop("zeros"))
        return Response(
            frequency_rad_per_s=found["frequency_rad_per_s"],
            gain=complex_of(found["gain"]),
            static_gain=found["static_gain"],
            poles=complex_of(found["poles"]),
            zeros=[[complex_of(next(zeros)) for _ in self.inputs] for _ in self.outputs],
            minimum_phase=np.array(found["minimum_phase"], dtype=np.bool_).reshape(shape),
            inputs=self.inputs,
            outputs=self.outputs,
            units=[[gain_unit(output, given) for given in units[0]] for output in units[1]],
        )

    def to_control(self, dt_s: float | None = None) -> Any:
        """A ``control.StateSpace`` of python-control, with names in which ``.`` becomes ``_``. With ``dt_s`` it is sampled with
        inputs held over each step, exactly. What deviations are taken from comes along as its ``x0``, ``u0`` and ``y0``."""
        import control

        self._single()
        if dt_s is not None and not 0.0 < dt_s < math.inf:
            raise ValueError(f"dt_s is {dt_s}, expected a positive number of seconds, or none for continuous time")
        names = {
            kind: [name.replace(".", "_") for name in own]
            for kind, own in (
                ("states", self.states),
                ("inputs", self.inputs),
                ("outputs", self.outputs),
            )
        }
        for kind, own in names.items():
            if len(set(own)) != len(own):
                raise ValueError(f"names of {kind} are the same once . becomes _: {sorted(own)}")
        system = control.ss(self.A, self.B, self.C, self.D, **names)
        if dt_s is not None:
            system = control.sample_system(system, dt_s, method="zoh", copy_names=True, **names)
        system.x0, system.u0, system.y0 = self.x0, self.u0, self.y0
        return system

    def to_scipy(self) -> Any:
        """A ``scipy.signal.StateSpace``."""
        import scipy.signal

        self._single()
        return scipy.signal.StateSpace(self.A, self.B, self.C, self.D)

    def __repr__(self) -> str:
        return (
            f"<lissom.Linearization of {len(self.states)} states, {len(self.inputs)} inputs, "
            f"{len(self.outputs)} outputs at {len(self.time_s)} instants>"
        )
