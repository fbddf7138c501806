"""A robot in files, as a user would write them: an MJCF model of turned frames, and its YAML file.

Its frames are turned against each other, two axes are negative, the lift slides downwards, and the second
finger's joint is no joint of the arm. `tip` is where the cup's front is.
"""

from pathlib import Path

MODEL = """
<mujoco model="heron">
  <compiler angle="radian"/>
  <worldbody>
    <geom name="ground" type="plane" size="2 2 0.1"/>
    <body name="stand" pos="0.4 -0.3 0" euler="0 0 1.5707963267948966">
      <geom name="plate" type="cylinder" size="0.24 0.1" pos="0 0 0.12" rgba="0.2 0.2 0.22 1"/>
      <geom name="column" type="box" size="0.05 0.06 0.22" pos="-0.04 0 0.44"/>
      <body name="carriage" pos="0 0 0.74">
        <inertial pos="0 0 0" mass="2" diaginertia="0.02 0.02 0.02"/>
        <joint name="lift" type="slide" axis="0 0 -1" range="-0.3 0.1"/>
        <geom type="sphere" size="0.05"/>
        <body name="shoulder" pos="0.08 0 0.05" euler="1.5707963267948966 0 0">
          <joint name="pan" axis="0 1 0" />
          <geom type="capsule" size="0.045" fromto="0 0 0 0.06 0.04 0" mass="1.5"/>
          <body name="upper" pos="0.06 0.05 0" euler="0 0 0.5">
            <joint name="raise" axis="0 0 1" range="-1.6 1.8"/>
            <geom type="capsule" size="0.045" fromto="0 0 0 0.32 0 0" mass="2"/>
            <body name="fore" pos="0.36 0 0" euler="3.141592653589793 0 -0.5">
              <joint name="elbow" axis="0 0 1" range="-2.4 2.4" armature="0.08"/>
              <geom type="box" size="0.15 0.035 0.03" pos="0.16 0 0" mass="1.5"/>
              <body name="wrist" pos="0.33 0 0">
                <joint name="bend" axis="0 0 -1" range="-2.2 2.2"/>
                <geom type="capsule" size="0.035" fromto="0 0 0 0.07 0 0" mass="0.6"/>
                <body name="palm" pos="0.1 0 0" euler="0 1.5707963267948966 0">
                  <geom type="box" size="0.04 0.03 0.02" pos="0 0 0.02" mass="0.4"/>
                  <site name="tip" pos="0 0 0.13"/>
                  <body name="finger" pos="0.03 0 0.05">
                    <joint name="grasp" type="slide" axis="1 0 0" range="0 0.03"/>
                    <geom type="box" size="0.006 0.01 0.02" mass="0.02"/>
                  </body>
                </body>
              </body>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="raise" ctrllimited="true" ctrlrange="-100 100"/>
    <position joint="elbow" kp="350" forcelimited="true" forcerange="-70 70"/>
  </actuator>
</mujoco>
"""

WORDS = """
model: heron.xml
hand: palm
base: {radius: 0.26, body: stand}
cup: {at: [0, 0, 0.04], along: z, length: 0.09}
camera: {at: [0.1, 0.15, 1.5], target: [0.75, 0, 0.95], field_of_view: 80}
resting_tip: [0.5, 0, 0.9]
motors: {pan: {effort: 60}}
locked: {grasp: 0.02}
"""


def write_robot(folder: Path, name: str = "heron", words: str = WORDS, model: str = MODEL) -> Path:
    """Write the files; the YAML one."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "heron.xml").write_text(model)
    path = folder / f"{name}.yaml"
    path.write_text(words)
    return path
