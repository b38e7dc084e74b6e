"""The examples, one for each task of docs/guide, run as they stand."""

import runpy
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]
EXAMPLES = sorted((HERE / "examples").glob("*.py"))


def test_one_for_each_task():
    assert len(EXAMPLES) == len(list((HERE.parent / "docs" / "guide").glob("[0-9]-*.md")))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example):
    runpy.run_path(str(example))
