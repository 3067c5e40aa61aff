//! A design: one choice on each axis, six for the consumer, three for the producer's side and one for
//! what leaves the database.
//!
//! A design decides nothing by itself. It is compiled to a [`Plan`](crate::plan::Plan), and the machine
//! only walks plans.

use std::fmt;
use std::str::FromStr;

use crate::axis::Axis;
use crate::error::Error;

/// Declares an axis: its choices, the name of each in links and messages, and all of them in order.
macro_rules! axis {
    ($(#[$doc:meta])* $name:ident { $($(#[$choice_doc:meta])* $choice:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$choice_doc])* $choice,)+ }

        impl $name {
            /// All choices on this axis, in the order in which they are offered.
            pub const ALL: &'static [$name] = &[$($name::$choice),+];

            /// The name of this choice in links and messages.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$choice => $text),+ }
            }

            fn named(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|choice| choice.as_str() == text)
            }
        }
    };
}

axis! {
    /// What decides whether a delivery is the first.
    Arbitration {
        /// Nothing: every delivery is carried out.
        None = "none",
        /// The broker's `redelivered` flag: a hint, taken for proof.
        TrustRedelivered = "trust-redelivered",
        /// A SELECT before the work. The receipts have no constraint.
        CheckThenInsert = "check-then-insert",
        /// The INSERT of the receipt, against a unique constraint.
        UniqueConstraint = "unique-constraint",
        /// The same, asked with `ON CONFLICT … DO NOTHING`: no row changed means duplicate.
        OnConflictDoNothing = "on-conflict-do-nothing",
        /// The same, with `INSERT OR IGNORE` on every write, which also silences other constraints.
        InsertOrIgnore = "insert-or-ignore",
    }
}

axis! {
    /// Which writes commit together.
    Grouping {
        /// Receipt and effect in one transaction.
        One = "one-transaction",
        /// The receipt commits first, in a transaction of its own.
        ReceiptFirst = "receipt-first",
        /// The effect commits first, in a transaction of its own.
        EffectFirst = "effect-first",
        /// Every statement commits by itself.
        Autocommit = "autocommit",
    }
}

axis! {
    /// What makes two deliveries "the same" to the consumer.
    Key {
        /// The event and the effect.
        EventEffect = "event-and-effect",
        /// The event alone.
        Event = "event-only",
        /// The ticket alone.
        Ticket = "ticket-only",
    }
}

axis! {
    /// Which errors are taken to mean "duplicate", and what happens to the others.
    Errors {
        /// Only a violation of the receipt's own constraint. Everything else gives the delivery back.
        TargetOnly = "target-only",
        /// Any violation of any constraint.
        AnyIntegrity = "any-integrity",
        /// A duplicate is recognised, and after any other error the delivery is acked all the same.
        AnyAcked = "any-acked",
    }
}

axis! {
    /// When the broker is told "done".
    AckTiming {
        /// After the last commit.
        AfterCommit = "after-commit",
        /// Before the first statement.
        BeforeProcessing = "before-processing",
    }
}

axis! {
    /// How a transaction begins.
    Begin {
        /// Without a lock; each statement takes what it needs.
        Deferred = "deferred",
        /// With the one write lock, at once.
        Immediate = "immediate",
    }
}

axis! {
    /// How an event comes from the producer's transaction to the broker.
    Publication {
        /// It is in the queue at the start; where it came from is not looked at.
        AtStart = "at-start",
        /// The ticket commits, and then the event is published.
        CommitThenPublish = "commit-then-publish",
        /// The event is published, and then the ticket commits.
        PublishThenCommit = "publish-then-commit",
        /// The event is a row that commits with the ticket, and a relay publishes it.
        Outbox = "outbox",
    }
}

axis! {
    /// When a relay marks an outbox row as published.
    Marking {
        /// When the broker has confirmed the message.
        AfterConfirm = "after-confirm",
        /// When the message is sent, whatever the broker makes of it.
        AfterSend = "after-send",
        /// In the statement that claims the row, before anything is sent.
        WithClaim = "with-claim",
    }
}

axis! {
    /// What a relay's claim on an outbox row is worth.
    Lease {
        /// It expires, and what a relay says after that is refused: the token is another's by then.
        Fenced = "fenced",
        /// It expires, and a relay that was late is heard all the same.
        Unfenced = "unfenced",
        /// It never expires.
        Forever = "forever",
    }
}

