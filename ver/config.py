"""Settings of a training run, and their reading.

Every field has its one-line meaning beside it. `merge_config` works for any dataclass, so another
package can nest `TrainerConfig` beside its own settings.
"""

from __future__ import annotations

import copy
import dataclasses
import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from omegaconf import BooleanNode, DictConfig, IntegerNode, ListConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from ver.errors import UserError

T = TypeVar("T")


@dataclass
class NetworkConfig:
    """The actor-critic's shape."""

    # Image encoder: small_cnn, resnet18 (VER), se_resnet9 (BPS), or that with fewer channels:
    # se_resnet9_half, se_resnet9_quarter
    encoder: str = "small_cnn"
    visual_features: int = 256  # width of the image embedding
    # An encoder for each image, which share that width. Else one encodes all, stacked along channels
    separate_images: bool = False
    memory: str = "none"  # lstm, gru, or none: a feed-forward MLP
    hidden_size: int = 256  # width of the LSTM, the GRU or the MLP
    layers: int = 1  # of the LSTM or the GRU, or of the MLP where there is one
    # Of the MLP without memory, the width of each layer, where they differ; empty: hidden_size
    widths: list[int] = field(default_factory=list)
    # Layers of an MLP, by the name of a 1-D observation, that it goes through before it meets the others
    branches: dict[str, list[int]] = field(default_factory=dict)
    # Of the MLP and the 1-D observations' embedding: tanh, relu or selu
    activation: str = "tanh"
    # The critic shares nothing with the policy: it has an MLP of the same shape on all 1-D observations
    separate_critic: bool = False
    previous_action_features: int = 0  # width of the previous action's embedding; 0 leaves it out
    # log standard deviation of Gaussian actions: free (one per dimension) or state (a head)
    log_std: str = "free"
    # At the start, in half-ranges of the Box: half of one. With a whole one a third of what is
    # tried lies outside
    initial_log_std: float = -0.7
    # Mean of each action dimension at the start, in half-ranges of the Box, within (-1, 1); empty:
    # zeros. Keeps a binary action, such as one that ends the episode, off until something is
    # learned. skills.train also takes {name: mean}.
    initial_mean: Any = field(default_factory=list)
    # Dimensions of the Box that are on or off, such as a grip or a stop: they take either end.
    # Indices; skills.train also takes names, here and below
    binary_actions: list[Any] = field(default_factory=list)
    # Probability from which on the most likely action turns a binary one on. What sampled actions
    # do soon, with one chance in three at each step, a mean action that waits for one in two may
    # never do
    binary_threshold: float = 0.5
    # Angles [rad] among the 1-D observations, {key: [indices]}. The network gets cosine and sine of
    # the angle, its double and its fourfold instead. These have no jump at half a turn and tell
    # small angles apart
    angles: dict[str, list[Any]] = field(default_factory=dict)
    # Distances and coordinates [m] among them, likewise: the network gets
    # sign(x) log(1 + |x| / distance_scale) besides, which tells 0.19 m from 0.21 where the standard
    # deviation is metres
    distances: dict[str, list[Any]] = field(default_factory=dict)
    distance_scale: float = 0.1  # [m] below which that is nearly linear
    # 1-D observations that only the critic sees, through an MLP: what a simulator knows and no
    # sensor tells. The policy acts without them
    critic_only: list[str] = field(default_factory=list)
    vector_features: int = 128  # width of the 1-D observations' embedding; 0: they join as they are
    normalise_vectors: bool = True  # running mean and variance for the 1-D observations
    # The critic predicts returns in standard deviations, which follow the last rollouts' (PopArt).
    # Its errors count in them, so that no setting depends on the rewards' units
    normalise_returns: bool = True
    mixed_precision: str = "none"  # none, or bfloat16 for the image encoder, acting and learning

    @property
    def output_size(self) -> int:
        """Width of what the core hands to the heads."""
        return self.widths[-1] if self.widths else self.hidden_size


@dataclass
class EntropyConfig:
    """The entropy bonus."""

    learned: bool = False  # adapt the coefficient so that entropy stays near the target
    # Coefficient at the start, and for good when it is not learned. Empty: 0.01, but 0 where the action is
    # a Box, whose entropy has no upper bound: a bonus would spread the actions for ever
    initial: float | None = None
    minimum: float = 1e-4  # lower bound of the learned coefficient
    maximum: float = 1.0  # upper bound of the learned coefficient
    target: float = 0.0  # wanted entropy in nats, summed over action dimensions
    learning_rate: float = 3e-3  # Adam step size of the log coefficient


