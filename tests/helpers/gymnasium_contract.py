"""Gymnasium's own checks of an environment, warnings included."""

import warnings

import gymnasium
from gymnasium.utils.env_checker import check_env


def keeps_contract(env: gymnasium.Env) -> None:
    """Fail where Gymnasium's checker complains or warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check=True)
