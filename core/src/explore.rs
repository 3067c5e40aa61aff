//! Every schedule within bounds, tried on the real machine.
//!
//! The search is breadth-first over states. A state cannot be copied, because open transactions live in
//! SQLite; so it is made again by carrying out the steps that led to it, from the nearest state before it
//! in which no transaction was open and the disk could be kept. Two schedules that lead to the same state
//! are one from there on, and are counted, not repeated.
//!
//! A search that was cut says so in its [`Coverage`], and nothing that was cut reads as "holds".

use std::collections::BTreeMap;

use crate::error::Result;
use crate::property::Verdict;
use crate::schedule::Step;

mod count;
mod report;
mod system;

pub use count::Count;
pub use report::{Counterexample, Report, Share, VerdictCount};
pub use system::Exploration;

/// Something whose schedules can be searched.
///
/// The laboratory's machine is one. The tests have another, of actors so simple that the number of their
/// schedules is known from arithmetic: a search is to be trusted before it is believed.
pub trait Model {
    /// What it takes to come back to a state in which nothing is open.
    type Checkpoint;

    /// The steps that may happen next, in a fixed order.
    fn enabled(&self) -> Vec<Step>;

    /// Takes a step that is enabled.
    ///
    /// # Errors
    /// If the machine breaks down, which ends the search.
    fn take(&mut self, step: Step) -> Result<()>;

    /// Everything that decides what may happen next and what has gone wrong, as bytes: two states with
    /// the same bytes have the same future.
    ///
    /// # Errors
    /// If the machine cannot be read.
    fn digest(&mut self) -> Result<Vec<u8>>;

    /// What is violated.
    fn verdicts(&self) -> Verdicts;

    /// How to come back here; `None` if something is open that cannot be kept.
    fn checkpoint(&mut self) -> Option<Self::Checkpoint>;

    /// Comes back to where a checkpoint was taken.
    ///
    /// # Errors
    /// If the machine breaks down, which ends the search.
    fn resume(&mut self, checkpoint: &Self::Checkpoint) -> Result<()>;
}

/// A set of verdicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Verdicts(u16);

impl Verdicts {
    /// Nothing is violated.
    pub const NONE: Verdicts = Verdicts(0);

    /// With one more.
    #[must_use]
    pub fn with(self, verdict: Verdict) -> Self {
        Verdicts(self.0 | 1 << verdict as u8)
    }

    /// Whether it holds this one.
    pub fn contains(self, verdict: Verdict) -> bool {
        self.0 & (1 << verdict as u8) != 0
    }

    /// Whether something is violated. What is allowed does not count.
    pub fn is_violation(self) -> bool {
        self.iter().any(|verdict| !verdict.is_allowed())
    }

    /// Its members, in order.
    pub fn iter(self) -> impl Iterator<Item = Verdict> {
        Verdict::ALL
            .into_iter()
            .filter(move |verdict| self.contains(*verdict))
    }
}

impl FromIterator<Verdict> for Verdicts {
    fn from_iter<I: IntoIterator<Item = Verdict>>(verdicts: I) -> Self {
        verdicts.into_iter().fold(Verdicts::NONE, Verdicts::with)
    }
}

/// How much of the space of schedules a search has visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Every schedule within the bounds.
    Exhausted,
    /// The search is not over. Nothing is claimed about the rest.
    Running {
        /// States that were reached, and not gone on from yet.
        unexplored: u64,
    },
    /// The search stopped early. Nothing is claimed about the rest.
    Cut {
        /// The limit that stopped it, in states.
        states_max: u64,
        /// States that were reached, and not gone on from.
        unexplored: u64,
    },
}

/// A node's number. States are numbered as they are reached, so a lower number is no deeper.
type NodeId = u32;

/// A state that was reached.
struct Node<C> {
    /// The state before it, and the step that led here, on a shortest way from the start.
    parent: (NodeId, Step),
    /// Steps from the start.
    depth: u32,
    /// What may happen next.
    steps: Box<[Step]>,
    /// Where each of those leads: as many as were tried.
    targets: Vec<NodeId>,
    verdicts: Verdicts,
    checkpoint: Option<C>,
}

impl<C> Node<C> {
    /// Whether a schedule may end here: nothing gets on by itself.
    fn is_end(&self) -> bool {
        !self.steps.iter().any(|step| step.is_progress())
    }
}

/// A search, in slices as long as its driver likes.
pub struct Search<M: Model> {
    model: M,
    nodes: Vec<Node<M::Checkpoint>>,
    known: BTreeMap<Box<[u8]>, NodeId>,
    /// The node that is being gone on from.
    current: NodeId,
    states_max: u64,
    /// Whether a state was met that is one too many.
    is_cut: bool,
    transitions: u64,
}

