"""gosort: the order in which Go's ``sort.Slice`` and ``sort.Sort`` leave equals.

kube-scheduler sorts with them, they are not stable, and what is equal decides all the same: the first of two pods of equal importance
is spared. So this is Go's algorithm (since Go 1.19), comparison for comparison; whoever has no equals need not come here::

    up to 12 left ──> insertion, which is stable
    too many bad pivots ──> heap
    the last pivot was a bad one ──> three elements swapped with pseudorandom others (the seed is the length)
    pivot: the median of three, from 50 elements on of three medians
        all of these in descending order ──> reverse everything first
        all in order ──> perhaps it is sorted already: repair a few neighbours, and see
    nothing here is below the pivot ──> split into equals and greater ones
    else ──> split into smaller and others; the smaller part recursively, then the greater one

A ``less`` that contradicts itself, as "started now" does when it is asked twice, gets Go's answer, too.

Upstream: ``pdqsort_func`` in Go's package ``sort``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

T = TypeVar("T")
Less = Callable[[T, T], bool]

_SHORT: Final = 12
"""Up to here by insertion."""
_LONG: Final = 50
"""From here on it is worth asking for more medians, and repairing neighbours."""
_MOST_SWAPS: Final = 12
"""How many swaps the choice of a pivot makes among nine elements that descend."""
_REPAIRS: Final = 5
_UINT64: Final = (1 << 64) - 1


def go_sorted(items: Sequence[T], less: Less[T]) -> list[T]:
    """The items in the order of ``less(one, other)``, whether one comes before the other; equals as Go leaves them."""
    sorting = _Sorting(list(items), less)
    sorting.sort(0, len(items), len(items).bit_length())
    return sorting.items


@dataclass(slots=True)
class _Sorting(Generic[T]):
    """The items as far as they are sorted. All ranges are from ``start`` up to, but not including ``end``."""

    items: list[T]
    less: Less[T]

    def before(self, one: int, other: int) -> bool:
        """Whether the item at one place comes before that at another."""
        return self.less(self.items[one], self.items[other])

    def swap(self, one: int, other: int) -> None:
        items = self.items
        items[one], items[other] = items[other], items[one]

    def sort(self, start: int, end: int, patience: int) -> None:
        """Sort a range; ``patience`` is how many bad pivots are borne."""
        balanced = orderly = True
        while end - start > _SHORT:
            if patience == 0:
                self.heap(start, end)
                return
            if not balanced:
                self.scatter(start, end)
                patience -= 1
            pivot, ascending = self.pivot(start, end)
            if balanced and orderly and ascending and self.repair(start, end):
                return
            if start > 0 and not self.before(start - 1, pivot):
                start = self.split_equals(start, end, pivot)
                continue
            length = end - start
            middle, orderly = self.split(start, end, pivot)
            left, right = middle - start, end - middle
            balanced = min(left, right) >= length // 8
            if left < right:
                self.sort(start, middle, patience)
                start = middle + 1
            else:
                self.sort(middle + 1, end, patience)
                end = middle
        self.insertion(start, end)

    def insertion(self, start: int, end: int) -> None:
        """Put one item after the other into its place among those before it."""
        items, less = self.items, self.less
        for place in range(start + 1, end):
            item, goal = items[place], place
            while goal > start and less(item, items[goal - 1]):
                goal -= 1
            if goal < place:
                del items[place]
                items.insert(goal, item)

    def heap(self, start: int, end: int) -> None:
        """Make a heap with the last on top, and take one after the other off it."""
        length = end - start
        for root in range((length - 1) // 2, -1, -1):
            self.sink(start, root, length)
        for last in range(length - 1, -1, -1):
            self.swap(start, start + last)
            self.sink(start, 0, last)

    def sink(self, start: int, root: int, length: int) -> None:
        """Let the item at a place of the heap sink below those that come after it."""
        while (child := 2 * root + 1) < length:
            if child + 1 < length and self.before(start + child, start + child + 1):
                child += 1
            if not self.before(start + root, start + child):
                return
            self.swap(start + root, start + child)
            root = child

    def scatter(self, start: int, end: int) -> None:
        """Swap the three items in the middle with others, so that no pattern makes for bad pivots again and again."""
        length = state = end - start
        middle = start + length // 4 * 2
        for place in range(middle - 1, middle + 2):
            state ^= state << 13 & _UINT64
            state ^= state >> 7
            state ^= state << 17 & _UINT64
            other = state & ((1 << length.bit_length()) - 1)
            self.swap(place, start + (other - length if other >= length else other))

    def pivot(self, start: int, end: int) -> tuple[int, bool]:
        """A place whose item is likely in the middle, and whether all that was looked at is in order."""
        length = end - start
        places = [start + length // 4 * quarter for quarter in (1, 2, 3)]
        swaps = 0
        if length >= _LONG:
            for number, place in enumerate(places):
                places[number], made = self.median(place - 1, place, place + 1)
                swaps += made
        pivot, made = self.median(*places)
        swaps += made
        if swaps == _MOST_SWAPS:
            self.items[start:end] = self.items[start:end][::-1]
            return start + end - 1 - pivot, True
        return pivot, swaps == 0

    def median(self, one: int, two: int, three: int) -> tuple[int, int]:
        """Of three places that whose item is in the middle, and how many swaps it took to find it; nothing is moved."""
        swaps = 0
        if self.before(two, one):
            one, two, swaps = two, one, swaps + 1
        if self.before(three, two):
            two, swaps = three, swaps + 1
        if self.before(two, one):
            two, swaps = one, swaps + 1
        return two, swaps

    def repair(self, start: int, end: int) -> bool:
        """Put up to five neighbours in order that are not; whether everything is then. Short ranges are only looked at."""
        place = start + 1
        for _ in range(_REPAIRS):
            while place < end and not self.before(place, place - 1):
                place += 1
            if place == end:
                return True
            if end - start < _LONG:
                return False
            self.swap(place, place - 1)
            self.repair_around(start, place, end)
        return False

    def repair_around(self, start: int, place: int, end: int) -> None:
        """Move the item before a place further down and that at it further up, as far as they go."""
        if place - start >= 2:
            lower = place - 1
            while lower >= 1 and self.before(lower, lower - 1):  # beyond the start, where nothing is greater
                self.swap(lower, lower - 1)
                lower -= 1
        upper = place + 1
        while upper < end and self.before(upper, upper - 1):
            self.swap(upper, upper - 1)
            upper += 1

    def split_equals(self, start: int, end: int, pivot: int) -> int:
        """Put what equals the pivot before what is greater, when nothing is smaller; where the greater ones begin."""
        self.swap(start, pivot)
        low, high = start + 1, end - 1
        while True:
            while low <= high and not self.before(start, low):
                low += 1
            while low <= high and self.before(start, high):
                high -= 1
            if low > high:
                return low
            self.swap(low, high)
            low, high = low + 1, high - 1

    def split(self, start: int, end: int, pivot: int) -> tuple[int, bool]:
        """Put what is smaller than the pivot before it, and the others behind: where it is then, and whether that was so already."""
        self.swap(start, pivot)
        low, high = start + 1, end - 1
        orderly = True
        while True:
            while low <= high and self.before(low, start):
                low += 1
            while low <= high and not self.before(high, start):
                high -= 1
            if low > high:
                self.swap(high, start)
                return high, orderly
            orderly = False
            self.swap(low, high)
            low, high = low + 1, high - 1
