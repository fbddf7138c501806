import numpy as np
import torch
from gymnasium import spaces

from ver.config import NetworkConfig
from ver.networks.policy import ActorCritic

BOX = spaces.Box(-1, 1, (2,), np.float32)


def test_images_are_scaled_and_stacked():
    space = spaces.Dict(
        {
            "rgb": spaces.Box(0, 255, (64, 64, 3), np.uint8),
            "depth": spaces.Box(0, 10, (64, 64, 1), np.float16),
        }
    )
    policy = ActorCritic(space, BOX, NetworkConfig(hidden_size=8))
    seen = []
    policy.encoder.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    images = {
        "rgb": torch.full((1, 64, 64, 3), 255, dtype=torch.uint8),
        "depth": torch.full((1, 64, 64, 1), 5.0).half(),
    }
    policy.act(images, policy.initial_state(1), policy.initial_actions(1), torch.ones(1))
    assert seen[0].shape == (1, 4, 64, 64)
    # A Dict space sorts its keys: depth comes first.
    torch.testing.assert_close(seen[0][0, :, 0, 0], torch.tensor([0.5, 1.0, 1.0, 1.0]))


def test_images_whose_bounds_say_nothing_are_left_as_they_are():
    far = float(np.finfo(np.float32).max)
    space = spaces.Dict({"depth": spaces.Box(0, far, (64, 64, 1), np.float32)})
    policy = ActorCritic(space, BOX, NetworkConfig(hidden_size=8))
    seen = []
    policy.encoder.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    images = {"depth": torch.full((1, 64, 64, 1), 5.0)}
    policy.act(images, policy.initial_state(1), policy.initial_actions(1), torch.ones(1))
    assert float(seen[0].mean()) == 5.0
