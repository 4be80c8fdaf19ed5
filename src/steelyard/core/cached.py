"""Properties that are computed when they are first asked for, and kept in the object."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

__all__ = ["cached_property"]

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property:  # noqa: N801  (as Python calls it)
        """As of Python 3.12: until then, all objects of a class share a lock, and threads wait for each other."""

        def __init__(self, function):
            self._function, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner, name):
            self._name = name

        def __get__(self, instance, owner):
            if instance is None:
                return self
            found = instance.__dict__[self._name] = self._function(instance)
            return found
