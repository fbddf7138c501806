"""A process that helps the main process with inference while a rollout is collected."""

from __future__ import annotations

import os
from dataclasses import dataclass
from multiprocessing.connection import Connection

import torch
from gymnasium import spaces

from ver.collect.inference import BatchLimits, InferenceEngine
from ver.collect.mailboxes import Mailboxes
from ver.collect.processes import describe_error, enter_worker
from ver.collect.shared_weights import SharedWeights
from ver.config import NetworkConfig
from ver.networks.policy import ActorCritic
from ver.rollout import RolloutBuffer
from ver.shared.arrays import SharedArrays
from ver.shared.doorbells import Doorbell


@dataclass
class InferenceWorkerSpec:
    """All that an inference worker needs; sent once, when it starts.

    Attributes:
        name: How errors call the worker.
        number: Of the worker, from 0.
        observation_space: Of the policy.
        action_space: Of the policy.
        network: Shape of the policy.
        weights: The learner's parameters.
        buffers: The rollouts, of which `control["active"]` is being collected.
        mailboxes: Requests and actions.
        control: `version`, `active`, `collecting` and `stop` [1], `held_back` [N], and `turns`
            [workers].
        limits: Bounds of the batches.
        wake: Rings when a rollout begins, and at the end.
        reports: Where errors go.
        threads: Computing threads.
        seed: Seeds action sampling.
        parent: The trainer's process id.
    """

    name: str
    number: int
    observation_space: spaces.Dict
    action_space: spaces.Space
    network: NetworkConfig
    weights: SharedWeights
    buffers: list[RolloutBuffer]
    mailboxes: Mailboxes
    control: SharedArrays
    limits: BatchLimits
    wake: Doorbell
    reports: Connection
    threads: int
    seed: int
    parent: int


def run_inference_worker(spec: InferenceWorkerSpec) -> None:
    """The worker process's main function."""
    enter_worker(spec.parent)
    try:
        torch.set_num_threads(spec.threads)
        torch.manual_seed(spec.seed)
        device = spec.weights.device
        if device.type == "cuda":
            torch.cuda.set_device(device)  # else a context on the first GPU, too
        policy = ActorCritic(spec.observation_space, spec.action_space, spec.network)
        policy.to(device)  # also what is not in the weights: bounds of actions, offsets
        spec.weights.bind(policy)
        engine = InferenceEngine(
            policy,
            spec.buffers[0],
            spec.mailboxes,
            spec.limits,
            spec.control["held_back"],
            spec.control["version"],
        )
        spec.reports.send(("ready", None, None))
        _serve(spec, engine)
    except BaseException as error:
        spec.reports.send(("error", *describe_error(error)))
        raise SystemExit(1) from None


def _serve(spec: InferenceWorkerSpec, engine: InferenceEngine) -> None:
    collecting, stop = spec.control["collecting"], spec.control["stop"]
    while not stop[0]:
        spec.control["turns"][spec.number] += 1  # at least once a second
        engine.buffer = spec.buffers[int(spec.control["active"][0])]
        if not collecting[0] or not engine.buffer.remaining:
            spec.wake.wait(1.0)
            if os.getppid() != spec.parent:
                return
            continue
        engine.serve(0.05)
