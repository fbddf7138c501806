"""Scenes and the reference caster (one mj_ray per pixel) of the renderer's tests."""

import mujoco
import numpy as np

from rearrange.render import Camera

SHAPES = ("box", "cylinder", "capsule", "sphere", "ellipsoid")


def load(*geoms: str) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """A model of the given geom elements and its data, poses filled in."""
    body = "".join(f"<geom {geom}/>" for geom in geoms)
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def _text(values) -> str:
    return " ".join(f"{value:.9g}" for value in values)


def random_room(seed: int, count: int = 60) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Walls, floor and `count` geoms of every shape in random poses; groups 0 to 2."""
    rng = np.random.default_rng(seed)
    geoms = ['type="plane" size="0 0 .1" pos="0 0 -1.3"']
    geoms += ['type="plane" size="2 1 .1" pos="0 0 2.3" euler="170 20 0"']
    for x, y, sx, sy in ((4.5, 0, 0.05, 4.5), (-4.5, 0, 0.05, 4.5), (0, 4.5, 4.5, 0.05)):
        geoms += [f'type="box" size="{sx} {sy} 1.4" pos="{x} {y} 0" group="2"']
    for n in range(count):
        position = rng.uniform(-4.0, 4.0, 3) * (1.0, 1.0, 0.3)
        geoms.append(
            f'type="{SHAPES[n % len(SHAPES)]}" pos="{_text(position)}" group="{n % 3}" '
            f'quat="{_text(rng.normal(size=4))}" size="{_text(rng.uniform(0.02, 0.6, 3))}"'
        )
    return load(*geoms)


def cast_with_mujoco(model, data, camera: Camera, position, rotation, near=0.01, far=10.0):
    """Depth [H, W] in metres and geom ids [H, W] by mj_ray, rays starting on the near plane."""
    rays = (camera.rays() @ np.asarray(rotation).T).reshape(-1, 3)
    depth, ids = np.full(len(rays), far), np.full(len(rays), -1)
    geom = np.zeros(1, np.int32)
    for n, ray in enumerate(rays):
        length = np.linalg.norm(ray)
        start = position + near * ray
        distance = mujoco.mj_ray(model, data, start, ray / length, None, 1, -1, geom)
        z = near + distance / length
        if distance >= 0.0 and z < far:
            depth[n], ids[n] = z, geom[0]
    shape = (camera.height, camera.width)
    return depth.reshape(shape), ids.reshape(shape)
