//! What a search found: how many schedules, how many fail and how, and the shortest that does.

use std::collections::BTreeMap;

use super::{Count, Coverage, Model, NodeId, Search, Verdicts};
use crate::broker::WorkerId;
use crate::property::Verdict;
use crate::schedule::{Schedule, Step};

/// What a search found.
///
/// A schedule is complete where nothing gets on by itself: everything is settled, or the workers are
/// stuck. It counts under each verdict that stands in its last state.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How much was visited. Unless it is everything, the counts are lower bounds.
    pub coverage: Coverage,
    /// Distinct states reached.
    pub states: u64,
    /// Complete schedules.
    pub schedules: Count,
    /// Those of them that end with something violated.
    pub failing: Count,
    /// For each verdict, in its order: the schedules that end in it.
    pub verdicts: Vec<VerdictCount>,
    /// For each verdict that stands in any state, the shortest schedule to it.
    pub counterexamples: Vec<Counterexample>,
    /// The same for what happens and is allowed: it breaks nothing.
    pub allowed: Vec<Counterexample>,
    /// A shortest complete schedule on which nothing is ever violated, if there is one.
    pub passing: Option<Schedule>,
}

impl Report {
    /// Whether no schedule breaks anything, and every schedule was tried.
    pub fn holds(&self) -> bool {
        self.coverage == Coverage::Exhausted && self.counterexamples.is_empty()
    }
}

impl Report {
    /// The result in one sentence, which claims no more than was searched.
    pub fn in_words(&self) -> String {
        let Report {
            schedules,
            failing,
            states,
            ..
        } = self;
        match (self.coverage, self.counterexamples.is_empty()) {
            (Coverage::Exhausted, true) => {
                format!("holds in all {schedules} schedules within these bounds")
            }
            (Coverage::Exhausted, false) if *failing == Count::ZERO => format!(
                "none of all {schedules} schedules ends in a violation, but one stands on the way"
            ),
            (Coverage::Exhausted, false) => {
                let percent = failing.share_of(*schedules) * 100.0;
                format!(
                    "{failing} of all {schedules} schedules end in a violation ({percent:.0} %)"
                )
            }
            (Coverage::Running { .. }, _) => format!("still searching: {states} states so far"),
            (
                Coverage::Cut {
                    states_max,
                    unexplored,
                },
                true,
            ) => format!(
                "no violation so far; cut at {states_max} states, with {unexplored} not gone on from, \
                 so nothing is claimed about the rest"
            ),
            (Coverage::Cut { states_max, .. }, false) => format!(
                "a violation was found; cut at {states_max} states, so the counts are lower bounds"
            ),
        }
    }
}

/// How many complete schedules end in a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerdictCount {
    /// The verdict.
    pub verdict: Verdict,
    /// How many.
    pub schedules: Count,
}

/// The shortest schedule that breaks a property: of the shortest the one with the fewest switches from
/// one actor to another, and of those the first in the order of steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// What it breaks.
    pub verdict: Verdict,
    /// The schedule, up to the step that does it.
    pub schedule: Schedule,
}

/// Of the complete schedules that go on from a point, how many there are and how many end badly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// All of them.
    pub total: Count,
    /// Those that end with something violated.
    pub failing: Count,
}

/// What lies ahead of a node.
#[derive(Clone, Copy, Default)]
struct Ahead {
    total: Count,
    failing: Count,
    by_verdict: [Count; Verdict::ALL.len()],
}

impl Ahead {
    fn of_end(verdicts: Verdicts) -> Self {
        let mut ahead = Ahead {
            total: Count::ONE,
            ..Ahead::default()
        };
        if verdicts.is_violation() {
            ahead.failing = Count::ONE;
        }
        for verdict in verdicts.iter() {
            ahead.by_verdict[verdict as usize] = Count::ONE;
        }
        ahead
    }

    fn plus(mut self, other: &Ahead) -> Self {
        self.total = self.total.plus(other.total);
        self.failing = self.failing.plus(other.failing);
        for (own, others) in self.by_verdict.iter_mut().zip(&other.by_verdict) {
            *own = own.plus(*others);
        }
        self
    }
}

impl<M: Model> Search<M> {
    /// What the search has found so far.
    pub fn report(&self) -> Report {
        let start = self.ahead()[0];
        let verdicts = Verdict::ALL.map(|verdict| VerdictCount {
            verdict,
            schedules: start.by_verdict[verdict as usize],
        });
        let (allowed, counterexamples) = self
            .examples()
            .into_iter()
            .partition(|example| example.verdict.is_allowed());
        Report {
            coverage: self.coverage(),
            states: self.states(),
            schedules: start.total,
            failing: start.failing,
            verdicts: verdicts.to_vec(),
            counterexamples,
            allowed,
            passing: self.passing(),
        }
    }

    /// For each prefix of `schedule`, the empty one first: what share of its futures ends badly. `None`
    /// from the step on that leaves what was searched.
    pub fn shares(&self, schedule: &Schedule) -> Vec<Option<Share>> {
        let ahead = self.ahead();
        let prefixes = (0..=schedule.0.len()).map(|length| &schedule.0[..length]);
        let share = |id: NodeId| {
            let Ahead { total, failing, .. } = ahead[id as usize];
            Share { total, failing }
        };
        prefixes
            .map(|prefix| self.node_at(prefix).map(share))
            .collect()
    }

