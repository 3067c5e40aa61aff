//! The search, before it is believed: against arithmetic, and against all schedules tried one by one.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use deliver_twice_core::Result;
use deliver_twice_core::broker::WorkerId;
use deliver_twice_core::design::{Design, OUTSIDES, PRESETS, PRODUCERS};
use deliver_twice_core::explore::{
    Counterexample, Coverage, Exploration, Model, Report, Search, Share, VerdictCount, Verdicts,
};
use deliver_twice_core::property::{Verdict, Violation, violations};
use deliver_twice_core::run::Run;
use deliver_twice_core::scenario::{Bounds, Provider, Scenario, TaskRow, Ticket};
use deliver_twice_core::schedule::{Schedule, Step};
use deliver_twice_core::state::State;
use deliver_twice_core::system::System;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// More states than any search here has.
const UNLIMITED: u64 = 1_000_000;

// ---- Against arithmetic -------------------------------------------------------------------------

/// Actors that know nothing of each other: each takes its steps, one after the other, and is done.
#[derive(Clone)]
struct Actors {
    /// How many steps each has taken.
    done: Vec<u8>,
    /// How many each has to take.
    lengths: Vec<u8>,
    /// How many may crash on their way. Who crashes begins again.
    crashes: u8,
    /// Who was done first, if that is to be remembered.
    first: Option<WorkerId>,
    remembers_first: bool,
    /// What is violated where.
    wrong: Wrong,
}

/// A property of actors: what is violated where.
type Wrong = fn(&Actors) -> Option<Verdict>;

impl Actors {
    fn new<const N: usize>(lengths: [u8; N]) -> Self {
        Actors {
            done: vec![0; N],
            lengths: lengths.to_vec(),
            crashes: 0,
            first: None,
            remembers_first: false,
            wrong: |_| None,
        }
    }

    fn crashing(self, crashes: u8) -> Self {
        Actors { crashes, ..self }
    }

    fn wrong(self, wrong: Wrong) -> Self {
        Actors { wrong, ..self }
    }

    fn remembering_who_was_first(self) -> Self {
        Actors {
            remembers_first: true,
            ..self
        }
    }

    fn is_on_its_way(&self, actor: usize) -> bool {
        (1..self.lengths[actor]).contains(&self.done[actor])
    }
}

impl Model for Actors {
    type Checkpoint = Actors;

    fn enabled(&self) -> Vec<Step> {
        let actors = || (0..self.lengths.len()).map(|actor| (actor, WorkerId(actor as u8)));
        let works = actors()
            .filter(|(actor, _)| self.done[*actor] < self.lengths[*actor])
            .map(|(_, id)| Step::Work(id));
        let crashes = actors()
            .filter(|(actor, _)| self.crashes > 0 && self.is_on_its_way(*actor))
            .map(|(_, id)| Step::Crash(id));
        works.chain(crashes).collect()
    }

    fn take(&mut self, step: Step) -> Result<()> {
        assert!(self.enabled().contains(&step), "the search took {step}");
        let id = step.worker().expect("every step here is an actor's");
        let actor = usize::from(id.0);
        match step {
            Step::Crash(_) => {
                self.crashes -= 1;
                self.done[actor] = 0;
            }
            _ => self.done[actor] += 1,
        }
        if self.remembers_first && self.done[actor] == self.lengths[actor] {
            self.first = self.first.or(Some(id));
        }
        Ok(())
    }

    fn digest(&mut self) -> Result<Vec<u8>> {
        let first = self.first.map_or(255, |id| id.0);
        Ok([self.done.as_slice(), &[self.crashes, first]].concat())
    }

    fn verdicts(&self) -> Verdicts {
        (self.wrong)(self).into_iter().collect()
    }

    /// Like the machine, it can be kept only while nobody is on the way.
    fn checkpoint(&mut self) -> Option<Actors> {
        let mut actors = 0..self.lengths.len();
        (!actors.any(|actor| self.is_on_its_way(actor))).then(|| self.clone())
    }

    fn resume(&mut self, checkpoint: &Actors) -> Result<()> {
        self.clone_from(checkpoint);
        Ok(())
    }
}

/// A row of places, each with two ways to the next: the schedules double with every place.
struct Doubling {
    at: u16,
    length: u16,
}

impl Model for Doubling {
    type Checkpoint = u16;

    fn enabled(&self) -> Vec<Step> {
        let both = [Step::Work(WorkerId(0)), Step::Work(WorkerId(1))];
        both.into_iter().filter(|_| self.at < self.length).collect()
    }

    fn take(&mut self, _: Step) -> Result<()> {
        self.at += 1;
        Ok(())
    }

    fn digest(&mut self) -> Result<Vec<u8>> {
        Ok(self.at.to_be_bytes().to_vec())
    }

    fn verdicts(&self) -> Verdicts {
        let last = (self.at == self.length).then_some(Verdict::Stuck);
        last.into_iter().collect()
    }

    fn checkpoint(&mut self) -> Option<u16> {
        Some(self.at)
    }

