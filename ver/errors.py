"""Errors that a user can mend."""


class UserError(Exception):
    """A mistake that the person at the keyboard can mend.

    The message is one line: what was found, what was expected, and how to mend it. Entry points
    print it without a traceback.
    """


class CorruptFileError(UserError):
    """A file is not whole: cut short, or changed since it was written."""


class WriteError(UserError):
    """A file could not be written; whatever was there before is as it was."""


class GradientError(UserError):
    """A gradient is not finite: what led there is not worth keeping."""


class WorkerCrashError(UserError):
    """A worker process failed; `detail` holds its traceback where there is one.

    Args:
        message: One line that names the worker.
        detail: The worker's own traceback, empty when the process was killed.
    """

    def __init__(self, message: str, detail: str = ""):
        super().__init__(message)
        self.detail = detail
