"""Points as a depth camera would see them, by hand."""

import numpy as np

GRAIN = 0.008


def wall(x, y0=-1.0, y1=1.0, low=0.1, high=1.4, step=0.02):
    """Points [P, 3] on an upright wall across the x axis."""
    ys, zs = np.meshgrid(np.arange(y0, y1, step), np.arange(low, high, step))
    return np.column_stack([np.full(ys.size, x), ys.ravel(), zs.ravel()])


def box_points(row, eye=(0.0, 0.0, 1.2)):
    """Points [P, 3] on the faces of an upright box [8] that look towards an eye."""
    x, y, z, half_x, half_y, half_z, cosine, sine = row
    faces = []
    dx, dy, dz = np.subtract(eye, (x, y, z))
    seen_from = np.array([cosine * dx + sine * dy, cosine * dy - sine * dx, dz])
    for axis, other, third in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        half = np.array([half_x, half_y, half_z])
        u, v = np.meshgrid(
            *(
                np.linspace(-half[k], half[k], max(int(2 * half[k] / GRAIN), 2))
                for k in (other, third)
            )
        )
        for side in (-1, 1):
            if side * seen_from[axis] < half[axis]:
                continue
            face = np.empty((u.size, 3))
            face[:, axis], face[:, other], face[:, third] = side * half[axis], u.ravel(), v.ravel()
            faces.append(face)
    points = np.vstack(faces)
    turned = points @ np.array([[cosine, sine, 0], [-sine, cosine, 0], [0, 0, 1]])
    return turned + np.array([x, y, z])
