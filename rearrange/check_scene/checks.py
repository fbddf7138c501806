"""Checks of a home that has been read: floor, receptacles, parts and objects."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy import ndimage

from rearrange.errors import UserError
from rearrange.navigation.footprints import Floor, footprints_of
from rearrange.navigation.occupancy import ROBOT_RADIUS
from rearrange.navigation.reach import cut_off
from rearrange.robot import RobotSpec
from rearrange.scenes.apartment import Receptacle
from rearrange.scenes.spec import Door, Part
from rearrange.sim.apartment_model import ApartmentModel
from rearrange.tasks import default_config
from rearrange.tasks.fitness import can_stand_near
from rearrange.tasks.sampling import Scene, fits

LEAST_FLOOR = 1.0  # [m2] on which the robot can stand, without which a home is of no use
WORTH_A_WORD = 0.2  # [m2] of free floor that the robot cannot get to
HEIGHTS = (0.2, 1.35)  # at which Fetch works, roughly; not measured [m]
PLACES = 5  # along each side of a receptacle
HEAVY = 10.0  # [kg] from which on a part is worth a word
LEAST_LEVER = 0.36  # [m], handle from hinge; a test holds it equal to the oracles' own
BEFORE = 0.4  # from where one should stand before a part to where one can [m]


@dataclass
class Checks:
    """Looks at one home.

    Attributes:
        world: The home, compiled.
        robot: Who shall act there.
        facts: What it is, line by line.
        faults: Why it cannot be used.
        remarks: What is odd.
        places: Remark -> point of the floor that it is about [m], where it is about one.
        objects: Slot -> pose, where objects found room.
    """

    world: ApartmentModel
    robot: RobotSpec
    facts: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    places: dict[str, tuple[float, float]] = field(default_factory=dict)
    objects: dict[int, tuple[float, ...]] = field(default_factory=dict)

    def run(self) -> None:
        """Look at everything."""
        home, scene = self.world.apartment, self.world.scene
        width, depth = home.bounds[2:]
        kinds = len(set(scene.slot_kinds))
        self.facts.append(
            f"{scene.name}: {width:.1f} m by {depth:.1f} m, {len(home.solids)} solids, "
            f"{len(home.receptacles)} receptacles, {len(scene.parts)} parts that open, "
            f"{len(scene.objects)} objects of {kinds} kinds"
        )
        if not self._floor():
            return
        reached = [self._receptacle(place) for place in home.receptacles.values()]
        if not any(reached):
            self.faults.append("receptacles: the robot gets at none of them")
        if len(scene.open_receptacles) == 1:
            self.remarks.append(
                f"receptacles: {scene.open_receptacles[0]} is the only one that no part shuts: Place and the "
                "chores carry things from one to another"
            )
        for part in scene.parts:
            self._part(part)
        self._objects()

    def _remark(self, line: str, x: float, y: float) -> None:
        """Remark on something at a point of the floor [m]."""
        self.remarks.append(line)
        self.places[line] = x, y

    def _floor(self) -> bool:
        """Whether there is floor to drive on."""
        grid = self.world.grid
        area = grid.cell**2
        free = float(grid.island.sum()) * area
        self.facts.append(f"floor: the robot's centre has {free:.1f} m2 to stand on")
        if free < LEAST_FLOOR:
            self.faults.append(
                f"floor: {free:.1f} m2 for the robot's centre, at least {LEAST_FLOOR:g} are needed: is there a "
                "mesh that fills the room, or are bounds: too narrow?"
            )
            return False
        elsewhere = (grid.clearance >= ROBOT_RADIUS) & ~grid.island
        labels, count = ndimage.label(elsewhere)  # pyright: ignore[reportGeneralTypeIssues]
        for k in range(1, count + 1):
            cells = np.argwhere(labels == k)
            if len(cells) * area > WORTH_A_WORD:
                x, y = grid.center_of(cells[len(cells) // 2]).tolist()
                self._remark(
                    f"floor: {len(cells) * area:.1f} m2 around ({x:.1f}, {y:.1f}) are free, and the robot, "
                    f"{2 * ROBOT_RADIUS:.1f} m wide, cannot get there",
                    x,
                    y,
                )
        return True

    def _receptacle(self, place: Receptacle) -> bool:
        """Whether the robot gets at it, and objects fit."""
        at = f"receptacles.{place.name}"
        points = _points(place)
        reached = np.array([self._is_reached((x, y)) for x, y in points.tolist()])
        height = place.position[2]
        self.facts.append(
            f"{at}: {2 * place.half_extents[0]:.2f} m by {2 * place.half_extents[1]:.2f} m, "
            f"{height:.2f} m high, {_free(place.clearance)}, within reach: {reached.mean():.0%}"
        )
        x, y = place.position[:2]
        if not reached.any():
            self._remark(f"{at}: there is no place to stand from which the arm reaches it", x, y)
        elif reached.mean() < 0.5:
            self._remark(f"{at}: the arm reaches {reached.mean():.0%} of it", x, y)
        if not HEIGHTS[0] <= height <= HEIGHTS[1]:
            high = f"{height:.2f} m high, and arms work from {HEIGHTS[0]} to {HEIGHTS[1]} m"
            self._remark(f"{at}: it is {high}", x, y)
        fitting = any(fits(kind, place) for kind in self.world.scene.objects)
        if not fitting:
            self._remark(f"{at}: no object fits ({_free(place.clearance)})", x, y)
        return bool(reached.any()) and fitting

    def _part(self, part: Part) -> None:
        """Whether one can stand before it, and it has room to open."""
        at = f"parts.{part.name}"
        home, grid = self.world.apartment, self.world.grid
        frame = self.world.scene.frame_of(home, part.name)
        unit = "rad" if part.turns else "m"
        height, mass = self._handle_height(part), self._mass(part)
        self.facts.append(
            f"{at}: a {'door' if part.turns else 'drawer'} that opens by {part.range[1]:.2f} {unit}, its "
            f"handle {height:.2f} m high, {mass:.1f} kg; tasks: {', '.join(part.tasks) or 'none'}"
        )
        told = filter(None, map(_no_task, part.tasks))
        self.remarks += [f"{at}.tasks: {each}" for each in told]
        if mass > HEAVY:
            self.remarks.append(
                f"{at}: it weighs {mass:.1f} kg, and oracles and policies push doors of a few kilograms: "
                "write mass= into the model, since scale: changes no mass"
            )
        if not HEIGHTS[0] <= height <= HEIGHTS[1]:
            self.remarks.append(
                f"{at}: its handle is {height:.2f} m high, and arms work from {HEIGHTS[0]} to "
                f"{HEIGHTS[1]} m"
            )
        x, y = frame.to_world(part.before(0.0))
        nearest = grid.nearest_navigable(x, y)
        if math.dist(nearest, (x, y)) > BEFORE:
            self._remark(f"{at}: the robot cannot stand before it, at ({x:.1f}, {y:.1f})", x, y)
        x, y = frame.to_world(part.handle_at(0.0))
        if not self._is_reached((x, y)):
            self._remark(
                f"{at}: there is no place to stand from which the arm reaches its handle", x, y
            )
        for share in (0.5, 1.0):
            value = share * part.laid_open
            x, y = frame.to_world(part.handle_at(value))
            if self._is_solid(x, y, height):
                self._remark(
                    f"{at}: {value:.2f} {unit} open, its handle is in something solid", x, y
                )
                break
        if isinstance(part, Door):
            self._door(at, part)

    def _is_reached(self, point: tuple[float, float]) -> bool:
        """Whether the arm gets at a point [m] from somewhere, and not through a wall or tall furniture."""
        grid, here = self.world.grid, np.asarray(point)
        around = [row for row in grid.tall_footprints if not cut_off(row[None], here, here[None])]
        return can_stand_near(grid, point, np.array(around).reshape(-1, 6))

    def _door(self, at: str, part: Door) -> None:
        """Remark on a door whose size is odd, or whose handle is."""
        if part.width > 1.0:
            self.remarks.append(
                f"{at}: the door is {part.width:.1f} m wide, more than an arm can swing"
            )
        lever = math.hypot(part.handle_span[2], part.handle[1])
        if lever < LEAST_LEVER:
            self.remarks.append(
                f"{at}: its handle is {lever:.2f} m from the hinge, and oracles open a door by one that is "
                f"at least {LEAST_LEVER} m from it"
            )

    def _is_solid(self, x: float, y: float, z: float) -> bool:
        """Whether something that stands still is at a point [m]."""
        solids = [
            solid
            for solid in self.world.apartment.solids
            if abs(solid.position[2] - z) < solid.size[1 + (solid.kind == "box")]
        ]
        rows = footprints_of(Floor("", (0.0, 0.0, 0.0, 0.0), solids=tuple(solids)))
        return (
            bool(cut_off(rows, np.array([x, y]), np.array([[x, y]])).any()) if len(rows) else False
        )

    def _handle_height(self, part: Part) -> float:
        model = self.world.model
        return float(model.geom(f"handle_{part.name}").pos[2])

    def _mass(self, part: Part) -> float:
        """All that moves with its joint [kg]."""
        model = self.world.model
        return float(model.body_subtreemass[model.geom(f"handle_{part.name}").bodyid[0]])

    def _objects(self) -> None:
        """How many objects find room together."""
        scene = Scene(self.world.apartment, self.world.grid)
        count = len(self.world.scene.objects)
        scene.add_clutter(range(count), np.random.default_rng(0))
        self.objects = scene.objects
        told = f"objects: {len(scene.objects)} of {count} find room on open receptacles"
        if not scene.objects:
            self.faults.append("objects: none finds room on an open receptacle")
        elif len(scene.objects) < count:
            self.remarks.append(f"{told}: name fewer (objects:), or more receptacles")
        else:
            self.facts.append(told)


def _no_task(name: str) -> str:
    """The error of a task that there is not; "" of one that there is."""
    try:
        default_config(name)
    except UserError as error:
        return str(error)
    return ""


def _points(place: Receptacle) -> np.ndarray:
    """Points of the floor plane under a receptacle [N, 2], m."""
    u, v = (np.linspace(-half, half, PLACES) for half in place.half_extents)
    grid = np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 2)
    c, s = math.cos(place.yaw), math.sin(place.yaw)
    return grid @ np.array([[c, s], [-s, c]]) + place.position[:2]


def _free(clearance: float) -> str:
    return "open above" if clearance > 3.0 else f"{clearance:.2f} m of room above"
