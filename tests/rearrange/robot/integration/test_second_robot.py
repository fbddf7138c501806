"""A robot that is new files and no edit: built, stepped, checked like Fetch, and trained."""

import json
import math

import mujoco
import numpy as np
import pytest

from rearrange.env import RearrangeEnv, RearrangeVectorEnv
from rearrange.episodes import EpisodeSet
from rearrange.errors import UserError
from rearrange.generate.production import Batch, Order, produce, write
from rearrange.robot import kinematics
from rearrange.sim import MujocoSimulator, SimulatorConfig
from rearrange.sim.apartment_model import load_apartment
from rearrange.tasks import Pick, make_task
from rearrange.testing import check_simulator
from skills.library import ResetArm
from tests.helpers.crane import CRANE


def small(size: int = 16) -> SimulatorConfig:
    return SimulatorConfig(robot="crane", camera_size=size)


def test_model_and_kinematics_agree():
    world = load_apartment(3, 0, CRANE)
    data = mujoco.MjData(world.model)
    data.mocap_pos[0], data.mocap_quat[0] = 0.0, (1.0, 0.0, 0.0, 0.0)
    joints = np.array([0.4, -0.3, 1.1, 0.7, 0.2])
    data.qpos[world.arm_qpos : world.arm_qpos + 5] = joints
    mujoco.mj_kinematics(world.model, data)
    positions, rotations = kinematics.link_frames(CRANE, joints)
    for k, name in enumerate((*(f"crane_{name}" for name in CRANE.joint_names), "crane_hand")):
        np.testing.assert_allclose(data.body(name).xpos, positions[k], atol=1e-9)
        np.testing.assert_allclose(data.body(name).xmat.reshape(3, 3), rotations[k], atol=1e-9)


def test_it_rests_where_it_says():
    tip, rotation = kinematics.forward(CRANE, CRANE.resting_arm)
    assert math.dist(tip, CRANE.resting_tip) < 0.01
    assert rotation[2, 0] < -0.95
    joints, error = kinematics.solve_ik(CRANE, (0.6, 0.2, 0.6), (0.0, 0.0, -1.0))
    assert error < 0.005
    assert len(joints) == 5


@pytest.mark.parametrize(
    "task",
    [
        "pick",
        "tidy_house",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("navigate", "open_fridge")),
    ],
)
def test_actions_and_observations_have_its_sizes(task):
    env = RearrangeEnv(task, split="val", simulator=small())
    named = env.task.action_names(CRANE)
    assert env.action_space.shape == (len(named),)
    assert set(named) <= {*CRANE.joint_names, "grip", "forward", "turn", "stop"}
    seen, _ = env.reset(seed=0)
    assert seen["joint"].shape == (5,)
    for _ in range(3):
        seen, reward, terminated, *_ = env.step(env.action_space.sample())
        assert env.observation_space.contains(seen)
        assert math.isfinite(reward)
        if terminated:
            env.reset()
    env.close()


def test_two_robots_in_one_process():
    """Each has kernels of its own size, whoever came first."""
    fetch = RearrangeEnv("pick", split="val", simulator=SimulatorConfig(camera_size=16))
    crane = RearrangeVectorEnv(2, "pick", split="val", simulator=small())
    assert fetch.reset(seed=1)[0]["joint"].shape == (7,)
    assert crane.reset(seed=1)[0]["joint"].shape == (2, 5)
    assert fetch.step(np.zeros(10, np.float32))[0]["joint"].shape == (7,)
    assert crane.step(np.zeros((2, 8), np.float32))[0]["joint"].shape == (2, 5)
    with pytest.raises(ValueError, match="a task of fetch in worlds of crane"):
        Pick().start([0], [fetch.episode], crane._worlds.state)
    fetch.close()
    crane.close()


def test_its_arm_is_brought_to_rest():
    env = RearrangeEnv("pick", split="val", simulator=small(8))
    env.reset(seed=2)
    skill = ResetArm()
    for _ in range(60):
        env.step_physical(skill.act(env))
        if skill.done(env):
            break
    assert skill.done(env)
    env.close()


def test_its_simulator_conforms():
    rng = np.random.default_rng(0)
    task = make_task("pick", robot=CRANE)
    episodes = [task.sample_episode(split, rng) for split in ("val", "test")]
    check_simulator(lambda count: MujocoSimulator(count, small(48)), episodes)


def test_its_episodes_are_kept_apart(tmp_path):
    order = Order("pick", episodes=1, robot="crane")
    made, path = Batch(), tmp_path / "crane.json.gz"
    for batch in produce(order, 1):
        made.add(batch)
    write(order, made, path)
    assert EpisodeSet.load(path, robot="crane").generator.endswith("--robot crane")
    assert len(EpisodeSet.load(path).episode(0).arm_joints) == 5
    with pytest.raises(UserError, match="robot: expected 'fetch', found 'crane'"):
        EpisodeSet.load(path, robot="fetch")


def test_a_policy_of_it_is_trained(tmp_path):
    from skills.learned import LearnedSkill
    from skills.settings import make_environments
    from skills.train import load_settings
    from ver import Trainer

    settings = load_settings(
        "pick",
        [
            "robot=crane",
            "starts.paths=[]",  # those that are shipped are Fetch's
            "camera_size=40",
            "trainer.system=batched",
            "trainer.learner_threads=1",
            "trainer.collect.num_environments=2",
            "trainer.collect.environments_per_worker=2",
            "trainer.collect.rollout_length=16",
            "trainer.total_steps=32",
            "trainer.tensorboard=false",
            "trainer.network.hidden_size=16",
        ],
    )
    environments = make_environments(settings)
    trainer = Trainer(settings.trainer, environments, tmp_path, metadata=environments.metadata())
    trainer.train()
    last = json.loads((tmp_path / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["steps"] >= 32
    skill = LearnedSkill("pick", tmp_path / "policy.safetensors")
    assert skill.task.robot is CRANE
