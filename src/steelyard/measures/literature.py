"""Where the names and formulas of measures come from: works that several files of measures cite."""

from __future__ import annotations

LECTURE = "Homrighausen, Classification metrics (lecture)"
ROSS = "Ross, Performance Assessment (lecture)"
MEVIK = "Mevik (2003), Computational Statistics & Data Analysis 46, 689-705"
SONDHAUSS = "Sondhauss & Weihs (2001), Technical Report 2001/31, SFB 475, Universität Dortmund"


def called(source: str, *names: str, at: str = "") -> dict[str, str]:
    """Return names as a work writes them, each with that work and the place there, for ``terms=``."""
    return dict.fromkeys(names, f"{source.partition(',')[0]}{', ' if at else ''}{at}")