    fn resume(&mut self, checkpoint: &u16) -> Result<()> {
        self.at = *checkpoint;
        Ok(())
    }
}

fn searched<M: Model>(model: M) -> Report {
    let mut search = Search::new(model, UNLIMITED).unwrap();
    assert_eq!(search.run().unwrap(), Coverage::Exhausted);
    search.report()
}

/// Schedules, failing schedules and states.
fn numbers(report: &Report) -> (u128, u128, u64) {
    (report.schedules.get(), report.failing.get(), report.states)
}

/// How many ways there are to choose `k` of `n`.
fn choose(n: u128, k: u128) -> u128 {
    (1..=k).fold(1, |product, i| product * (n - k + i) / i)
}

/// Two actors of six steps interleave in C(12, 6) = 924 ways, through 7 x 7 = 49 states.
#[test]
fn two_independent_actors_interleave_as_often_as_arithmetic_says() {
    let report = searched(Actors::new([6, 6]));
    assert_eq!(numbers(&report), (924, 0, 49));
    assert_eq!(choose(12, 6), 924);
    assert!(report.holds());
    assert_eq!(report.passing.unwrap().to_string(), "s1:A6.B6");
}

/// Actors of a, b and c steps interleave in (a + b + c)! / (a! b! c!) ways, through
/// (a + 1)(b + 1)(c + 1) states.
#[test]
fn three_independent_actors_interleave_in_as_many_ways_as_the_multinomial() {
    for [a, b, c] in [[1, 1, 1], [2, 3, 4], [6, 1, 2], [5, 5, 5]] {
        let report = searched(Actors::new([a, b, c]));
        let [a, b, c] = [a, b, c].map(u128::from);
        let ways = choose(a + b + c, a) * choose(b + c, b);
        let states = (a + 1) * (b + 1) * (c + 1);
        assert_eq!(numbers(&report), (ways, 0, states as u64));
    }
    assert_eq!(numbers(&searched(Actors::new([5, 5, 5]))).0, 756_756);
}

/// One of two actors of n steps may crash once, between its first step and its last.
///
/// Who crashes after j steps (1 <= j < n) goes through j steps, the crash and n steps, in that order:
/// j + 1 + n events among the n of the other. So there are
///
///   C(2n, n) + 2 (C(2n + 2, n) + ... + C(2n + n, n)) = C(2n, n) + 2 (C(3n + 1, n + 1) - C(2n + 2, n + 1))
///
/// schedules, the sum by the hockey-stick identity. Every state comes once with the crash to come and
/// once with the crash behind it: 2 (n + 1)^2.
#[test]
fn a_crash_adds_as_many_schedules_as_arithmetic_says() {
    for n in 1..=6_u8 {
        let report = searched(Actors::new([n, n]).crashing(1));
        let states = 2 * u64::from(n + 1).pow(2);
        let n = u128::from(n);
        let crashed: u128 = (1..n).map(|j| choose(2 * n + 1 + j, n)).sum();
        assert_eq!(crashed, choose(3 * n + 1, n + 1) - choose(2 * n + 2, n + 1));
        let states = if n == 1 { states / 2 } else { states };
        let ways = choose(2 * n, n) + 2 * crashed;
        assert_eq!(numbers(&report), (ways, 0, states), "n = {n}");
    }
    let six = searched(Actors::new([6, 6]).crashing(1));
    assert_eq!(numbers(&six), (94_836, 0, 98));
}

/// By symmetry A is done first in half of the 924 schedules. The shortest way there is to run A alone.
#[test]
fn half_of_the_schedules_fail_when_only_one_of_two_may_be_first() {
    let a_is_first =
        |actors: &Actors| (actors.first == Some(WorkerId(0))).then_some(Verdict::FalseSuccess);
    let race = Actors::new([6, 6]).remembering_who_was_first();
    let report = searched(race.wrong(a_is_first));
    // Both not done: 6 x 6. One done: 6 each, who is first is known. Both done: either was first.
    assert_eq!(numbers(&report), (924, 462, 36 + 12 + 2));
    assert!(!report.holds());
    let counts = report.verdicts.iter().map(|count| count.schedules.get());
    assert_eq!(counts.sum::<u128>(), 462);
    let of_verdict = report.verdicts[Verdict::FalseSuccess as usize];
    assert_eq!(of_verdict.schedules.get(), 462);
    assert_eq!(
        counterexamples(&report),
        [(Verdict::FalseSuccess, "s1:A6".to_owned())]
    );
    assert_eq!(report.passing.unwrap().to_string(), "s1:A5.B6.A");
}

