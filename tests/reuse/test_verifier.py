import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proxy.language.language import Language
from proxy.reuse.align import Alignment, align
from proxy.reuse.guards import DOUBTS
from proxy.reuse.question import analyse
from proxy.reuse.verifier import (
    EXCHANGED_COSINE,
    EXCHANGED_THRESHOLD,
    THRESHOLD,
    WEIGHTS,
    consents,
    evidence,
    is_out_of_bounds,
    probability,
)
from tests.languages import EN, ES

_TREES = "figs, oaks, pines, limes, palms, reeds, elms, ferns, vines, tulips"


def aligned(asked: str, earlier: str, language: Language = EN) -> Alignment:
    return align(analyse(asked, language), analyse(earlier, language))


def likelihood(alignment: Alignment, cosine: float) -> float:
    return probability(evidence(alignment, alignment.left_asked, alignment.left_earlier, cosine))


def is_consented(alignment: Alignment, cosine: float) -> bool:
    return consents(alignment, alignment.left_asked, alignment.left_earlier, cosine)


# Every question that is out of bounds stands above one that is not, and differs from it in that alone.
@pytest.mark.parametrize(
    ("language", "asked", "earlier", "is_out"),
    [
        pytest.param(ES, "¿Cómo podo despacio un rosal?", "¿Cómo podo un rosal?", True, id="Spanish"),
        pytest.param(EN, "How do I prune roses slowly?", "How do I prune roses?", False, id="English"),
        pytest.param(EN, "Can I prune roses slowly?", "Can I prune roses?", True, id="yes-no"),
        pytest.param(EN, "Can I prune roses slowly?", "How do I prune roses?", True, id="one is yes-no"),
        pytest.param(EN, "How do I prune roses in Lima?", "How do I prune roses?", True, id="name"),
        pytest.param(EN, "How do I prune roses in gardens?", "How do I prune roses?", False, id="noun"),
        pytest.param(EN, "How do I prune roses with a zorbax?", "How do I prune roses?", True, id="unknown"),
        pytest.param(EN, "How do I prune roses with a hatchet?", "How do I prune roses?", False, id="known"),
        pytest.param(EN, "How do I prune roses with my uncle?", "How do I prune roses?", True, id="who for"),
        pytest.param(EN, "How do I prune roses with diagrams?", "How do I prune roses?", True, id="form of answer"),
        pytest.param(EN, "How do I prune roses with gloves?", "How do I prune roses?", False, id="neither"),
        pytest.param(EN, "How do I prune roses, frost looming?", "How do I prune roses?", True, id="own clause"),
        pytest.param(
            EN, "How do I prune roses, frost looming?", "How do I prune roses, frost?", False, id="shared clause"
        ),
        pytest.param(EN, f"How do I prune {_TREES}, ivies slowly?", f"How do I prune {_TREES}, ivies?", True, id="13"),
        pytest.param(EN, f"How do I prune {_TREES} slowly?", f"How do I prune {_TREES}?", False, id="12"),
    ],
)
def test_one_word_that_may_decide_the_answer_is_out_of_bounds(
    language: Language, asked: str, earlier: str, is_out: bool
) -> None:
    for one, other in ((asked, earlier), (earlier, asked)):
        alignment = aligned(one, other, language)
        assert alignment.left_asked or alignment.left_earlier
        assert is_out_of_bounds(alignment, alignment.left_asked, alignment.left_earlier) is is_out
        if is_out:
            assert not is_consented(alignment, 1.0)


@pytest.mark.parametrize(
    ("asked", "earlier"),
    [
        ("Why do roses wilt suddenly?", "Why do roses wilt?"),
        ("How do I prune roses gently?", "How do I prune roses?"),
        ("When do vines bloom?", "When do vines bloom profusely?"),
    ],
)
def test_a_word_too_many_is_forgiven_where_it_is_likely_enough(asked: str, earlier: str) -> None:
    alignment = aligned(asked, earlier)
    assert likelihood(alignment, 0.91) >= THRESHOLD > likelihood(alignment, 0.7)
    assert is_consented(alignment, 0.91)
    assert not is_consented(alignment, 0.7)


def test_a_word_for_another_needs_a_higher_cosine_however_likely_it_is() -> None:
    alignment = aligned("Why do roses wilt suddenly?", "Why do roses wilt slowly?")
    assert likelihood(alignment, EXCHANGED_COSINE - 0.01) > EXCHANGED_THRESHOLD
    assert not is_consented(alignment, EXCHANGED_COSINE - 0.01)
    assert is_consented(alignment, EXCHANGED_COSINE)


