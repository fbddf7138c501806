"""Images drawn as on a device: the painter's, while scenes and agents change."""

import numpy as np
import pytest
import torch

from nav.agent import DRAW_ON, AgentConfig
from nav.env import NavEnv, NavVectorEnv
from nav.episode_files import ScanEpisodes
from nav.scan_worlds import ScanWorlds
from nav.table import default_config
from nav.worlds import AgentWorlds
from rearrange.errors import UserError

SMALL = {"camera_size": 20, "tilt_limit": 60.0}


def side_by_side(count, steps=7):
    """Two of the same worlds: one shows arrays, one tensors."""
    config = default_config("pointnav")
    config.max_steps = steps
    agents = (AgentConfig(**SMALL), AgentConfig(draw_on="tensors", **SMALL))
    return [NavVectorEnv(count, "pointnav", config, "val", agent=agent) for agent in agents]


def same(array, tensor, unit=10.0):
    """True if images are the same but for edges."""
    assert isinstance(tensor, torch.Tensor)
    assert tensor.dtype == torch.float32
    assert tuple(tensor.shape) == array.shape
    return (np.abs(array - tensor.numpy()) * unit > 1e-3).mean() < 0.002


def test_a_vector_of_agents_shows_tensors_of_what_the_painter_draws():
    painted, drawn = side_by_side(5)
    (seen, _), (shown, _) = painted.reset(seed=3), drawn.reset(seed=3)
    rng, ends = np.random.default_rng(0), 0
    for _ in range(25):
        assert same(seen["depth"], shown["depth"])
        for key in set(seen) - {"depth"}:
            np.testing.assert_array_equal(seen[key], shown[key])
        actions = rng.choice([0, 1, 1, 1, 2, 3], 5)
        seen, *told, infos = painted.step(actions)
        shown, *also, device_infos = drawn.step(torch.from_numpy(actions))
        for one, other in zip(told, also, strict=True):
            np.testing.assert_array_equal(one, other)
        if infos:
            final, mask = device_infos["final_obs"], infos["_final_obs"]
            np.testing.assert_array_equal(mask, device_infos["_final_obs"])
            assert final["depth"] is not shown["depth"]
            for i in np.flatnonzero(mask):
                ends += 1
                assert same(infos["final_obs"][i]["depth"], final["depth"][i])
                wanted = infos["final_obs"][i]["pointgoal_direction"]
                np.testing.assert_array_equal(wanted, final["pointgoal_direction"][i])
    assert ends >= 10


def test_agents_look_up_and_down_in_scenes_that_come_and_go(walled):
    """More scenes than rooms at first, of other sizes, and rooms that others leave."""
    from nav.scene import Scene
    from rearrange.scenes.pieces import box

    crates = [
        box((x, x + 0.4), (1.0, 1.5), (0.0, 1.2), (0.5, 0.5, 0.5, 1.0)) for x in (1.0, 2.0, 3.0)
    ]
    halls = {f"h{n}": walled(f"h{n}", 4.0 + n, 5.0, *crates[: n % 4]) for n in range(9)}
    found = {name: Scene(hall, 0.18) for name, hall in halls.items()}
    worlds = AgentWorlds(6, AgentConfig(draw_on="tensors", **SMALL))
    worlds.load = found.__getitem__
    rng = np.random.default_rng(1)
    for i in range(6):
        worlds.place(i, "h0", (2.0, 2.5, 0.4 * i))
    for step in range(40):
        names = [f"h{int(n)}" for n in rng.integers(min(9, 1 + step // 2), size=2)]
        for name, i in zip(names, rng.integers(6, size=2).tolist(), strict=True):
            worlds.place(i, name, (2.0, 2.5, float(rng.uniform(-3.0, 3.0))))
        worlds.step(rng.integers(1, 6, 6))
        images, painted = worlds.new_images(), np.empty((6, 20, 20, 1), np.float32)
        worlds.draw(images)
        worlds._draw(painted, None, None, worlds.bank.geoms.colours, None)
        assert same(painted, images["depth"])
    assert worlds.tilts.any()
    assert worlds.bank.rooms_made >= 2


def test_a_vector_is_rendered_as_ever():
    painted, drawn = side_by_side(1)
    pictures = []
    for env in (painted, drawn):
        env.render_mode = "rgb_array"
        env.reset(seed=1)
        pictures.append(env.render()[0].astype(int))
    assert (np.abs(pictures[0] - pictures[1]) > 8).mean() < 0.005


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"draw_on": "gpu"}, f"agent.draw_on must be {', '.join(DRAW_ON)}, found gpu"),
        ({"draw_on": "cuda", "rgb": True}, "agent.rgb=true: agent.draw_on=cuda draws depth alone"),
        ({"draw_on": "tensors", "goal_mask": True}, "agent.goal_mask=true: agent.draw_on=tensors"),
    ],
)
def test_what_cannot_be_drawn_there_is_refused(options, told):
    with pytest.raises(UserError, match=told):
        AgentWorlds(1, AgentConfig(**options))


def test_other_worlds_and_a_single_agent_are_refused():
    agent = AgentConfig(draw_on="tensors")
    with pytest.raises(UserError, match=r"agent.draw_on=tensors is for .* agent.draw_on=cpu"):
        NavEnv(agent=agent)
    with pytest.raises(UserError, match=r"agent.draw_on=tensors: only our homes are drawn on"):
        ScanWorlds(1, agent)
    with pytest.raises(UserError, match="only our homes"):
        NavVectorEnv(1, agent=agent, files=ScanEpisodes("pointnav", "", __file__))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is one")
def test_without_a_cuda_device_that_is_told():
    with pytest.raises(UserError, match=r"^agent.draw_on=cuda"):
        AgentWorlds(1, AgentConfig(draw_on="cuda"))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_cuda_device_draws_what_the_cpu_does():
    agent = AgentConfig(draw_on="cuda", camera_size=64)
    env = NavVectorEnv(40, "pointnav", None, "val", agent=agent)
    env.reset(seed=0)
    for _ in range(10):
        seen, *_ = env.step(np.ones(40, np.int64))
        painted = np.empty((40, 64, 64, 1), np.float32)
        env.worlds._draw(painted, None, None, env.worlds.bank.geoms.colours, None)
        assert seen["depth"].is_cuda
        assert same(painted, seen["depth"].cpu())
