"""`python -m eutectic` is the command `eutectic`."""

import sys

from eutectic.cli import main

sys.exit(main())
