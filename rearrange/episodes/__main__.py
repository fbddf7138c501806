"""`python -m rearrange.episodes`: makes and checks episode files; see `rearrange.generate.command`."""

from rearrange.generate.command import run

if __name__ == "__main__":
    run()