@dataclass
class CPCAConfig:
    """The auxiliary loss CPC|A; it needs an image encoder."""

    enabled: bool = False  # learn it beside PPO, in one thread on a CPU
    scale: float = 0.1  # weight of the loss
    steps: int = 20  # k, how many steps ahead are predicted
    starts: int = 6  # steps to predict from, on average in each sequence; 0 takes all
    horizons: int = 2  # of the steps ahead, how many are judged for each start; 0 takes all
    negatives: int = 20  # images of other steps that each prediction is judged against
    hidden_size: int = 256  # width of the predictor and the classifier
    action_features: int = 32  # width of the action embedding
    max_gradient_norm: float = 0.5  # clips the gradient of CPC|A's own networks; 0 turns it off


@dataclass
class PPOConfig:
    """The update."""

    optimizer: str = "adam"  # adam, or lamb with BPS's clipped trust ratio
    learning_rate: float = 1e-3  # base step size
    scale_learning_rate: bool = False  # multiply it by sqrt(steps in an update / base_batch_size)
    base_batch_size: int = 256  # steps in an update for which learning_rate was chosen
    schedule: str = "cosine"  # cosine (to zero at total_steps), constant, or to_base (BPS)
    lamb_weight_decay: float = 1e-2  # lamb only: decay of all parameters
    lamb_rho: float = 1e-2  # lamb only: the trust ratio is kept within [rho, 1 / rho]
    epochs: int = 4  # passes over a rollout
    mini_batches: int = 8  # updates in one pass
    clip: float = 0.2  # how far the probability ratio may leave 1
    # The learning rate is lowered below the schedule's, and raised again. So the KL divergence from
    # the policy that acted stays within half and twice this. It begins at a tenth. 0 leaves the
    # schedule alone
    target_kl: float = 0.02
    clip_value: bool = False  # also clip how far the value may move
    value_coefficient: float = 0.5  # weight of 0.5 * squared value error
    gamma: float = 0.99  # discount
    gae_lambda: float = 0.95  # generalised advantage estimation's mixing
    normalise_advantages: bool = True  # zero mean, unit deviation within a mini-batch
    max_gradient_norm: float = 0.5  # gradient norm is cut to this; 0 turns it off
    adam_epsilon: float = 1e-5  # denominator guard of Adam and Lamb
    adam_beta1: float = 0.9  # how much of the mean gradient of before Adam and Lamb keep
    # A free log standard deviation of the actions is kept under a bound. It falls linearly to this
    # at the end, from network.initial_log_std. So the policy ends near the mean actions that it is
    # used with. None: no bound
    final_log_std: float | None = None
    max_importance_weight: float = 1.0  # truncation of (T + 1) / (steps of the environment)
    importance_weights: bool = True  # down-weight fast environments
    max_sequence_length: int = 128  # longest run for back-propagation through time; 0 = no limit
    # Where there is neither memory nor CPC|A, mini-batches are of single steps from all over the
    # rollout. They are not of such runs, in which a few environments' next steps are much alike
    shuffle_steps: bool = True
    entropy: EntropyConfig = field(default_factory=EntropyConfig)  # the entropy bonus
    cpca: CPCAConfig = field(default_factory=CPCAConfig)  # the auxiliary loss
    # Weight of another: from what the policy knows, tell what only the critic is told
    # (network.critic_only)
    state_estimation: float = 0.0


@dataclass
class CollectConfig:
    """Collection of experience."""

    num_environments: int = 16  # environments side by side
    environments_per_worker: int = 8  # environments in one worker process
    rollout_length: int = 128  # mean steps per environment in one rollout
    num_inference_workers: int = 1  # the main process counts as one
    min_requests: int = 0  # smallest batch worth waiting for; 0 chooses; num_environments: lockstep
    max_requests: int = 0  # largest inference batch; 0 chooses
    max_wait_ms: float = 10.0  # a smaller batch goes ahead after at most this long
    worker_flush_ms: float = 2.0  # a worker reports finished steps at least this often
    startup_timeout_s: float = 900.0  # how long workers may take to be ready, compilation too
    # A step, a reset or an inference worker's batch that takes longer hangs; 0 waits for ever
    step_timeout_s: float = 60.0
    max_faults_per_hour: int = 60  # environments are restarted; more faults than this end the run
    # Chance that an episode which ends without success (0 in its metrics) begins again from the same
    # seed. Only the first try counts in the means that are logged
    repeat_failed: float = 0.0
    overlap: bool = False  # collect the next rollout while learning, with the weights of before


