import numpy as np

from nav.agent import AgentConfig
from nav.buildings import load_building
from nav.scene import Scene


def test_distances_are_the_same_both_ways():
    scene = Scene(load_building("layout5000_variation00"), AgentConfig().radius)
    points = scene.landmarks[:6]
    there = np.array([scene.distances(np.array(points), goal) for goal in points])
    np.testing.assert_allclose(there, there.T, rtol=0.03, atol=0.05)
    straight = np.linalg.norm(np.subtract.outer(points, points).diagonal(0, 1, 3), axis=-1)
    assert (there >= straight * 0.995 - 0.05).all()
