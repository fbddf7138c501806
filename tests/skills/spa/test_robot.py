import numpy as np


class FakeRobot:
    """Odometry without a world: every action is carried out exactly, unless there is a wall."""

    def __new__(cls, wall_x):
        from rearrange.robot.fetch import FETCH
        from skills.spa.robot import Robot, advanced

        class Fake(Robot):
            spec = FETCH
            pose = np.zeros(3)
            joints = np.array(FETCH.resting_arm)
            holding = False
            base_pose = property(lambda self: self.pose.copy())

            def run(self, actions, reveal, limit=400):
                for k in range(limit):
                    if k == reveal:
                        ys, zs = np.meshgrid(np.arange(-1.0, 1.0, 0.03), np.arange(0.1, 1.2, 0.03))
                        wall = [np.full(ys.size, wall_x), ys.ravel(), zs.ravel()]
                        self.seen.add(np.column_stack(wall))
                    try:
                        action = next(actions)
                    except StopIteration as end:
                        return end.value
                    self.pose = advanced(self.pose, action[8], action[9])
                    self.track.append(self.pose)
                return None

        robot = Fake()
        robot.track, robot.focus = [], np.array([3.0, 0.0, 0.8])
        robot.targets = robot.joints.copy()
        return robot


def test_a_drive_is_planned_anew_when_something_comes_into_view():
    robot = FakeRobot(1.8)
    goal = np.array([3.0, 0.0, 0.0])
    assert robot.run(robot.drive_to(lambda _: goal), reveal=5) is True
    track = np.array(robot.track)
    assert np.abs(track[-1] - goal).max() < 0.05
    beside = track[np.abs(track[:, 0] - 1.8) < 0.2]
    assert (np.abs(beside[:, 1]) > 1.2).all()  # around the wall's end, not through it


def test_a_drive_into_a_closed_room_is_given_up():
    robot = FakeRobot(9.0)
    corners = np.arange(-1.0, 1.0, 0.03)
    around = [(x, s, z) for x in corners for s in (-1.0, 1.0) for z in (0.2, 0.6, 1.0)]
    around += [(s, y, z) for y in corners for s in (-1.0, 1.0) for z in (0.2, 0.6, 1.0)]
    robot.seen.add(np.array(around) + np.array([3.0, 0.0, 0.0]))
    assert robot.run(robot.drive_to(lambda _: np.array([3.0, 0.0, 0.0])), reveal=-1) is False
