"""What is publicly known of every column and of the label, said once."""

from hedgerow.schema.columns import (
    CategoryColumn,
    ClassColumn,
    Column,
    NumberColumn,
    WholeNumberColumn,
    YesNoColumn,
)
from hedgerow.schema.schema import Schema

__all__ = [
    "CategoryColumn",
    "ClassColumn",
    "Column",
    "NumberColumn",
    "Schema",
    "WholeNumberColumn",
    "YesNoColumn",
]
