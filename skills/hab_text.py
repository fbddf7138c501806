"""Texts of docs/hab.md; skills/hab_table.py makes the tables."""

INTRODUCTION = """\
# HAB's numbers beside ours

Made from the code by `python -m skills.hab_table > docs/hab.md`: do not edit.

The ten [tasks](tasks.md) of the Home Assistant Benchmark ([HAB](https://arxiv.org/abs/2106.14405)),
seven skills and three chores, have two sets of rules:

- `rules=ours`, the default, by which all shipped policies are judged;
- `rules=hab`: habitat-lab v0.3.4 with the VER paper's changes, as far as our simulator has it. What
  it has not stands under [Remaining differences](#remaining-differences-under-ruleshab).

```bash
scripts/train_skill.sh pick rules=hab               # HAB's rules, our learner
scripts/train_skill.sh pick rules=hab preset=paper  # the VER paper's learner, too (eight GPUs)
```

With `rules=hab` the files in `configs/` give the learner only (`trainer:`, `sensors:`). Their sections
`task:`, `starts:` and `randomise:` are ours and do not count. Overrides on the command line come last.
A policy keeps its rules: its checkpoint says by which it was trained, and `skills.eval` judges it by
the same. In code: `RearrangeEnv("pick", hab_config("pick"), simulator=simulator_config("hab"))` of
`rearrange.rules`.

In all tables the value of `rules=ours` stands first and that of `rules=hab` in brackets or beside
it; **bold** is what differs. Ours is what a policy is judged by. Where configs/*.yaml train with
another value, "trained" says so, in the order of the stages. Where `rules=hab` judges by another
than it trains with, the meaning does. Results in our apartments and with our physics are not comparable
with those in ReplicaCAD.

Every number is a setting. `gymnasium.make` takes them by these names, and has these values but for two
masks: `stop_distance=2` (Navigate) and `stop_zone=0.2` (drawer and fridge) there. In a training `task.`
stands before all but `camera_size`, `slide`, `stall`, `starts.*` and `randomise.*`, as in
`task.max_steps=200`. `hold_threshold`, `target_lead`, `hard_contacts` and `scene_force` follow from
`rules` there.

Both rules have these changes of the VER paper, v0.3.4 some of them:

- The base moves in every skill.
- Suction takes what it touches.
- Stop is an action of its own in Navigate, Open and Close. Pick and Place end with success.
- The force penalty applies in Navigate, too.
- Every observation has `gps_compass`, the pose relative to the start: x, y in metres, cosine and
  sine of the turn.
"""

REMAINING = """\
## Remaining differences under rules=hab

- **Homes and objects** are our generated apartments and thirty upright boxes and cylinders, not
  ReplicaCAD and YCB's meshes.
- **Physics** is MuJoCo's, in steps of 1/120 s. HAB has Bullet's, in steps of 0.008 s. An action has
  four steps in both. The same blow has another force here; HAB's limits in newtons were chosen for Bullet.
- **The arm** has the real Fetch's effort limits and our position gains. HAB limits the impulse of
  its motors.
- **The resting hand** is where HAB wants it, (0.5, 0, 1.0) m before the base, but with other joint
  angles: HAB's own leave our arm 0.29 m from it.
- **Latency** is the paper's: the whole observation is one step late. v0.3.4 renders between action
  and physics. So its image shows the new base with the old arm. Its joints are those of now.
- **Suction** takes what the cup is pressed against most; HAB takes the first in its list of
  objects. A handle is taken at the handle only, in HAB anywhere on its link.
- **Force at the start** is that on the robot in both rules. A start at which it is not 0 is drawn
  again. From then on `rules=hab` counts that of the whole scene.
- **Starts**: where no pose near the object is free HAB widens the circle by 2 cm. Ours takes another
  object or apartment.
- **Not behind a wall**: HAB's start is on polygons of the navigation mesh that the circle touches.
  They are connected with the one nearest to the object. Ours is on cells of the floor within the
  circle, connected there with a cell from where the object is in reach. The nearest cell may be
  behind the wall at which the object stands. HAB's circle is a sphere, 2 m from the object's centre.
- **Navigate's turn reward** counts from the first step within `turn_distance`, HAB's from the
  second.
- **Navigate's force** is penalised and limited by the numbers that v0.3.4 configures. Its reward
  overwrites them; the paper says that the penalty is there.
- **One drawer** is opened and closed, `drawer_right_top`; HAB uses one too, another.
- **Deployed** in a plan, HAB's open and close skills end by the hand's way: 0.3 m from its resting
  place, and back. The policy's stop does not count. Here they end as in training. The planner's
  world has our simulator settings.
- **In habitat-sim** (`sim=habitat`) contacts are Bullet's, and force is that on the robot in both
  rules.
- **The learner** under `rules=hab` alone is ours (configs/*.yaml: action means at the start,
  binary actions, observations as angles or distances); `preset=paper` has none of it.

Settings that keep our value:
"""
