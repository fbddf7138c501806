"""The learner on a GPU against the same on a CPU, and every way in which its memory is shared and sent."""

import copy
import json
import math
import multiprocessing
import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from tests.helpers import toy_environments
from tests.helpers.devices import AS_ON_A_GPU, DEVICES, GPU, prepared
from tests.helpers.ppo_updates import filled, one_update
from tests.helpers.small_runs import logged, small_run
from tests.ver.test_distributed import ranks, results, with_packages
from ver.checkpoint import load_policy
from ver.collect import environment_processes, inference_processes
from ver.collect.systems.batched import BatchedCollector
from ver.config import PPOConfig
from ver.experience import make_experience
from ver.networks.policy import ActorCritic
from ver.rollout import COLUMNS, RolloutBuffer
from ver.trainer import Trainer
from ver.warm_start import start_from

PICTURES = (
    "network.visual_features=16",
    "network.memory=lstm",
    "network.previous_action_features=4",
)


@pytest.fixture(params=DEVICES)
def device(request, monkeypatch):
    return prepared(request.param, monkeypatch)


def moved(buffer: RolloutBuffer, policy: ActorCritic, device: str) -> RolloutBuffer:
    """The same rollout on a device."""
    spaces = policy.observation_space, policy.action_space
    sizes = buffer.num_environments, buffer.length, policy.state_size
    other = RolloutBuffer(*spaces, *sizes, device)
    for name in (*COLUMNS, "newest", "rollout", "handed_out"):
        getattr(other, name)[:] = getattr(buffer, name)
    for name in other.large if isinstance(other.large, dict) else other.large.spec:
        torch.as_tensor(other.large[name]).copy_(torch.as_tensor(buffer.large[name]))
    return other


@pytest.mark.parametrize("where", DEVICES)
@pytest.mark.parametrize("core", ["lstm", "gru", "none"])
def test_an_update_moves_the_weights_as_on_the_cpu(core, monkeypatch, where):
    policy, buffer = filled(core, images=True, told=True, previous_action_features=3)
    device = prepared(where, monkeypatch)
    elsewhere = copy.deepcopy(policy).to(device)
    config = PPOConfig(mini_batches=1, state_estimation=0.1)
    torch.manual_seed(1)
    expected = one_update(policy, buffer, config)
    torch.manual_seed(1)  # the network of state estimation is drawn
    found = one_update(elsewhere, moved(buffer, policy, device), config)
    assert max(float(move.abs().max()) for move in expected.values()) > 1e-4
    for name, move in expected.items():
        torch.testing.assert_close(found[name].cpu(), move, rtol=2e-3, atol=2e-5, msg=name)


@pytest.mark.parametrize("mixed", ["none", "bfloat16"])
def test_what_was_decided_there_is_what_the_cpu_would_have_thought_of_it(tmp_path, mixed, device):
    """Actions of a rollout, their probabilities, values and states, evaluated anew on the CPU."""
    config = small_run(
        f"device={device}", f"network.mixed_precision={mixed}", "system=batched", *PICTURES
    )
    trainer = Trainer(config, toy_environments.make_picture, tmp_path)
    collector = BatchedCollector(config, toy_environments.make_picture, trainer.policy, 5)
    assert collector.collect(0)
    buffer = collector.buffer
    policy = copy.deepcopy(trainer.policy).cpu()
    policy.network_config.mixed_precision = "none"
    assert buffer.observations["depth"].device.type == device
    experience = make_experience(buffer, 0.99, 0.95, 1.0, 0)
    slots = torch.from_numpy(experience.slots[experience.starts])
    rows = torch.from_numpy(experience.slots)
    here = {key: column.cpu()[rows] for key, column in buffer.observations.items()}
    np.testing.assert_array_equal(  # what was sent there is what was seen
        here["depth"][0].numpy(), toy_environments.Picture().image
    )
    order = [s + t for t in range(16) for s in experience.starts if t < 16]
    assert set(experience.lengths) == {16}, "episodes are longer than the rollout"
    with torch.no_grad():
        found = policy.evaluate(
            {key: column[order] for key, column in here.items()},
            buffer.states.cpu()[slots],
            buffer.previous_actions.cpu()[rows][order],
            torch.from_numpy(~buffer.first[experience.slots])[order],
            buffer.actions.cpu()[rows][order],
            torch.full((16,), len(slots)),
        )
    close = {"rtol": 1e-3, "atol": 1e-3} if mixed == "none" else {"rtol": 0.1, "atol": 0.1}
    for column, own in ((buffer.log_probs, found.log_probs), (buffer.values, found.values)):
        torch.testing.assert_close(torch.from_numpy(column[experience.slots])[order], own, **close)
    collector.close()


@pytest.mark.gpu
def test_images_go_to_the_gpu_through_page_locked_memory(tmp_path):
    config = small_run("device=cuda", "system=batched", *PICTURES)
    trainer = Trainer(config, toy_environments.make_picture, tmp_path)
    collector = BatchedCollector(config, toy_environments.make_picture, trainer.policy, 5)
    assert collector.collect(0)
    assert all(staged.is_pinned() for staged in collector.engine._staging.values())
    assert set(collector.engine._staging) == {"depth", "state"}
    collector.close()


