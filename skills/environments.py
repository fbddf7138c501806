"""Factory of environments for trainings and evaluations, in three kinds.

Skills and scenarios (`skills.settings`), navigation tasks (`skills.navigation`) and tasks of habitat-lab
(`skills.habitat_lab`) are kinds; `skills.settings.kind_of` says of which kind something is.
Imports no torch: environment workers unpickle the kinds.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any

import gymnasium
from omegaconf import OmegaConf

from ver.public import without_private_folders


@dataclass(frozen=True)
class Environments:
    """Makes the environments of what is trained; picklable. All fields are plain values.

    Attributes:
        skill: What is trained.
    """

    skill: str

    @classmethod
    def settings_type(cls, skill: str) -> type[Any]:
        """Settings of a training."""
        raise NotImplementedError

    @classmethod
    def config_names(cls, skill: str) -> tuple[str, ...]:
        """The YAML files of a training, the later before the earlier ones."""
        raise NotImplementedError

    @classmethod
    def from_settings(cls, settings: Any, split: str | None = None) -> Any:
        """The environments that settings ask for; UserError where they make no sense."""
        raise NotImplementedError

    @classmethod
    def from_metadata(cls, metadata: dict[str, Any], split: str) -> Any:
        """The environments in which a checkpoint is judged, in homes of a split."""
        raise NotImplementedError

    @classmethod
    def check_numbers(cls, task: Any) -> None:
        """Raise a UserError that names the first number of a task's config that makes no sense."""
        raise NotImplementedError

    @classmethod
    def of_settings(cls, settings: Any, **otherwise: Any) -> Any:
        """Take each field from the setting of its name, but for those that are given."""
        names = [each.name for each in fields(cls) if each.name not in otherwise]
        return cls(**{name: _plain(getattr(settings, name)) for name in names}, **otherwise)

    def metadata(self) -> dict[str, Any]:
        """Plain values for a checkpoint, without private folders; `from_metadata` reads them."""
        return without_private_folders(asdict(self))

    def __call__(self, environment_index: int, seed: int) -> gymnasium.Env[Any, Any]:
        """One environment."""
        raise NotImplementedError


def with_values(defaults: Any, values: dict[str, Any]) -> Any:
    """A config with plain values in the place of its defaults, as its dataclass."""
    return OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(defaults), values))


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return tuple(value) if isinstance(value, list) else value
