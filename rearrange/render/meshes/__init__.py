"""Triangle meshes beside the primitives: trees, packed meshes, images and single rays."""

from rearrange.render.meshes.library import MeshGeoms, MeshLibrary, library_of_model
from rearrange.render.meshes.mesh import Mesh, mesh_of_arrays, mesh_of_corners
from rearrange.render.meshes.rays import cast_rays

__all__ = [
    "Mesh",
    "MeshGeoms",
    "MeshLibrary",
    "cast_rays",
    "library_of_model",
    "mesh_of_arrays",
    "mesh_of_corners",
]
