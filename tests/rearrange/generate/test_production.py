import pytest

from rearrange.generate.production import Batch, Order, produce, write


@pytest.mark.usefixtures("one_variation")
def test_batches_cover_every_episode_once():
    found = [sorted(batch.lines) for batch in produce(Order("pick", "val", 13), workers=1)]
    assert found == [list(range(10)), [10, 11, 12]]


def test_batches_add_up(tmp_path):
    made = Batch()
    made.add(Batch({1: "b"}, {}, made.rejected.__class__(moved=1)))
    made.add(Batch({0: "a"}, {}, made.rejected.__class__(moved=2)))
    assert made.lines == {0: "a", 1: "b"}
    assert made.rejected == {"moved": 3}
    with pytest.raises(RuntimeError, match="1 of 3"):
        write(Order("pick", "val", 3), Batch({0: "a"}), tmp_path / "x")
