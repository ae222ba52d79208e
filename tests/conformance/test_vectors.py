"""kube-scheduler's recorded answers, area by area: every field that the existing plugins decide must be the same."""

from __future__ import annotations

import pytest

from tests.conformance.harness import DATA, judge, vectors

AREAS = ("resources", "node", "ports", "images", "gates")


@pytest.mark.parametrize("area", AREAS)
def test_answers_are_kube_schedulers(area: str) -> None:
    verdicts = [judge(vector) for vector in vectors(DATA / f"{area}.jsonl.gz")]
    differences = [line for verdict in verdicts for line in verdict.differences]
    compared = sum(len(verdict.compared) for verdict in verdicts)
    whole = sum(not verdict.passed_over for verdict in verdicts)
    print(f"{area}: {len(verdicts)} vectors, {whole} of them in full, {compared} fields compared")
    assert not differences, f"{len(differences)} differences, the first: " + "\n".join(differences[:5])
    assert verdicts
    assert all(verdict.compared or verdict.passed_over for verdict in verdicts)
