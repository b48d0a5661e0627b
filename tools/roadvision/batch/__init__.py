# SPDX-License-Identifier: MIT
"""roadvision batch: many pairs and recordings, over processes and machines."""
