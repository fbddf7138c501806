import re
import shutil

import pytest

from tests import mutations
from tests.helpers import ROOT


def test_every_mutation_still_fits_the_code(tmp_path):
    """When this fails, the code has moved on: give the mutation its new text."""
    shutil.copytree(ROOT / "ver", tmp_path / "ver", ignore=shutil.ignore_patterns("__pycache__"))
    assert len({mutation.name for mutation in mutations.MUTATIONS}) == len(mutations.MUTATIONS)
    for mutation in mutations.MUTATIONS:
        original = mutations.apply(mutation, tmp_path)
        compile((tmp_path / mutation.path).read_text(), mutation.path, "exec")
        (tmp_path / mutation.path).write_text(original)


def test_a_mutation_that_does_not_fit_is_refused(tmp_path):
    (tmp_path / "a.py").write_text("one two one")
    with pytest.raises(ValueError, match="2 times"):
        mutations.apply(mutations.Mutation("twice", "a.py", "one", "three"), tmp_path)


def test_the_documents_table_is_of_these_mutations_and_of_tests_that_there_are():
    rows = (ROOT / "docs/mutations.md").read_text().split("|---|---|---|\n")[1].splitlines()
    cells = [re.split(r"(?<!\\)\|", row) for row in rows]
    assert [row[1].strip().replace("\\|", "|") for row in cells] == [
        mutation.name for mutation in mutations.MUTATIONS
    ]
    for row in cells:
        path, name = row[3].strip().split(" ")[0].split("[")[0].split("::")
        assert f"def {name}(" in (ROOT / "tests/ver" / path).read_text()
