"""`python -m skills.hub push FILE OWNER/NAME` and `pull OWNER/NAME`: policies on a Hugging Face Hub.

push uploads a policy with a model card. Its figures are those of the ledger (results/) for that very file, or
of `--result FILE.json`, which `skills.eval --json` has written of it. pull fetches a policy to
runs/hub/OWNER/NAME. The Hub and the token are those of huggingface_hub: `hf auth login`, HF_TOKEN, HF_ENDPOINT.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rearrange.command_line import OneLineParser, output_folder
from rearrange.errors import UserError
from skills.command import run_command, short_path
from skills.figures import load_ledger
from skills.provenance import ROOT, checksum
from ver.checkpoint import load_policy
from ver.logs import POLICY

LEDGER = ROOT / "results"
FILES = (POLICY, "policy.json", "README.md")
ROWS = {  # of an evaluation with --sanity
    "policy": "the policy, in the same episodes",
    "blind": "blind",
    "swapped": "with another world's image",
    "random": "random actions",
    "oracle": "oracle",
}


def push(hub: Any, file: Path, repository: str, private: bool, result: Path | None) -> str:
    """Upload a policy and its card; returns the address.

    Args:
        hub: A `huggingface_hub.HfApi`.
        file: The policy, with its .json beside it.
        repository: OWNER/NAME; made where it is not there yet.
        private: Make it visible to its owner alone.
        result: What `skills.eval --json` has written of the policy; None: what the ledger has of it.

    Raises:
        UserError: There is no policy, or the result is another's.
    """
    policy = load_policy(file)
    found = checked_result(result, file) if result else result_in_ledger(file)
    card = model_card(repository, policy.metadata, found)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(file, Path(folder) / POLICY)
        shutil.copy(file.with_suffix(".json"), Path(folder) / "policy.json")
        (Path(folder) / "README.md").write_text(card, encoding="utf-8")
        hub.create_repo(repository, private=private, exist_ok=True)
        hub.upload_folder(
            repo_id=repository, folder_path=folder, commit_message=f"A policy of {file.name}"
        )
    return f"{hub.endpoint}/{repository}"


def pull(hub: Any, repository: str, revision: str | None, output: Path) -> Path:
    """Fetch a policy; returns its file.

    Args:
        hub: A `huggingface_hub.HfApi`.
        repository: OWNER/NAME.
        revision: Branch, tag or commit; None: the newest.
        output: Folder.

    Raises:
        UserError: There is no policy of ours, or it is not whole.
    """
    hub.snapshot_download(
        repository, revision=revision, local_dir=output, allow_patterns=list(FILES)
    )
    file = output / POLICY
    if not file.is_file():
        raise UserError(f"{repository} holds no {POLICY}: it is not a policy of rearrange")
    load_policy(file)
    return file


def model_card(repository: str, metadata: dict[str, Any], result: dict[str, Any] | None) -> str:
    """The README of a policy's repository, in Markdown.

    Args:
        repository: OWNER/NAME.
        metadata: Of the policy.
        result: Of `skills.eval`, or None.
    """
    skill = metadata.get("skill", "unknown")
    title = str(skill).replace("_", " ").title()
    lines = [
        *("---", "library_name: rearrange", "pipeline_tag: reinforcement-learning", "tags:"),
        *("  - rearrange", "  - robotics", f"  - {skill}", "---", "", f"# {title}", ""),
        f"A policy for `{skill}`, trained with rearrange by VER.",
        "",
        "```",
        f"python -m skills.hub pull {repository}",
        f"python -m skills.eval {skill} --checkpoint runs/hub/{repository}/{POLICY}",
        "```",
        "",
    ]
    recipe = metadata.get("recipe") or {}
    if recipe.get("sha256"):
        stages = ", ".join(recipe.get("stages", ())) or "one"
        lines += [
            f"Recipe: stages {stages}; SHA-256 of its settings `{recipe['sha256'][:16]}`.",
            "",
        ]
    if result is None:
        return "\n".join([*lines, "It was not evaluated when it was pushed.", ""])
    made = result["made"]
    lines += ["| who | episodes | success [%] |", "|---|---|---|", _row("the policy", result)]
    rows = result.get("rows", {})
    lines += [_row(label, rows[name]) for name, label in ROWS.items() if name in rows]
    lines += [
        "",
        f"{_where(result['split'])}, with 95 % intervals.",
        f"`{made['command']}`, commit `{made['commit'][:12]}`{', changed' if made['dirty'] else ''}.",
        "",
    ]
    return "\n".join(lines)


def _where(split: str) -> str:
    """Tell in which homes a policy was judged; `split` is empty where they are not ours."""
    if not split:
        return "In episodes of the data set that the command names"
    seen = "in which policies are trained" if split == "train" else "that nothing was trained in"
    return f"In homes of the split `{split}` {seen}"


def _row(label: str, result: dict[str, Any]) -> str:
    mean, low, high = (100 * result["success_at_end"][key] for key in ("mean", "low", "high"))
    return f"| {label} | {result['episodes']} | {mean:.1f} ({low:.1f} to {high:.1f}) |"


def result_in_ledger(file: Path) -> dict[str, Any] | None:
    """The ledger's fullest evaluation of a policy by itself: of the most rows, then of the most episodes."""
    digest = checksum(file)
    judged = [
        entry
        for entry in load_ledger(LEDGER).values()
        if {"skill", "success_at_end"} <= entry.keys()
        and set(entry["made"]["checkpoints"].values()) == {digest}
    ]
    return max(judged, default=None, key=lambda each: (len(each.get("rows", ())), each["episodes"]))


