"""Shaded pictures for people: warm sun, soft sky light, shadows, floors and cut-away walls."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rearrange.render.camera import Camera, look_at
from rearrange.render.caster import NO_IMAGE, GeomTable, cast
from rearrange.render.meshes.library import MESH, NO_TEXTURE, MeshGeoms
from rearrange.render.meshes.painting import paint_meshes
from rearrange.render.meshes.planes import PlaneLooks
from rearrange.render.painting import LANES
from rearrange.render.projection import BOX, PLANE, WORK_SHAPE
from rearrange.render.shading import PLAIN, PLANKS, TILES, shade
from rearrange.scenes.apartment import CEILING_GROUP, WALL_GROUP

Array = NDArray[Any]

SKY_SIZE = 384  # texels along the side of a sky lamp's shadow image
KEY = np.array((0.95, 0.86, 0.72))  # light of the sun, linear
SKY = np.array((0.52, 0.56, 0.62))  # light of the sky on what faces up
GROUND = np.array((0.47, 0.44, 0.41))  # light from below


@dataclass(frozen=True)
class RgbOptions:
    """How a picture is lit and what is left out of it.

    Attributes:
        samples: Samples per pixel side; 2 smooths edges, and shades flat pixels only once.
        shadow_size: Side of the sun's shadow image in texels, 0 for no shadows.
        sky_lamps: Lamps of the sky dome that make soft shade in corners, 0 for none.
        sun: Direction towards the sun [3], any length.
        outline: How much darker the rim of a geom in front of another is, in [0, 1].
        clip_above: Cut everything higher than this, metres, or None.
        cut_walls: Leave out walls that stand between the camera and `focus`.
        wall_group: Geom group of walls.
        ceiling_group: Geom group that casts no shadow.
        focus: The point [3] to be seen, or None for the middle of the walls.
        floors: Draw planks or tiles on planes and on slabs that lie on the ground.
        near: Smallest depth that is seen, metres.
        far: Largest depth that is seen, metres.
    """

    samples: int = 2
    shadow_size: int = 1536
    sky_lamps: int = 20
    sun: tuple[float, float, float] = (0.45, -0.35, 1.0)
    outline: float = 0.15
    clip_above: float | None = None
    cut_walls: bool = False
    wall_group: int = WALL_GROUP
    ceiling_group: int = CEILING_GROUP
    focus: tuple[float, float, float] | None = None
    floors: bool = True
    near: float = 0.02
    far: float = 80.0


@dataclass
class _Stage:
    """The geoms of one picture, M of them, after cutting; those that show meshes are the last."""

    kinds: Array  # [M]
    sizes: Array  # [M, 4]
    xpos: Array  # [M, 3]
    xmat: Array  # [M, 9]
    rgba: Array  # [M, 4]
    groups: Array  # [M]
    meshes: MeshGeoms | None
    planes: PlaneLooks | None  # of the others

    def cast(
        self, eye: Array, axes: Array, lens: Array, buffer: Array, tags: Array | None,
        faces: Array | None, width: int,
    ) -> None:  # fmt: skip
        """Cast inverse depth into buffer, indices in [0, M) into tags and triangles of meshes into faces."""
        ids = np.flatnonzero(self.kinds != MESH)
        cast(
            self.kinds, ids, self.sizes, self.xpos, self.xmat, eye, axes, lens,
            np.zeros(WORK_SHAPE), buffer, tags, NO_IMAGE, width, 1.0,
        )  # fmt: skip
        shown = self.meshes
        if shown is not None:
            rows = np.arange(len(ids), len(self.kinds))
            paint_meshes(
                shown.library.packed, rows, rows, shown.meshes, shown.scales, self.xpos, self.xmat,
                eye, axes, lens, buffer, tags, faces, NO_IMAGE, width, 1.0,
            )  # fmt: skip

    @property
    def is_plain(self) -> bool:
        """True without meshes and textures."""
        return self.meshes is None and self.planes is None

    def looks(self, faces: Array | None) -> tuple[Any, ...] | None:
        """How meshes look, for `shade`; None without any, and without textured planes."""
        shown, planes = self.meshes, self.planes
        if planes is not None:
            shown = shown or MeshGeoms.of(planes.library, [])
        if shown is None:
            return None
        known = (shown.library.packed, shown.meshes, shown.scales, shown.textures, shown.repeats)
        return faces, len(self.kinds) - len(shown.ids), known

    def textures(self) -> tuple[Any, ...] | None:
        """Textures of planes, for `shade`; None without any."""
        planes = self.planes
        return planes and (planes.library.packed, planes.textures, planes.steps)

    def keep(self, mask: Array) -> "_Stage":
        """The geoms where mask [M] is true."""
        fields = (self.kinds, self.sizes, self.xpos, self.xmat, self.rgba, self.groups)
        kept = [np.ascontiguousarray(values[mask]) for values in fields]
        meshes = self.meshes and self.meshes.keep(mask[self.kinds == MESH])
        planes = self.planes and self.planes.keep(mask[self.kinds != MESH])
        return _Stage(*kept, meshes=meshes, planes=planes)


def _stage(table: GeomTable, geom_xpos: Array, geom_xmat: Array, eye: Array, o: RgbOptions):
    """Collect the geoms that a picture shows."""
    ids, kinds, sizes, meshes = table.ids, table.kinds.copy(), table.sizes.copy(), table.meshes
    if meshes is not None:
        ids = np.concatenate([ids, meshes.ids])
        kinds = np.append(kinds, np.full(len(meshes.ids), MESH))
        sizes = np.concatenate([sizes, meshes.sizes])
    xmat = np.asarray(geom_xmat, float).reshape(-1, 9)[ids]
    xpos = np.asarray(geom_xpos, float)[ids]
    colours, groups = table.rgba[ids], table.groups[ids]
    stage = _Stage(kinds, sizes, xpos, xmat, colours, groups, meshes, table.planes)
    if o.clip_above is not None:
        stage = _clip(stage, o.clip_above)
    if o.cut_walls:
        stage = _cut_walls(stage, eye, o)
    return stage


def _clip(stage: _Stage, height: float) -> _Stage:
    """Cut upright boxes off at a height; drop what lies above it."""
    up = np.abs(stage.xmat[:, 6:9])
    extent = np.where(stage.kinds == PLANE, 0.0, (up * stage.sizes[:, :3]).sum(axis=1))
    low, high = stage.xpos[:, 2] - extent, stage.xpos[:, 2] + extent
    axis = up.argmax(axis=1)
    upright = (stage.kinds == BOX) & (up.max(axis=1) > 0.9999) & (high > height) & (low < height)
    rows = np.flatnonzero(upright)
    stage.sizes[rows, axis[rows]] = 0.5 * (height - low[rows])
    stage.xpos[rows, 2] = 0.5 * (height + low[rows])
    return stage.keep((low < height) & (upright | (stage.xpos[:, 2] <= height)))


def _cut_walls(stage: _Stage, eye: Array, o: RgbOptions) -> _Stage:
    """Drop each wall that has the camera on one side and the focus on the other."""
    wall = (stage.groups == o.wall_group) & (stage.kinds == BOX)
    if not wall.any():
        return stage
    center = stage.xpos[wall]
    middle = 0.5 * (center.min(axis=0) + center.max(axis=0))
    focus = np.asarray(o.focus if o.focus is not None else middle, float)
    axis = stage.sizes[:, :2].argmin(axis=1)  # walls are thin along one of their horizontal axes
    rows = np.arange(len(axis))
    normal = stage.xmat.reshape(-1, 3, 3)[rows, :, axis]
    thickness = stage.sizes[rows, axis]
    camera_side = ((eye - stage.xpos) * normal).sum(axis=1)
    focus_side = ((focus - stage.xpos) * normal).sum(axis=1)
    between = (camera_side * focus_side < 0.0) & (np.abs(camera_side) > thickness)
    return stage.keep(~(wall & between))


def _styles(stage: _Stage, floors: bool) -> Array:
    """Floor pattern of every geom [M]: tiles where it is greyish, planks elsewhere, none over textures."""
    styles = np.full(len(stage.kinds), PLAIN, np.int64)
    if not floors:
        return styles
    top = stage.xpos[:, 2] + stage.sizes[:, 2]
    slab = (stage.kinds == BOX) & (np.abs(top) < 0.004) & (stage.sizes[:, :2].min(axis=1) > 0.5)
    floor = (stage.kinds == PLANE) | slab
    colour = stage.rgba[:, :3]
    grey = colour.max(axis=1) - colour.min(axis=1) < 0.12
    styles[floor] = np.where(grey, TILES, PLANKS)[floor]
    if stage.planes is not None:
        textured = np.flatnonzero(stage.planes.textures != NO_TEXTURE)
        styles[textured] = PLAIN
    return styles


def _lamp_directions(o: RgbOptions) -> Array:
    """Directions [1 + sky_lamps, 3] towards the sun and, spread evenly, over the sky."""
    index = np.arange(o.sky_lamps) + 0.5
    z = 0.12 + 0.86 * index / max(o.sky_lamps, 1)
    angle = index * math.pi * (3.0 - math.sqrt(5.0))
    rim = np.sqrt(1.0 - z * z)
    sky = np.stack([rim * np.cos(angle), rim * np.sin(angle), z], axis=1)
    sun = np.asarray(o.sun, float)
    return np.concatenate([[sun / np.linalg.norm(sun)], sky])


def _extent(stage: _Stage, eye: Array) -> tuple[Array, float]:
    """Middle [3] and radius of what is worth lighting: the finite geoms within 15 m."""
    near = (stage.sizes[:, 3] < 20.0) & (np.linalg.norm(stage.xpos - eye, axis=1) < 15.0)
    near &= stage.kinds != PLANE
    if not near.any():
        return np.array((eye[0], eye[1], 0.0)), 3.0
    extent = np.abs(stage.xmat.reshape(-1, 3, 3)[near] * stage.sizes[near, None, :3]).sum(axis=2)
    low = (stage.xpos[near] - extent).min(axis=0)
    high = (stage.xpos[near] + extent).max(axis=0)
    return 0.5 * (low + high), 0.5 * float(np.linalg.norm(high - low)) + 0.1


class _Lamps:
    """Inverse depth images of the scene from far away, towards which light is traced."""

    def __init__(self, stage: _Stage, middle: Array, radius: float, o: RgbOptions) -> None:
        directions = _lamp_directions(o)
        away = 8.0 * radius
        self.eyes = middle + away * directions
        self.axes = np.stack([look_at(eye, middle) for eye in self.eyes])
        reach = radius / math.sqrt(away * away - radius * radius)
        self.lens = np.array((reach, reach, 0.1 * radius, away + 3.0 * radius))
        self.sun = np.empty((o.shadow_size // LANES * LANES,) * 2, np.float32)
        self.sky = np.empty((o.sky_lamps, SKY_SIZE, SKY_SIZE), np.float32)
        sizes = np.array((max(len(self.sun), 1), SKY_SIZE))
        self.offsets = 3.0 * radius / sizes + 0.004
        blockers = stage.keep((stage.groups != o.ceiling_group) & (stage.kinds != PLANE))
        for k, image in enumerate([self.sun, *self.sky]):
            if image.size:
                blockers.cast(self.eyes[k], self.axes[k], self.lens, image, None, None, len(image))


def _tone_table() -> Array:
    """Display value [4096], uint8, of linear light in [0, 2]: soft shoulder, then sRGB gamma."""
    light = np.linspace(0.0, 2.0, 4096)
    knee = 0.72
    over = np.maximum(light - knee, 0.0)
    light = np.minimum(light, knee) + (1.0 - knee) * (1.0 - np.exp(-over / (1.0 - knee)))
    gamma = np.where(light < 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.clip(gamma * 255.0 + 0.5, 0, 255).astype(np.uint8)


_TONES = _tone_table()


def render_rgb(
    table: GeomTable,
    geom_xpos: Array,
    geom_xmat: Array,
    camera: Camera,
    position: Array,
    rotation: Array,
    options: RgbOptions = RgbOptions(),
    depth: Array | None = None,
) -> Array:
    """Render a shaded picture.

    Args:
        table: Geoms of the model.
        geom_xpos: Geom positions [ngeom, 3], world frame, metres, as in mjData.
        geom_xmat: Geom rotations [ngeom, 9], row-major, as in mjData.
        camera: Lens and image size.
        position: Camera position [3], world frame, metres.
        rotation: World-from-camera rotation [3, 3], columns (right, up, backward).
        options: Light, and what is left out.
        depth: Where to write the z-depth of the picture [H, W], float32, or None.

    Returns:
        sRGB picture [H, W, 3], uint8.
    """
    o = options
    eye, axes = np.array(position, float), np.array(rotation, float)
    stage = _stage(table, geom_xpos, geom_xmat, eye, o)
    samples = max(o.samples, 1)
    height, width = camera.height * samples, camera.width * samples
    buffer = table.scratch("picture", height, width, np.float32)
    tags = table.scratch("picture ids", height, width, np.int32)
    faces = None if stage.is_plain else np.empty(buffer.shape, np.int32)
    lens = np.array((camera.half_width, camera.half_height, o.near, o.far))
    stage.cast(eye, axes, lens, buffer, tags, faces, width)
    middle, radius = _extent(stage, eye)
    lamps = _Lamps(stage, middle, radius, o)
    if depth is not None:
        q = buffer[samples // 2 :: samples, samples // 2 : width : samples]
        depth[...] = 1.0 / q
    out = np.empty((camera.height, camera.width, 3), np.uint8)
    blur = 2.0 * camera.half_width / camera.width
    surface = (
        stage.rgba[:, :3] ** 2.2,
        _styles(stage, o.floors),
        blur,
        np.array((middle[0], middle[1], 1.2 * radius)),
    )
    shadows = (lamps.sun, lamps.sky, lamps.axes, lamps.eyes, lamps.lens, lamps.offsets)
    light = (*shadows, KEY, SKY, GROUND)
    geoms = (stage.kinds, stage.sizes, stage.xpos, stage.xmat)
    looks, planes = stage.looks(faces), stage.textures()
    shade(
        buffer, tags, looks, planes, samples, eye, axes, lens, geoms, surface, light, o.outline, _TONES,
        out,
    )  # fmt: skip
    return out
