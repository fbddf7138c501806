"""The fridge opened by its handle, without a task."""

import numpy as np

from rearrange.robot import kinematics
from rearrange.testing.tools import in_base_frame, one_action, repeat


def open_door(simulator):
    """Bring the cup to the handle, take it and pull with the base; whether the door is open then."""
    state = simulator.state
    for _ in range(150):
        handle = in_base_frame(state.base_pose[0], state.handle_position[0, 0])
        ahead = np.add(handle, (0.02, 0.0, 0.0))
        joints, _ = kinematics.solve_ik(
            state.robot, ahead, (1.0, 0.0, 0.0), state.arm_joints[0].copy()
        )
        arm = np.clip(joints - state.arm_joints[0], -0.0375, 0.0375)
        simulator.step(one_action(simulator, arm, grip=1.0))
        if state.held_handle[0] == 0:
            break
    else:
        return False
    repeat(simulator, one_action(simulator, grip=1.0, forward=-0.01), 40)
    opened = float(state.articulated_joints[0, 0])
    print(f"the door is open by {opened:.2f} rad")
    return opened > 0.2
