"""The kinds of files that steelyard writes, and how each is known again: a file of another kind is not replaced."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

LOOKED_AT = 1 << 13  # bytes at either end
ENDING_OF_MARKDOWN = "<!-- made by steelyard -->"
_ESTIMATES = "measure,class,average,value,low,high,se,n,method,note"
# How the tables of all commands begin.
_TABLES = (
    rf"(model,)?(slice,)?{_ESTIMATES}",
    r"threshold,tp,fn,fp,tn(,.*)?",
    "class,forecast,frequency,rows,low,high",
    "name,better,span,of,computed,says",
    "name,title,also,beware(,with a class)?,says,better,span,by chance,of,computed,parameters,undefined,source",
    "tally,rows,files",
    "split,k,accuracy,training",
    "split,measure,model,value,rank",
    "seed,rule,scaling,CR,Ac,AS(,CR [0-9]+)*(,reassigned,frequency_gap)?",
    "region,n,weight,mean,alpha,beta,certainty,correct,scaled_alpha,scaled_beta,scaled_by(,.*)?",
    "design,sd_response,sd,classifier,measure,estimator,truth,mean,bias,se,deviation,rmse",
)
_OBJECTS = (rb'"steelyard":\s', rb'"name": "[a-z_0-9]+",\s+"(better|title)":\s')


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes:
        title: What messages call it.
        begins: A pattern of its first bytes.
        ends: A pattern of its last bytes.
    """

    title: str
    begins: bytes = b""
    ends: bytes = b""

    def is_like(self, path: Path) -> bool:
        """Whether a file is empty or of this kind."""
        with path.open("rb") as file:
            head = file.read(LOOKED_AT)
            size = file.seek(0, 2)
            file.seek(max(size - LOOKED_AT, 0))
            tail = file.read(LOOKED_AT)
        if not head:
            return True
        return bool(re.match(self.begins, head, re.DOTALL) and re.search(self.ends + rb"\Z", tail, re.DOTALL))


TALLY = Kind("a steelyard tally", rb'\xff\xff\xff\xff.*"format": "steelyard tally"')
REPORT = Kind("a steelyard report", rb'\s*<!doctype html>.*<meta name="generator" content="steelyard ')
JSON = Kind("JSON that steelyard wrote", rb"(\[\s*)?\{\s*(" + b"|".join(_OBJECTS) + b")")
CSV = Kind("CSV that steelyard wrote", b"(" + "|".join(_TABLES).encode().replace(b".*", rb"[^\n]*") + rb")\r?(\n|\Z)")
# Names in quotes and numbers of 17 decimals, as few others write them: the names are those of any classes.
SCALED = Kind(
    "scaled memberships that steelyard wrote", rb'"(?:[^"]|"")*"(,"(?:[^"]|"")*")+\n(?:[01]\.[0-9]{17}[,\n]|\Z)'
)
SCALING = Kind("a steelyard partition scaling", rb'\s*\{\s*"format":\s*"steelyard partition scaling"')
MARKDOWN = Kind("Markdown that steelyard wrote", rb"", re.escape(ENDING_OF_MARKDOWN).encode() + rb"\s*")
PICTURE = Kind("a PNG picture", rb"\x89PNG\r\n\x1a\n")
