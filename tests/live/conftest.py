"""A page that nobody looks at."""

import socket

import pytest

from live.page import Page


@pytest.fixture
def page():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    made = Page("127.0.0.1", port, "test")
    made.pace.speed = 1000.0
    yield made
    made.close()
