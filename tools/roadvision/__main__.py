# SPDX-License-Identifier: MIT
"""python3 -m roadvision."""
import sys

from roadvision.main import main

sys.exit(main())
