"""Breaks the learner on purpose, one way at a time, and tells which test notices.

Each mutation replaces one exact text, which must occur exactly once, in a temporary copy of `ver/`
and its tests; the work tree is never touched. A mutation that no test notices is a gap in the
tests, and makes the exit status 1.

    python tests/mutations.py                       # all; prints the table, takes minutes
    python tests/mutations.py --only gae --output docs/mutations.md
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import sys
import tempfile
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import gymnasium  # noqa: F401 (loaded once, for all the forked test runs)
import hypothesis  # noqa: F401
import omegaconf  # noqa: F401
import pytest
import torch  # noqa: F401

ROOT = Path(__file__).parents[1]
LIMIT_S = 240.0  # for a stage of tests: what waits for ever has been noticed, too
# Quick tests first; those that start processes only see what the others let through.
TESTS = (
    "tests/ver/test_gae.py tests/ver/test_vtrace.py tests/ver/test_policy_lag.py "
    "tests/ver/test_rollout.py tests/ver/test_experience.py "
    "tests/ver/test_mini_batches.py tests/ver/integration/test_stale_steps.py "
    "tests/ver/test_ppo_loss.py tests/ver/test_ppo.py tests/ver/test_entropy.py "
    "tests/ver/test_optimisers.py tests/ver/test_auxiliary.py tests/ver/networks "
    "tests/ver/test_action_space.py",
    "tests/ver/test_trainer.py tests/ver/collect",
)


@dataclass(frozen=True)
class Mutation:
    """One breakage.

    Attributes:
        name: What is broken, in a few words.
        path: The file, from the root.
        old: The text to replace.
        new: What replaces it.
    """

    name: str
    path: str
    old: str
    new: str


def _in(path: str, *rows: tuple[str, str, str]) -> list[Mutation]:
    return [Mutation(name, path, old, new) for name, old, new in rows]


GAE = _in(
    "ver/gae.py",
    (
        "GAE: lambda ignored",
        "decay = gamma * gae_lambda * (",
        "decay = gamma * (",
    ),
    (
        "GAE: recursion runs on across episodes",
        "(grid.table(outcomes) == CONTINUES)",
        "np.ones(grid.shape)",
    ),
    (
        "GAE: no bootstrap at a truncation",
        "np.where(outcome == TRUNCATED, self.table(final_values), following)",
        "np.where(outcome == TRUNCATED, 0.0, following)",
    ),
    (
        "GAE: bootstrap after a termination",
        "following = np.where(outcome == TERMINATED, 0.0, following)",
        "following = np.where(outcome == TERMINATED, following, following)",
    ),
    (
        "GAE: no bootstrap at the rollout's end",
        "following[:-1] = self.table(values)[1:]",
        "following[:-2] = self.table(values)[1:-1]",
    ),
)
VTRACE = _in(
    "ver/vtrace.py",
    ("V-trace: rho not truncated", "np.minimum(rho_bar, ratio) * difference", "ratio * difference"),
    ("V-trace: differences not weighted", "np.minimum(rho_bar, ratio) * difference", "difference"),
    ("V-trace: c not truncated", "np.minimum(c_bar, ratio) * goes_on", "ratio * goes_on"),
    ("V-trace: reach not weighted", "np.minimum(c_bar, ratio) * goes_on", "goes_on"),
    (
        "V-trace: runs on across episodes",
        "np.minimum(c_bar, ratio) * goes_on",
        "np.minimum(c_bar, ratio)",
    ),
    ("V-trace: advantage looks across episodes", "gae_lambda * goes_on[:-1] *", "gae_lambda *"),
    ("V-trace: advantage weighted twice", "difference[:-1] + ahead", "delta[:-1] + ahead"),
    ("V-trace: lambda missing in the advantage", "ahead = gamma * gae_lambda *", "ahead = gamma *"),
)
TRAJECTORIES = _in(
    "ver/collect/trajectories.py",
    ("Trajectories: old ones are kept", "too_old = ages > max_lag", "too_old = ages > 10**9"),
    (
        "Trajectories: bootstrap not copied",
        "self._copy(chosen[:, -1], ",
        "self._copy(chosen[:, -2], ",
    ),
    ("Trajectories: slots not given back", "self._release(self._learning)", "pass"),
    ("Trajectories: learner's slots collected into", "self.rollouts[self._learning] = ", ""),
    ("Trajectories: unfinished steps taken", "own = own[self.sequences[own] < end]", "pass"),
)
APPO = _in(
    "ver/collect/systems/appo.py",
    ("APPO: weights never renewed", "        self.copy_weights()\n", ""),
    ("APPO: steps named after the wrong weights", '["version"][0] = version', '["version"][0] = 0'),
    ("APPO: dropped steps not counted", "(buffer.dropped - dropped) * buffer.length", "0"),
)
ROLLOUT = _in(
    "ver/rollout.py",
    (
        "Importance weights given to other environments' steps",
        "[self.environments[slots]]",
        "[self.environments[: len(slots)]]",
    ),
    (
        "Slots handed out whatever their policy",
        "free[np.lexsort((self.sequences[free], self.versions[free]))]",
        "free",
    ),
    (
        "The oldest slot left out instead of the newest",
        "complete[self.newest] = False",
        "complete[order[np.flatnonzero(np.diff(self.environments[order], prepend=-1))]] = False",
    ),
)
EXPERIENCE = _in(
    "ver/experience.py",
    ("Returns lack the value", "        advantages + buffer.values[slots],", "        advantages,"),
    (
        "Importance weights upside down",
        "(length + 1) / counts, maximum",
        "counts / (length + 1), maximum",
    ),
    (
        "Importance weights not truncated",
        "np.minimum((length + 1) / counts, maximum)",
        "np.asarray((length + 1) / counts)",
    ),
    (
        "Sequences run across episodes",
        "heads = buffer.first[slots].copy()",
        "heads = np.zeros_like(buffer.first[slots])",
    ),
    (
        "Sequences run from stale steps into fresh ones",
        "(buffer.environments, buffer.episodes, buffer.rollouts)",
        "(buffer.environments, buffer.episodes)",
    ),
    (
        "Sequences run across gaps",
        "np.diff(buffer.steps[slots]) != 1",
        "np.diff(buffer.steps[slots]) > 99",
    ),
    (
        "Stale steps' returns computed anew",
        "chain, counts = buffer.chains()",
        "chain = np.lexsort((buffer.sequences, buffer.environments))\n"
        "    counts = np.bincount(buffer.environments)",
    ),
)
MINI_BATCHES = _in(
    "ver/mini_batches.py",
    ("Packing: shortest sequence first", "np.argsort(-lengths, kind", "np.argsort(lengths, kind"),
    (
        "Mini-batches not shuffled",
        "order = rng.permutation(len(starts))",
        "order = np.arange(len(starts))",
    ),
    (
        "Mask dropped: previous action seen at an episode's start",
        "torch.as_tensor(~buffer.first[rows], device=device)",
        "torch.ones(len(rows), dtype=torch.bool)",
    ),
    (
        "Hidden state shifted by one step",
        "of[batch.heads], device",
        "of[batch.heads - 1], device",
    ),
    (
        "Packed mini-batches overwrite each other",
        "self._gathered[place * self.threads :]",
        "self._gathered[:]",
    ),
)
PPO_LOSS = _in(
    "ver/ppo_loss.py",
    ("Advantage's sign swapped", "policy_loss = -(weights", "policy_loss = (weights"),
    (
        "Ratio clipped on one side only",
        "ratio.clamp(1.0 - config.clip, 1.0 + config.clip)",
        "ratio.clamp(max=1.0 + config.clip)",
    ),
    ("Surrogate takes the larger", "surrogate = torch.minimum(", "surrogate = torch.maximum("),
    (
        "Policy loss: importance weight forgotten",
        "-(weights * surrogate).mean()",
        "-surrogate.mean()",
    ),
    ("Value loss: importance weight forgotten", "(weights * squared).mean()", "squared.mean()"),
    ("Entropy: importance weight forgotten", "(weights * entropies).mean()", "entropies.mean()"),
    (
        "Importance weights renormalised",
        "-(weights * surrogate).mean()",
        "-(weights * surrogate).sum() / weights.sum()",
    ),
    (
        "Entropy bonus's sign swapped",
        "- entropy_coefficient * entropy",
        "+ entropy_coefficient * entropy",
    ),
    ("Value clipped around itself", "near = old_values +", "near = values +"),
    ("Value clip takes the smaller error", "squared = torch.maximum(", "squared = torch.minimum("),
    ("Value clipped by default", "    if config.clip_value:", "    if True:"),
)
PPO = _in(
    "ver/ppo.py",
    ("Advantages normalised by default", "if self.config.normalise_advantages:", "if True:"),
    (
        "Schedule does not step",
        "scheduled_rate(self.config, progress,",
        "scheduled_rate(self.config, 0.0,",
    ),
    ("Gradient not clipped", "limit or math.inf", "math.inf"),
    ("Threads' shares forgotten", "gradient * shares[0]", "gradient * 1.0"),
    ("Entropy coefficient never adapted", "        self.entropy_optimizer.step()\n", ""),
    ("Entropy coefficient's bounds forgotten", "        self.entropy.clamp()\n", ""),
    ("CPC|A: scale forgotten", "self.config.cpca.scale * extra", "extra"),
    (
        "CPC|A: clipped together with the policy",
        "_clip(self._policy_parameters, self",
        "_clip(self.parameters, self",
    ),
    (
        "Resume: log alpha lost",
        '            self.entropy.log_alpha.copy_(tensors["entropy/log_alpha"])',
        "            pass",
    ),
    (
        "Resume: optimiser lost",
        "        load_optimizer(self.optimizer, tensors, _OPTIMISER_PREFIXES[self.config.optimizer])\n",
        "",
    ),
)
NETWORKS = [
    *_in(
        "ver/trainer.py",
        (
            "Trainer never sets the progress",
            "        self.ppo.set_progress(self.steps / self.config.total_steps)\n        losses",
            "        losses",
        ),
    ),
    *_in(
        "ver/entropy.py",
        (
            "Entropy coefficient falls below the target",
            "(entropy - self.config.target)",
            "(self.config.target - entropy)",
        ),
        ("Entropy coefficient starts out of bounds", "        self.clamp()\n", ""),
    ),
    *_in(
        "ver/networks/policy.py",
        (
            "Acting: state kept across episodes",
            "outputs, next_state = self.core.step(features, state * masks[:, None])",
            "outputs, next_state = self.core.step(features, state)",
        ),
    ),
    *_in(
        "ver/networks/vectors.py",
        (
            "An angle's sine left out",
            "multiples.cos(), multiples.sin()",
            "multiples.cos(), multiples.cos()",
        ),
    ),
    *_in(
        "ver/networks/actions.py",
        ("Previous Box action not masked", "executed * masks[:, None]", "executed"),
        ("Previous choice not masked", " * masks[:, None].long()", ""),
        ("Actions embedded as a constant", ".clamp(-1.0, 1.0)", ".clamp(1.0, 1.0)"),
        ("Choices of two dimensions share entries", " + self.offsets", ""),
    ),
    *_in(
        "ver/networks/recurrent.py",
        ("Packed: state ignored", "batch_sizes), self._unflatten(state))", "batch_sizes))"),
        (
            "Packed: hidden and cell swapped",
            "return both[0].contiguous(), both[1].contiguous()",
            "return both[1].contiguous(), both[0].contiguous()",
        ),
    ),
    *_in(
        "ver/networks/heads.py",
        (
            "Gaussian: spread missing in the density",
            "- self.log_std - _HALF_LOG_2PI",
            "- _HALF_LOG_2PI",
        ),
        (
            "Gaussian: units of the Box ignored",
            "scaled = (actions - self.centre) / self.half_range",
            "scaled = actions - self.centre",
        ),
        (
            "Binary action: ends swapped in the probability",
            "signs = torch.where(actions > self.gaussian.centre, 1.0, -1.0)",
            "signs = torch.where(actions > self.gaussian.centre, -1.0, 1.0)",
        ),
        (
            "Composite: entropy averaged",
            "torch.stack([part.entropy() for part in self.parts]).sum(0)",
            "torch.stack([part.entropy() for part in self.parts]).mean(0)",
        ),
        (
            "Composite: densities averaged",
            "return torch.stack(parts).sum(0)",
            "return torch.stack(parts).mean(0)",
        ),
    ),
    *_in(
        "ver/networks/encoders.py",
        (
            "Fixup: branch does not start at zero",
            "        nn.init.zeros_(self.second.weight)\n",
            "",
        ),
        ("Fixup: first convolution not shrunk", "blocks**-0.5", "1.0"),
        ("ResNet18: layer scale forgotten", "self.scale[:, None, None] * ", ""),
        ("ResNet18: no dilation", "3, padding=2, dilation=2,", "3, padding=1,"),
        ("Squeeze-and-excitation: no gate", "return x * self.gate(", "return x + 0.0 * self.gate("),
    ),
]
OPTIMISERS = _in(
    "ver/optimisers.py",
    ("Lamb: trust ratio not clipped", "ratio.clamp(rho, 1.0 / rho)", "ratio"),
    ("Lamb: weights' norm not bounded", "parameter.norm().clamp(max=10.0)", "parameter.norm()"),
    ("Lamb: biases take the trust ratio too", "(vectors, 1.0)", "(vectors, rho)"),
    ("Lamb: no bias correction", ".div_(1.0 - beta1**count)", ""),
    ("Lamb: no weight decay", 'direction.add_(parameter, alpha=group["weight_decay"])', "pass"),
    (
        "Rate scaled with the batch, not its root",
        "math.sqrt(batch_size / base_batch_size)",
        "batch_size / base_batch_size",
    ),
    ("to_base decays over all of training", "min(1.0, 2.0 * progress)", "progress"),
)
CPCA = _in(
    "ver/auxiliary.py",
    (
        "CPC|A: predicts one step less",
        "positions[steps[:, 0] + 1, steps[:, 1]]",
        "positions[steps[:, 0], steps[:, 1]]",
    ),
    (
        "CPC|A: runs on past a sequence's end",
        "alive = alive & (column < following[time])",
        "alive = alive & (time < last)",
    ),
    ("CPC|A: a negative may be the target", "torch.randint(1, total,", "torch.randint(0, total,"),
    (
        "CPC|A: negatives judged as true",
        "functional.softplus(scores[:, 1:])",
        "functional.softplus(-scores[:, 1:])",
    ),
    (
        "CPC|A: actions forgotten",
        "return self.predict(embedded, ",
        "return self.predict(0.0 * embedded, ",
    ),
    (
        "CPC|A: the core's output forgotten",
        "torch.tanh(self.begin(outputs",
        "torch.tanh(0.0 * self.begin(outputs",
    ),
    ("CPC|A: limits of what is judged ignored", "if config.horizons:", "if False:"),
)
MUTATIONS = [
    *GAE,
    *VTRACE,
    *TRAJECTORIES,
    *APPO,
    *ROLLOUT,
    *EXPERIENCE,
    *MINI_BATCHES,
    *PPO_LOSS,
    *PPO,
    *NETWORKS,
    *OPTIMISERS,
    *CPCA,
]


def apply(mutation: Mutation, root: Path) -> str:
    """Breaks the copy at `root` and returns the file's text as it was.

    Raises:
        ValueError: If the text does not occur exactly once.
    """
    path = root / mutation.path
    text = path.read_text()
    found = text.count(mutation.old)
    if found != 1:
        raise ValueError(f"'{mutation.name}': its text occurs {found} times in {mutation.path}.")
    path.write_text(text.replace(mutation.old, mutation.new))
    return text


def first_failure(root: Path, path: str = "") -> str:
    """Runs the tests in the copy: the first one to fail, or nothing if all pass.

    Args:
        root: The copy.
        path: The file that was changed; the tests that mirror it go first.
    """
    stages = [_mirror(root, path), *TESTS] if path else list(TESTS)
    for tests in stages:
        log = root / "pytest.log"
        # Forked from a process that has loaded the libraries, but nothing of `ver`.
        process = get_context("fork").Process(target=_run_pytest, args=(root, tests, log))
        process.start()
        process.join(LIMIT_S)
        if process.exitcode == 0:
            continue
        if process.is_alive():
            os.killpg(process.pid or 0, signal.SIGKILL)
            process.join()
            begun = re.findall(r"^(\S+::\S+)", log.read_text(), re.MULTILINE)
            return f"{begun[-1].removeprefix('tests/ver/')} does not end" if begun else "no end"
        named = re.search(r"^(?:FAILED|ERROR) (\S+)", log.read_text(), re.MULTILINE)
        return named[1].removeprefix("tests/ver/") if named else f"exit status {process.exitcode}"
    return ""


def _mirror(root: Path, path: str) -> str:
    """The tests of a file: tests/ver/test_x.py for ver/x.py, tests/ver/y for ver/y/x.py."""
    file = Path(path)
    folder = "tests" / file.parent
    test = folder if file.parent.name != "ver" else folder / f"test_{file.name}"
    return str(test) if (root / test).exists() else TESTS[0]


def _run_pytest(root: Path, tests: str, log: Path) -> None:
    os.setsid()  # so that all of it can be ended
    os.chdir(root)
    os.environ |= {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root))
    with log.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    status = pytest.main(["-x", "-vv", "-p", "no:cacheprovider", *tests.split()])
    sys.stdout.flush()
    os._exit(int(status))


def main() -> int:
    """Prints a Markdown table; the exit status says whether a mutation survived."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", nargs="+", default=[""], help="only mutations whose names contain one of these"
    )
    parser.add_argument("--output", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    chosen = [
        mutation
        for mutation in MUTATIONS
        if any(part.lower() in mutation.name.lower() for part in arguments.only)
    ]
    lines = ["| broken on purpose | in | noticed by |", "|---|---|---|"]
    print(*lines, sep="\n", flush=True)
    survivors = 0
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        ignore = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(ROOT / "ver", root / "ver", ignore=ignore)
        shutil.copytree(ROOT / "atomic_files", root / "atomic_files", ignore=ignore)
        shutil.copytree(ROOT / "tests/ver", root / "tests/ver", ignore=ignore)
        shutil.copy(ROOT / "pyproject.toml", root)
        if failure := first_failure(root):
            raise SystemExit(f"The tests fail before anything is broken: {failure}")
        for mutation in chosen:
            original = apply(mutation, root)
            noticed = first_failure(root, mutation.path)
            (root / mutation.path).write_text(original)
            survivors += not noticed
            name = mutation.name.replace("|", "\\|")
            lines.append(f"| {name} | {mutation.path} | {noticed or '**nothing**'} |")
            print(lines[-1], flush=True)
    if arguments.output:
        text = f"{len(chosen)} deliberate breakages of the learner, {survivors} of them unnoticed; "
        text += "made by `python tests/mutations.py`.\n\n"
        arguments.output.write_text("# Mutations\n\n" + text + "\n".join(lines) + "\n")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
