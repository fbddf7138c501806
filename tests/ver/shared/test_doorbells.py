import os
import threading

from ver.shared.doorbells import Doorbell


def test_a_doorbell_keeps_a_ring_and_times_out_without_one():
    bell = Doorbell()
    assert not bell.wait(0.0)
    assert not bell.wait(0.002)
    bell.ring()
    bell.ring()
    assert bell.wait(0.0)
    assert not bell.wait(0.0)


def test_a_patient_doorbell_waits_for_longer_than_it_was_asked_and_loses_no_ring():
    bell, woken = Doorbell(patient=True), []
    bell.ring()
    assert bell.wait(0.0)
    waiter = threading.Thread(target=lambda: woken.append(bell.wait(0.01)), daemon=True)
    waiter.start()
    waiter.join(0.2)
    if hasattr(os, "eventfd"):  # elsewhere it is a pipe, and waits no longer than it was asked
        assert waiter.is_alive()
        bell.ring()
        waiter.join(10.0)
        assert woken == [True]
