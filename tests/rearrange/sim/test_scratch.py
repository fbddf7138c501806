from rearrange.sim.scratch import Scratch


def test_an_image_is_made_once_for_each_size():
    scratch, other = Scratch(), Scratch()
    small = scratch.image(16)
    assert scratch.image(16) is small
    assert scratch.image(32) is not small
    assert other.image(16) is not small
    assert scratch.work is not other.work