WAYS = {
    "ver, two inference processes": ("system=ver", "collect.num_inference_workers=2"),
    "ver, overlap": ("collect.overlap=true", "collect.num_inference_workers=2"),
    "ver alone": ("system=ver",),
    "batched": ("system=batched",),
    "ddppo": ("system=ddppo",),
    "nover": ("system=nover", "collect.num_inference_workers=3"),
    "htsrl": ("system=htsrl",),
    "appo": ("system=appo", "collect.num_inference_workers=2"),
}


# The fast suite tries what environments' processes share; the others on a CPU are tested beside their systems
QUICK = "ver alone"
CASES = [
    *(pytest.param(way, "cuda", marks=GPU) for way in WAYS),
    *(pytest.param(way, AS_ON_A_GPU, marks=pytest.mark.slow) for way in WAYS if way != QUICK),
    (QUICK, AS_ON_A_GPU),
]


@pytest.mark.parametrize(("way", "where"), CASES)
def test_every_system_trains_and_its_processes_end_by_themselves(
    tmp_path, monkeypatch, way, where, capfd
):
    device = prepared(where, monkeypatch)
    codes = []
    for module in (environment_processes, inference_processes):
        stop = module.stop_process

        def watched(process, grace_s, stop=stop):
            stop(process, grace_s + 10.0)  # a GPU's contexts take their time
            codes.append(process.exitcode)

        monkeypatch.setattr(module, "stop_process", watched)
    config = small_run(
        f"device={device}", "total_steps=256", "log_interval_s=0", *PICTURES, *WAYS[way]
    )
    trainer = Trainer(config, toy_environments.make_picture, tmp_path)
    before = {name: tensor.cpu().clone() for name, tensor in trainer.policy.state_dict().items()}
    trainer.train()
    assert trainer.steps >= 256
    rows = logged(tmp_path)
    assert all(math.isfinite(value) for row in rows for value in row.values())
    after = trainer.policy.state_dict()
    assert any(not torch.equal(after[name].cpu(), before[name]) for name in before)
    assert set(codes) <= {0}
    assert not multiprocessing.active_children()
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("mixed", ["none", pytest.param("bfloat16", marks=pytest.mark.slow)])
def test_a_checkpoint_goes_on_on_the_cpu(tmp_path, mixed, device):
    words = (f"network.mixed_precision={mixed}", "system=batched", *PICTURES)
    first = Trainer(
        small_run(f"device={device}", "total_steps=128", *words),
        toy_environments.make_picture,
        tmp_path,
    )
    first.train()
    weights = {name: tensor.cpu() for name, tensor in first.policy.state_dict().items()}
    second = Trainer(
        small_run("device=cpu", "total_steps=256", *words), toy_environments.make_picture, tmp_path
    )
    assert second.steps == 128
    for name, tensor in second.policy.state_dict().items():
        torch.testing.assert_close(tensor, weights[name])
    second.train()
    assert second.steps == 256
    policy = load_policy(tmp_path / "policy.safetensors", device)
    assert policy.device.type == device


def test_a_spread_begins_anew_on_the_policys_device(tmp_path, device):
    trainer = Trainer(small_run("device=cpu"), toy_environments.make_cue, tmp_path / "run")
    trainer.export(tmp_path / "policy.safetensors")
    head = trainer.policy.to(device).head
    own = head.log_std.detach().cpu().clone()
    with torch.no_grad():
        head.log_std.add_(1.0)
        head.mean.weight.add_(1.0)
    start_from(tmp_path / "policy.safetensors", trainer.policy, {}, reset_log_std=True)
    torch.testing.assert_close(head.log_std.detach().cpu(), own + 1.0)
    assert float(head.mean.weight.detach().cpu().mean()) < 0.5


ALONE = """
import json, torch
from ver.distributed import ProcessGroup
device = {device!r}
if device == "cuda":
    torch.cuda.set_device(0)
group = ProcessGroup(device, 60.0)
gradients = [torch.arange(6.0, device=device).view(2, 3), torch.ones(2, device=device)]
numbers = group.average(gradients, {{"loss": 2.5}})
group.broadcast(gradients)
nccl = group._gradients is not None and torch.distributed.get_backend(group._gradients)
print(json.dumps([numbers, [g.tolist() for g in gradients], group.gather(1), group.any(True), nccl]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("where", ["cpu", pytest.param("cuda", marks=GPU)])
def test_one_rank_alone_averages_over_nccl_where_it_has_a_gpu(tmp_path, where):
    (tmp_path / "alone.py").write_text(ALONE.format(device=where))
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "1",
    ]
    ended = subprocess.run(
        [*command, str(tmp_path / "alone.py")],
        env=os.environ | {"PYTHONPATH": with_packages()},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout.strip().splitlines()[-1])
    backend = "nccl" if where == "cuda" else False
    assert told == [{"loss": 2.5}, [[[0, 1, 2], [3, 4, 5]], [1, 1]], [1], True, backend]


@pytest.mark.parametrize("preemption", ["fixed", "optimal"])
@pytest.mark.parametrize(
    "where", [pytest.param("cpu", marks=pytest.mark.slow), pytest.param("cuda", marks=GPU)]
)
def test_ranks_that_share_a_gpu_train_together(tmp_path, where, preemption):
    words = [f"device={where}", f"distributed.preemption={preemption}", "total_steps=900"]
    words += ["collect.num_inference_workers=2"]
    with ranks(tmp_path, "train", *words) as process:
        output, _ = process.communicate(timeout=150)
        assert process.returncode == 0, output
    main, other = results(tmp_path)
    assert main["steps"] == other["steps"] >= 900
    assert main["digest"] == other["digest"] != main["first"]["digest"]
