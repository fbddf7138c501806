"""The home in files of examples/cottage: an MJCF model with an include and a mesh, and its YAML file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rearrange.scenes import registry
from rearrange.scenes.home_files import read_home

EXAMPLE = Path(__file__).parents[2] / "examples" / "cottage"
SHELL = (EXAMPLE / "cottage.xml").read_text()
FURNITURE = (EXAMPLE / "furniture.xml").read_text()
WORDS = "\n" + (EXAMPLE / "cottage.yaml").read_text()
VASE = (EXAMPLE / "meshes" / "vase.obj").read_text()


def write_home(
    folder: Path,
    name: str = "cottage",
    words: str = WORDS,
    shell: str = SHELL,
    furniture: str = FURNITURE,
) -> Path:
    """Write the files; the YAML one."""
    (folder / "meshes").mkdir(parents=True, exist_ok=True)
    (folder / "meshes" / "vase.obj").write_text(VASE)
    (folder / "cottage.xml").write_text(shell)
    (folder / "furniture.xml").write_text(furniture)
    path = folder / f"{name}.yaml"
    path.write_text(words)
    return path


def hung_the_other_way(furniture: str) -> str:
    """The same furniture, with a cooler whose door hangs at its other side and opens clockwise."""
    for before, after in (
        ('pos="0.34 0.345 0"', 'pos="0.34 -0.345 0"'),
        ('axis="0 0 1"', 'axis="0 0 -1"'),
        ('pos="0.0 -0.345 1.165"', 'pos="0.0 0.345 1.165"'),
        ('fromto="0.05 -0.62 0.82 0.05 -0.62 1.28"', 'fromto="0.05 0.62 0.82 0.05 0.62 1.28"'),
    ):
        assert before in furniture
        furniture = furniture.replace(before, after)
    return furniture


@contextmanager
def known_home(
    folder: Path, name: str, furniture: str = FURNITURE, words: str = WORDS
) -> Iterator[str]:
    """Path of a home that is written, and forgotten at the end."""
    found = write_home(folder, name, words, furniture=furniture).resolve()
    yield str(found)
    registry.unregister_homes(read_home(found).spec)