axis! {
    /// How a notification reaches the provider outside the database.
    Outside {
        /// It does not: a task row is all there is.
        None = "none",
        /// The consumer calls the provider inside its transaction.
        InTransaction = "in-transaction",
        /// The consumer calls the provider once it has committed.
        AfterCommit = "after-commit",
        /// The task is a pending row, and a sender calls the provider for it and marks it done.
        PendingRow = "pending-row",
        /// The same, and the call carries the row's id as its idempotency key.
        PendingRowWithKey = "pending-row-with-key",
        /// The sender asks the provider whether the row's message went out before it calls.
        Reconciled = "reconciled",
    }
}

/// A design of the whole way, or of that part of it which a scenario looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Design {
    /// What decides who is first.
    pub arbitration: Arbitration,
    /// Which writes commit together.
    pub grouping: Grouping,
    /// What makes two deliveries the same.
    pub key: Key,
    /// Which errors mean duplicate.
    pub errors: Errors,
    /// When the ack is sent.
    pub ack: AckTiming,
    /// How transactions begin.
    pub begin: Begin,
    /// How events come to the broker.
    pub publication: Publication,
    /// When an outbox row is marked as published.
    pub marking: Marking,
    /// What a relay's claim is worth.
    pub lease: Lease,
    /// How a notification reaches the outside.
    pub outside: Outside,
}

/// A design with a name. The names are identities: links and golden files carry them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name, for ever.
    pub name: &'static str,
    /// The design.
    pub design: Design,
}

/// The design of the contract, which the other presets differ from in one or two choices.
const CONTRACT: Design = Design {
    arbitration: Arbitration::UniqueConstraint,
    grouping: Grouping::One,
    key: Key::EventEffect,
    errors: Errors::TargetOnly,
    ack: AckTiming::AfterCommit,
    begin: Begin::Deferred,
    publication: Publication::AtStart,
    marking: Marking::AfterConfirm,
    lease: Lease::Fenced,
    outside: Outside::None,
};

/// The outbox as it should be, with the contract at its other end.
const OUTBOX: Design = Design {
    publication: Publication::Outbox,
    ..CONTRACT
};

const fn notified(outside: Outside) -> Design {
    Design {
        outside,
        ..CONTRACT
    }
}

const fn arbitrated_by(arbitration: Arbitration) -> Design {
    Design {
        arbitration,
        ..CONTRACT
    }
}

/// A part of what is taught, with designs of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chapter {
    /// How a consumer survives a duplicate.
    Consumer,
    /// How a producer loses no event.
    Producer,
    /// What leaves the database.
    Outside,
}

impl Chapter {
    /// All of them, in the order in which they are taught.
    pub const ALL: [Chapter; 3] = [Chapter::Consumer, Chapter::Producer, Chapter::Outside];

    /// The named designs, in the order in which they are taught.
    pub fn presets(self) -> &'static [Preset] {
        match self {
            Chapter::Consumer => &PRESETS,
            Chapter::Producer => &PRODUCERS,
            Chapter::Outside => &OUTSIDES,
        }
    }

    /// The name in links and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Chapter::Consumer => "consumer",
            Chapter::Producer => "producer",
            Chapter::Outside => "outside",
        }
    }
}

/// Every named design, chapter by chapter.
pub fn presets() -> impl Iterator<Item = &'static Preset> {
    Chapter::ALL.into_iter().flat_map(Chapter::presets)
}

/// The named designs of a producer.
pub const PRODUCERS: [Preset; 7] = [
    Preset {
        name: "commit-then-publish",
        design: Design {
            publication: Publication::CommitThenPublish,
            ..CONTRACT
        },
    },
    Preset {
        name: "publish-then-commit",
        design: Design {
            publication: Publication::PublishThenCommit,
            ..CONTRACT
        },
    },
    Preset {
        name: "outbox",
        design: OUTBOX,
    },
    Preset {
        name: "outbox-marked-when-sent",
        design: Design {
            marking: Marking::AfterSend,
            ..OUTBOX
        },
    },
    Preset {
        name: "outbox-marked-when-claimed",
        design: Design {
            marking: Marking::WithClaim,
            ..OUTBOX
        },
    },
    Preset {
        name: "outbox-unfenced",
        design: Design {
            lease: Lease::Unfenced,
            ..OUTBOX
        },
    },
    Preset {
        name: "outbox-leased-forever",
        design: Design {
            lease: Lease::Forever,
            ..OUTBOX
        },
    },
];

