"""One page that tells everything: an assessment or a comparison as a single HTML file that needs nothing else."""

from __future__ import annotations

from .page import content_of, page_of, write_report

__all__ = ["content_of", "page_of", "write_report"]
