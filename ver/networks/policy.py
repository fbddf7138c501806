"""The actor-critic over a Dict of images and vectors.

3-D Boxes [H, W, C] are images: they are stacked along channels and encoded. 1-D Boxes are joined
after the running normalisation. The previous action is embedded. All of it feeds the core.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

from ver.action_space import action_dtype, action_width
from ver.config import NetworkConfig
from ver.errors import UserError
from ver.networks.actions import make_action_embedding
from ver.networks.encoders import make_encoder
from ver.networks.heads import Distribution, make_head
from ver.networks.recurrent import make_core

# Small enough that a convolution's activations stay in a CPU's cache: measured twice as fast as
# whole mini-batches of thousands of images.
_CPU_IMAGE_CHUNK = 512
_ANGLE_MULTIPLES = (1, 2, 4)


class PolicyOutput(NamedTuple):
    """What acting returns.

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
        outputs: [N, hidden_size] of the core.
        distribution: Of the actions.
    """

    actions: Tensor
    state: Tensor
    outputs: Tensor
    distribution: Distribution


class Evaluation(NamedTuple):
    """What learning needs.

    Attributes:
        log_probs: [M] log-probabilities of the given actions.
        entropies: [M] in nats.
        values: [M] value estimates.
        outputs: [M, hidden_size] of the core.
        images: [M, visual_features] image embeddings; None without an encoder.
    """

    log_probs: Tensor
    entropies: Tensor
    values: Tensor
    outputs: Tensor
    images: Tensor | None


class RunningNormaliser(nn.Module):
    """Running mean and variance of vectors, kept in buffers so that checkpoints hold them.

    Args:
        size: Width of the vectors.
    """

    def __init__(self, size: int):
        super().__init__()
        self.mean: Tensor
        self.variance: Tensor
        self.count: Tensor
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("variance", torch.ones(size))
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        """Normalises [N, size], cut to +-10; the floor under the deviation spares constants."""
        scaled = (x - self.mean) * (self.variance + 1e-4).rsqrt()
        return scaled.clamp(-10.0, 10.0)

    @torch.no_grad()
    def update(self, x: Tensor) -> None:
        """Takes the rows of [M, size] into account."""
        self.merge(vector_moments(x)[None])

    @torch.no_grad()
    def merge(self, moments: Tensor) -> None:
        """Takes several sets of rows into account, exactly as if they were one.

        Args:
            moments: [K, 1 + 2 x size], as `vector_moments` returns them for each set.
        """
        moments = moments.to(self.mean.device)
        counts = moments[:, 0]
        rows = float(counts.sum())
        if not rows:
            return
        shares = (counts / rows)[:, None]
        means, variances = moments[:, 1:].chunk(2, dim=1)
        mean = (shares * means).sum(0)
        variance = (shares * (variances + (means - mean).square())).sum(0)
        count = float(self.count)
        total = count + rows
        delta = mean - self.mean
        combined = (self.variance * count + variance * rows) / total
        combined = combined + delta.square() * count * rows / total**2
        self.mean.copy_(self.mean + delta * rows / total)
        self.variance.copy_(combined)
        self.count.fill_(total)


def vector_moments(x: Tensor) -> Tensor:
    """Returns the count, means and variances of the rows of [M, size]: [1 + 2 x size] float64."""
    x = x.double()
    if not len(x):
        return x.new_zeros(1 + 2 * x.shape[1])
    count = x.new_tensor([len(x)])
    return torch.cat([count, x.mean(0), x.var(0, unbiased=False)])


class ActorCritic(nn.Module):
    """Policy and value function.

    Args:
        observation_space: A Dict of 1-D and 3-D Boxes.
        action_space: Box [D] with bounds, Discrete, MultiDiscrete, or a flat Tuple or Dict of them.
        config: The shape of the networks.

    Attributes:
        state_size: Width of the flat recurrent state, 0 without memory.
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
                f"Unknown network.mixed_precision '{config.mixed_precision}'; valid: bfloat16, none."
            )
        if not config.distance_scale > 0.0:
            raise UserError(
                f"network.distance_scale must be positive, found {config.distance_scale:g}."
            )
        self.config: dict[str, Any] = {}
        self.metadata: dict[str, Any] = {}
        self.image_keys, self.vector_keys = split_observation_keys(observation_space)
        width = self._build_image_inputs(config) + self._build_vector_inputs(config)
        width += self._build_previous_action(config)
        if not width:
            raise UserError("The observation space is empty; it needs a 1-D or a 3-D Box.")
        self.core = make_core(config.core, width, config.hidden_size, config.layers)
        self.state_size = self.core.state_size
        self.head = make_head(config.hidden_size, action_space, config)
        self.critic = nn.Linear(config.hidden_size, 1)
        nn.init.orthogonal_(self.critic.weight)
        nn.init.zeros_(self.critic.bias)

    def _build_image_inputs(self, config: NetworkConfig) -> int:
        self.encoder: nn.Module | None = None
        if not self.image_keys:
            return 0
        boxes = [self.observation_space[key] for key in self.image_keys]
        sizes = {box.shape[:2] for box in boxes}  # pyright: ignore
        if len(sizes) > 1:
            raise UserError(f"Images must share one size to be stacked, found {sorted(sizes)}.")
        height, width = sizes.pop()
        channels = sum(box.shape[2] for box in boxes)  # pyright: ignore
        encoder = make_encoder(config.encoder, channels, height, width, config.visual_features)
        self.encoder = encoder.to(memory_format=torch.channels_last)  # pyright: ignore
        self._image_scales = [_image_scale(box) for box in boxes]
        return config.visual_features

    def _build_vector_inputs(self, config: NetworkConfig) -> int:
        self._angles = _columns("angles", self.observation_space, self.vector_keys, config.angles)
        self._distances = _columns(
            "distances", self.observation_space, self.vector_keys, config.distances
        )
        shapes = [self.observation_space[key].shape for key in self.vector_keys]
        width = sum(shape[0] for shape in shapes if shape)
        self._others = [column for column in range(width) if column not in self._angles]
        width += len(self._angles) * (2 * len(_ANGLE_MULTIPLES) - 1) + len(self._distances)
        self._vector_width = width
        self.normaliser = RunningNormaliser(width) if config.normalise_vectors and width else None
        self.vector_embedding: nn.Module | None = None
        if not (width and config.vector_features):
            return width
        linear = nn.Linear(width, config.vector_features)
        nn.init.orthogonal_(linear.weight, math.sqrt(2.0))
        nn.init.zeros_(linear.bias)
        self.vector_embedding = nn.Sequential(linear, nn.ReLU())
        return config.vector_features

    def _build_previous_action(self, config: NetworkConfig) -> int:
        features = config.previous_action_features
        self.action_size = action_width(self.action_space)
        self.previous_action: nn.Module | None = None
        if features:
            self.previous_action = make_action_embedding(self.action_space, features)
        return features

    def add_distances(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Weights for this network from those of the same one without `network.distances`.

        The new inputs have weights of zero, so that both act alike, and are not normalised.

        Args:
            weights: By name, as `state_dict` has them.
        """
        added, end = len(self._distances), self._vector_width
        before_vectors = self.network_config.visual_features if self.image_keys else 0
        wider = dict(weights)
        for name, own in self.state_dict().items():
            if name not in weights:
                continue
            old = weights[name]
            if not old.dim() or own.shape != (*old.shape[:-1], old.shape[-1] + added):
                continue
            at = end - added + (before_vectors if name.startswith("core.") else 0)
            new = old.new_full((*old.shape[:-1], added), float(name == "normaliser.variance"))
            wider[name] = torch.cat([old[..., :at], new, old[..., at:]], -1)
        return wider

    def add_memory(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Weights for this network, whose core is residual, from those of the same one without memory.

        Args:
            weights: By name, as `state_dict` has them.
        """
        renamed = {name.replace("core.mlp.", "core.plain.mlp."): w for name, w in weights.items()}
        own = self.state_dict()
        new = {name: own[name] for name in own if name.startswith(("core.memory.", "core.add."))}
        return renamed | new

    @property
    def action_dtype(self) -> torch.dtype:
        """int64 for Discrete and MultiDiscrete spaces, float32 otherwise."""
        return torch.int64 if action_dtype(self.action_space) == "int64" else torch.float32

    def initial_state(self, n: int) -> Tensor:
        """Returns the state [n, state_size] before an episode's first step."""
        return torch.zeros(n, self.state_size, device=self.critic.weight.device)

    def initial_actions(self, n: int) -> Tensor:
        """Returns the previous actions [n, D] to use before an episode's first step."""
        device = self.critic.weight.device
        return torch.zeros(n, self.action_size, dtype=self.action_dtype, device=device)

    def act(
        self,
        observations: dict[str, Tensor],
        state: Tensor,
        previous_actions: Tensor,
        masks: Tensor,
        deterministic: bool = False,
    ) -> PolicyOutput:
        """Chooses actions for one step and rates them; arguments as for `choose`."""
        return self.rate(self.choose(observations, state, previous_actions, masks, deterministic))

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

    def rate(self, choice: Choice) -> PolicyOutput:
        """Adds what only learning needs: the log-probabilities of chosen actions, and values."""
        log_probs = choice.distribution.log_prob(choice.actions)
        values = self.critic(choice.outputs)[:, 0]
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
        return self.critic(output)[:, 0]

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
        images = features[:, : self.network_config.visual_features] if self.image_keys else None
        return Evaluation(
            distribution.log_prob(actions),
            distribution.entropy(),
            self.critic(output)[:, 0],
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
        if self.vector_keys:
            vectors = self.join_vectors(observations)
            vectors = vectors if self.normaliser is None else self.normaliser(vectors)
            embed = self.vector_embedding
            parts.append(vectors if embed is None else embed(vectors))
        if self.previous_action is not None:
            parts.append(self.previous_action(previous_actions, masks))
        return torch.cat(parts, -1)

    def join_vectors(self, observations: dict[str, Tensor]) -> Tensor:
        """Joins the 1-D observations: [N, width] float32.

        Angles are left out, and the cosines and sines of their multiples stand at the end, and after
        them sign(x) log(1 + |x| / scale) of the distances x.
        """
        joined = torch.cat([observations[key].float() for key in self.vector_keys], -1)
        parts = [joined[:, self._others] if self._angles else joined]
        if self._angles:
            multiples = torch.cat([joined[:, self._angles] * n for n in _ANGLE_MULTIPLES], -1)
            parts += [multiples.cos(), multiples.sin()]
        if self._distances:
            lengths = joined[:, self._distances] / self.network_config.distance_scale
            parts.append(lengths.sign() * torch.log1p(lengths.abs()))
        return parts[0] if len(parts) == 1 else torch.cat(parts, -1)

    def _encode_images(self, observations: dict[str, Tensor]) -> Tensor:
        count = len(observations[self.image_keys[0]])
        on_cpu = observations[self.image_keys[0]].device.type == "cpu"
        chunk = _CPU_IMAGE_CHUNK if on_cpu else max(count, 1)
        outputs = []
        for begin in range(0, count, chunk):
            planes = [
                _scaled(observations[key][begin : begin + chunk].permute(0, 3, 1, 2), *scale)
                for key, scale in zip(self.image_keys, self._image_scales, strict=True)
            ]
            images = planes[0] if len(planes) == 1 else torch.cat(planes, 1)
            images = images.contiguous(memory_format=torch.channels_last)
            mixed = self.network_config.mixed_precision == "bfloat16"
            with torch.autocast(images.device.type, torch.bfloat16, enabled=mixed):
                outputs.append(self.encoder(images).float())  # pyright: ignore
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


def _columns(
    setting: str, space: spaces.Dict, vector_keys: list[str], named: dict[str, list[int]]
) -> list[int]:
    """Columns of the joined 1-D observations that a setting of the network names.

    Raises:
        UserError: `network.<setting>` names what is not there.
    """
    columns, offset = [], 0
    for key in vector_keys:
        width = (space[key].shape or (0,))[0]
        for index in named.get(key, []):
            if not 0 <= index < width:
                raise UserError(f"network.{setting}: '{key}' has no element {index}, only {width}.")
            columns.append(offset + index)
        offset += width
    unknown = sorted(set(named) - set(vector_keys))
    if unknown:
        raise UserError(
            f"network.{setting}: no 1-D observation '{unknown[0]}'; there are {', '.join(vector_keys)}."
        )
    return columns


def _scaled(images: Tensor, scale: float, shift: float) -> Tensor:
    """Returns scale * images + shift; images that are in [0, 1] already are not copied."""
    images = images.float()
    return images if (scale, shift) == (1.0, 0.0) else images * scale + shift


def _image_scale(box: spaces.Space) -> tuple[float, float]:
    """Returns scale and shift that take a bounded image to [0, 1], or leave an unbounded one."""
    low, high = float(np.min(box.low)), float(np.max(box.high))  # pyright: ignore
    if not (np.isfinite(low) and np.isfinite(high) and high > low):
        return 1.0, 0.0
    return 1.0 / (high - low), -low / (high - low)