/// The named designs of a notification's way to the outside.
pub const OUTSIDES: [Preset; 5] = [
    Preset {
        name: "call-in-transaction",
        design: notified(Outside::InTransaction),
    },
    Preset {
        name: "call-after-commit",
        design: notified(Outside::AfterCommit),
    },
    Preset {
        name: "pending-row",
        design: notified(Outside::PendingRow),
    },
    Preset {
        name: "pending-row-with-key",
        design: notified(Outside::PendingRowWithKey),
    },
    Preset {
        name: "pending-row-reconciled",
        design: notified(Outside::Reconciled),
    },
];

/// The named designs of a consumer, in the order in which they are taught.
pub const PRESETS: [Preset; 13] = [
    Preset {
        name: "no-guard",
        design: arbitrated_by(Arbitration::None),
    },
    Preset {
        name: "trust-redelivered",
        design: arbitrated_by(Arbitration::TrustRedelivered),
    },
    Preset {
        name: "check-then-insert",
        design: Design {
            grouping: Grouping::Autocommit,
            ..arbitrated_by(Arbitration::CheckThenInsert)
        },
    },
    Preset {
        name: "check-in-transaction",
        design: arbitrated_by(Arbitration::CheckThenInsert),
    },
    Preset {
        name: "constraint-arbitration",
        design: CONTRACT,
    },
    Preset {
        name: "on-conflict-do-nothing",
        design: arbitrated_by(Arbitration::OnConflictDoNothing),
    },
    Preset {
        name: "insert-or-ignore",
        design: arbitrated_by(Arbitration::InsertOrIgnore),
    },
    Preset {
        name: "receipt-first",
        design: Design {
            grouping: Grouping::ReceiptFirst,
            ..CONTRACT
        },
    },
    Preset {
        name: "effect-first",
        design: Design {
            grouping: Grouping::EffectFirst,
            ..arbitrated_by(Arbitration::CheckThenInsert)
        },
    },
    Preset {
        name: "event-key",
        design: Design {
            key: Key::Event,
            ..CONTRACT
        },
    },
    Preset {
        name: "ticket-key",
        design: Design {
            key: Key::Ticket,
            ..CONTRACT
        },
    },
    Preset {
        name: "swallow-integrity-errors",
        design: Design {
            errors: Errors::AnyIntegrity,
            ..CONTRACT
        },
    },
    Preset {
        name: "ack-first",
        design: Design {
            ack: AckTiming::BeforeProcessing,
            ..CONTRACT
        },
    },
];

/// Why a combination of choices makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nonsense {
    /// Without receipts there is none that could commit apart from the effect.
    NoReceiptToGroup,
    /// Without receipts there is no key.
    NoReceiptToKey,
    /// Where every statement commits by itself, nothing begins.
    NoTransactionToBegin,
    /// Without an outbox there is no row to claim and to mark.
    NoOutbox,
    /// Where every statement commits by itself, no call can be inside a transaction.
    NoTransactionToCallIn,
}

impl Nonsense {
    /// The reason in one sentence.
    pub fn reason(self) -> &'static str {
        match self {
            Nonsense::NoReceiptToGroup => {
                "this arbitration writes no receipt, so none can commit before or after the effect"
            }
            Nonsense::NoReceiptToKey => "this arbitration writes no receipt, so there is no key",
            Nonsense::NoTransactionToBegin => {
                "under autocommit no transaction begins, so none can begin immediately"
            }
            Nonsense::NoOutbox => {
                "without an outbox there is no row that a relay could claim or mark"
            }
            Nonsense::NoTransactionToCallIn => {
                "under autocommit no transaction is open that a call could be made in"
            }
        }
    }
}

impl Design {
    /// The design of the contract: what `apply_once` does.
    pub const CONTRACT: Design = CONTRACT;

    /// The preset with this name.
    pub fn preset(name: &str) -> Option<Design> {
        presets()
            .find(|preset| preset.name == name)
            .map(|preset| preset.design)
    }

