"""`python -m reqall` is the command line."""

from reqall.cli import main

main()
