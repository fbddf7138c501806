"""Tests: they mirror the packages; `tests.helpers` is what several of them share."""
