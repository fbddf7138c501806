"""Contacts of all worlds on a device: what counts, what the suction cup touches, what pushes the robot.

One thread a contact; `rearrange.sim.contacts` says what each does.
"""

from __future__ import annotations

import warp as wp  # pyright: ignore[reportMissingImports]

from rearrange.batched.records import Contacts, Own, Rules, Seen, Topology
from rearrange.sim.contacts import HANDLE, ROBOT, SUCTION

wp.set_module_options({"enable_backward": False})

NOTHING = wp.constant(-1)
OF_ROBOT, OF_CUP, OF_HANDLE = (wp.constant(x) for x in (ROBOT, SUCTION, HANDLE))
FAR = wp.constant(1.0e3)  # [m]: distance of what does not count
PEAKS = ("rows", "dofs", "contacts", "pairs")  # of one world; of all together
MOST_ROWS, MOST_DOFS, MOST_CONTACTS, MOST_PAIRS = (wp.constant(k) for k in range(4))


@wp.func
def of_robot(role: int):
    """Whether a geom is the robot's."""
    return role == OF_ROBOT or role == OF_CUP


@wp.kernel
def leave_out(contacts: Contacts, own: Own, at: Topology):
    """Put contacts of the robot with what it holds or has just let go far apart, and see how many there are."""
    c = wp.tid()
    if c == 0:
        wp.atomic_max(own.peaks, MOST_CONTACTS, contacts.count[0])
        wp.atomic_max(own.peaks, MOST_PAIRS, contacts.pairs[0])
    if c >= contacts.count[0]:
        return
    apart = own.apart[contacts.world[c]]
    if apart == NOTHING:
        return
    pair = contacts.geom[c]
    first, second = at.roles[pair[0]], at.roles[pair[1]]
    if (first == apart and of_robot(second)) or (second == apart and of_robot(first)):
        contacts.distance[c] = FAR


@wp.func
def pushed(first: int, second: int, held_object: int, held_handle: int):
    """Which of two geoms in contact, by role, is the robot or its load: 1 or 2; 0: neither or both."""
    one = of_robot(first) or (first >= 0 and first == held_object)
    other = of_robot(second) or (second >= 0 and second == held_object)
    if one == other:
        return 0
    if held_handle >= 0 and (first == OF_HANDLE + held_handle or second == OF_HANDLE + held_handle):
        return 0
    if one:
        return 1
    return 2


@wp.func
def counts(contacts: Contacts, c: int):
    """Whether there is such a contact."""
    return c < contacts.count[0] and contacts.distance[c] < 0.5 * FAR


@wp.func
def force_of(contacts: Contacts, i: int, c: int):
    """Normal force of a contact of world i [N]; 0 where it has no rows."""
    address = contacts.address[c, 0]
    if address < 0:
        return 0.0
    return contacts.row_force[i, address]


@wp.kernel
def feel_push(contacts: Contacts, seen: Seen, own: Own, at: Topology):
    """Sum what pushes the robot and its load; see `push_on_robot`."""
    c = wp.tid()
    if not counts(contacts, c):
        return
    i, pair = contacts.world[c], contacts.geom[c]
    which = pushed(
        at.roles[pair[0]], at.roles[pair[1]], int(seen.held_object[i]), int(seen.held_handle[i])
    )
    force = force_of(contacts, i, c)
    if which == 0 or force == 0.0:
        return
    if which == 1:
        force = -force
    frame, position, base = contacts.frame[c], contacts.position[c], own.place[i]
    x, y = force * frame[0, 0], force * frame[0, 1]
    u, v = position[0] - float(base[0]), position[1] - float(base[1])
    wp.atomic_add(own.push, i, wp.vec3(x, y, u * y - v * x))


@wp.func
def met_by_cup(first: int, second: int):
    """Role of what the suction cup meets in a contact; NOTHING where it is not in it."""
    if second == OF_CUP:
        return first
    if first == OF_CUP:
        return second
    return NOTHING


@wp.kernel
def feel_depth(contacts: Contacts, seen: Seen, own: Own, at: Topology, rules: Rules):
    """Find the largest force in each world, and how deep the cup is in an object and in a handle."""
    c = wp.tid()
    if not counts(contacts, c):
        return
    i, pair = contacts.world[c], contacts.geom[c]
    first, second = at.roles[pair[0]], at.roles[pair[1]]
    which = pushed(first, second, int(seen.held_object[i]), int(seen.held_handle[i]))
    if which != 0 or rules.scene_force:
        wp.atomic_max(own.force, i, wp.abs(force_of(contacts, i, c)))
    other = met_by_cup(first, second)
    if other >= 0 and other < OF_ROBOT:
        wp.atomic_min(own.near_object, i, contacts.distance[c])
    elif other >= OF_HANDLE:
        wp.atomic_min(own.near_handle, i, contacts.distance[c])


@wp.kernel
def feel_touch(contacts: Contacts, seen: Seen, own: Own, at: Topology):
    """Note what the cup is in the deepest; of two alike the one with the larger number."""
    c = wp.tid()
    if not counts(contacts, c):
        return
    i, pair = contacts.world[c], contacts.geom[c]
    other, depth = met_by_cup(at.roles[pair[0]], at.roles[pair[1]]), contacts.distance[c]
    if other >= 0 and other < OF_ROBOT and depth == own.near_object[i]:
        wp.atomic_max(seen.touched_object, i, wp.int64(other))
    elif other >= OF_HANDLE and depth == own.near_handle[i]:
        wp.atomic_max(seen.touched_handle, i, wp.int64(other - OF_HANDLE))


@wp.kernel
def note_peaks(contacts: Contacts, own: Own):
    """Remember the most rows and dofs that a world ever had."""
    i = wp.tid()
    wp.atomic_max(own.peaks, MOST_ROWS, contacts.row_count[i])
    wp.atomic_max(own.peaks, MOST_DOFS, contacts.dof_count[i])
