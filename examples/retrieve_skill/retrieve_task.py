"""Retrieve: Pick from anywhere in the apartment; the skill finds its way itself."""

from dataclasses import dataclass

from rearrange.settings import setting
from rearrange.tasks import Pick, PickConfig


@dataclass
class RetrieveConfig(PickConfig):
    """Pick's numbers but for the start."""

    start_distance: float = setting(4.0, hab=2.0, about="largest distance of the robot [m]")


class Retrieve(Pick):
    """The task; see the module."""

    name = "retrieve"
    config_type = RetrieveConfig
