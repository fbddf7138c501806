"""Habitat as a simulator and as a source of episodes; habitat-sim runs in processes of its own."""