def test_a_word_for_another_needs_to_be_likelier_however_high_the_cosine() -> None:
    alignment = aligned("When do vines bloom?", "When do vines sprout?")
    assert THRESHOLD < likelihood(alignment, 0.94) < EXCHANGED_THRESHOLD
    assert not is_consented(alignment, 0.94)
    assert is_consented(alignment, 0.99)


def test_an_exchange_needs_more_than_a_word_too_many() -> None:
    assert EXCHANGED_THRESHOLD > THRESHOLD
    assert evidence_of("Why do roses wilt suddenly?", "Why do roses wilt slowly?")["on both sides"] == 1
    assert evidence_of("Why do roses wilt suddenly?", "Why do roses wilt?")["on both sides"] == 0


def evidence_of(asked: str, earlier: str) -> dict[str, float]:
    alignment = aligned(asked, earlier)
    return evidence(alignment, alignment.left_asked, alignment.left_earlier, 0.95)


def test_all_evidence_is_weighed_and_every_weight_has_its_evidence() -> None:
    assert list(evidence_of("How do I prune roses?", "How do I trim roses?")) == list(WEIGHTS)
    assert set(DOUBTS) <= WEIGHTS.keys()


@pytest.mark.parametrize(
    ("name", "asked", "earlier", "value"),
    [
        ("cosine above 0.9, in tenths", "Why do roses wilt?", "Why do roses bend?", 0.5),
        ("words left over", "Why do roses wilt?", "Why do roses bend?", 2),
        ("a single one", "Why do roses wilt?", "Why do roses bend?", 0),
        ("a single one", "Why do roses wilt?", "Why do red roses wilt?", 1),
        ("share of all words", "Why do roses wilt?", "Why do roses bend?", 0.5),
        ("after a preposition", "Why do roses wilt?", "Why do roses wilt in gardens?", 1),
        ("coordinated", "Why do roses wilt?", "Why do roses and tulips wilt?", 1),
        ("only one has and, or", "Why do roses wilt?", "Why do roses and tulips wilt?", 1),
        ("only one has and, or", "Why do roses and figs wilt?", "Why do roses and tulips wilt?", 0),
        ("pairs", "Why do roses wilt?", "Why do red roses wilt?", 2),
        ("doubtful pairs", "Why do tulips wilt?", "Why do tullips wilt?", 1),
        ("numbers", "Why do 3 roses wilt?", "Why do 3 red roses wilt?", 1),
        ("operators", "Why do all roses wilt?", "Why do all red roses wilt?", 1),
        ("clauses", "Why, oh roses, do you wilt?", "Why do roses wilt?", 2),
        ("asks how", "How do roses wilt?", "How do red roses wilt?", 1),
        ("asks what", "What is a rose?", "What is a red rose?", 1),
        ("asks why", "Why do roses wilt?", "Why do red roses wilt?", 1),
        ("asks by no word", "Roses", "Red roses", 1),
        ("asks by no word", "What are roses?", "Red roses", 1),
        ("emphasis", "Why do roses wilt more?", "Why do roses wilt?", 1),
        ("near_tense", "Why will roses wilt?", "Why do roses wilt?", 1),
        ("they", "Why do roses wilt when they age?", "Why do roses wilt when ageing?", 1),
    ],
)
def test_evidence_is_what_its_name_says(name: str, asked: str, earlier: str, value: float) -> None:
    assert evidence_of(asked, earlier)[name] == pytest.approx(value)


found = st.fixed_dictionaries({name: st.floats(0, 1) for name in WEIGHTS})


@given(found, st.sampled_from([name for name, weight in WEIGHTS.items() if weight]), st.floats(0.1, 1))
def test_more_evidence_moves_the_probability_the_way_of_its_weight(
    found: dict[str, float], name: str, more: float
) -> None:
    before, after = probability(found), probability({**found, name: found[name] + more})
    assert 0 < before < 1
    assert (after > before) is (WEIGHTS[name] > 0)
    assert after != before


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_a_higher_cosine_never_takes_consent_away(one: float, other: float) -> None:
    lower, higher = sorted((one, other))
    assume(lower < higher)
    for earlier in ("Why do roses wilt?", "Why do roses wilt slowly?"):
        alignment = aligned("Why do roses wilt suddenly?", earlier)
        assert is_consented(alignment, lower) <= is_consented(alignment, higher)


def test_no_evidence_is_as_likely_as_not() -> None:
    assert probability({}) == 0.5
