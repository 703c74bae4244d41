# SPDX-License-Identifier: Apache-2.0
"""How a check says that it cannot be made here."""


class Skip(Exception):
    """Raised by a check; the text says why."""
