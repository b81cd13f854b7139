"""Environments of Gymnasium: its checkers, and many members as one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import lissom

gymnasium = pytest.importorskip("gymnasium")

OUTPUTS = ["shoulder.angle", "elbow.angle", "shoulder.angle.rate", "elbow.angle.rate"]


def reward(before: np.ndarray, action: np.ndarray, after: np.ndarray) -> Any:
    """Stay up, gently."""
    return -np.abs(after[..., 0]) - 0.01 * (action**2).sum(axis=-1)


def task(arm: lissom.Mechanism, **other: Any) -> Any:
    def begin(rng: np.random.Generator) -> lissom.State:
        return arm.state({"shoulder.angle": rng.uniform(-0.5, 0.5)})

    told: dict[str, Any] = {
        "dt_s": 0.005,
        "steps": 6,
        "reward": reward,
        "limit": [2.0, 1.0],
        "outputs": OUTPUTS,
        "begin": begin,
        "terminated": lambda y: y[..., 0] < -0.45,
    }
    return lissom.gym.Task(arm, **(told | other))


def test_the_checker_has_nothing_to_say(arm: lissom.Mechanism) -> None:
    from gymnasium.utils.env_checker import check_env

    env = lissom.gym.Env(task(arm))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # angles and rates have no bounds
        warnings.filterwarnings("ignore", message=".*infinity.*")
        warnings.filterwarnings("ignore", message=".*spec.*")
        check_env(env, skip_render_check=True)


def test_many_members_are_single_environments(arm: lissom.Mechanism) -> None:
    members, steps = 4, 15
    envs = [lissom.gym.Env(task(arm)) for _ in range(members)]
    single = gymnasium.vector.SyncVectorEnv([lambda env=env: env for env in envs])
    many = lissom.gym.VectorEnv(task(arm), members)
    assert many.single_action_space == single.single_action_space
    assert many.observation_space == single.observation_space and many.action_space == single.action_space
    assert many.metadata["autoreset_mode"] == single.metadata["autoreset_mode"]
    actions = np.random.default_rng(1).uniform(-2.0, 2.0, (steps, members, 2))
    assert np.array_equal(many.reset(seed=5)[0], single.reset(seed=5)[0])
    ended = 0
    for action in actions:
        mine, theirs = many.step(action), single.step(action)
        for a, b in zip(mine[:4], theirs[:4], strict=True):
            assert np.array_equal(a, b)
        assert mine[0] in many.observation_space
        ended += int((mine[2] | mine[3]).sum())
    assert ended > members


def test_a_member_that_fails_ends_its_episode(arm: lissom.Mechanism) -> None:
    env = lissom.gym.VectorEnv(task(arm, terminated=None), 2)
    env.reset(seed=1)
    y, rewards, terminated, _, info = env.step(np.array([[0.1, 0.0], [np.nan, 0.0]]))
    assert terminated.tolist() == [False, True] == info["failed"].tolist() and np.isfinite(y).all()
    y, rewards, terminated, truncated, _ = env.step(np.zeros((2, 2)))
    assert not (terminated | truncated).any() and rewards[1] == 0.0 and np.isfinite(y).all()


def test_wrong_tasks_are_refused(arm: lissom.Mechanism) -> None:
    with pytest.raises(ValueError, match="limit"):
        task(arm, limit=0.0)
    with pytest.raises(ValueError, match="steps"):
        task(arm, steps=0)
    env = lissom.gym.Env(task(arm))
    env.reset(seed=0)
    with pytest.raises(ValueError, match="shape"):
        env.step(np.zeros(3))
