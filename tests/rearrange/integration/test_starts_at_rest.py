"""No ghosts: every object of a start stands on something, rides with it, and stays if nothing moves it."""

import math

import mujoco
import numpy as np
import pytest

from rearrange.env import RearrangeEnv
from rearrange.episodes import EpisodeSet
from rearrange.episodes.dataset import DIRECTORY, default_path
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.compile import REST_DEPTH, TIMESTEP
from rearrange.sim import MujocoSimulator, SimulatorConfig
from rearrange.sim.randomisation import Randomisation
from rearrange.tasks import TASKS

HAND_OFFS = DIRECTORY.parent / "hand_offs"
SEEDS, EVERY = 200, 67  # sampled starts of each task; the fast suite looks at one of so many
SECONDS = 1.0
STILL = 5e-4  # what nothing moves moves less [m]
UPRIGHT = 0.01  # and turns less [rad]
SHIFT = 0.01  # what was just put down comes to rest within [m]
SLIP = 0.05  # what a drawer carries slips less when that stops [m]
FORCE, PACE = 25.0, 0.5  # on doors and drawers [N s/m], and how fast they shall go [m/s, rad/s]
SHIFTED = Randomisation(object_shift=0.02, object_turn=0.3, mass=0.3, friction=0.3)


class Started:
    """A start loaded into the simulator, with all objects asleep as they were put."""

    def __init__(self, simulator, episode):
        world, data = simulator.worlds[0], simulator.data[0]
        assert world is not None
        assert data is not None
        self.model, self.data, self.world = world.model, data, world
        self.slots = [slot for slot in episode.objects if slot != episode.held_slot]
        first = world.object_qpos
        self._poses = data.qpos[first : first + 7 * len(APARTMENT.objects)].reshape(-1, 7)
        self.boxes = {slot: np.arange(g.start, g.stop) for slot, g in enumerate(world.object_geoms)}

    def poses(self):
        return self._poses[self.slots].copy()

    def joint(self, name):
        return float(self.data.qpos[self.world.joint_qpos[APARTMENT.joints.index(name)]])

    def wake(self):
        bodies = self.world.first_object_body + np.array(self.slots)
        self.data.xfrc_applied[bodies, 2] = 1e-9  # [N]; MuJoCo wakes what a force acts on
        mujoco.mj_step(self.model, self.data)
        self.data.xfrc_applied[bodies, 2] = 0.0

    def step(self, seconds=SECONDS):
        for _ in range(round(seconds / TIMESTEP)):
            mujoco.mj_step(self.model, self.data)

    def drive(self, name, direction):
        """Push a door or drawer until it stops, then let everything come to rest."""
        dof = int(self.model.joint(name).dofadr[0])
        for _ in range(round(6.0 / TIMESTEP)):
            pace = direction * PACE - float(self.data.qvel[dof])
            self.data.qfrc_applied[dof] = FORCE * pace + 3.0 * direction
            before = self.joint(name)
            mujoco.mj_step(self.model, self.data)
            if abs(self.joint(name) - before) < 1e-5:
                break
        self.data.qfrc_applied[dof] = 0.0
        self.step(0.3)

    def depths(self):
        """How deep each object is in what it stands on, -inf where it stands on nothing [K], m."""
        contact = self.data.contact
        return np.array(
            [
                -min(
                    contact.dist[np.isin(contact.geom, self.boxes[slot]).any(axis=1)],
                    default=math.inf,
                )
                for slot in self.slots
            ]
        )


def turns(before, after):
    """Angles between the attitudes of poses [K, 7], rad [K]."""
    dot = np.abs((before[:, 3:] * after[:, 3:]).sum(axis=1))
    norms = np.linalg.norm(before[:, 3:], axis=1) * np.linalg.norm(after[:, 3:], axis=1)
    return 2.0 * np.arccos(np.minimum(dot / norms, 1.0))


def check_support(start):
    """Everything touches its support, and stays there when it is awake."""
    before = start.poses()
    start.wake()
    np.testing.assert_allclose(start.depths(), REST_DEPTH, atol=2.5e-5)
    start.step()
    after = start.poses()
    assert np.linalg.norm(after[:, :3] - before[:, :3], axis=1).max() < STILL
    assert turns(before, after).max() < UPRIGHT


def check_carriers(start, episode):
    """What is in a drawer rides with it; nothing else moves when doors and drawers do."""
    inside = {t.slot for t in episode.targets if t.start_receptacle == "drawer_right_top"}
    inside &= set(start.slots)
    for name in APARTMENT.joints:
        for direction in (1.0, -1.0):
            poses, value = start.poses(), start.joint(name)
            start.drive(name, direction)
            carried = start.joint(name) - value if name == "drawer_right_top" else 0.0
            moved = np.linalg.norm((start.poses() - poses)[:, :3], axis=1)
            for slot, distance in zip(start.slots, moved.tolist(), strict=True):
                if slot in inside:
                    assert distance == pytest.approx(abs(carried), abs=SLIP), (name, slot)
                else:
                    assert distance < STILL, (name, slot)


def check(simulator, episode):
    simulator.reset([0], [episode])
    check_carriers(Started(simulator, episode), episode)
    simulator.reset([0], [episode])
    check_support(Started(simulator, episode))


def check_sampled(task, seeds, randomise=None):
    config = SimulatorConfig(camera_size=8, randomise=randomise or Randomisation())
    env = RearrangeEnv(task, split="train", simulator=config)
    for seed in seeds:
        env.reset(seed=seed)
        check(env.simulator, env.episode)


@pytest.mark.parametrize("task", TASKS)
def test_sampled_starts_are_at_rest(task):
    check_sampled(task, range(0, SEEDS, EVERY))


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_all_sampled_starts_are_at_rest(task):
    check_sampled(task, (seed for seed in range(SEEDS) if seed % EVERY))


@pytest.mark.parametrize("task", ["pick", "open_cab"])
def test_randomised_starts_are_at_rest(task):
    check_sampled(task, range(3), SHIFTED)


@pytest.fixture(scope="module")
def simulator():
    one = MujocoSimulator(1, SimulatorConfig(camera_size=8))
    yield one
    one.close()


OTHERS = pytest.mark.parametrize("others", [False, pytest.param(True, marks=pytest.mark.slow)])


@OTHERS
@pytest.mark.parametrize("task", TASKS)
def test_shipped_starts_are_at_rest(simulator, task, others):
    """The first of them, and others all over the file."""
    episodes = EpisodeSet.load(default_path(task, "val"), task, "val")
    looked_at = range(0, len(episodes), 60)
    for index in looked_at[1:] if others else looked_at[:1]:
        check(simulator, episodes.episode(index))


@OTHERS
@pytest.mark.parametrize("path", sorted(HAND_OFFS.rglob("*.json.gz")), ids=lambda p: p.parent.name)
def test_recorded_starts_are_at_rest(simulator, path, others):
    """Some were left leaning, or on an edge; but nothing hangs in the air."""
    episodes = EpisodeSet.load(path)
    looked_at = range(0, len(episodes), max(1, len(episodes) // 5))
    for index in looked_at[2:] if others else looked_at[:2]:
        episode = episodes.episode(index)
        simulator.reset([0], [episode])
        start = Started(simulator, episode)
        before = start.poses()
        start.wake()
        assert start.depths().min() > 0.0, (path.name, index)
        start.step(0.3)
        moved = np.linalg.norm((start.poses() - before)[:, :3], axis=1)
        assert moved.max() < SHIFT, (path.name, index)
