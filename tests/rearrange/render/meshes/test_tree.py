import numpy as np
import pytest

from rearrange.render.meshes.tree import INNER, NODE, STACK, build_tree


def leaves(nodes):
    """First and count of every leaf, and the depth of the tree; checks that boxes hold what is in them."""
    found, deepest, work = [], 0, [(0, 0)]
    while work:
        node, depth = work.pop()
        deepest = max(deepest, depth)
        first, count = int(nodes[node]["first"]), int(nodes[node]["count"])
        if count != INNER:
            found.append((first, count))
            continue
        for child in (first, first + 1):
            for axis in "xyz":
                middle, half = nodes[node][axis], nodes[node][f"half_{axis}"]
                inside = abs(nodes[child][axis] - middle) + nodes[child][f"half_{axis}"]
                assert inside <= half * (1 + 1e-5) + 1e-6
            work.append((child, depth + 1))
    return found, deepest


@pytest.mark.parametrize("leaf", [1, 2, 4])
@pytest.mark.parametrize("count", [1, 2, 3, 50, 3000])
def test_every_box_is_in_one_leaf_that_holds_it(count, leaf):
    rng = np.random.default_rng(count)
    low = rng.normal(size=(count, 3)).astype(np.float32)
    high = (low + rng.uniform(0, 0.3, (count, 3))).astype(np.float32)
    nodes, order = build_tree(low, high, leaf)
    assert nodes.dtype == NODE
    assert sorted(order) == list(range(count))
    found, depth = leaves(nodes)
    assert sorted(row for first, n in found for row in range(first, first + n)) == list(
        range(count)
    )
    assert max(n for _, n in found) <= leaf
    assert depth < 3 * np.log2(count) + 2
    for node in nodes[nodes["count"] != INNER]:
        rows = order[node["first"] : node["first"] + node["count"]]
        for k, axis in enumerate("xyz"):
            assert (np.float64(low[rows, k]) >= np.float64(node[axis]) - node[f"half_{axis}"]).all()
            assert (
                np.float64(high[rows, k]) <= np.float64(node[axis]) + node[f"half_{axis}"]
            ).all()


def test_boxes_that_coincide_are_halved():
    box = np.zeros((1000, 3), np.float32)
    nodes, order = build_tree(box, box + 1, 2)
    found, depth = leaves(nodes)
    assert depth == 9
    assert sum(n for _, n in found) == len(set(order)) == 1000


def test_depth_is_bounded_where_each_split_takes_off_one():
    """Boxes that double in size: the cheapest split always leaves all but the largest on one side."""
    size = (2.0 ** np.arange(-60, 60)).astype(np.float32)
    low = np.stack([size, size, size], axis=1)
    nodes, _ = build_tree(low, low * np.float32(1.5), 1)
    found, depth = leaves(nodes)
    assert len(found) == 120
    assert depth < STACK


def test_nothing_is_one_empty_leaf():
    nodes, order = build_tree(np.empty((0, 3), np.float32), np.empty((0, 3), np.float32), 2)
    assert len(order) == 0
    assert leaves(nodes) == ([(0, 0)], 0)
