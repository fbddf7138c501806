"""Objects from files: meshes or models of single objects, and one YAML file that lists them; docs/homes.md."""

from rearrange.scenes.object_files.apartments import apartments_with
from rearrange.scenes.object_files.declaration import is_object_file
from rearrange.scenes.object_files.kinds import read_objects

__all__ = ["apartments_with", "is_object_file", "read_objects"]