/// A state that is violated on the way and not at the end fails no schedule, and yet breaks the property.
#[test]
fn a_violation_that_passes_is_a_counterexample_and_fails_no_schedule() {
    let both_in_the_middle = |actors: &Actors| (actors.done == [3, 3]).then_some(Verdict::Stuck);
    let report = searched(Actors::new([6, 6]).wrong(both_in_the_middle));
    assert_eq!(numbers(&report), (924, 0, 49));
    assert!(!report.holds());
    assert_eq!(
        counterexamples(&report),
        [(Verdict::Stuck, "s1:A3.B3".to_owned())]
    );
    // The first in order among the shortest that never are both in the middle.
    assert_eq!(report.passing.unwrap().to_string(), "s1:A6.B6");
}

/// Twelve steps whatever happens, so every schedule is a shortest: what is left to compare are switches,
/// and then the order of steps.
#[test]
fn of_the_shortest_the_one_with_the_fewest_switches_is_told() {
    let wrong: [(Wrong, &str); 4] = [
        // C takes part once, and A and B finish: C last or first costs two switches, in between three.
        (
            |a| (a.done == [2, 2, 1]).then_some(Verdict::Stuck),
            "s1:A2.B2.C",
        ),
        (
            |a| (a.done == [0, 2, 1]).then_some(Verdict::Stuck),
            "s1:B2.C",
        ),
        (
            |a| (a.done == [1, 0, 1]).then_some(Verdict::Stuck),
            "s1:A.C",
        ),
        // At the start nothing was done yet.
        (|a| (a.done == [0, 0, 0]).then_some(Verdict::Stuck), "s1:"),
    ];
    for (wrong, shortest) in wrong {
        let report = searched(Actors::new([2, 2, 1]).wrong(wrong));
        assert_eq!(
            counterexamples(&report),
            [(Verdict::Stuck, shortest.to_owned())]
        );
    }
    // B is first and A was on its way already: A first costs two switches, and A in between three.
    let b_overtakes = |actors: &Actors| {
        (actors.first == Some(WorkerId(1)) && actors.done[0] == 1).then_some(Verdict::Stuck)
    };
    let race = Actors::new([2, 3]).remembering_who_was_first();
    let report = searched(race.wrong(b_overtakes));
    assert_eq!(
        counterexamples(&report),
        [(Verdict::Stuck, "s1:A.B3".to_owned())]
    );
}

/// 2^127 fits, 2^128 does not, and a number that does not fit says so.
#[test]
fn a_number_of_schedules_is_exact_or_says_that_it_is_not() {
    let of = |length| searched(Doubling { at: 0, length });
    let fits = of(127);
    assert_eq!(fits.schedules.get(), 1 << 127);
    assert!(!fits.schedules.is_saturated());
    assert_eq!(fits.states, 128);
    for length in [128, 129, 500] {
        let report = of(length);
        assert!(report.schedules.is_saturated());
        assert!(report.failing.is_saturated());
        assert!(report.schedules.to_string().ends_with('+'));
        assert_eq!(report.coverage, Coverage::Exhausted);
    }
    // Of the two ways at each place the first in order is told.
    let Counterexample { verdict, schedule } = &of(3).counterexamples[0];
    assert_eq!(
        (*verdict, schedule.to_string().as_str()),
        (Verdict::Stuck, "s1:A3")
    );
}

/// Nothing here ever ends, so a search is cut, whatever its limit, and no schedule was complete.
#[test]
fn a_model_without_an_end_is_cut_and_claims_nothing() {
    let endless = Doubling {
        at: 0,
        length: u16::MAX,
    };
    let mut search = Search::new(endless, 1_000).unwrap();
    let cut = Coverage::Cut {
        states_max: 1_000,
        unexplored: 1,
    };
    assert_eq!(search.run().unwrap(), cut);
    let report = search.report();
    assert_eq!(numbers(&report), (0, 0, 1_000));
    assert!(!report.holds());
    assert_eq!(report.passing, None);
}

/// A search that is cut at n states has n, for every n below what there is, and never reads as "holds".
#[test]
fn a_search_that_was_cut_says_so_and_holds_nothing() {
    for states_max in 1..49 {
        let mut search = Search::new(Actors::new([6, 6]), states_max).unwrap();
        let coverage = search.run().unwrap();
        let Coverage::Cut {
            states_max: said,
            unexplored,
        } = coverage
        else {
            panic!("{states_max}: {coverage:?}");
        };
        assert_eq!(said, states_max);
        assert!((1..=states_max).contains(&unexplored));
        let report = search.report();
        assert_eq!(report.coverage, coverage);
        assert_eq!(report.states, states_max);
        assert!(!report.holds());
        // Every schedule ends in the last state, which was not reached.
        assert_eq!(report.schedules.get(), 0);
        // Going on changes nothing.
        assert_eq!(search.run().unwrap(), coverage);
        assert_eq!(search.report(), report);
    }
    // With a limit of as many states as there are, nothing is one too many.
    let mut search = Search::new(Actors::new([6, 6]), 49).unwrap();
    assert_eq!(search.run().unwrap(), Coverage::Exhausted);
    // Breadth first, the first row of states is gone on from before the second.
    let mut search = Search::new(Actors::new([6, 6]), 4).unwrap();
    let cut = Coverage::Cut {
        states_max: 4,
        unexplored: 3,
    };
    assert_eq!(search.run().unwrap(), cut);
}

