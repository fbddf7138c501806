"""Pictures of episodes and of homes."""
