import dataclasses

from rearrange.sim import MujocoSimulator, SimulatorConfig
from rearrange.sim.rest import drift


def test_what_hangs_in_the_air_drifts_and_what_stands_does_not(pick_episodes):
    simulator = MujocoSimulator(1, SimulatorConfig(camera_size=8))
    episode = pick_episodes[0]
    assert drift(simulator, episode, 0.3) < 0.002
    slot, (x, y, z, *turn) = next(iter(episode.objects.items()))
    lifted = dataclasses.replace(episode, objects=episode.objects | {slot: (x, y, z + 0.1, *turn)})
    assert drift(simulator, lifted, 0.3) > 0.05
    held = dataclasses.replace(lifted, held_slot=slot)
    assert drift(simulator, held, 0.3) < 0.002  # what is held does not count