#[test]
fn a_search_in_slices_of_one_step_finds_what_one_in_one_piece_finds() {
    let models = [
        Actors::new([4, 4]),
        Actors::new([3, 3]).crashing(2),
        Actors::new([2, 2, 2]).crashing(1),
    ];
    for model in models {
        let whole = searched(model.clone());
        let mut search = Search::new(model, UNLIMITED).unwrap();
        let mut slices = 0;
        while let Coverage::Running { unexplored } = search.advance(1).unwrap() {
            slices += 1;
            assert!(unexplored > 0);
            assert_eq!(search.transitions(), slices);
            assert!(!search.report().holds());
        }
        assert_eq!(search.report(), whole);
        // The last step was the last: no slice is needed to find that out.
        assert_eq!(search.transitions(), slices + 1);
        // There is nothing left to do.
        let transitions = search.transitions();
        assert_eq!(search.advance(100).unwrap(), Coverage::Exhausted);
        assert_eq!(search.transitions(), transitions);
        assert_eq!(search.report(), whole);
    }
}

/// Counterexamples as text.
/// The same, and behind them what is allowed: in the order of the verdicts.
fn examples(report: &Report) -> Vec<(Verdict, String)> {
    let allowed = report.allowed.iter();
    let allowed = allowed.map(|found| (found.verdict, found.schedule.to_string()));
    counterexamples(report).into_iter().chain(allowed).collect()
}

fn counterexamples(report: &Report) -> Vec<(Verdict, String)> {
    let found = report.counterexamples.iter();
    found
        .map(|found| (found.verdict, found.schedule.to_string()))
        .collect()
}

// ---- Against all schedules, one by one ----------------------------------------------------------

/// One search: which design, put to what, with which faults.
#[derive(Clone, Copy, Debug)]
struct Case {
    design: Design,
    scenario: Scenario,
    bounds: Bounds,
}

impl Case {
    fn new(design: &str, scenario: Scenario, bounds: Bounds) -> Self {
        let design = design.parse().unwrap();
        Case {
            design,
            scenario,
            bounds,
        }
    }

    fn explored(&self) -> Exploration {
        let Case {
            design,
            scenario,
            bounds,
        } = *self;
        let mut exploration = Exploration::new(design, scenario, bounds, UNLIMITED).unwrap();
        assert_eq!(exploration.run().unwrap(), Coverage::Exhausted);
        exploration
    }

    /// The report, if all schedules can be tried one by one as well.
    fn small_report(&self) -> Option<Report> {
        let Case {
            design,
            scenario,
            bounds,
        } = *self;
        let mut exploration = Exploration::new(design, scenario, bounds, STATES_MAX).unwrap();
        let coverage = exploration.run().unwrap();
        let report = exploration.report();
        let is_small = report.schedules.get() <= ONE_BY_ONE_MAX;
        (coverage == Coverage::Exhausted && is_small).then_some(report)
    }

    fn system(&self) -> System {
        System::new(self.design, self.scenario, self.bounds).unwrap()
    }

    fn run(&self, schedule: &Schedule) -> Run {
        Run::exact(self.design, self.scenario, self.bounds, schedule).unwrap()
    }
}

/// So many copies of one event, to so many workers, and nothing wrong with it.
const fn copies(deliveries: u8, workers: u8) -> Scenario {
    Scenario {
        deliveries,
        workers,
        effects: 1,
        versions: 1,
        ticket: Ticket::Present,
        task: TaskRow::Sound,
        ..Scenario::USUAL
    }
}

const ONCE: Scenario = copies(1, 1);

/// The producer's side alone: what is published stays in the queue.
const NOBODY_CONSUMES: Scenario = Scenario { workers: 0, ..ONCE };

const CRASH: Bounds = Bounds {
    crashes: 1,
    ..Bounds::NONE
};

const LOST_ACK: Bounds = Bounds {
    lost_acks: 1,
    ..Bounds::NONE
};

const LOST_REPLY: Bounds = Bounds {
    lost_replies: 1,
    ..Bounds::NONE
};

const PUBLISHED_AGAIN: Bounds = Bounds {
    published_again: 1,
    ..Bounds::NONE
};

const GIVEN_UP: Bounds = Bounds {
    given_up: 1,
    ..Bounds::NONE
};

/// The most schedules of a case, if they are to be tried one by one. For more of them,
/// `cargo test --release -p deliver-twice-core --test suite merging -- --nocapture`.
const ONE_BY_ONE_MAX: u128 = if cfg!(target_family = "wasm") {
    300
} else if cfg!(debug_assertions) {
    1_000
} else {
    30_000
};

/// The most states of such a case: a search that meets more is given up early.
const STATES_MAX: u64 = if cfg!(target_family = "wasm") {
    200
} else {
    800
};

