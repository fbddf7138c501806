"""Episodes as the datasets of habitat-lab have them, by hand."""

import gzip
import json

import numpy as np

from rearrange.habitat.dataset import (
    load_rearrange_episodes,
)

UPRIGHT = [
    (1, 0, 0),
    (0, 0, 1),
    (0, -1, 0),
]  # of what has z up in its own frame, in Habitat's world


def transformation(position, rotation=UPRIGHT):
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation, position
    return matrix.tolist()


def marker(name, piece, link, offset):
    place = {"object": piece, "link": link, "offset": list(offset)}
    return {"name": name, "type": "articulated_object", "params": place}


def write(folder, *entries):
    path = folder / "episodes.json.gz"
    with gzip.open(path, "wt") as file:
        json.dump({"config": None, "episodes": entries}, file)
    load_rearrange_episodes.cache_clear()
    return str(path)
