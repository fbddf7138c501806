"""Robots that run, many at once: the tasks of "GPU-accelerated robotic simulation for distributed RL".

`python -m ver train locomotion:ant` learns one (docs/locomotion.md); `tasks.py` has all by name. Nothing
heavy is imported here.
"""