/// The small cases: every preset in every small scenario with every single fault.
fn small_cases() -> impl Iterator<Item = Case> {
    let with = |task| Scenario { task, ..ONCE };
    let scenarios = [
        ONCE,
        copies(2, 1),
        copies(1, 2),
        copies(2, 2),
        copies(3, 1),
        Scenario { effects: 3, ..ONCE },
        Scenario {
            versions: 2,
            ..copies(1, 2)
        },
        Scenario {
            ticket: Ticket::Missing,
            ..copies(1, 2)
        },
        with(TaskRow::UnknownStatus),
        with(TaskRow::NoTenant),
        with(TaskRow::SecondEscalation),
    ];
    let bounds = [
        Bounds::NONE,
        CRASH,
        LOST_ACK,
        LOST_REPLY,
        PUBLISHED_AGAIN,
        GIVEN_UP,
    ];
    PRESETS.iter().flat_map(move |preset| {
        scenarios.into_iter().flat_map(move |scenario| {
            bounds.into_iter().map(move |bounds| Case {
                design: preset.design,
                scenario,
                bounds,
            })
        })
    })
}

/// The producer's side and the way outside, small enough to try every schedule.
fn cases_around_the_consumer() -> impl Iterator<Item = Case> {
    let scenarios = [
        NOBODY_CONSUMES,
        ONCE,
        Scenario {
            relays: 2,
            ..NOBODY_CONSUMES
        },
        Scenario {
            versions: 2,
            ..NOBODY_CONSUMES
        },
        Scenario { senders: 2, ..ONCE },
        Scenario {
            provider: Provider::IgnoresKeys,
            ..ONCE
        },
    ];
    let bounds = [
        Bounds::NONE,
        CRASH,
        LOST_REPLY,
        Bounds {
            overruns: 1,
            ..Bounds::NONE
        },
        Bounds {
            nacks: 1,
            ..Bounds::NONE
        },
        Bounds {
            returns: 1,
            lost_confirms: 1,
            ..Bounds::NONE
        },
        Bounds {
            lost_answers: 1,
            ..CRASH
        },
    ];
    let designs = PRODUCERS.iter().chain(&OUTSIDES);
    designs.flat_map(move |preset| {
        scenarios.into_iter().flat_map(move |scenario| {
            bounds.into_iter().map(move |bounds| Case {
                design: preset.design,
                scenario,
                bounds,
            })
        })
    })
}

/// Cases in which states differ by what seldom matters.
fn special_cases() -> impl Iterator<Item = Case> {
    let two = |bounds: Bounds| Bounds {
        lost_acks: 2,
        ..bounds
    };
    [
        // Two attempts at one delivery at once.
        Case::new("ack-first", copies(1, 2), two(Bounds::NONE)),
        Case::new("ack-first", copies(1, 3), two(Bounds::NONE)),
        Case::new("trust-redelivered", copies(1, 2), two(Bounds::NONE)),
        // A deadlock, and the ways out of it.
        Case::new("check-in-transaction", copies(2, 2), GIVEN_UP),
        // The same queue but for the event of its last delivery.
        Case::new(
            "constraint-arbitration",
            Scenario {
                versions: 2,
                ..ONCE
            },
            PUBLISHED_AGAIN,
        ),
        // Silence of two kinds.
        Case::new(
            "insert-or-ignore",
            Scenario {
                task: TaskRow::NoTenant,
                effects: 2,
                ..copies(2, 2)
            },
            Bounds::NONE,
        ),
    ]
    .into_iter()
}

/// What trying all schedules one by one finds: no state is recognised, and none is returned to but by
/// starting again.
#[derive(Default)]
struct OneByOne {
    schedules: u128,
    failing: u128,
    by_verdict: [u128; Verdict::ALL.len()],
    /// For each verdict, the least schedule to it: by length, by switches, by the order of steps.
    least: [Option<(usize, usize, Schedule)>; Verdict::ALL.len()],
    /// The length of a shortest complete schedule on which nothing is ever violated.
    passing: Option<usize>,
    states: BTreeSet<State>,
}

impl OneByOne {
    fn of(case: &Case) -> Self {
        let mut found = OneByOne::default();
        found.go_on(&mut case.system(), &mut vec![], true);
        found
    }

    /// Tries everything that may follow `steps`, after which `system` is. Nothing was violated so far if
    /// `is_clean`.
    fn go_on(&mut self, system: &mut System, steps: &mut Vec<Step>, is_clean: bool) {
        system.look_as_workers().unwrap();
        self.states.insert(system.state().clone());
        let verdicts: Verdicts = violations(system).iter().map(Violation::verdict).collect();
        let is_clean = is_clean && !verdicts.is_violation();
        for verdict in verdicts.iter() {
            let schedule = Schedule(steps.clone());
            let this = (steps.len(), schedule.switches(), schedule);
            let least = &mut self.least[verdict as usize];
            if least.as_ref().is_none_or(|least| this < *least) {
                *least = Some(this);
            }
        }
        let enabled = system.enabled();
        if !enabled.iter().any(|step| step.is_progress()) {
            self.end(verdicts);
            if is_clean {
                let length = self
                    .passing
                    .map_or(steps.len(), |least| least.min(steps.len()));
                self.passing = Some(length);
            }
        }
        for (index, step) in enabled.into_iter().enumerate() {
            if index > 0 {
                system.restart().unwrap();
                for step in steps.iter() {
                    let _ = system.apply(*step).unwrap();
                }
            }
            let _ = system.apply(step).unwrap();
            steps.push(step);
            self.go_on(system, steps, is_clean);
            steps.pop();
        }
    }

