"""Experiment trackers: where a run is also logged, beside the files in its directory."""

from ver.trackers.tracker import NONE, TRACKERS, Tracker, find_tracker, mark_stage, open_tracker

__all__ = ["NONE", "TRACKERS", "Tracker", "find_tracker", "mark_stage", "open_tracker"]