    /// What lies ahead of each node. Computed from the ends back: a state never comes again on its way,
    /// because every step spends an attempt, a fault or a stage.
    fn ahead(&self) -> Vec<Ahead> {
        let mut ahead: Vec<Option<Ahead>> = vec![None; self.nodes.len()];
        for root in 0..self.nodes.len() {
            // Depth first with a stack of its own, since a schedule may be longer than ours.
            let mut stack = vec![(root, 0)];
            while let Some((id, next)) = stack.pop() {
                if ahead[id].is_some() {
                    continue;
                }
                let node = &self.nodes[id];
                let open = (next..node.targets.len())
                    .find(|index| ahead[node.targets[*index] as usize].is_none());
                if let Some(index) = open {
                    assert!(
                        stack.len() <= self.nodes.len(),
                        "a state came again on its own way"
                    );
                    stack.push((id, index));
                    stack.push((node.targets[index] as usize, 0));
                    continue;
                }
                let here = if node.is_end() {
                    Ahead::of_end(node.verdicts)
                } else {
                    Ahead::default()
                };
                let known = |target: &NodeId| ahead[*target as usize].unwrap_or_default();
                ahead[id] = Some(node.targets.iter().fold(here, |sum, t| sum.plus(&known(t))));
            }
        }
        ahead.into_iter().map(Option::unwrap_or_default).collect()
    }

    fn examples(&self) -> Vec<Counterexample> {
        let found = Verdict::ALL.into_iter().filter_map(|verdict| {
            let schedule = self.simplest(|id| self.nodes[id].verdicts.contains(verdict))?;
            Some(Counterexample { verdict, schedule })
        });
        found.collect()
    }

    /// A shortest complete schedule through states in which nothing is violated.
    fn passing(&self) -> Option<Schedule> {
        let clean = |id: NodeId| !self.nodes[id as usize].verdicts.is_violation();
        let mut reached: BTreeMap<NodeId, (NodeId, Step)> = BTreeMap::new();
        let mut queue = vec![0];
        let mut index = 0;
        if !clean(0) {
            return None;
        }
        while let Some(id) = queue.get(index).copied() {
            index += 1;
            let node = &self.nodes[id as usize];
            if node.is_end() {
                return Some(way_back(&reached, id));
            }
            for (step, target) in node.steps.iter().zip(&node.targets) {
                if *target != 0 && clean(*target) && !reached.contains_key(target) {
                    reached.insert(*target, (id, *step));
                    queue.push(*target);
                }
            }
        }
        None
    }

    /// The simplest of the shortest schedules to a node that is wanted: fewest switches between actors,
    /// then the order of steps.
    fn simplest(&self, wanted: impl Fn(usize) -> bool) -> Option<Schedule> {
        let first = (0..self.nodes.len()).find(|id| wanted(*id))?;
        let depth = self.nodes[first].depth;
        let last = self
            .nodes
            .iter()
            .take_while(|node| node.depth <= depth)
            .count();
        let mut rest: Vec<Rest> = vec![Rest::default(); last];
        for id in (0..last).rev() {
            let node = &self.nodes[id];
            if node.depth == depth {
                rest[id] = [wanted(id).then_some(0); ACTORS];
                continue;
            }
            rest[id] = std::array::from_fn(|actor| {
                let ways = self.onward(id, actor, &rest);
                ways.map(|(total, _, _)| total).min()
            });
        }
        let mut steps = vec![];
        let (mut at, mut actor) = (0, actor_of(Step::AddTicket));
        while self.nodes[at].depth < depth {
            // The first of the cheapest: steps are tried in their order.
            let (_, step, target) = self
                .onward(at, actor, &rest)
                .min_by_key(|(total, step, _)| (*total, *step))?;
            steps.push(step);
            (at, actor) = (target as usize, actor_of(step));
        }
        Some(Schedule(steps))
    }

    /// The steps from a node that come nearer to what is wanted, with the switches that their ways cost.
    fn onward<'a>(
        &'a self,
        id: usize,
        actor: usize,
        rest: &'a [Rest],
    ) -> impl Iterator<Item = (u32, Step, NodeId)> + 'a {
        let node = &self.nodes[id];
        node.steps
            .iter()
            .zip(&node.targets)
            .filter_map(move |(step, target)| {
                let is_nearer = self.nodes[*target as usize].depth == node.depth + 1;
                let rest = is_nearer.then(|| rest[*target as usize][actor_of(*step)])??;
                let switch = u32::from(node.depth > 0 && actor_of(*step) != actor);
                Some((rest + switch, *step, *target))
            })
    }
}

/// Who takes steps: the workers, and everybody else as one.
const ACTORS: usize = WorkerId::COUNT + 1;

/// The switches that the rest of the way costs, by the actor of the step before it; `None` where what is
/// wanted cannot be reached in time.
type Rest = [Option<u32>; ACTORS];

/// The place of a step's actor among them.
fn actor_of(step: Step) -> usize {
    step.worker().map_or(ACTORS - 1, |worker| worker.0.into())
}

fn way_back(reached: &BTreeMap<NodeId, (NodeId, Step)>, end: NodeId) -> Schedule {
    let mut steps = vec![];
    let mut at = end;
    while let Some((parent, step)) = reached.get(&at) {
        steps.push(*step);
        at = *parent;
    }
    steps.reverse();
    Schedule(steps)
}
