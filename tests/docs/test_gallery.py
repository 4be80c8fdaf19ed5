"""The gallery shows every picture that there is, small enough for a page, under the code that drew it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from steelyard.display.pictures import AcrossPictures, Pictures, TuningPictures

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "gallery.md").read_text(encoding="utf-8")
LARGEST = 60 * 1024


@pytest.fixture(scope="module")
def gallery() -> ModuleType:
    """docs/gallery.py, which is no part of any package."""
    spec = importlib.util.spec_from_file_location("docs_gallery", DOCS / "gallery.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_picture_is_there(gallery: ModuleType) -> None:
    methods = {name for kind in (Pictures, AcrossPictures, TuningPictures) for name in vars(kind) if name[0] != "_"}
    methods -= {"assessments", "across", "tuning"}
    code = "".join(block for block, _ in gallery.examples(PAGE))
    assert set(re.findall(r"\.plot\.(\w+)\(", code)) == methods


def test_every_example_that_draws_has_its_picture(gallery: ModuleType) -> None:
    found = gallery.examples(PAGE)
    for code, picture in found:
        drawn = re.findall(r"\.plot\.(\w+)\(", code)
        assert drawn == ([] if picture is None else [Path(picture).stem])
    pictures = {picture for _, picture in found if picture is not None}
    assert pictures == {f"images/gallery/{file.name}" for file in (DOCS / "images" / "gallery").iterdir()}
    for picture in pictures:
        assert 1024 < (DOCS / picture).stat().st_size <= LARGEST, picture
        assert (DOCS / picture).read_bytes().startswith(b"\x89PNG")