def checked_result(path: Path, file: Path) -> dict[str, Any]:
    """The result of an evaluation; a UserError where another policy was evaluated."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        judged = set(result["made"]["checkpoints"].values())
        _ = result["split"], [_row("", each) for each in (result, *result.get("rows", {}).values())]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise UserError(
            f"{path}: expected what skills.eval --json writes of a task with success"
        ) from None
    if judged != {checksum(file)}:
        raise UserError(f"{path} was made with another policy than {file}: evaluate this one")
    return result


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = OneLineParser(prog="skills.hub", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=OneLineParser)
    up = commands.add_parser("push", help="upload a policy")
    up.add_argument("file", type=Path, help="the policy, such as runs/pick/policy.safetensors")
    up.add_argument("repository", metavar="OWNER/NAME")
    up.add_argument("--private", action="store_true", help="visible to its owner alone")
    up.add_argument(
        "--result", type=Path, metavar="FILE.json", help="figures for the card (the ledger's)"
    )
    down = commands.add_parser("pull", help="fetch a policy")
    down.add_argument("repository", metavar="OWNER/NAME")
    down.add_argument("--revision", metavar="R", help="branch, tag or commit (the newest)")
    down.add_argument("--output", type=output_folder, metavar="DIR", help="runs/hub/OWNER/NAME")
    options = parser.parse_args(arguments)
    if options.repository.count("/") != 1:
        raise UserError(f"'{options.repository}': a repository is OWNER/NAME, as in me/pick")
    return options


def main(arguments: Sequence[str]) -> int:
    """Carry out the command."""
    options = parse(arguments)
    try:
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError
    except ImportError:
        raise UserError(
            "push and pull need the Hub's library: pip install huggingface_hub"
        ) from None
    hub, repository = HfApi(), options.repository
    try:
        if options.command == "push":
            print(push(hub, options.file, repository, options.private, options.result))
        else:
            output = options.output or Path("runs") / "hub" / repository
            print(short_path(pull(hub, repository, options.revision, output)))
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        raise UserError(f"{repository}: {' '.join(str(error).split())}") from None
    return 0


if __name__ == "__main__":
    run_command(main)