@dataclass
class APPOConfig:
    """Settings of system=appo alone."""

    batch_trajectories: int = 0  # trajectories learned from together; 0: num_environments
    max_policy_lag: int = 100  # trajectories with a step older than this, in updates, are dropped
    vtrace: bool = True  # V-trace; without it advantages are as if there were no lag
    rho_bar: float = 1.0  # V-trace: largest weight of a temporal difference
    c_bar: float = 1.0  # V-trace: largest weight with which it reaches earlier steps


@dataclass
class DistributedConfig:
    """Several processes under torchrun; what `collect` counts is counted for each of them."""

    preemption: str = "none"  # end all rollouts early: none, optimal (VER) or fixed (DD-PPO)
    sync_fraction: float = 0.6  # fixed: share of the processes that must have a full rollout
    timeout_s: float = 600.0  # longest wait for another process before it counts as lost


@dataclass
class TrainerConfig:
    """One training run."""

    system: str = "ver"  # how experience is collected; ver/collect/systems has the names
    total_steps: int = 2_000_000  # environment steps in all
    seed: int = 1  # seeds networks, sampling and environments
    # On a CPU two runs of the same settings, and one that was killed and went on, give the same bytes.
    # Systems that would not so wait for all environments at each step, or refuse
    deterministic: bool = False
    device: str = "cpu"  # cpu or cuda
    # Threads that compute gradients on a CPU; 0 uses every core. Where there are no images, each gets
    # at least 512 steps of a mini-batch
    learner_threads: int = 0
    inference_threads: int = 1  # CPU threads for inference in each process
    checkpoint_interval_s: float = 10.0  # seconds between checkpoints; 0 saves after every rollout
    keep_checkpoints: int = 2  # training checkpoints kept
    log_interval_s: float = 5.0  # seconds between lines when stdout is no terminal
    episode_window: int = 100  # episodes in the logged means
    resume: bool = True  # go on from the newest checkpoint in the run directory
    start_from: str = ""  # checkpoint whose weights a new run begins with; empty: random ones
    # but for the actions' free log standard deviation: begin with network.initial_log_std again
    reset_log_std: bool = False
    tensorboard: bool = True  # write TensorBoard events
    tracker: str = "none"  # where the run is also logged: wandb or trackio
    project: str = "rearrange"  # to which it belongs there
    collect: CollectConfig = field(default_factory=CollectConfig)  # collection
    ppo: PPOConfig = field(default_factory=PPOConfig)  # update
    network: NetworkConfig = field(default_factory=NetworkConfig)  # actor-critic
    appo: APPOConfig = field(default_factory=APPOConfig)  # system=appo
    distributed: DistributedConfig = field(default_factory=DistributedConfig)  # processes


@dataclass
class CloningConfig:
    """Behaviour cloning."""

    transitions: int = 100_000  # steps of demonstrations
    updates: int = 1500  # of the network
    batch: int = 1024  # steps in each
    learning_rate: float = 1.0e-3  # falls to zero
    max_gradient_norm: float = 1.0  # the gradient is cut to this


# Overrides that give the defaults of before, when they did not have to suit any environment: the
# VER paper's update (table A1) with a small LSTM and longer rollouts. configs/presets/paper.yaml has
# the paper's network and rollouts, too
FORMER_DEFAULTS = (
    "checkpoint_interval_s=0",
    "collect.rollout_length=512",
    "ppo.learning_rate=2.5e-4",
    "ppo.epochs=3",
    "ppo.mini_batches=2",
    "ppo.target_kl=0",
    "ppo.normalise_advantages=false",
    "ppo.shuffle_steps=false",
    "ppo.entropy.learned=true",
    "ppo.entropy.initial=1e-3",
    "network.memory=lstm",
    "network.activation=relu",
    "network.previous_action_features=32",
    "network.vector_features=0",
    "network.normalise_returns=false",
    "network.initial_log_std=0",
)


def merge_config(
    schema: type[T] | T, yaml_paths: Sequence[str | Path] = (), overrides: Sequence[str] = ()
) -> T:
    """Lays YAML files and then `key=value` overrides over a dataclass's defaults.

    Args:
        schema: The dataclass type, or an instance whose values are the defaults.
        yaml_paths: Files, later ones win.
        overrides: Dotted `key=value` strings, which win over the files.

    Returns:
        An instance of the dataclass.

    Raises:
        UserError: For a missing file, an unknown key (valid ones are listed) or a wrong type.
    """
    is_type = isinstance(schema, type)
    config = copy.deepcopy(_defaults(schema)) if is_type else OmegaConf.structured(schema)
    for path in yaml_paths:
        if not Path(path).is_file():
            raise UserError(f"No configuration file at {path}; give the path of a YAML file.")
        try:
            loaded = OmegaConf.load(path)
        except Exception as error:
            raise UserError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None
        config = _merge(config, loaded, str(path))
    for override in overrides:
        if "=" not in override or override.startswith("="):
            raise UserError(f"Override '{override}' is not of the form key=value.")
        try:
            part = OmegaConf.from_dotlist([override])
        except Exception as error:
            raise UserError(f"Override '{override}': {' '.join(str(error).split())}") from None
        config = _merge(config, part, f"override '{override}'")
    try:
        return OmegaConf.to_object(config)  # pyright: ignore[reportReturnType]
    except OmegaConfBaseException as error:
        raise UserError(_one_line(error)) from None


