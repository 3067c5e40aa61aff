//! The axes of a design as values: to compare two designs choice by choice, and to take one choice back.

use std::fmt;

use crate::design::{
    AckTiming, Arbitration, Begin, Design, Errors, Grouping, Key, Lease, Marking, Outside,
    Publication,
};

/// One of the axes on which a design makes its choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Axis {
    /// What decides who is first.
    Arbitration,
    /// Which writes commit together.
    Grouping,
    /// What makes two deliveries the same.
    Key,
    /// Which errors mean duplicate.
    Errors,
    /// When the ack is sent.
    Ack,
    /// How transactions begin.
    Begin,
    /// How events come to the broker.
    Publication,
    /// When an outbox row is marked as published.
    Marking,
    /// What a relay's claim is worth.
    Lease,
    /// How a notification reaches the outside.
    Outside,
}

impl Axis {
    /// How many there are.
    pub const COUNT: usize = 10;

    /// All of them, in the order in which a design's text names its choices.
    pub const ALL: [Axis; Axis::COUNT] = [
        Axis::Arbitration,
        Axis::Grouping,
        Axis::Key,
        Axis::Errors,
        Axis::Ack,
        Axis::Begin,
        Axis::Publication,
        Axis::Marking,
        Axis::Lease,
        Axis::Outside,
    ];

    /// The name in files and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Axis::Arbitration => "arbitration",
            Axis::Grouping => "grouping",
            Axis::Key => "key",
            Axis::Errors => "errors",
            Axis::Ack => "ack",
            Axis::Begin => "begin",
            Axis::Publication => "publication",
            Axis::Marking => "marking",
            Axis::Lease => "lease",
            Axis::Outside => "outside",
        }
    }

    /// The axis with this name.
    pub fn named(text: &str) -> Option<Self> {
        Axis::ALL.into_iter().find(|axis| axis.as_str() == text)
    }

    /// The name of the choice that a design makes on this axis.
    pub fn choice(self, design: &Design) -> &'static str {
        // Without `..`: a further axis of a design has to find its place here.
        let Design {
            arbitration,
            grouping,
            key,
            errors,
            ack,
            begin,
            publication,
            marking,
            lease,
            outside,
        } = design;
        match self {
            Axis::Arbitration => arbitration.as_str(),
            Axis::Grouping => grouping.as_str(),
            Axis::Key => key.as_str(),
            Axis::Errors => errors.as_str(),
            Axis::Ack => ack.as_str(),
            Axis::Begin => begin.as_str(),
            Axis::Publication => publication.as_str(),
            Axis::Marking => marking.as_str(),
            Axis::Lease => lease.as_str(),
            Axis::Outside => outside.as_str(),
        }
    }

    /// `design` with each choice on this axis in turn, in order. Some of the combinations may make no sense.
    fn variants(self, design: Design) -> Vec<Design> {
        /// The designs that differ in this field.
        macro_rules! each {
            ($field:ident, $axis:ident) => {{
                let choices = $axis::ALL.iter();
                choices.map(|&$field| Design { $field, ..design }).collect()
            }};
        }
        match self {
            Axis::Arbitration => each!(arbitration, Arbitration),
            Axis::Grouping => each!(grouping, Grouping),
            Axis::Key => each!(key, Key),
            Axis::Errors => each!(errors, Errors),
            Axis::Ack => each!(ack, AckTiming),
            Axis::Begin => each!(begin, Begin),
            Axis::Publication => each!(publication, Publication),
            Axis::Marking => each!(marking, Marking),
            Axis::Lease => each!(lease, Lease),
            Axis::Outside => each!(outside, Outside),
        }
    }

    /// `design` with the choice that `other` makes on this axis. The combination may make no sense.
    #[must_use]
    pub fn taken_from(self, other: &Design, design: Design) -> Design {
        match self {
            Axis::Arbitration => Design {
                arbitration: other.arbitration,
                ..design
            },
            Axis::Grouping => Design {
                grouping: other.grouping,
                ..design
            },
            Axis::Key => Design {
                key: other.key,
                ..design
            },
            Axis::Errors => Design {
                errors: other.errors,
                ..design
            },
            Axis::Ack => Design {
                ack: other.ack,
                ..design
            },
            Axis::Begin => Design {
                begin: other.begin,
                ..design
            },
            Axis::Publication => Design {
                publication: other.publication,
                ..design
            },
            Axis::Marking => Design {
                marking: other.marking,
                ..design
            },
            Axis::Lease => Design {
                lease: other.lease,
                ..design
            },
            Axis::Outside => Design {
                outside: other.outside,
                ..design
            },
        }
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The axes on which two designs choose differently, in order.
pub fn between(one: &Design, other: &Design) -> impl Iterator<Item = Axis> {
    let (one, other) = (*one, *other);
    Axis::ALL
        .into_iter()
        .filter(move |axis| axis.choice(&one) != axis.choice(&other))
}

/// Every design that differs from this one on these axes at most and makes sense, itself among them, in the
/// order of the choices.
pub fn reachable(design: Design, axes: &[Axis]) -> impl Iterator<Item = Design> {
    let varied = |designs: Vec<Design>, axis: &Axis| {
        let variants = designs.into_iter().flat_map(|design| axis.variants(design));
        variants.collect()
    };
    let designs: Vec<Design> = axes.iter().fold(vec![design], varied);
    designs
        .into_iter()
        .filter(|design| design.nonsense().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn a_choice_that_is_taken_over_is_the_only_one_that_changes() {
        let boss = Design {
            key: crate::design::Key::Ticket,
            begin: crate::design::Begin::Immediate,
            ..Design::preset("swallow-integrity-errors").unwrap()
        };
        let other = Design {
            ack: crate::design::AckTiming::BeforeProcessing,
            publication: crate::design::Publication::Outbox,
            marking: crate::design::Marking::AfterSend,
            lease: crate::design::Lease::Forever,
            outside: crate::design::Outside::PendingRow,
            ..Design::preset("effect-first").unwrap()
        };
        assert_eq!(between(&boss, &other).collect::<Vec<_>>(), Axis::ALL);
        for axis in Axis::ALL {
            let changed = axis.taken_from(&other, boss);
            assert_eq!(between(&boss, &changed).collect::<Vec<_>>(), [axis]);
            assert_eq!(axis.choice(&changed), axis.choice(&other));
            assert_eq!(Axis::named(axis.as_str()), Some(axis));
        }
        assert_eq!(Axis::named("transaction"), None);
    }

    #[test]
    fn the_consumers_axes_reach_every_design_of_a_consumer_in_order() {
        let reached: Vec<Design> = reachable(Design::CONTRACT, &Axis::ALL[..6]).collect();
        assert_eq!(reached, crate::design::all().collect::<Vec<_>>());
        let around: Vec<Design> = reachable(Design::CONTRACT, &Axis::ALL[6..]).collect();
        let known = crate::design::all_around_the_contract();
        assert_eq!(around, known.collect::<Vec<_>>());
    }
}
