"""Shared vectors: what every holder's side, in whatever language, must send and must refuse.

``python -m vectors -o vectors.json.gz --refusals refusals.json.gz`` writes them; see :mod:`vectors.__main__`.
"""
