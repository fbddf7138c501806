"""Checkpoints: safetensors with JSON in the header, written atomically, never pickled.

Two kinds of file share one layout. An exported policy holds the weights and everything needed to
rebuild the networks; its matrices are half floats, which take half the room and act alike. A
training checkpoint holds all weights as they are, the optimisers, counters and random states too.
"""

from __future__ import annotations

import json
import math
import zlib
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from atomic_files import write_whole
from ver.action_space import NO_BOUND
from ver.config import NetworkConfig, config_from_dict, config_to_dict
from ver.errors import CorruptFileError, UserError, WriteError
from ver.networks.policy import ActorCritic
from ver.public import without_private_folders
from ver.spaces import space_from_json, space_to_json

POLICY_FORMAT = "ver-policy-1"
TRAINING_FORMAT = "ver-training-1"
_MAY_DIFFER = ("initial_log_std", "initial_mean", "binary_threshold", "mixed_precision")
# What a network has whose file does not say, as it is older than the setting or its default
_BEFORE = {"activation": "relu", "vector_features": 0, "normalise_returns": False}
# Of the network's settings; files until November 2026 have the names on the left
_RENAMED = {"core": "memory", "switches": "binary_actions", "switch_threshold": "binary_threshold"}


def save_policy(
    path: str | Path,
    policy: ActorCritic,
    config: dict[str, Any] | None = None,
    metadata: dict[str, Any] | None = None,
) -> None:
    """Writes a policy that `load_policy` can rebuild from the file alone.

    A `.json` beside the file repeats its header for human readers; nothing reads it back.

    Args:
        path: Where to write; ends in .safetensors.
        policy: The policy.
        config: The whole training configuration; it is kept without private folders.
        metadata: Whatever else the caller wants to keep, as JSON-able values.
    """
    header = _describe(policy) | _about(config, metadata)
    tensors = {f"policy/{name}": halved(tensor) for name, tensor in policy.state_dict().items()}
    write_file(path, tensors, header, POLICY_FORMAT)
    text = json.dumps(header, indent=2)
    write_atomically(Path(path).with_suffix(".json"), text.encode())


def load_policy(path: str | Path, device: str | torch.device = "cpu") -> ActorCritic:
    """Rebuilds a policy from an exported file or a training checkpoint.

    Args:
        path: The file.
        device: Where to put it.

    Returns:
        The policy in evaluation mode, with `config` and `metadata` as they were saved.

    Raises:
        UserError: If the file is missing, foreign, or does not fit its own description.
    """
    tensors, header = read_file(path, (POLICY_FORMAT, TRAINING_FORMAT))
    try:
        policy = ActorCritic(
            space_from_json(header["observation_space"]),  # pyright: ignore[reportArgumentType]
            space_from_json(header["action_space"]),
            _network(header),
        )
    except KeyError as error:
        raise UserError(f"{path} lacks {error} in its header; export the policy anew.") from None
    load_weights(policy, strip_prefix(tensors, "policy/"), str(path))
    policy.config = header.get("config", {})
    policy.metadata = header.get("metadata", {})
    return policy.to(device).eval()


def read_metadata(path: str | Path) -> dict[str, Any]:
    """Reads what was kept with a policy: the metadata that `load_policy` has, without building its networks.

    Raises:
        UserError: The file is missing, foreign or not whole.
    """
    return read_file(path, (POLICY_FORMAT, TRAINING_FORMAT))[1].get("metadata", {})


def copy_policy(source: Path, target: Path) -> None:
    """Copies a policy and what is told beside it; each file whole or not at all."""
    for suffix in (".safetensors", ".json"):
        write_atomically(target.with_suffix(suffix), source.with_suffix(suffix).read_bytes())


def load_weights(policy: nn.Module, tensors: dict[str, Tensor], source: str) -> None:
    """Copies weights into a module whose names and shapes must match exactly.

    Raises:
        UserError: On the first mismatch, naming what was expected and found.
    """
    own = policy.state_dict()
    for name, tensor in own.items():
        if name not in tensors:
            raise UserError(f"{source}: expected the weight '{name}', which the file lacks.")
        if tensors[name].shape != tensor.shape:
            raise UserError(
                f"{source}: expected '{name}' of shape {tuple(tensor.shape)}, found "
                f"{tuple(tensors[name].shape)}; use the configuration that it was trained with."
            )
    for name in tensors:
        if name not in own:
            raise UserError(f"{source}: found the weight '{name}', which the policy lacks.")
    policy.load_state_dict(tensors)