impl<M: Model> Search<M> {
    /// A search from the state that `model` is in, which visits `states_max` states at most.
    ///
    /// # Errors
    /// If the machine cannot be read.
    ///
    /// # Panics
    /// If the model cannot be brought back to its start.
    pub fn new(mut model: M, states_max: u64) -> Result<Self> {
        let digest = model.digest()?;
        let start = Node {
            parent: (0, Step::AddTicket),
            depth: 0,
            steps: model.enabled().into(),
            targets: vec![],
            verdicts: model.verdicts(),
            checkpoint: model.checkpoint(),
        };
        assert!(
            start.checkpoint.is_some(),
            "a search begins where nothing is open"
        );
        Ok(Search {
            model,
            nodes: vec![start],
            known: BTreeMap::from([(digest.into(), 0)]),
            current: 0,
            states_max,
            is_cut: false,
            transitions: 0,
        })
    }

    /// Tries up to `steps` further steps, and says how far the search has come.
    ///
    /// # Errors
    /// If the machine breaks down. The search is then to be given up.
    pub fn advance(&mut self, steps: u64) -> Result<Coverage> {
        let end = self.transitions.saturating_add(steps);
        while self.transitions < end && !self.is_cut {
            let Some(node) = self.nodes.get(self.current as usize) else {
                break;
            };
            let Some(step) = node.steps.get(node.targets.len()).copied() else {
                self.current += 1;
                continue;
            };
            self.try_step(self.current, step)?;
        }
        Ok(self.coverage())
    }

    /// Goes on until everything is visited or the limit is reached.
    ///
    /// # Errors
    /// If the machine breaks down.
    pub fn run(&mut self) -> Result<Coverage> {
        self.advance(u64::MAX)
    }

    /// How far the search has come.
    pub fn coverage(&self) -> Coverage {
        let open = self.nodes.iter().skip(self.current as usize);
        let unexplored = open
            .filter(|node| node.targets.len() < node.steps.len())
            .count() as u64;
        match unexplored {
            0 => Coverage::Exhausted,
            _ if self.is_cut => Coverage::Cut {
                states_max: self.states_max,
                unexplored,
            },
            _ => Coverage::Running { unexplored },
        }
    }

    /// Distinct states reached.
    pub fn states(&self) -> u64 {
        self.nodes.len() as u64
    }

    /// Steps tried.
    pub fn transitions(&self) -> u64 {
        self.transitions
    }

    /// Whether a step that is no progress, a fault or help from outside, was possible anywhere.
    pub fn meets_a_fault(&self) -> bool {
        let mut steps = self.nodes.iter().flat_map(|node| node.steps.iter());
        steps.any(|step| !step.is_progress())
    }

    fn try_step(&mut self, from: NodeId, step: Step) -> Result<()> {
        self.go_to(from)?;
        self.model.take(step)?;
        let digest = self.model.digest()?;
        let target = match self.known.get(digest.as_slice()) {
            Some(known) => *known,
            None if self.states() >= self.states_max => {
                self.is_cut = true;
                return Ok(());
            }
            None => self.reach(from, step, digest),
        };
        self.transitions += 1;
        self.nodes[from as usize].targets.push(target);
        Ok(())
    }

    /// Notes the state that the model is in as a new one.
    fn reach(&mut self, from: NodeId, step: Step, digest: Vec<u8>) -> NodeId {
        let id = NodeId::try_from(self.nodes.len()).expect("a search of 2^32 states is cut before");
        self.nodes.push(Node {
            parent: (from, step),
            depth: self.nodes[from as usize].depth + 1,
            steps: self.model.enabled().into(),
            targets: vec![],
            verdicts: self.model.verdicts(),
            checkpoint: self.model.checkpoint(),
        });
        self.known.insert(digest.into(), id);
        id
    }

    /// Brings the model into the state of a node.
    fn go_to(&mut self, id: NodeId) -> Result<()> {
        let mut steps = vec![];
        let mut at = id;
        let checkpoint = loop {
            let node = &self.nodes[at as usize];
            match &node.checkpoint {
                Some(checkpoint) => break checkpoint,
                None => {
                    steps.push(node.parent.1);
                    at = node.parent.0;
                }
            }
        };
        self.model.resume(checkpoint)?;
        steps
            .into_iter()
            .rev()
            .try_for_each(|step| self.model.take(step))
    }

    /// The node that a schedule leads to; `None` if it leaves what was searched.
    fn node_at(&self, steps: &[Step]) -> Option<NodeId> {
        steps.iter().try_fold(0, |at, step| self.follow(at, *step))
    }

    fn follow(&self, from: NodeId, step: Step) -> Option<NodeId> {
        let node = &self.nodes[from as usize];
        let index = node.steps.iter().position(|enabled| *enabled == step)?;
        node.targets.get(index).copied()
    }
}