    fn end(&mut self, verdicts: Verdicts) {
        self.schedules += 1;
        self.failing += u128::from(verdicts.is_violation());
        for verdict in verdicts.iter() {
            self.by_verdict[verdict as usize] += 1;
        }
    }

    /// Holds what the search says to what was found here.
    fn agrees_with(&self, report: &Report, case: &Case) {
        assert_eq!(
            numbers(report),
            (self.schedules, self.failing, self.states.len() as u64),
            "{case:?}"
        );
        for (verdict, count) in Verdict::ALL.into_iter().zip(&report.verdicts) {
            let schedules = self.by_verdict[verdict as usize];
            let expected = (verdict, schedules);
            assert_eq!((count.verdict, count.schedules.get()), expected, "{case:?}");
        }
        let least = Verdict::ALL.into_iter().zip(&self.least);
        let least: Vec<(Verdict, String)> = least
            .filter_map(|(verdict, least)| Some((verdict, least.as_ref()?.2.to_string())))
            .collect();
        assert_eq!(examples(report), least, "{case:?}");
        let passing = report.passing.as_ref().map(|passing| passing.0.len());
        assert_eq!(passing, self.passing, "{case:?}");
    }
}

#[test]
fn merging_states_changes_no_number_and_no_counterexample() {
    let (mut cases, mut schedules) = (0, 0);
    let every_case = small_cases()
        .chain(special_cases())
        .chain(cases_around_the_consumer());
    for case in every_case {
        let Some(report) = case.small_report() else {
            continue;
        };
        cases += 1;
        schedules += report.schedules.get();
        OneByOne::of(&case).agrees_with(&report, &case);
    }
    println!("{schedules} schedules of {cases} cases, one by one");
    assert!(cases > 1_000, "only {cases} cases were small enough");
}

/// The search says how to get there, and it is so: not a step earlier, and on the passing schedule never.
#[test]
fn every_schedule_that_is_told_replays_to_what_it_was_told_for() {
    let mut told = 0;
    for case in golden_cases() {
        let report = case.explored().report();
        for Counterexample { verdict, schedule } in &report.counterexamples {
            let run = case.run(schedule);
            let stands = |violations: &[Violation]| {
                violations
                    .iter()
                    .any(|violation| violation.verdict() == *verdict)
            };
            let (last, before) = run
                .frames
                .split_last()
                .expect("nothing is wrong at the start");
            assert!(stands(&last.violations), "{case:?} {schedule}");
            assert!(
                !before.iter().any(|frame| stands(&frame.violations)),
                "{case:?} {schedule}"
            );
            told += 1;
        }
        let Some(passing) = &report.passing else {
            continue;
        };
        let run = case.run(passing);
        assert!(
            run.frames.iter().all(|frame| frame.violations.is_empty()),
            "{case:?} {passing}"
        );
        let onward = run.enabled_after(run.frames.len());
        assert!(
            !onward.iter().any(|step| step.is_progress()),
            "{case:?} {passing}"
        );
        told += 1;
    }
    assert!(told > 30, "only {told} schedules were told");
}