def save_training(
    path: str | Path,
    policy: ActorCritic,
    state: dict[str, Tensor],
    values: dict[str, Any],
    config: dict[str, Any],
    metadata: dict[str, Any],
) -> None:
    """Writes everything needed to go on training.

    Args:
        path: Where to write.
        policy: The policy.
        state: Further tensors, such as the optimiser's.
        values: Further JSON-able values, such as counters.
        config: The whole training configuration.
        metadata: What the trainer's caller wants kept.
    """
    header = _describe(policy) | _about(config, metadata) | {"values": values}
    tensors = {f"policy/{name}": tensor for name, tensor in policy.state_dict().items()}
    write_file(path, tensors | state, header, TRAINING_FORMAT)


def load_training(
    path: str | Path, policy: ActorCritic, metadata: dict[str, Any]
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Puts a training checkpoint's weights into the policy that is to be trained on.

    Args:
        path: The file.
        policy: The policy.
        metadata: What the trainer's caller wants kept, which must be that of the file.

    Returns:
        All tensors and the values that `save_training` was given.

    Raises:
        UserError: If the file is foreign or does not fit what is to be trained.
    """
    tensors, header = read_file(path, (TRAINING_FORMAT,))
    check_same_training(path, header, policy, metadata)
    load_weights(policy, strip_prefix(tensors, "policy/"), str(path))
    return tensors, header["values"]


def optimizer_tensors(optimizer: torch.optim.Optimizer, prefix: str) -> dict[str, Tensor]:
    """Lists an optimiser's state as named tensors; groups' settings come from the configuration."""
    return {
        f"{prefix}{index}/{name}": torch.as_tensor(value)
        for index, entries in optimizer.state_dict()["state"].items()
        for name, value in entries.items()
    }


def load_optimizer(
    optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor], prefix: str
) -> None:
    """Puts `optimizer_tensors`'s answer back."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in strip_prefix(tensors, prefix).items():
        index, _, entry = name.partition("/")
        state.setdefault(int(index), {})[entry] = tensor.clone()
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def strip_prefix(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Returns the tensors whose names start with `prefix`, without it."""
    return {
        name[len(prefix) :]: value for name, value in tensors.items() if name.startswith(prefix)
    }


def write_file(
    path: str | Path, tensors: dict[str, Tensor], header: dict[str, Any], kind: str
) -> None:
    """Writes tensors and a JSON header as one safetensors file, atomically."""
    # safetensors wants contiguous tensors that do not share memory.
    clean = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    text = json.dumps(header)
    outer = {"format": kind, "json": text, "checksum": _checksum(clean, kind + text)}
    write_atomically(Path(path), _in_order(save(clean, outer)))


def _in_order(content: bytes) -> bytes:
    """Sorts the file's own header, whose order is drawn anew in every process: same runs, same bytes."""
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)  # tensors are aligned
    return len(text).to_bytes(8, "little") + text + content[end:]


def _checksum(tensors: dict[str, Tensor], text: str) -> str:
    """Returns a CRC-32 over text, names and contents: safetensors itself notices no flipped bit."""
    total = zlib.crc32(text.encode())
    for name in sorted(tensors):
        flat = tensors[name].contiguous().reshape(-1)
        content: Any = flat.view(torch.uint8).numpy()
        total = zlib.crc32(content, zlib.crc32(name.encode(), total))
    return f"{total:08x}"


def read_file(path: str | Path, kinds: tuple[str, ...]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Reads what `write_file` wrote.

    Raises:
        UserError: If the file is missing or of another kind.
        CorruptFileError: If it is not whole.
    """
    expected = " or ".join(kinds)
    if Path(path).is_dir():
        raise UserError(f"{path} is a folder: name a file in it, such as policy.safetensors.")
    if not Path(path).is_file():
        raise UserError(f"No checkpoint at {path}; expected a {expected} file there.")
    try:
        with safe_open(str(path), framework="pt") as file:
            outer = file.metadata() or {}
            if outer.get("format") not in kinds:
                raise UserError(
                    f"{path}: expected a {expected} file, found format "
                    f"'{outer.get('format', 'unknown')}'."
                )
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        found = " ".join(str(error).split())
        raise CorruptFileError(
            f"{path}: expected a {expected} file, found none ({found})."
        ) from None
    text = outer.get("json", "")
    if outer.get("checksum") != _checksum(tensors, outer["format"] + text):
        raise CorruptFileError(f"{path} is corrupt: its checksum does not match; delete it.")
    try:
        return tensors, json.loads(text)
    except json.JSONDecodeError:
        raise CorruptFileError(
            f"{path} is corrupt: its description cannot be read; delete it."
        ) from None


def check_same_training(
    path: str | Path,
    header: dict[str, Any],
    policy: ActorCritic,
    metadata: dict[str, Any],
    mend: str = "another run directory",
) -> None:
    """Refuses a checkpoint that was trained on or with something else than is to be trained now.

    Settings of the network that only say how it begins, how precisely it computes, or how its most
    likely action is read off, may differ.

    Args:
        path: The checkpoint.
        header: Its description.
        policy: What is to be trained.
        metadata: What the trainer's caller keeps in checkpoints.
        mend: What to choose instead, for errors.

    Raises:
        UserError: Naming the first difference.
    """
    now = _describe(policy) | {"metadata": metadata}
    old_keys = header["observation_space"]["spaces"]
    new_keys = now["observation_space"]["spaces"]
    network = config_to_dict(_network(header))
    pairs = [
        (f"observation '{key}'", _in_words(old_keys.get(key)), _in_words(new_keys.get(key)))
        for key in sorted(old_keys.keys() | new_keys.keys())
    ]
    actions = [_in_words(each["action_space"]) for each in (header, now)]
    pairs.append(("action space", actions[0], actions[1]))
    for name in ("skill", "environment"):
        if name in metadata:
            before = header["metadata"].get(name, "unknown")
            pairs.insert(0, (name, before, metadata[name]))
    pairs += [
        (f"network.{name}", network[name], value)
        for name, value in now["network"].items()
        if name not in _MAY_DIFFER
    ]
    for what, before, after in pairs:
        if before != after:
            raise UserError(
                f"{path} does not fit this run: {what} was {before}, and is {after} now; choose "
                f"{mend}, or the settings of before."
            )


def _network(header: dict[str, Any]) -> NetworkConfig:
    """Settings of a file's network; older files have older names, and lack what is younger."""
    values = {str(_RENAMED.get(name, name)): value for name, value in header["network"].items()}
    return config_from_dict(NetworkConfig, _BEFORE | values)


def _in_words(space: dict[str, Any] | None) -> str:
    if space is None:
        return "absent"
    if space["type"] == "Box":
        bounds = f"from {_bound(space['low'])} to {_bound(space['high'])}"
        return f"Box {space['shape']} {space['dtype']} {bounds}"
    return " ".join(str(value) for value in space.values())


def _bound(bound: Any) -> Any:
    """A bound; one that a float32 cannot exceed is none."""
    if isinstance(bound, float) and abs(bound) >= NO_BOUND:
        return math.copysign(math.inf, bound)
    return bound


def write_json(path: Path, value: Any) -> None:
    """Writes JSON, as `write_atomically`."""
    write_atomically(path, (json.dumps(value, indent=1) + "\n").encode())


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all.

    Raises:
        WriteError: If it cannot be written; what was there before is intact.
    """
    try:
        write_whole(path, content)
    except OSError as error:
        raise WriteError(
            f"{path} could not be written ({error.strerror or error}); what was there before is "
            "intact. Make room, or choose another place, and run the same command again."
        ) from None


def _about(config: dict[str, Any] | None, metadata: dict[str, Any] | None) -> dict[str, Any]:
    # The caller's metadata may hold folders in which it looks for what a policy is judged in
    return {"config": without_private_folders(config or {}), "metadata": metadata or {}}


def halved(tensor: Tensor) -> Tensor:
    """A matrix as half floats. Vectors stay as they are: counts and squares exceed what halves hold."""
    half = tensor.half()
    return half if tensor.ndim > 1 and bool(half.isfinite().all()) else tensor


def _describe(policy: ActorCritic) -> dict[str, Any]:
    return {
        "observation_space": space_to_json(policy.observation_space),
        "action_space": space_to_json(policy.action_space),
        "network": config_to_dict(policy.network_config),
    }
