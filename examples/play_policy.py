"""Plays a shipped policy in homes that it has never seen: `python examples/play_policy.py [SKILL]`."""

import sys

import skills


def main(name: str = "pick", episodes: int = 3) -> float:
    """Play a policy; returns the share of episodes that succeeded."""
    policy = skills.load_policy(name)  # or the path of one's own: runs/pick/policy.safetensors
    env = policy.make_env("val", seed=0)  # with its camera and its actions
    successes = 0
    for _ in range(episodes):
        observation, _ = env.reset()
        policy.restart()
        over = False
        while not over:
            observation, _, terminated, truncated, info = env.step(policy.act(observation))
            over = terminated or truncated
        successes += info["is_success"]
        print(f"{name}: {'success' if info['is_success'] else 'failure'}")
    env.close()
    return successes / episodes


if __name__ == "__main__":
    main(*sys.argv[1:2])
