from skills.spa.senses import Senses


def test_a_bump_is_remembered():
    senses = Senses()
    senses.seen.bump(1.0, 0.5)
    assert senses.seen.bumps.sum() == 1
