"""The actor-critic over a Dict of images and vectors.

3-D Boxes [H, W, C] are images: they are stacked along channels and encoded. 1-D Boxes are joined
after the running normalisation. The previous action is embedded. All of it feeds the core.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from gymnasium import spaces
from torch import Tensor, nn

from ver.action_space import action_dtype, action_width
from ver.config import NetworkConfig
from ver.errors import UserError
from ver.networks.actions import make_action_embedding
from ver.networks.branches import Branches
from ver.networks.critic import Critic, make_critic
from ver.networks.encoders import SeparateEncoders, check_encoder, make_encoders
from ver.networks.heads import Distribution, make_head
from ver.networks.images import ImageStack
from ver.networks.normaliser import RunningNormaliser
from ver.networks.recurrent import ACTIVATIONS, initialise_orthogonally, make_core
from ver.networks.vectors import VectorInputs

# Small enough that a convolution's activations stay in a CPU's cache: measured twice as fast as
# whole mini-batches of thousands of images.
_CPU_IMAGE_CHUNK = 512


class PolicyOutput(NamedTuple):
    """Results of acting.

    Attributes:
        actions: [N, D] in the action space's units, not clipped; int64 for discrete spaces.
        log_probs: [N] log-probabilities of the actions.
        values: [N] value estimates.
        state: [N, state_size] to hand to the next call.
    """

    actions: Tensor
    log_probs: Tensor
    values: Tensor
    state: Tensor


class Choice(NamedTuple):
    """Actions, before it is known how likely they were and what they lead to.

    Attributes:
        actions: [N, D] in the action space's units, not clipped; int64 for discrete spaces.
        state: [N, state_size] to hand to the next call.
        outputs: [N, output_size] of the core.
        distribution: Of the actions.
    """

    actions: Tensor
    state: Tensor
    outputs: Tensor
    distribution: Distribution


class Evaluation(NamedTuple):
    """Results that losses are made of.

    Attributes:
        log_probs: [M] log-probabilities of the given actions.
        entropies: [M] in nats.
        values: [M] value estimates.
        outputs: [M, output_size] of the core.
        images: [M, visual_features] image embeddings; None without an encoder.
    """

    log_probs: Tensor
    entropies: Tensor
    values: Tensor
    outputs: Tensor
    images: Tensor | None


class ActorCritic(nn.Module):
    """Policy and value function.

    Args:
        observation_space: A Dict of 1-D and 3-D Boxes.
        action_space: Box [D] with bounds, Discrete, MultiDiscrete, or a flat Tuple or Dict of them.
        config: The shape of the networks.

    Attributes:
        images: Stacks the images.
        vectors: Joins the 1-D observations.
        state_size: Width of the flat recurrent state, 0 without memory.
        seen_keys: Observations that acting needs; the critic's own are not among them.
        config: The trainer's whole configuration, set by `load_policy`.
        metadata: What the trainer's caller stored, set by `load_policy`.
    """

    def __init__(
        self,
        observation_space: spaces.Dict,
        action_space: spaces.Space,
        config: NetworkConfig,
    ):
        super().__init__()
        self.observation_space = observation_space
        self.action_space = action_space
        self.network_config = config
        if config.mixed_precision not in ("none", "bfloat16"):
            raise UserError(
                f"Unknown network.mixed_precision '{config.mixed_precision}'; valid: bfloat16, "
                "none."
            )
        self.config: dict[str, Any] = {}
        self.metadata: dict[str, Any] = {}
        image_keys, vector_keys = split_observation_keys(observation_space)
        unknown = sorted(set(config.critic_only) - set(vector_keys))
        if unknown:
            raise UserError(
                f"network.critic_only: there is no 1-D observation '{unknown[0]}', only "
                f"{', '.join(vector_keys)}."
            )
        vector_keys = [key for key in vector_keys if key not in config.critic_only]
        self.images = ImageStack(observation_space, image_keys)
        self.vectors = VectorInputs(observation_space, vector_keys, config)
        width = self._build_image_inputs(config) + self._build_vector_inputs(config)
        width += self._build_previous_action(config)
        if not width:
            raise UserError("The observation space is empty; it needs a 1-D or a 3-D Box.")
        self.core = make_core(width, config)
        self.state_size = self.core.state_size
        self.head = make_head(config.output_size, action_space, config)
        self.seen_keys = (*image_keys, *vector_keys)
        self.critic = make_critic(observation_space, config)

    def _build_image_inputs(self, config: NetworkConfig) -> int:
        self.encoder: nn.Module | None = None
        check_encoder(config.encoder)
        if not self.images.keys:
            return 0
        channels, height, width = self.images.shape
        each = self.images.channels if config.separate_images else [channels]
        encoder = make_encoders(config.encoder, each, height, width, config.visual_features)
        self._separate = isinstance(encoder, SeparateEncoders)
        self.encoder = encoder.to(memory_format=torch.channels_last)  # pyright: ignore
        return config.visual_features

    def _build_vector_inputs(self, config: NetworkConfig) -> int:
        width = self.vectors.width
        self.normaliser = RunningNormaliser(width) if config.normalise_vectors and width else None
        self.vector_embedding: nn.Module | None = None
        if config.branches:
            branches = Branches(self.observation_space, self.vectors.keys, config)
            self.vector_embedding = branches
            return branches.width
        if not (width and config.vector_features):
            return width
        linear = nn.Linear(width, config.vector_features)
        initialise_orthogonally(linear)
        self.vector_embedding = nn.Sequential(linear, ACTIVATIONS[config.activation]())
        return config.vector_features

    def _build_previous_action(self, config: NetworkConfig) -> int:
        features = config.previous_action_features
        self.action_size = action_width(self.action_space)
        self.previous_action: nn.Module | None = None
        if features:
            self.previous_action = make_action_embedding(self.action_space, features)
        return features

    @property
    def device(self) -> torch.device:
        """Device of the weights."""
        return next(self.critic.parameters()).device

    def normalised(self) -> list[tuple[VectorInputs, RunningNormaliser]]:
        """Returns the sets of 1-D observations, and the normaliser of each."""
        found = [] if self.normaliser is None else [(self.vectors, self.normaliser)]
        if not isinstance(self.critic, Critic):
            normaliser = self.critic.normaliser
            if isinstance(normaliser, RunningNormaliser):
                found.append((self.critic.vectors, normaliser))
        return found

    @property
    def value_layer(self) -> Critic:
        """The layer that values come from."""
        return self.critic if isinstance(self.critic, Critic) else self.critic.value

    @property
    def action_dtype(self) -> torch.dtype:
        """int64 for Discrete and MultiDiscrete spaces, float32 otherwise."""
        return torch.int64 if action_dtype(self.action_space) == "int64" else torch.float32

    def initial_state(self, n: int) -> Tensor:
        """Returns the state [n, state_size] before an episode's first step."""
        return torch.zeros(n, self.state_size, device=self.device)

    def initial_actions(self, n: int) -> Tensor:
        """Returns the previous actions [n, D] to use before an episode's first step."""
        return torch.zeros(n, self.action_size, dtype=self.action_dtype, device=self.device)

    def act(
        self,
        observations: dict[str, Tensor],
        state: Tensor,
        previous_actions: Tensor,
        masks: Tensor,
        deterministic: bool = False,
    ) -> PolicyOutput:
        """Chooses actions for one step and rates them; arguments as for `choose`."""
        choice = self.choose(observations, state, previous_actions, masks, deterministic)
        return self.rate(choice, observations)

    def choose(
        self,
        observations: dict[str, Tensor],
        state: Tensor,
        previous_actions: Tensor,
        masks: Tensor,
        deterministic: bool = False,
    ) -> Choice:
        """Chooses actions for one step, which is what environments wait for.

        Call it under `torch.no_grad()`.

        Args:
            observations: {key: [N, ...]} in the dtypes of the observation space.
            state: [N, state_size] from the previous call, or `initial_state(N)`.
            previous_actions: [N, D] from the previous call, or `initial_actions(N)`.
            masks: [N] bool or float, False where this is an episode's first step; state and
                previous action of those rows are ignored.
            deterministic: Take the most likely action instead of a sample.

        Returns:
            Actions, and what `rate` needs.
        """
        masks = masks.reshape(-1).float()
        features = self.features(observations, previous_actions, masks)
        outputs, next_state = self.core.step(features, state * masks[:, None])
        distribution: Distribution = self.head(outputs)
        actions = distribution.mode() if deterministic else distribution.sample()
        return Choice(actions, next_state, outputs, distribution)

    def rate(self, choice: Choice, observations: dict[str, Tensor]) -> PolicyOutput:
        """Adds what only learning needs: the log-probabilities of chosen actions, and values."""
        log_probs = choice.distribution.log_prob(choice.actions)
        values = self.critic.rate(choice.outputs, observations)
        return PolicyOutput(choice.actions, log_probs, values, choice.state)

    def value(
        self,
        observations: dict[str, Tensor],
        state: Tensor,
        previous_actions: Tensor,
        masks: Tensor,
    ) -> Tensor:
        """Returns values [N] only; arguments as for `act`."""
        masks = masks.reshape(-1).float()
        features = self.features(observations, previous_actions, masks)
        output, _ = self.core.step(features, state * masks[:, None])
        return self.critic.rate(output, observations)

    def evaluate(
        self,
        observations: dict[str, Tensor],
        state: Tensor,
        previous_actions: Tensor,
        masks: Tensor,
        actions: Tensor,
        batch_sizes: Tensor,
    ) -> Evaluation:
        """Evaluates given actions along packed sequences, for learning.

        Args:
            observations: {key: [M, ...]}, time-major, longest sequence first.
            state: [S, state_size] at each sequence's first step, zero at an episode's start.
            previous_actions: [M, D].
            masks: [M], False at an episode's first step.
            actions: [M, D] that were taken.
            batch_sizes: [L] int64 on the CPU, sequences still running at each time step.

        Returns:
            Everything that losses are made of, M rows each.
        """
        features = self.features(observations, previous_actions, masks.float())
        output = self.core.packed(features, batch_sizes, state)
        distribution: Distribution = self.head(output)
        visual = self.network_config.visual_features
        images = features[:, :visual] if self.images.keys else None
        return Evaluation(
            distribution.log_prob(actions),
            distribution.entropy(),
            self.critic.rate(output, observations),
            output,
            images,
        )

    def features(
        self, observations: dict[str, Tensor], previous_actions: Tensor, masks: Tensor
    ) -> Tensor:
        """Joins image embedding, vectors and the previous action's embedding: [N, width].

        The image embedding, if there is one, fills the first `network.visual_features` columns.
        """
        parts: list[Tensor] = []
        if self.encoder is not None:
            parts.append(self._encode_images(observations))
        if self.vectors.keys:
            vectors = self.vectors.join(observations)
            vectors = vectors if self.normaliser is None else self.normaliser(vectors)
            embed = self.vector_embedding
            parts.append(vectors if embed is None else embed(vectors))
        if self.previous_action is not None:
            parts.append(self.previous_action(previous_actions, masks))
        return torch.cat(parts, -1)

    def _encode_images(self, observations: dict[str, Tensor]) -> Tensor:
        assert self.encoder is not None
        some = observations[self.images.keys[0]]
        count = len(some)
        chunk = _CPU_IMAGE_CHUNK if some.device.type == "cpu" else max(count, 1)
        mixed = self.network_config.mixed_precision == "bfloat16"
        gather = self.images.apart if self._separate else self.images.join
        outputs = []
        for begin in range(0, count, chunk):
            images = gather(observations, slice(begin, begin + chunk))
            with torch.autocast(some.device.type, torch.bfloat16, enabled=mixed):
                outputs.append(self.encoder(images).float())
        return outputs[0] if len(outputs) == 1 else torch.cat(outputs)


def split_observation_keys(space: spaces.Space) -> tuple[list[str], list[str]]:
    """Sorts a Dict space's keys into images (3-D Boxes) and vectors (1-D Boxes).

    Raises:
        UserError: If the space is no Dict, or an entry is neither.
    """
    if not isinstance(space, spaces.Dict):
        raise UserError(f"The observation space must be a gymnasium Dict, found {space}.")
    images, vectors = [], []
    for key, box in space.spaces.items():
        shape = box.shape if isinstance(box, spaces.Box) else ()
        if shape is None or len(shape) not in (1, 3):
            raise UserError(f"Observation '{key}' must be a 1-D or 3-D Box, found {box}.")
        (images if len(shape) == 3 else vectors).append(key)
    return images, vectors
