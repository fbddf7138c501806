"""What all tests share."""

from hypothesis import settings

# A deadline for an example would be a timed assertion, and fail on a busy machine
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
