from benchmarks.faulty_environments import Trails, plan


def test_a_planned_fault_happens_once(tmp_path):
    (fault,) = plan(tmp_path, ("raise", 1, 3))
    assert not fault.happens(0, 9)
    assert not fault.happens(1, 2)
    assert fault.happens(1, 3)
    assert not fault.happens(1, 4)
    env = Trails(plan(tmp_path / "..", ("nan_reward", 0, 10**9)))(0, 0)
    env.reset(seed=1)
    assert env.step(env.action_space.sample())[1] >= 0.0
