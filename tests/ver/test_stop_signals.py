import os
import signal
import threading

from ver import stop_signals
from ver.stop_signals import StopSignals


def test_one_signal_ends_collection_and_a_second_one_learning():
    before = signal.getsignal(signal.SIGTERM)
    with StopSignals() as signals:
        assert not signals.heard
        os.kill(os.getpid(), signal.SIGTERM)
        assert signals.heard
        assert not signals.urgent
        os.kill(os.getpid(), signal.SIGINT)
        assert signals.urgent
    assert signal.getsignal(signal.SIGTERM) is before


def test_learning_that_takes_long_ends_after_one(monkeypatch):
    monkeypatch.setattr(stop_signals, "_LEARNING_GRACE_S", 0.0)
    with StopSignals() as signals:
        assert not signals.urgent
        os.kill(os.getpid(), signal.SIGTERM)
        assert signals.urgent


def test_outside_the_main_thread_nothing_is_caught():
    found = []

    def run():
        before = signal.getsignal(signal.SIGTERM)
        with StopSignals():
            found.append(signal.getsignal(signal.SIGTERM) is before)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [True]