/// For each verdict: a design that never comes to it, in how many schedules, and in how many of another
/// design's, put to the same, it stands at the end. What breaks the second is a danger to the first too.
#[test]
fn every_property_holds_in_all_schedules_of_one_design_and_is_broken_by_another() {
    use Verdict::*;
    let race = (copies(2, 2), Bounds::NONE);
    let crash = (ONCE, CRASH);
    let ticket = Ticket::Missing;
    let no_ticket = (Scenario { ticket, ..ONCE }, Bounds::NONE);
    let produced = (NOBODY_CONSUMES, CRASH);
    let refused = (NOBODY_CONSUMES, Bounds { nacks: 1, ..CRASH });
    let relays = 2;
    let late = (
        Scenario {
            relays,
            ..NOBODY_CONSUMES
        },
        Bounds {
            overruns: 1,
            nacks: 1,
            ..Bounds::NONE
        },
    );
    let contract = "constraint-arbitration";
    let in_row = "pending-row-with-key";
    let table = [
        (
            DuplicateEffect,
            race,
            contract,
            "384",
            "check-then-insert",
            "120 of 178",
        ),
        (LostEffect, crash, contract, "6", "receipt-first", "3 of 8"),
        (
            Stuck,
            race,
            contract,
            "384",
            "check-in-transaction",
            "294 of 536",
        ),
        (
            OrphanReceipt,
            crash,
            contract,
            "6",
            "receipt-first",
            "3 of 8",
        ),
        (
            SwallowedError,
            no_ticket,
            contract,
            "14",
            "swallow-integrity-errors",
            "3 of 6",
        ),
        (FalseSuccess, crash, contract, "6", "ack-first", "6 of 6"),
        (
            GhostEvent,
            produced,
            "outbox",
            "7",
            "publish-then-commit",
            "1 of 4",
        ),
        (
            LostEvent,
            produced,
            "outbox",
            "7",
            "commit-then-publish",
            "1 of 4",
        ),
        (
            FalsePublished,
            refused,
            "outbox",
            "16",
            "outbox-marked-when-sent",
            "2 of 10",
        ),
        (
            StuckRow,
            produced,
            "outbox",
            "7",
            "outbox-leased-forever",
            "3 of 7",
        ),
        (
            StaleWrite,
            late,
            "outbox",
            "988",
            "outbox-unfenced",
            "1760 of 1796",
        ),
        (SentTwice, crash, in_row, "132", "pending-row", "7 of 132"),
        (
            NeverSent,
            crash,
            in_row,
            "132",
            "call-after-commit",
            "1 of 7",
        ),
        (
            SentInVain,
            crash,
            in_row,
            "132",
            "call-in-transaction",
            "1 of 7",
        ),
        (
            DoubledPublication,
            produced,
            "commit-then-publish",
            "4",
            "outbox",
            "2 of 7",
        ),
    ];
    assert_eq!(table.map(|row| row.0), Verdict::ALL, "each has its row");
    for (verdict, (scenario, bounds), holder, all, breaker, some) in table {
        let explored = |design| Case::new(design, scenario, bounds).explored().report();
        let holds = explored(holder);
        let never = holds.verdicts[verdict as usize].schedules;
        assert_eq!(never.to_string(), "0", "{verdict}");
        assert!(!told(&holds).contains(&verdict), "{verdict}");
        assert_eq!(holds.schedules.to_string(), all, "{verdict}");
        let breaks = explored(breaker);
        assert!(told(&breaks).contains(&verdict), "{verdict}");
        let VerdictCount { schedules, .. } = breaks.verdicts[verdict as usize];
        assert_eq!(
            format!("{schedules} of {}", breaks.schedules),
            some,
            "{verdict}"
        );
    }
}

/// Every verdict that a report has a schedule for, be it allowed or not.
fn told(report: &Report) -> Vec<Verdict> {
    let all = report.counterexamples.iter().chain(&report.allowed);
    all.map(|example| example.verdict).collect()
}

// ---- The same to the byte -----------------------------------------------------------------------

/// The searches whose reports are kept: the flagship for every preset, and what else tells states apart.
fn golden_cases() -> impl Iterator<Item = Case> {
    let flagship = PRESETS.iter().map(|preset| Case {
        design: preset.design,
        scenario: Scenario::default(),
        bounds: CRASH,
    });
    let around = PRODUCERS.iter().chain(&OUTSIDES).map(|preset| Case {
        design: preset.design,
        scenario: ONCE,
        bounds: Bounds {
            nacks: 1,
            lost_answers: 1,
            ..CRASH
        },
    });
    flagship.chain(special_cases()).chain(around)
}

/// Reports as a text that names all that is in them.
fn text(case: &Case) -> String {
    let Case {
        design,
        scenario,
        bounds,
    } = case;
    let exploration = case.explored();
    let Report {
        coverage,
        states,
        schedules,
        failing,
        verdicts,
        counterexamples,
        allowed,
        passing,
    } = exploration.report();
    let mut text = format!("{design}\n  {scenario:?}\n  {bounds:?}\n");
    let transitions = exploration.transitions();
    let _ = writeln!(
        text,
        "  {coverage:?} states {states} transitions {transitions}"
    );
    let _ = writeln!(text, "  schedules {schedules} failing {failing}");
    let of_the_chapter =
        |count: &VerdictCount| count.verdict <= Verdict::FalseSuccess || count.schedules.get() != 0;
    for VerdictCount { verdict, schedules } in verdicts.into_iter().filter(of_the_chapter) {
        let _ = writeln!(text, "  {verdict} {schedules}");
    }
    for Counterexample { verdict, schedule } in counterexamples.into_iter().chain(allowed) {
        let sentence = exploration.sentence(verdict, &schedule).unwrap();
        let sentence = sentence.expect("a counterexample has a sentence");
        let _ = writeln!(text, "  {verdict} by {schedule}: {sentence}");
    }
    let passing = passing.map_or("nothing".to_owned(), |passing| passing.to_string());
    let _ = writeln!(text, "  passes: {passing}\n");
    text
}

