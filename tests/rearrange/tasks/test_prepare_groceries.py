import math

import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.navigation import load_layout
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.objects import OBJECT_KINDS
from rearrange.tasks import PrepareGroceries, PrepareGroceriesConfig, sampling

COUNTERS = {"counter_left", "counter_right"}

pytestmark = pytest.mark.usefixtures("one_variation")


@pytest.fixture(scope="module")
def episodes():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampling, "VARIATION_COUNT", 1)
        rng = np.random.default_rng(0)
        return [PrepareGroceries().sample_episode("val", rng) for _ in range(25)]


def test_two_objects_leave_the_open_fridge_and_one_goes_there(episodes):
    used = set()
    for episode in episodes:
        assert episode.articulated == {"fridge_door": 1.5}
        ways = [(t.start_receptacle, t.goal_receptacle) for t in episode.targets]
        assert ways[0][0] == ways[1][0] == ways[2][1] == "fridge_middle"
        used |= {ways[0][1], ways[1][1], ways[2][0]}
        assert used <= COUNTERS
        slots = [target.slot for target in episode.targets]
        assert len(set(slots)) == 3
        assert all(APARTMENT.slot_kinds[slot] != "013_apple" for slot in slots)
        assert all(t.start == episode.objects[t.slot][:3] for t in episode.targets)
        assert len(episode.objects) >= 25
    assert used == COUNTERS


def test_goals_keep_their_gaps(episodes):
    for episode in episodes:
        radius = {
            s: OBJECT_KINDS[APARTMENT.slot_kinds[s]].footprint_radius for s in episode.objects
        }
        for target in episode.targets:
            places = [(s, pose[:3]) for s, pose in episode.objects.items()]
            places += [(t.slot, t.goal) for t in episode.targets if t is not target]
            for slot, (x, y, z) in places:
                gap = math.dist(target.goal[:2], (x, y)) - radius[target.slot] - radius[slot]
                assert gap > 0.0499 or abs(target.goal[2] - z) > 0.2


def test_what_is_in_the_fridge_stands_in_the_middle_of_its_shelf(episodes):
    for episode in episodes:
        shelf = load_layout(episode.layout, 0)[0].receptacles["fridge_middle"]
        c, s = math.cos(shelf.yaw), math.sin(shelf.yaw)
        inside = [episode.targets[0].start, episode.targets[1].start, episode.targets[2].goal]
        for x, y, _ in inside:
            dx, dy = x - shelf.position[0], y - shelf.position[1]
            across = (abs(c * dx + s * dy), abs(c * dy - s * dx))
            share = math.sqrt(0.5) + 1e-9  # half of the area
            assert across[0] <= share * shelf.half_extents[0]
            assert across[1] <= share * shelf.half_extents[1]


def test_the_door_can_be_opened_less():
    task = PrepareGroceries(PrepareGroceriesConfig(fridge_angle=1.2))
    episode = task.sample_episode("test", np.random.default_rng(0))
    assert episode.articulated == {"fridge_door": 1.2}


def test_the_door_opens_no_farther_than_it_can():
    with pytest.raises(UserError, match=r"^task\.fridge_angle must be from 0 to 2\.356, found 3$"):
        PrepareGroceries(PrepareGroceriesConfig(fridge_angle=3.0))
