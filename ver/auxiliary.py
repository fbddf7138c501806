"""CPC|A, action-conditional contrastive predictive coding, as an auxiliary loss.

From what the core knows at step t, and from the actions a_t ... a_{t+k-1} alone, a small recurrent
network predicts what the agent will see at t + k. A classifier is shown the prediction together
with an image embedding and must tell the true one from embeddings of other steps (Guo et al. 2018;
hyper-parameters of Guo et al. 2020, as VER takes them, appendix D). Its gradients reach the core
and the encoder, which so learn what predicts the future.
"""

from __future__ import annotations

import torch
from gymnasium import spaces
from torch import Tensor, nn
from torch.nn import functional

from ver.config import CPCAConfig, NetworkConfig
from ver.networks.actions import make_action_embedding


class CPCA(nn.Module):
    """The networks of the auxiliary loss, which no exported policy needs.

    Args:
        config: Settings.
        network: Shape of the policy.
        action_space: Of the policy.
    """

    def __init__(self, config: CPCAConfig, network: NetworkConfig, action_space: spaces.Space):
        super().__init__()
        self.config = config
        hidden = config.hidden_size
        self.embed_action = make_action_embedding(action_space, config.action_features)
        self.begin = nn.Linear(network.output_size, hidden)
        self.predict = nn.GRU(config.action_features, hidden)
        # The classifier's first layer in two halves: a prediction meets several images.
        self.from_prediction = nn.Linear(hidden, hidden)
        self.from_image = nn.Linear(network.visual_features, hidden, bias=False)
        self.judge = nn.Sequential(
            nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1)
        )

    def forward(
        self, outputs: Tensor, images: Tensor, actions: Tensor, batch_sizes: Tensor
    ) -> Tensor:
        """Returns the loss over packed sequences, none of which crosses an episode's end.

        It is the mean over pairs (t, k), with t + k inside t's own sequence, of the binary cross
        entropy of the true image plus the mean of those of the negatives; zero without any pair.

        Args:
            outputs: [M, hidden] of the core, time-major, longest sequence first.
            images: [M, visual_features] image embeddings.
            actions: [M, D] that were taken.
            batch_sizes: [L] int64 on the CPU, sequences still running at each time step.
        """
        starts, steps, targets = self.choose_pairs(batch_sizes)
        if not len(steps):
            return 0.0 * sum(parameter.sum() for parameter in self.parameters())  # pyright: ignore
        negatives = draw_negatives(targets[:, 0], len(outputs), self.config.negatives)
        device = outputs.device
        candidates = torch.cat([targets, negatives], -1).to(device)
        predictions = self.predictions(outputs, actions, starts, batch_sizes)
        chosen = predictions[steps[:, 0].to(device), steps[:, 1].to(device)]
        scores = self.scores(chosen, images, candidates)
        wrong = functional.softplus(scores[:, 1:]).mean(-1)
        return (functional.softplus(-scores[:, 0]) + wrong).mean()

    def predictions(
        self, outputs: Tensor, actions: Tensor, starts: Tensor, batch_sizes: Tensor
    ) -> Tensor:
        """Predicts ahead from C steps: [steps, C, hidden], k steps ahead at index k - 1.

        Where k leads past the end of a sequence, the prediction is meaningless; no pair uses it.

        Args:
            outputs: [M, hidden] of the core.
            actions: [M, D].
            starts: [C] positions to predict from.
            batch_sizes: [L].
        """
        rows = _ahead(starts, batch_sizes, self.config.steps)[0].to(outputs.device)
        ones = torch.ones(rows.numel(), device=outputs.device)
        embedded = self.embed_action(actions[rows.reshape(-1)], ones).reshape(*rows.shape, -1)
        hidden = torch.tanh(self.begin(outputs[starts.to(outputs.device)]))
        return self.predict(embedded, hidden[None])[0]

    def scores(self, predictions: Tensor, images: Tensor, candidates: Tensor) -> Tensor:
        """Judges P predictions against images: logits [P, K] that a candidate is the true one.

        Args:
            predictions: [P, hidden].
            images: [M, visual_features].
            candidates: [P, K] positions in `images`.
        """
        seen = self.from_image(images)[candidates]
        return self.judge(self.from_prediction(predictions)[:, None] + seen)[..., 0]

    def choose_pairs(self, batch_sizes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Draws what is predicted from where; all of it where `starts` or `horizons` is 0.

        Args:
            batch_sizes: [L].

        Returns:
            Positions [C] to predict from; for P pairs (k - 1, index in those) [P, 2]; and the
            positions [P, 1] of the true images.
        """
        config = self.config
        total, sequences = int(batch_sizes.sum()), int(batch_sizes[0])
        # The last step of a sequence has nothing ahead.
        starts = torch.arange(total)
        starts = starts[_ahead(starts, batch_sizes, 1)[1][0]]
        if config.starts:
            starts = starts[torch.randperm(len(starts))[: config.starts * sequences]]
        positions, inside = _ahead(starts, batch_sizes, config.steps + 1)
        # Step k needs t + k inside: row k of `inside` says so for t + k + 1.
        steps = inside[: config.steps].nonzero()
        if config.horizons:
            steps = steps[torch.randperm(len(steps))[: config.horizons * len(starts)]]
        return starts, steps, positions[steps[:, 0] + 1, steps[:, 1]][:, None]


def draw_negatives(targets: Tensor, total: int, count: int) -> Tensor:
    """Draws positions [P, count] from the whole mini-batch, never a pair's own target.

    Args:
        targets: [P] positions of the true images.
        total: Steps in the mini-batch, at least two.
        count: How many for each pair.
    """
    return (targets[:, None] + torch.randint(1, total, (len(targets), count))) % total


def _ahead(starts: Tensor, batch_sizes: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Follows packed sequences: where are t, t + 1, ..., and is there a next step?

    Args:
        starts: [C] positions in packed order.
        batch_sizes: [L] sequences still running at each time step.
        count: How many steps to follow.

    Returns:
        Positions [count, C], that stay put at a sequence's end, and bools [count, C] that say
        whether the step after each is still in the sequence.
    """
    offsets = torch.cat([batch_sizes.new_zeros(1), batch_sizes.cumsum(0)])
    last = len(batch_sizes) - 1
    time = torch.searchsorted(offsets, starts, right=True) - 1
    column = starts - offsets[time]
    following = torch.cat([batch_sizes[1:], batch_sizes.new_zeros(1)])
    positions, inside = [], []
    alive = torch.ones_like(starts, dtype=torch.bool)
    for _ in range(count):
        alive = alive & (column < following[time])
        positions.append(offsets[time] + column)
        inside.append(alive)
        time = torch.where(alive, (time + 1).clamp(max=last), time)
    return torch.stack(positions), torch.stack(inside)