    /// The name of the preset that this design is, if it is one.
    pub fn preset_name(&self) -> Option<&'static str> {
        presets()
            .find(|preset| preset.design == *self)
            .map(|preset| preset.name)
    }

    /// Whether this design writes receipts at all.
    pub fn has_receipt(&self) -> bool {
        !matches!(
            self.arbitration,
            Arbitration::None | Arbitration::TrustRedelivered
        )
    }

    /// Whether its receipts table has a unique constraint.
    pub fn has_constraint(&self) -> bool {
        self.has_receipt() && self.arbitration != Arbitration::CheckThenInsert
    }

    /// Whether a producer is part of it, so that nothing is in the queue at the start.
    pub fn has_producer(&self) -> bool {
        self.publication != Publication::AtStart
    }

    /// Whether relays are part of it.
    pub fn has_outbox(&self) -> bool {
        self.publication == Publication::Outbox
    }

    /// Whether a sender is part of it, apart from the consumer.
    pub fn has_sender(&self) -> bool {
        matches!(
            self.outside,
            Outside::PendingRow | Outside::PendingRowWithKey | Outside::Reconciled
        )
    }

    /// The chapter that it belongs to.
    pub fn chapter(&self) -> Chapter {
        match (self.has_producer(), self.outside) {
            (true, _) => Chapter::Producer,
            (false, Outside::None) => Chapter::Consumer,
            (false, _) => Chapter::Outside,
        }
    }

    /// The design with the usual choice on every axis that means nothing in it: whoever goes from the outbox
    /// to another way need not undo what he chose about its rows.
    #[must_use]
    pub fn without_idle_choices(self) -> Design {
        match self.has_outbox() {
            true => self,
            false => Design {
                marking: CONTRACT.marking,
                lease: CONTRACT.lease,
                ..self
            },
        }
    }

    /// Why this combination makes no sense, if it does not.
    pub fn nonsense(&self) -> Option<Nonsense> {
        if !self.has_receipt() && self.key != Key::EventEffect {
            return Some(Nonsense::NoReceiptToKey);
        }
        if !self.has_receipt()
            && matches!(
                self.grouping,
                Grouping::ReceiptFirst | Grouping::EffectFirst
            )
        {
            return Some(Nonsense::NoReceiptToGroup);
        }
        if self.grouping == Grouping::Autocommit && self.begin == Begin::Immediate {
            return Some(Nonsense::NoTransactionToBegin);
        }
        let has_relay_choice = self.marking != Marking::AfterConfirm || self.lease != Lease::Fenced;
        if !self.has_outbox() && has_relay_choice {
            return Some(Nonsense::NoOutbox);
        }
        if self.grouping == Grouping::Autocommit && self.outside == Outside::InTransaction {
            return Some(Nonsense::NoTransactionToCallIn);
        }
        None
    }
}

impl fmt::Display for Design {
    /// The preset's name, or the six choices of the consumer joined by dots; with the other four behind
    /// them where one of those is not as usual.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.preset_name() {
            return f.write_str(name);
        }
        let axes = match self.chapter() {
            Chapter::Consumer => &Axis::ALL[..CONSUMER_AXES],
            Chapter::Producer | Chapter::Outside => &Axis::ALL[..],
        };
        let choices: Vec<&str> = axes.iter().map(|axis| axis.choice(self)).collect();
        f.write_str(&choices.join("."))
    }
}

impl FromStr for Design {
    type Err = Error;

    /// Reads what [`Display`](fmt::Display) writes. Refuses a combination that makes no sense.
    fn from_str(text: &str) -> Result<Self, Error> {
        let design = match Design::preset(text) {
            Some(design) => design,
            None => from_choices(text)?,
        };
        match design.nonsense() {
            None => Ok(design),
            Some(nonsense) => Err(Error::NonsenseDesign {
                text: text.to_owned(),
                nonsense,
            }),
        }
    }
}

/// How many of the axes are the consumer's, and come first in a design's text.
const CONSUMER_AXES: usize = 6;

