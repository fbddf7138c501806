"""What all tests share."""

from hypothesis import settings

# A deadline for an example would be a timed assertion, and fail on a busy machine. The fast suite tries the
# same examples every time, so that it fails because of a change; scripts/test.sh --slow searches for new ones
settings.register_profile("searching", deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")
