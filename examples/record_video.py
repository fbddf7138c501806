"""Films with Gymnasium's own wrapper: `pip install moviepy`, then `python examples/record_video.py`."""

import gymnasium
from gymnasium.wrappers import RecordVideo

import rearrange  # noqa: F401 - makes the ids known


def main(folder: str = "runs/videos/gymnasium", steps: int = 60) -> None:
    """Film random actions."""
    env = gymnasium.make("rearrange/Pick-v0", split="val", render_mode="rgb_array", max_steps=steps)
    env = RecordVideo(env, folder, episode_trigger=lambda episode: episode == 0)
    env.reset(seed=0)
    over = False
    while not over:
        *_, terminated, truncated, _ = env.step(env.action_space.sample())
        over = terminated or truncated
    env.close()
    print(f"films: {folder}")


if __name__ == "__main__":
    main()
