"""`rearrange completion bash|zsh|fish`: a script by which a shell completes the command `rearrange`.

Bash and zsh: `source <(rearrange completion bash)` in ~/.bashrc or ~/.zshrc. Fish: `rearrange completion
fish > ~/.config/fish/completions/rearrange.fish`. It knows the words of this installation; write it anew
where a skill was added.
"""

from __future__ import annotations

from collections.abc import Sequence

from console.commands import COMMANDS
from rearrange.command_line import OneLineParser
from skills.command import run_command

# A space follows each word, but not key=; where no word fits, the shell completes files
BASH = """\
_rearrange() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} words=
    if [[ $COMP_CWORD == 1 ]]; then
        words="{commands}"
    else
        case ${{COMP_WORDS[1]}} in
{cases}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    COMPREPLY=("${{COMPREPLY[@]/%/ }}")
    COMPREPLY=("${{COMPREPLY[@]/%= /=}}")
}}
complete -o nospace -o default -F _rearrange rearrange
"""
ZSH = """\
(( $+functions[compdef] )) || { autoload -U compinit && compinit }
autoload -U +X bashcompinit && bashcompinit
"""
SHELLS = ("bash", "zsh", "fish")


def words_of_commands() -> dict[str, list[str]]:
    """Command -> what may stand behind it."""
    from experiments.registry import EXPERIMENTS
    from planner.film import film_names
    from rearrange.tasks import TASKS, household_names
    from rearrange.view.command import PLANS
    from skills.navigation import navigation_names
    from skills.registry import skill_names
    from skills.settings import keys, settings_type

    tasks = [*skill_names(), *household_names()]
    trained = [*tasks, *navigation_names()]
    settings = {key: None for name in trained for key in keys(settings_type(name)())}
    return {
        "train": [*trained, *(f"{key}=" for key in settings)],
        "eval": trained,
        "plan": [*household_names()],
        "film": [*film_names()],
        "live": trained,
        "view": [*TASKS, PLANS],
        "record": tasks,
        "episodes": ["generate", "check"],
        "reproduce": [*EXPERIMENTS, "all", "list"],
        "completion": [*SHELLS],
    }


def script(shell: str) -> str:
    """The script for one of SHELLS."""
    words = words_of_commands()
    if shell == "fish":
        first = "complete -c rearrange -n __fish_use_subcommand -f"
        lines = [f"{first} -a {name} -d '{each.about}'" for name, each in COMMANDS.items()]
        lines += [
            f"complete -c rearrange -n '__fish_seen_subcommand_from {name}' -a '{' '.join(each)}'"
            for name, each in words.items()
        ]
        return "\n".join(lines) + "\n"
    cases = "\n".join(
        f'            {name}) words="{" ".join(each)}" ;;' for name, each in words.items()
    )
    text = BASH.format(commands=" ".join(COMMANDS), cases=cases)
    return ZSH + text if shell == "zsh" else text


def main(arguments: Sequence[str]) -> int:
    """Print the script."""
    parser = OneLineParser(prog="rearrange completion", description=__doc__)
    parser.add_argument("shell", choices=SHELLS)
    print(script(parser.parse_args(arguments).shell), end="")
    return 0


if __name__ == "__main__":
    run_command(main)