@lru_cache
def _defaults(schema: type[Any]) -> DictConfig:
    """A dataclass's defaults; OmegaConf takes longer to find them than for all the rest."""
    return OmegaConf.structured(schema)


def config_to_dict(config: Any) -> dict[str, Any]:
    """Turns a dataclass instance into plain JSON-able containers."""
    return dataclasses.asdict(config)


def config_from_dict(schema: type[T], values: dict[str, Any]) -> T:
    """Rebuilds a dataclass instance from `config_to_dict`'s answer.

    Raises:
        UserError: If a key is unknown or a value has the wrong type.
    """
    config = _merge(OmegaConf.structured(schema), OmegaConf.create(values), schema.__name__)
    return OmegaConf.to_object(config)  # pyright: ignore[reportReturnType]


def _merge(config: Any, addition: Any, source: str) -> Any:
    if not isinstance(addition, DictConfig):
        raise UserError(f"{source} must hold key: value pairs.")
    _check_keys(config, addition, "", source)
    try:
        return OmegaConf.unsafe_merge(config, addition)
    except OmegaConfBaseException as error:
        raise UserError(f"{source}: {_one_line(error)}") from None


def _check_keys(config: Any, addition: DictConfig, prefix: str, source: str) -> None:
    """Names the first unknown key together with the keys that would have been valid there.

    Takes 1e8 for the whole number that it is, which YAML reads as a float.
    """
    is_structured = isinstance(config, DictConfig) and OmegaConf.get_type(config) is not dict
    for name in addition:
        dotted = f"{prefix}{name}"
        if is_structured and name not in config:
            raise UserError(f"{source}: unknown key '{dotted}'{_known(str(name), config, prefix)}")
        known = isinstance(config, DictConfig) and name in config
        asked, given = config._get_node(name) if known else None, addition._get_node(name)
        value = addition[name]
        if value is None and asked is not None and not asked._is_optional():
            raise UserError(f"{source}: '{dotted}' is empty: give it a value, or leave it out")
        whole = isinstance(asked, IntegerNode) and isinstance(value, float) and value.is_integer()
        number = int(value) if isinstance(value, int) or whole else 0  # pyright: ignore
        if abs(number) >= 2**63:  # too large for what computes
            raise UserError(f"{source}: '{dotted}' must be less than 2^63, found {value}")
        if whole:
            addition[name] = number
        elif isinstance(asked, BooleanNode) and type(value) in (int, float):
            if value not in (0, 1):
                raise UserError(f"{source}: '{dotted}' must be true or false, found {value}")
        elif asked is not None and asked._metadata.ref_type is Any:
            config[name] = value  # a list may take the place of a mapping, which OmegaConf refuses
        elif isinstance(asked, ListConfig) and isinstance(value, str | int | float | DictConfig):
            raise UserError(f"{source}: '{dotted}' is a list: write {dotted}=[{value}]")
        elif isinstance(asked, DictConfig) and isinstance(given, DictConfig):
            _check_keys(asked, given, f"{dotted}.", source)


def _known(name: str, config: DictConfig, prefix: str) -> str:
    """The key that was probably meant, if one is like it, and all that there are."""
    keys = sorted(map(str, config))
    meant = difflib.get_close_matches(name, keys, 1, 0.5)
    if not meant:  # one level down, where all of the learner's are
        groups = [str(key) for key in config if isinstance(config._get_node(key), DictConfig)]
        meant = [f"{key}.{name}" for key in sorted(groups) if name in config[key]]
    question = f": did you mean '{prefix}{meant[0]}'?" if meant else "."
    return f"{question} Valid keys here: {', '.join(prefix + key for key in keys)}."


def _one_line(error: OmegaConfBaseException) -> str:
    message = str(error).strip().splitlines()[0]
    return f"{message} (key '{error.full_key}')" if error.full_key else message
