"""The formulas, one file a family. Importing this package enters all of them into the registry."""

from . import counts

__all__ = ["counts"]
