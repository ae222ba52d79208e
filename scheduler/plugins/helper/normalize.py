"""Scores of any size brought between 0 and 100 (upstream: ``helper.DefaultNormalizeScore``)."""

from __future__ import annotations

import numpy as np

from scheduler.framework.integers import quotient
from scheduler.framework.interface import MAX_NODE_SCORE
from scheduler.framework.rejections import Column


def default_normalize(scores: Column, *, reverse: bool) -> Column:
    """int64[rows]: each score's share of the largest one in hundredths; ``reverse`` makes few better than many.

    When every score is zero, they stay zero, or all become 100 in reverse.
    """
    largest = int(scores.max(initial=0))
    if largest == 0:
        return np.full(len(scores), MAX_NODE_SCORE, np.int64) if reverse else scores
    shares = quotient(scores * np.int64(MAX_NODE_SCORE), largest)
    return MAX_NODE_SCORE - shares if reverse else shares
