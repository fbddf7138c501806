"""The one error that command lines turn into a one-line message."""


class UserError(ValueError):
    """Bad input from a person: the message is one line and names the mend."""