fn from_choices(text: &str) -> Result<Design, Error> {
    let mut words = text.split('.');
    let mut at = 0;
    let mut next = |axis: &'static str| {
        let word = words.next().unwrap_or("");
        let here = at;
        at += word.chars().count() + 1;
        (word.to_owned(), here, axis)
    };
    let bad = |(word, at, axis): &(String, usize, &'static str), choices: Vec<&'static str>| {
        Error::UnknownChoice {
            axis,
            found: word.clone(),
            at_char: *at,
            choices,
        }
    };
    /// Reads one word as a choice on the axis.
    macro_rules! choice {
        ($axis:ident, $name:literal) => {{
            let word = next($name);
            $axis::named(&word.0)
                .ok_or_else(|| bad(&word, $axis::ALL.iter().map(|c| c.as_str()).collect()))?
        }};
    }
    if !text.contains('.') {
        return Err(Error::UnknownPreset {
            found: text.to_owned(),
        });
    }
    let consumer = Design {
        arbitration: choice!(Arbitration, "arbitration"),
        grouping: choice!(Grouping, "transaction"),
        key: choice!(Key, "key"),
        errors: choice!(Errors, "errors"),
        ack: choice!(AckTiming, "ack"),
        begin: choice!(Begin, "begin"),
        ..CONTRACT
    };
    if text.split('.').count() <= CONSUMER_AXES {
        return Ok(consumer);
    }
    let design = Design {
        publication: choice!(Publication, "publication"),
        marking: choice!(Marking, "marking"),
        lease: choice!(Lease, "lease"),
        outside: choice!(Outside, "outside"),
        ..consumer
    };
    match words.next() {
        None => Ok(design),
        Some(extra) => Err(Error::UnknownChoice {
            axis: "end",
            found: extra.to_owned(),
            at_char: at,
            choices: vec![],
        }),
    }
}

/// Every design of the producer's side and of the way outside, with the contract at the consumer.
pub fn all_around_the_contract() -> impl Iterator<Item = Design> {
    let axes = Publication::ALL.iter().flat_map(|&publication| {
        Marking::ALL.iter().flat_map(move |&marking| {
            Lease::ALL.iter().flat_map(move |&lease| {
                Outside::ALL.iter().map(move |&outside| Design {
                    publication,
                    marking,
                    lease,
                    outside,
                    ..CONTRACT
                })
            })
        })
    });
    axes.filter(|design| design.nonsense().is_none())
}

/// Every combination of a consumer's choices that makes sense, in the order of the axes.
pub fn all() -> impl Iterator<Item = Design> {
    let axes = Arbitration::ALL.iter().flat_map(|&arbitration| {
        Grouping::ALL.iter().flat_map(move |&grouping| {
            Key::ALL.iter().flat_map(move |&key| {
                Errors::ALL.iter().flat_map(move |&errors| {
                    AckTiming::ALL.iter().flat_map(move |&ack| {
                        Begin::ALL.iter().map(move |&begin| Design {
                            arbitration,
                            grouping,
                            key,
                            errors,
                            ack,
                            begin,
                            ..CONTRACT
                        })
                    })
                })
            })
        })
    });
    axes.filter(|design| design.nonsense().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn every_design_that_makes_sense_reads_back_from_its_text() {
        for design in all().chain(all_around_the_contract()) {
            assert_eq!(design.to_string().parse::<Design>().unwrap(), design);
        }
    }

    #[test]
    fn presets_make_sense_and_differ() {
        for (index, preset) in presets().enumerate() {
            assert_eq!(preset.design.nonsense(), None, "{}", preset.name);
            assert_eq!(preset.design.preset_name(), Some(preset.name));
            assert!(
                presets()
                    .take(index)
                    .all(|other| other.design != preset.design && other.name != preset.name)
            );
        }
        for chapter in Chapter::ALL {
            for preset in chapter.presets() {
                assert_eq!(preset.design.chapter(), chapter, "{}", preset.name);
            }
        }
    }

    #[test]
    fn a_bad_design_says_where_and_what_was_expected() {
        let error = "none.one-transaction.evnt.target-only.after-commit.deferred"
            .parse::<Design>()
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "key `evnt` at character 22 is unknown; expected one of event-and-effect, event-only, \
             ticket-only"
        );
        assert!("none.one-transaction".parse::<Design>().is_err());
        assert!("".parse::<Design>().is_err());
        let refused = "none.receipt-first.event-and-effect.target-only.after-commit.deferred";
        assert!(
            refused
                .parse::<Design>()
                .unwrap_err()
                .to_string()
                .contains("writes no receipt")
        );
    }
}
