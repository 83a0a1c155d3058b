"""Print the register as a table: ``python -m conformance.selftest.hostile``."""

import sys

from conformance.selftest.hostile.register import table

sys.stdout.write(table())
