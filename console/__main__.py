"""`python -m console`: the command `rearrange` where it is not installed."""

from console.commands import main

if __name__ == "__main__":
    main()
