"""Who leads, by observation and own clock alone."""

import pytest

from scheduler.client.election import Election, ElectionTimes, Verdict, default_identity
from scheduler.client.leases import LeaderRecord

TIMES = ElectionTimes(lease_duration=15, renew_deadline=10, retry_period=2)
OTHER = LeaderRecord("other", 15, "acquired", "renewed-1", 3)


@pytest.fixture
def me() -> Election:
    return Election("me", TIMES)


def test_a_valid_claim_of_another_is_waited_for(me: Election) -> None:
    me.observe(OTHER, 100.0)
    assert me.decide(114.9) is Verdict.WAIT


def test_a_claim_runs_out_one_lease_duration_after_its_last_change_was_seen(me: Election) -> None:
    me.observe(OTHER, 100.0)
    me.observe(OTHER, 110.0)
    assert me.decide(115.0) is Verdict.TAKE


def test_a_renewal_by_another_starts_the_time_anew(me: Election) -> None:
    me.observe(OTHER, 100.0)
    me.observe(LeaderRecord("other", 15, "acquired", "renewed-2", 3), 110.0)
    assert me.decide(124.9) is Verdict.WAIT


def test_a_released_lease_is_taken_at_once(me: Election) -> None:
    me.observe(LeaderRecord("", 1, "a", "r", 3), 100.0)
    assert me.decide(100.0) is Verdict.TAKE


def test_taking_counts_a_transition_and_renewing_keeps_what_was(me: Election) -> None:
    me.observe(OTHER, 100.0)
    taken = me.next_record(Verdict.TAKE, "t1")
    assert taken == LeaderRecord("me", 15, "t1", "t1", 4)
    me.record_written(taken, 120.0)
    assert me.decide(121.0) is Verdict.RENEW
    assert me.next_record(Verdict.RENEW, "t2") == LeaderRecord("me", 15, "t1", "t2", 4)


def test_the_first_record_counts_no_transition(me: Election) -> None:
    assert me.next_record(Verdict.CREATE, "t1") == LeaderRecord("me", 15, "t1", "t1", 0)


def test_the_fast_path_is_for_a_leader_with_a_valid_claim(me: Election) -> None:
    assert not me.may_renew_unread(0.0)
    me.record_written(me.next_record(Verdict.CREATE, "t1"), 100.0)
    assert me.may_renew_unread(114.0)
    assert not me.may_renew_unread(115.0)


@pytest.mark.parametrize(
    ("holder", "preferred", "now", "verdict"),
    [
        ("", "", 101.0, Verdict.WAIT),
        ("other", "", 101.0, Verdict.WAIT),
        ("other", "", 999.0, Verdict.WAIT),
        ("me", "", 101.0, Verdict.RENEW),
        ("me", "", 115.0, Verdict.WAIT),
        ("me", "other", 101.0, Verdict.END),
    ],
    ids=["nobody's", "another's", "run out", "given", "given and run out", "end of term"],
)
def test_a_coordinated_lease_is_renewed_and_never_taken(
    holder: str, preferred: str, now: float, verdict: Verdict
) -> None:
    me = Election("me", TIMES, coordinated=True)
    me.observe(LeaderRecord(holder, 15, "a", "r", 3, preferred, "OldestEmulationVersion"), 100.0)
    assert me.decide(now) is verdict
    assert not me.may_renew_unread(now)


def test_the_strategy_of_a_coordinated_lease_stays_and_goes_without_coordination() -> None:
    given = LeaderRecord("me", 15, "a", "r", 3, "", "OldestEmulationVersion")
    for coordinated, strategy in ((True, "OldestEmulationVersion"), (False, "")):
        me = Election("me", TIMES, coordinated=coordinated)
        me.observe(given, 100.0)
        assert me.next_record(Verdict.RENEW, "t") == LeaderRecord("me", 15, "a", "t", 3, "", strategy)


def test_releasing_keeps_the_transitions_and_lasts_a_second(me: Election) -> None:
    me.record_written(LeaderRecord("me", 15, "a", "r", 4), 100.0)
    assert me.released_record("t9") == LeaderRecord("", 1, "t9", "t9", 4)


def test_the_watchdog_bites_a_leader_that_does_not_renew(me: Election) -> None:
    me.observe(OTHER, 100.0)
    assert not me.overdue(1000.0, 20.0), "a candidate is always well"
    me.record_written(LeaderRecord("me", 15, "a", "r", 4), 100.0)
    assert not me.overdue(135.0, 20.0)
    assert me.overdue(135.1, 20.0)


@pytest.mark.parametrize(
    ("lease", "renew", "retry", "message"),
    [
        pytest.param(10, 10, 2, "leaseDuration must be greater than renewDeadline", id="lease"),
        pytest.param(15, 2.4, 2, "renewDeadline must be greater than retryPeriod", id="renew"),
        pytest.param(0.9, 0.5, 0.1, "at least one second", id="short"),
        pytest.param(15, 10, 0, "retryPeriod must be greater than zero", id="retry"),
    ],
)
def test_impossible_times_are_refused(lease: float, renew: float, retry: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ElectionTimes(lease_duration=lease, renew_deadline=renew, retry_period=retry)


def test_identities_of_two_processes_differ() -> None:
    assert default_identity() != default_identity()
    assert "_" in default_identity()
