"""Error against epsilon and people: one picture, wherever it is shown."""

from hedgerow.chart.picture import ErrorPicture, figure_of
from hedgerow.chart.svg import Curve, Point, chart

__all__ = ["Curve", "ErrorPicture", "Point", "chart", "figure_of"]
