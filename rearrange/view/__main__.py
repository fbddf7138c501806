"""`python -m rearrange.view`: see `rearrange.view.command`."""

from rearrange.view.command import run

if __name__ == "__main__":
    run()
