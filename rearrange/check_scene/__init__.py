"""Checks of a home from files: what is missing or odd in words, and a contact sheet."""