/// The file is the same natively and in wasm. Where a change of the machine is meant,
/// `UPDATE_GOLDEN=1 cargo test -p deliver-twice-core --test suite explore` writes it anew.
#[test]
fn reports_are_the_same_to_the_byte_everywhere_and_every_time() {
    let reports = || golden_cases().map(|case| text(&case)).collect::<String>();
    let found = reports();
    #[cfg(not(target_family = "wasm"))]
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/reports.txt");
        std::fs::write(path, &found).unwrap();
        return;
    }
    assert_eq!(found, reports(), "the second time");
    let golden = include_str!("../golden/reports.txt");
    for (found, golden) in found.lines().zip(golden.lines()) {
        assert_eq!(found, golden);
    }
    assert_eq!(found, golden);
}

// ---- What lies ahead ----------------------------------------------------------------------------

/// At every step of every schedule that is told: what lies ahead is what lies ahead of the steps that may
/// follow, and one more where a schedule may end.
#[test]
fn the_shares_of_a_schedule_add_up_at_every_step() {
    for case in golden_cases() {
        let exploration = case.explored();
        let report = exploration.report();
        let told = report.counterexamples.iter().map(|found| &found.schedule);
        for schedule in told.chain(&report.passing) {
            let run = case.run(schedule);
            let shares = exploration.shares(schedule);
            assert_eq!(shares.len(), schedule.0.len() + 1);
            let start = shares[0].unwrap();
            assert_eq!(
                (start.total, start.failing),
                (report.schedules, report.failing)
            );
            for (length, share) in shares.iter().enumerate() {
                let here = &schedule.0[..length];
                check_share(&exploration, &run, here, share.unwrap());
            }
        }
    }
}

fn check_share(exploration: &Exploration, run: &Run, here: &[Step], share: Share) {
    let enabled = run.enabled_after(here.len());
    let is_end = !enabled.iter().any(|step| step.is_progress());
    let is_wrong = !here.is_empty() && !run.frames[here.len() - 1].violations.is_empty();
    let mut total = u128::from(is_end);
    let mut failing = u128::from(is_end && is_wrong);
    for step in enabled {
        let onward = Schedule([here, &[*step]].concat());
        let ahead = exploration.shares(&onward).pop().flatten();
        let ahead = ahead.expect("what is enabled was searched");
        total += ahead.total.get();
        failing += ahead.failing.get();
    }
    assert_eq!((share.total.get(), share.failing.get()), (total, failing));
    if enabled.is_empty() {
        let all_or_nothing = share.failing.share_of(share.total);
        assert!(all_or_nothing == 0.0 || all_or_nothing == 1.0);
    }
}

#[test]
fn beyond_the_bounds_nothing_is_said_to_lie_ahead() {
    let exploration = Case::new("constraint-arbitration", copies(2, 2), CRASH).explored();
    let two_crashes: Schedule = "s1:dA.A.xA.dB.xB.dA".parse().unwrap();
    let shares = exploration.shares(&two_crashes);
    let said: Vec<bool> = shares.iter().map(Option::is_some).collect();
    assert_eq!(said, [true, true, true, true, true, false, false]);
    for not_enabled in ["s1:A", "s1:dA.dA", "s1:dA.t"] {
        let not_enabled: Schedule = not_enabled.parse().unwrap();
        assert_eq!(exploration.shares(&not_enabled).pop(), Some(None));
    }
}

/// A receipt commits by itself, and its worker crashes before the effect: from there on no schedule ends
/// well, whatever follows.
#[test]
fn a_share_of_one_says_that_failure_has_become_unavoidable() {
    let exploration = Case::new("receipt-first", ONCE, CRASH).explored();
    let schedule: Schedule = "s1:dA.A3.xA.dA.A4".parse().unwrap();
    let shares = exploration.shares(&schedule).into_iter().map(|share| {
        let Share { total, failing } = share.unwrap();
        format!("{failing}/{total}")
    });
    // Of the eight schedules one has no crash, and seven crash at one of seven stages: three of them
    // between the commit of the receipt and that of the effect.
    let expected = "3/8 3/8 3/7 3/6 3/5 1/1 1/1 1/1 1/1 1/1 1/1";
    assert_eq!(shares.collect::<Vec<_>>().join(" "), expected);
}

/// A step that a sentence speaks of is one of the schedule's, and an actor one of the scenario's.
#[test]
fn every_counterexample_has_a_sentence_about_steps_that_exist() {
    for case in golden_cases() {
        let exploration = case.explored();
        for Counterexample { verdict, schedule } in exploration.report().counterexamples {
            let sentence = exploration.sentence(verdict, &schedule).unwrap();
            let sentence = sentence.unwrap_or_else(|| panic!("{case:?} {verdict} {schedule}"));
            let words: Vec<&str> = sentence.split_whitespace().collect();
            for pair in words.windows(2).filter(|pair| pair[0] == "step") {
                let number = pair[1].trim_end_matches([',', ':', ';', '.']);
                let number: usize = number.parse().unwrap();
                assert!(
                    (1..=schedule.0.len()).contains(&number),
                    "{schedule}: {sentence}"
                );
            }
            let other = exploration.sentence(verdict, &Schedule::default()).unwrap();
            assert_eq!(other, None, "nothing is wrong at the start");
        }
    }
}
