"""Names in the network's settings become indices of the task's own actions and observations."""

import pytest

from rearrange.errors import UserError
from rearrange.robot import find_robot
from rearrange.tasks import TASKS
from skills.names import Names, names_of, with_indices
from skills.train import load_settings
from ver.config import NetworkConfig, TrainerConfig

NAMES = Names(("reach", "grip", "stop"), {"way": ("distance", "bearing")}, {"way": 6})


def test_a_name_stands_for_its_number_and_of_further_targets_too():
    network = NetworkConfig(
        binary_actions=["stop", 1],
        initial_mean={"grip": 0.9},
        angles={"way": ["bearing"]},
        distances={"way": [0, "distance"], "place": [2]},
    )
    trainer = with_indices(TrainerConfig(network=network), NAMES)
    found = trainer.network
    assert found.binary_actions == [2, 1]
    assert found.initial_mean == [0.0, 0.9, 0.0]
    assert found.angles == {"way": [1, 3, 5]}
    assert found.distances == {"way": [0, 0, 2, 4], "place": [2]}
    assert with_indices(trainer, NAMES) == trainer


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"binary_actions": ["grap"]}, "binary_actions: unknown name 'grap': choose one of reach"),
        ({"initial_mean": {"halt": 0.1}}, "initial_mean: unknown name 'halt'"),
        ({"angles": {"way": ["width"]}}, "angles.way: unknown name 'width': .* distance, bearing"),
        ({"distances": {"place": ["x"]}}, "distances.place: unknown name 'x': nothing has a name"),
    ],
)
def test_unknown_names_are_refused_with_those_that_there_are(settings, complaint):
    with pytest.raises(UserError, match=complaint):
        with_indices(TrainerConfig(network=NetworkConfig(**settings)), NAMES)


@pytest.mark.parametrize("task", TASKS)
def test_every_number_of_an_observation_has_a_name(task):
    names = names_of(task)
    assert len(names.actions) == len(TASKS[task][0].action_names(find_robot()))
    for key, size in names.sizes.items():
        assert size % len(names.parts[key]) == 0, key


def test_navigation_tasks_name_their_numbers_and_no_actions():
    assert names_of("objectnav").parts["compass"] == ("turned",)
    assert names_of("pointnav").sizes == {"pointgoal_with_gps_compass": 2, "pointgoal_direction": 2}
    assert names_of("pointnav").actions == ()


def test_a_list_takes_the_place_of_names_and_names_that_of_a_list():
    network = load_settings("navigate", ["trainer.network.initial_mean.stop=0.25"]).trainer.network
    assert network.initial_mean == [0.0, 0.0, 0.25]
    network = load_settings("navigate", ["trainer.network.initial_mean=[]"]).trainer.network
    assert network.initial_mean == []
    network = load_settings("pick", ["trainer.network.initial_mean={grip: 0.5}"]).trainer.network
    assert network.initial_mean == [0.0] * 7 + [0.5, 0.0, 0.0]
