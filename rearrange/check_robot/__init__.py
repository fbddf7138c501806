"""Checks of a robot from files: what is missing or odd in words, and a sheet."""
