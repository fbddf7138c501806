import dataclasses
from importlib.metadata import EntryPoint

import pytest

from rearrange.errors import UserError
from rearrange.robot import register_robot, registry
from rearrange.sim import SimulatorConfig
from tests.helpers.crane import CRANE

MODULE = "tests.helpers.crane"


def test_it_is_found_by_name_and_an_unknown_one_lists_what_exists():
    assert registry.find_robot("crane") is CRANE
    with pytest.raises(
        UserError, match=r"unknown robot 'heron': choose one of fetch, fetch_fingers, mast, crane"
    ):
        SimulatorConfig(robot="heron")
    with pytest.raises(UserError, match=r"robot 'fetch': there is one of that name already"):
        register_robot(dataclasses.replace(CRANE, name="fetch"))
    with pytest.raises(UserError, match=r"robot 'crane': there is one of that name already"):
        register_robot(dataclasses.replace(CRANE))


@pytest.mark.parametrize(
    ("value", "fits"), [(f"{MODULE}:CRANE", True), (f"{MODULE}:JOINTS", False)]
)
def test_robots_of_other_packages_are_found_by_their_entry_points(monkeypatch, value, fits):
    point = EntryPoint("stork", value, registry.GROUP)
    monkeypatch.setattr(registry, "_ROBOTS", {})
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    registry._load_others.cache_clear()
    if fits:
        assert registry.find_robot("crane") is CRANE
    else:
        with pytest.raises(UserError, match=f"robot 'stork': {MODULE}:JOINTS is no RobotSpec"):
            registry.find_robot("crane")
    registry._load_others.cache_clear()
