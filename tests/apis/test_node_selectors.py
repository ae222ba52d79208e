"""Node selectors: terms are alternatives, and a faulty term spoils only itself."""

from __future__ import annotations

import pytest

from scheduler.apis.node_selectors import compile_node_selector, compile_preferred_terms
from scheduler.apis.objects import (
    LabelSelectorRequirement,
    NodeSelector,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
)

LABELS = {"zone": "a", "cpus": "8"}


def requirement(key: str, operator: str, *values: str) -> LabelSelectorRequirement:
    """One expression of a term."""
    return LabelSelectorRequirement(key=key, operator=operator, values=values)


def term(
    *expressions: LabelSelectorRequirement, name: LabelSelectorRequirement | None = None
) -> NodeSelectorTerm:
    """A term with these expressions and perhaps one on the node's fields."""
    return NodeSelectorTerm(match_expressions=expressions, match_fields=(name,) if name else ())


def on_name(operator: str, *values: str) -> NodeSelectorTerm:
    """A term on the node's name alone."""
    return term(name=requirement("metadata.name", operator, *values))


@pytest.mark.parametrize(
    ("terms", "matches"),
    [
        pytest.param([], False, id="no terms match nothing"),
        pytest.param([term()], False, id="an empty term matches nothing"),
        pytest.param([term(requirement("zone", "In", "a", "b"))], True, id="In"),
        pytest.param([term(requirement("zone", "NotIn", "a"))], False, id="NotIn"),
        pytest.param([term(requirement("rack", "NotIn", "a"))], True, id="NotIn without the label"),
        pytest.param([term(requirement("zone", "Exists"))], True, id="Exists"),
        pytest.param([term(requirement("rack", "DoesNotExist"))], True, id="DoesNotExist"),
        pytest.param([term(requirement("cpus", "Gt", "7"))], True, id="Gt"),
        pytest.param([term(requirement("cpus", "Lt", "8"))], False, id="Lt"),
        pytest.param([term(requirement("zone", "Gt", "1"))], False, id="Gt of no number"),
        pytest.param([term(requirement("rack", "Lt", "1"))], False, id="Lt without the label"),
        pytest.param(
            [term(requirement("zone", "In", "a"), requirement("cpus", "Lt", "8"))], False, id="all of a term"
        ),
        pytest.param(
            [term(requirement("zone", "In", "b")), term(requirement("cpus", "Gt", "1"))],
            True,
            id="one of the terms",
        ),
        pytest.param([on_name("In", "n1")], True, id="name"),
        pytest.param([on_name("In", "n2")], False, id="another name"),
        pytest.param([on_name("NotIn", "n2")], True, id="not that name"),
        pytest.param([term(name=requirement("spec.x", "In", ""))], True, id="an unknown field is empty"),
        pytest.param(
            [term(requirement("zone", "In", "a"), name=requirement("metadata.name", "In", "n2"))],
            False,
            id="expressions and fields both",
        ),
    ],
)
def test_a_node_selector_matches(terms: list[NodeSelectorTerm], matches: bool) -> None:
    compiled = compile_node_selector(NodeSelector(node_selector_terms=tuple(terms)))
    assert compiled.match(LABELS, "n1") == (matches, ())


@pytest.mark.parametrize(
    ("faulty", "complaint"),
    [
        (
            term(requirement("a", "Foo")),
            (
                'nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "Foo": supported values: '
                '"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'
            ),
        ),
        (
            term(requirement("a", "Gt", "x")),
            (
                'nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: "x": '
                "for 'Gt', 'Lt' operators, the value must be an integer"
            ),
        ),
        (
            term(requirement("a", "Lt", "1", "2")),
            (
                'nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: ["1","2"]: '
                "for 'Gt', 'Lt' operators, exactly one value is required"
            ),
        ),
        (
            on_name("In"),
            "nodeSelectorTerms[0].matchFields[0].values: Invalid value: null: must have one element",
        ),
        (
            on_name("Exists"),
            'nodeSelectorTerms[0].matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"',
        ),
    ],
)
def test_a_faulty_term_names_its_place(faulty: NodeSelectorTerm, complaint: str) -> None:
    compiled = compile_node_selector(NodeSelector(node_selector_terms=(faulty,)))
    assert [str(error) for error in compiled.errors] == [complaint]


def test_faults_surface_only_where_no_other_term_matches() -> None:
    faulty, good = term(requirement("a", "Foo")), on_name("In", "n1")
    compiled = compile_node_selector(NodeSelector(node_selector_terms=(faulty, good)))
    assert compiled.match(LABELS, "n1") == (True, ())
    matched, errors = compiled.match(LABELS, "n2")
    assert not matched
    assert [error.path for error in errors] == ["nodeSelectorTerms[0].matchExpressions[0].operator"]


def test_a_node_without_a_name_is_not_asked_for_fields() -> None:
    compiled = compile_node_selector(NodeSelector(node_selector_terms=(on_name("In", "n1"),)))
    assert compiled.match({}, "") == (True, ())


def preferred(weight: int, preference: NodeSelectorTerm) -> PreferredSchedulingTerm:
    """A weighted preference."""
    return PreferredSchedulingTerm(weight=weight, preference=preference)


def test_preferred_terms_without_weight_or_content_are_not_read() -> None:
    terms = [
        preferred(0, term(requirement("a", "Foo"))),
        preferred(5, term()),
        preferred(7, term(requirement("zone", "In", "a"))),
    ]
    compiled, errors = compile_preferred_terms(terms)
    assert errors == ()
    assert [(wanted.weight, wanted.term.matches(LABELS, "n")) for wanted in compiled] == [(7, True)]


def test_one_faulty_preferred_term_refuses_them_all() -> None:
    terms = [preferred(1, on_name("In", "n1")), preferred(2, term(requirement("a", "Foo")))]
    compiled, errors = compile_preferred_terms(terms, "preferred")
    assert compiled == ()
    assert [error.path for error in errors] == ["preferred[1].matchExpressions[0].operator"]
