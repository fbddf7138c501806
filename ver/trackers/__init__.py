"""Experiment trackers: where a run is also logged, beside the files in its directory."""

from ver.trackers.tracker import TRACKERS, Tracker, find_tracker, open_tracker

__all__ = ["TRACKERS", "Tracker", "find_tracker", "open_tracker"]
