"""``python -m steelyard``."""

import sys

from .cli import main

sys.exit(main())
