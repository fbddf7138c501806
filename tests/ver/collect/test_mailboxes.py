import numpy as np

from tests.helpers.toy_spaces import BOX, VECTOR
from ver.collect.mailboxes import make_mailboxes
from ver.shared.outcomes import NO_ACTION


def test_rows_have_the_shapes_of_the_spaces_and_begin_without_an_action():
    mailboxes = make_mailboxes(VECTOR, BOX, 5, 2)
    arrays = mailboxes.arrays
    assert arrays["action"].shape == (5, 2)
    assert arrays["observation/x"].shape == arrays["final_observation/x"].shape == (5, 3)
    assert (arrays["outcome"] == NO_ACTION).all()
    assert len(mailboxes.action_bells) == len(arrays["busy_since"]) == 3  # 2 + 2 + 1


def test_inference_is_woken_once_as_many_requests_as_it_wants_are_ready():
    mailboxes = make_mailboxes(VECTOR, BOX, 4, 2)
    mailboxes.arrays["wanted"][0] = 3
    mailboxes.send_requests([0, 1])
    assert not mailboxes.request_bell.wait(0.0)
    mailboxes.send_requests([3])
    assert mailboxes.request_bell.wait(0.0)
    assert mailboxes.arrays["request_ready"].tolist() == [1, 1, 0, 1]


def test_only_workers_of_the_environments_are_woken_and_all_at_the_end():
    mailboxes = make_mailboxes(VECTOR, BOX, 5, 2)
    rung = []
    mailboxes.action_bells = [
        type("Bell", (), {"ring": lambda self, k=k: rung.append(k)})() for k in range(3)
    ]
    mailboxes.send_actions(np.array([2, 4]))
    assert mailboxes.arrays["action_ready"].tolist() == [0, 0, 1, 0, 1]
    assert not rung
    mailboxes.wake_workers(np.array([2, 3, 4]))
    assert sorted(rung) == [1, 2]
    rung.clear()
    mailboxes.stop()
    assert rung == [0, 1, 2]
    assert mailboxes.arrays["stop"][0] == 1
