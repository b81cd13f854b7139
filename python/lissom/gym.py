"""Environments of Gymnasium over a mechanism: one member, or many stepped on all cores. The reward is the user's.

Needs the package ``gymnasium``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from lissom._native import State
from lissom.errors import SimulationError

if TYPE_CHECKING:
    from lissom.mechanism import Mechanism

__all__ = ["Env", "Task", "VectorEnv"]

Array = NDArray[np.float64]
Reward = Callable[[Array, Array, Array], ArrayLike]
Ends = Callable[[Array], ArrayLike]
Begins = Callable[[np.random.Generator], State]


class Task:
    """What is to be learned: a mechanism whose inputs are held over ``dt_s``, and what that is worth.

    Actions are between -1 and 1, shares of ``limit``, the largest size of every input in N m or N; those beyond are clipped.
    Observations are ``outputs``. ``reward(before, inputs, after)`` and ``terminated(after)`` get the outputs around a step and the
    inputs over it; written with ``y[..., 0]`` they serve one member and many. ``begin(rng)`` gives the state in which an episode
    begins, by default the model's. An episode is truncated after ``steps``.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        dt_s: float,
        steps: int,
        reward: Reward,
        limit: ArrayLike,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        begin: Begins | None = None,
        terminated: Ends | None = None,
        release: Sequence[str] = (),
    ) -> None:
        self.mechanism, self.dt_s, self.release = mechanism, dt_s, release
        self.inputs = mechanism._without(release)._driven(inputs)
        self.outputs = mechanism._read(outputs)
        if steps < 1:
            raise ValueError(f"steps is {steps}, expected at least one")
        self.steps, self.reward, self.terminated = steps, reward, terminated
        self.start = mechanism.start()
        self.begin = begin
        most = np.broadcast_to(np.asarray(limit, dtype=np.float64), (len(self.inputs),))
        if not (np.isfinite(most).all() and (most > 0.0).all()):
            raise ValueError(f"limit is {limit!r}, expected positive numbers: the largest inputs either way")
        self.limit: Array = most.copy()
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, most.shape, dtype=np.float64)
        shape = (len(self.outputs),)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, shape, dtype=np.float64)

    def _started(self, rng: np.random.Generator) -> State:
        return self.start if self.begin is None else self.begin(rng)

    def _held(self, action: ArrayLike, shape: tuple[int, ...]) -> Array:
        """The inputs that an action stands for."""
        given = np.asarray(action, dtype=np.float64)
        if given.shape != shape:
            raise ValueError(f"the action has the shape {given.shape}, expected {shape}: {', '.join(self.inputs)}")
        return np.clip(given, -1.0, 1.0) * self.limit


class Env(gymnasium.Env[Array, Array]):  # type: ignore[misc]
    """One member of a :class:`Task`.

    Where the mechanism cannot go on, the episode is terminated with ``info["failed"]``, and what is observed is what was before the
    step.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, task: Task) -> None:
        self._task = task
        self.action_space, self.observation_space = task.action_space, task.observation_space
        self._sim = task.mechanism.simulator(
            task.start, dt_s=task.dt_s, inputs=task.inputs, outputs=task.outputs, release=task.release
        )
        self._y = self._sim.read()
        self._count = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin an episode, at ``options["state"]`` if it is given."""
        super().reset(seed=seed)
        state = (options or {}).get("state")
        self._y = self._sim.reset(self._task._started(self.np_random) if state is None else state)
        self._count = 0
        return self._y.copy(), {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Hold an action over one step."""
        task = self._task
        u = task._held(action, (len(task.inputs),))
        self._count += 1
        before, failed = self._y, False
        try:
            self._y = self._sim.step(u)
        except SimulationError:
            failed = True
        reward = float(np.asarray(task.reward(before, u, self._y)))
        ended = failed or (task.terminated is not None and bool(np.asarray(task.terminated(self._y))))
        return self._y.copy(), reward, ended, self._count >= task.steps, {"failed": failed}


class VectorEnv(gymnasium.vector.VectorEnv[Array, Array, NDArray[Any]]):  # type: ignore[misc]
    """Many members of a :class:`Task`, stepped on all cores.

    ``reward`` and ``terminated`` are called once for all members, with arrays whose first axis are the members. A member that has
    ended begins again with its next step, as ``AutoresetMode.NEXT_STEP`` says.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, task: Task, members: int, *, threads: int | None = None) -> None:
        self._task = task
        self.num_envs = members
        self.single_action_space, self.single_observation_space = task.action_space, task.observation_space
        self.action_space = batch_space(task.action_space, members)
        self.observation_space = batch_space(task.observation_space, members)
        self._batch = task.mechanism.batch_simulator(
            task.start,
            members=members,
            dt_s=task.dt_s,
            inputs=task.inputs,
            outputs=task.outputs,
            release=task.release,
            threads=threads,
        )
        self._rngs = [np.random.default_rng() for _ in range(members)]
        self._y = self._batch.read()
        self._counts = np.zeros(members, dtype=np.int64)
        self._over = np.zeros(members, dtype=np.bool_)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        """Begin episodes: of all members, or of those in ``options["reset_mask"]``. Member i of a seed has that seed plus i, as
        an :class:`Env` would."""
        seeds = [int(seed) + at for at in range(self.num_envs)] if isinstance(seed, (int, np.integer)) else seed
        if seeds is not None and len(seeds) != self.num_envs:
            raise ValueError(f"there are {len(seeds)} seeds for {self.num_envs} members")
        given = (options or {}).get("reset_mask")
        mask = np.ones(self.num_envs, dtype=np.bool_) if given is None else np.asarray(given, dtype=np.bool_)
        for at, own in enumerate(seeds or []):
            if own is not None and mask[at]:
                self._rngs[at], _ = gymnasium.utils.seeding.np_random(own)
        self._begin(mask)
        return self._y.copy(), {}

    def _begin(self, mask: NDArray[np.bool_]) -> None:
        states = [self._task._started(self._rngs[at]) for at in np.flatnonzero(mask)]
        before = self._y
        self._y = self._batch.reset(states, members=mask)
        # members that have failed and begin with the next step keep what they showed last
        self._y = np.where(np.isnan(self._y), before, self._y)
        self._counts[mask], self._over[mask] = 0, False

    def step(
        self, actions: Array
    ) -> tuple[Array, NDArray[Any], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Hold actions, members × inputs, over one step."""
        task = self._task
        u = task._held(actions, (self.num_envs, len(task.inputs)))
        begins = self._over.copy()
        before = self._y
        after = self._batch.step(u)
        failed = ~self._batch.ok & ~begins
        after[~self._batch.ok] = before[~self._batch.ok]
        rewards = np.asarray(task.reward(before, u, after), dtype=np.float64) * np.ones(self.num_envs)
        ends = np.zeros(self.num_envs, dtype=np.bool_)
        if task.terminated is not None:
            ends |= np.asarray(task.terminated(after), dtype=np.bool_)
        self._y = after
        self._counts += 1
        if begins.any():
            self._begin(begins)
        terminated = (ends | failed) & ~begins
        truncated = (self._counts >= task.steps) & ~begins
        rewards[begins] = 0.0
        self._over = terminated | truncated
        return self._y.copy(), rewards, terminated, truncated, {"failed": failed}
