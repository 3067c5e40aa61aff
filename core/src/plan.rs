//! A design as an order of stages: each with its SQL, and with what each answer means.
//!
//! A plan is data. "Ack first" begins with an ack; "receipt first" has two pairs of BEGIN and COMMIT;
//! "no guard" has no claim. Whoever wants a design of his own needs no second machine, only a plan.

use std::ops::Range;

use crate::broker::Kind;
use crate::design::{AckTiming, Arbitration, Begin, Design, Errors, Grouping, Key, Outside};
use crate::event::EffectName;
use crate::relay::Confirm;
use crate::schema;
use crate::sql::{Answer, Purpose, RefusalKind};

mod producer;
mod relay;
mod sender;

/// The attempt, counted from 1, whose refusal by the broker puts a row of the outbox aside.
pub const ATTEMPTS_MAX: u8 = 3;

/// What a stage is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Looks at the delivery's `redelivered` flag.
    ReadFlag,
    /// Begins a transaction.
    Begin,
    /// Looks whether a receipt is there.
    Check,
    /// Writes the receipt.
    Claim,
    /// Carries out the effect.
    Apply,
    /// Commits.
    Commit,
    /// Ends a transaction without a trace, after a duplicate or an error.
    Rollback,
    /// Tells the broker "done".
    Ack,
    /// Writes the ticket: the producer's business.
    WriteTicket,
    /// Writes the event into the outbox.
    Enqueue,
    /// Sends an event to the broker.
    Publish,
    /// Claims a row of the outbox for a while.
    Lease,
    /// Hears what the broker made of the message.
    HearConfirm,
    /// Marks the row as published.
    MarkPublished,
    /// Gives the row back, to be tried again.
    Release,
    /// Puts the row aside for a person.
    Park,
    /// Looks for a pending notification.
    Pick,
    /// Asks the provider outside whether the message went out.
    AskProvider,
    /// Calls the provider outside: the message goes out.
    Call,
    /// Marks the notification as done.
    MarkDone,
}

/// A value that a statement needs from what is at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind {
    /// The event's id.
    EventId,
    /// The effect's name.
    EffectName,
    /// The ticket's id.
    TicketId,
    /// The tenant's id.
    TenantId,
    /// The id of the task to be written.
    TaskId,
    /// The status of the task to be written.
    Status,
    /// What happened: the content of the event.
    Payload,
    /// Who claims the row.
    Owner,
    /// The token that came with the claim.
    Token,
    /// What the clock says.
    Now,
    /// Until when the claim is good.
    Until,
}

impl Bind {
    /// The name of the parameter in SQL, colon included.
    pub fn parameter(self) -> &'static str {
        match self {
            Bind::EventId => ":event_id",
            Bind::EffectName => ":effect_name",
            Bind::TicketId => ":ticket_id",
            Bind::TenantId => ":tenant_id",
            Bind::TaskId => ":task_id",
            Bind::Status => ":status",
            Bind::Payload => ":payload",
            Bind::Owner => ":owner",
            Bind::Token => ":token",
            Bind::Now => ":now",
            Bind::Until => ":until",
        }
    }
}

/// What an answer may look like to the design that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// A query found a row.
    Found,
    /// A write changed no row, or a statement that was to return one did not.
    NothingChanged,
    /// The broker says this of a message.
    Broker(Confirm),
    /// The broker says this of a message whose row was claimed [`ATTEMPTS_MAX`] times or more.
    BrokerAtLast(Confirm),
    /// A write was refused by a unique constraint. In a claim that is the receipt's own.
    Unique,
    /// The statement was refused by any constraint.
    Integrity,
    /// The statement was refused.
    Refused,
    /// Anything else.
    Otherwise,
}

impl When {
    fn matches(self, answer: &Answer) -> bool {
        match (self, answer) {
            (When::Found, Answer::Rows(count)) => *count > 0,
            (When::NothingChanged, Answer::Changed(count)) => *count == 0,
            (When::NothingChanged, Answer::Row(row)) => row.is_none(),
            (When::Unique, Answer::Refused(refusal)) => refusal.kind == RefusalKind::Unique,
            (When::Integrity, Answer::Refused(refusal)) => refusal.kind.is_integrity(),
            (When::Refused, Answer::Refused(_)) | (When::Otherwise, _) => true,
            _ => false,
        }
    }
}

/// What an answer means to the design, and so what the worker does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Meaning {
    /// Go on.
    Proceed,
    /// This effect was done before: leave it out.
    Duplicate,
    /// It failed: undo what is open and leave what is at hand as it was. A delivery is given back to the
    /// broker.
    GiveBack,
    /// It failed: undo what is open and tell the broker "done" all the same.
    AckAnyway,
    /// Go on with the stage of this role.
    GoTo(Role),
    /// Nothing is left to do.
    Done,
}

/// One answer, and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The answer.
    pub when: When,
    /// What it means.
    pub means: Meaning,
}

/// One atomic stage of handling a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// What it is for.
    pub role: Role,
    /// The effect it belongs to, unless it is about the whole delivery.
    pub effect: Option<EffectName>,
    /// The statement it runs; empty for a stage that asks no database.
    pub sql: &'static str,
    /// The values bound, in the order of their first appearance in the statement.
    pub binds: &'static [Bind],
    /// What each answer means. The first that matches counts.
    pub readings: Vec<Reading>,
}

impl Stage {
    /// What `answer` means to this stage.
    pub fn read(&self, answer: &Answer) -> Meaning {
        let reading = self
            .readings
            .iter()
            .find(|reading| reading.when.matches(answer));
        reading.expect("every stage reads any answer").means
    }

    /// What the broker's word on a message means to this stage, at this attempt, counted from 1.
    pub fn hear(&self, confirm: Confirm, attempt: u8) -> Meaning {
        let mut readings = self.readings.iter();
        let reading = readings.find(|reading| match reading.when {
            When::BrokerAtLast(wanted) => wanted == confirm && attempt >= ATTEMPTS_MAX,
            When::Broker(wanted) => wanted == confirm,
            When::Otherwise => true,
            _ => false,
        });
        reading.expect("every stage reads any answer").means
    }

    /// What the stage's statement is for; `None` if it has none.
    pub fn purpose(&self) -> Option<Purpose> {
        match self.role {
            Role::ReadFlag
            | Role::Ack
            | Role::Publish
            | Role::HearConfirm
            | Role::AskProvider
            | Role::Call => None,
            Role::Begin | Role::Commit | Role::Rollback => Some(Purpose::Control),
            Role::Check => Some(Purpose::Query),
            Role::Claim
            | Role::Apply
            | Role::WriteTicket
            | Role::Enqueue
            | Role::MarkPublished
            | Role::Release
            | Role::Park
            | Role::MarkDone => Some(Purpose::Write),
            Role::Lease | Role::Pick => Some(Purpose::Fetch),
        }
    }
}

/// What a worker does with one thing at hand, in order: a consumer with a delivery, the producer with a
/// request, a relay with a row of the outbox, a sender with a pending notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The design it was compiled from.
    pub design: Design,
    /// The receipts table it needs; `None` if it writes no receipts.
    pub receipts: Option<&'static str>,
    /// The stages.
    pub stages: Vec<Stage>,
    /// For each effect, which stages are its own.
    pub blocks: Vec<Range<usize>>,
}

impl Plan {
    /// Compiles what a design has workers of this kind do, for events with these effects.
    pub fn of(kind: Kind, design: Design, effects: &[EffectName]) -> Self {
        let stages = match kind {
            Kind::Consumer => return Plan::compile(design, effects),
            Kind::Producer => producer::stages(design),
            Kind::Relay => relay::stages(design),
            Kind::Sender => sender::stages(design),
        };
        Plan {
            design,
            receipts: receipts_table(design),
            stages,
            blocks: vec![],
        }
    }

    /// Compiles what a design has a consumer do with an event of these effects.
    pub fn compile(design: Design, effects: &[EffectName]) -> Self {
        let compiler = Compiler { design };
        let mut stages = vec![];
        let mut blocks = vec![];
        if design.ack == AckTiming::BeforeProcessing {
            stages.push(compiler.ack());
        }
        if design.arbitration == Arbitration::TrustRedelivered {
            stages.push(compiler.read_flag());
        }
        for &effect in effects {
            let start = stages.len();
            stages.extend(compiler.block(effect));
            blocks.push(start..stages.len());
        }
        if design.ack == AckTiming::AfterCommit {
            stages.push(compiler.ack());
        }
        Plan {
            design,
            receipts: receipts_table(design),
            stages,
            blocks,
        }
    }

    /// The first stage after the effect that `stage` belongs to: where a duplicate goes on.
    pub fn after_effect(&self, stage: usize) -> usize {
        match self.blocks.iter().find(|block| block.contains(&stage)) {
            Some(block) => block.end,
            // The flag speaks for the whole delivery.
            None => self.blocks.last().map_or(stage + 1, |block| block.end),
        }
    }

    /// The tables that the design needs, as SQL. A design that writes no receipts gets their table all the
    /// same: an empty one says more than none.
    pub fn tables(&self) -> impl Iterator<Item = &'static str> {
        let receipts = self.receipts.unwrap_or(schema::RECEIPTS_UNGUARDED);
        let outbox = self.design.has_outbox().then_some(schema::OUTBOX_EVENTS);
        [receipts, schema::BUSINESS].into_iter().chain(outbox)
    }

    /// The place of the first stage of this role.
    pub fn place_of(&self, role: Role) -> Option<usize> {
        self.stages.iter().position(|stage| stage.role == role)
    }

    /// The statement that undoes what is open. Carried out when a worker leaves a transaction early.
    pub const ROLLBACK: &'static str = "ROLLBACK";
}

fn receipts_table(design: Design) -> Option<&'static str> {
    if !design.has_receipt() {
        return None;
    }
    Some(match (design.key, design.has_constraint()) {
        (Key::EventEffect, true) => schema::RECEIPTS,
        (Key::Event, true) => schema::RECEIPTS_BY_EVENT,
        (Key::Ticket, true) => schema::RECEIPTS_BY_TICKET,
        (Key::EventEffect | Key::Event, false) => schema::RECEIPTS_UNGUARDED,
        (Key::Ticket, false) => schema::RECEIPTS_BY_TICKET_UNGUARDED,
    })
}

/// Turns a design's choices into stages, one axis a function.
struct Compiler {
    design: Design,
}

impl Compiler {
    fn block(&self, effect: EffectName) -> Vec<Stage> {
        let mut stages = vec![];
        let mut transaction = |body: Vec<Stage>| {
            stages.push(self.begin(effect));
            stages.extend(body);
            stages.push(self.commit(effect));
        };
        let check = self.check(effect).into_iter();
        let claim = self.claim(effect).into_iter();
        let apply = [self.apply(effect)];
        let apply = apply
            .into_iter()
            .chain(self.call(effect, Outside::InTransaction));
        match self.design.grouping {
            Grouping::One => transaction(check.chain(claim).chain(apply).collect()),
            Grouping::ReceiptFirst => {
                transaction(check.chain(claim).collect());
                transaction(apply.collect());
            }
            Grouping::EffectFirst => {
                transaction(check.chain(apply).collect());
                transaction(claim.collect());
            }
            Grouping::Autocommit => stages.extend(check.chain(claim).chain(apply)),
        }
        stages.extend(self.call(effect, Outside::AfterCommit));
        stages
    }

    /// The call to the provider, if this effect has one and the design makes it here.
    fn call(&self, effect: EffectName, here: Outside) -> Option<Stage> {
        let is_made = effect == EffectName::Notification && self.design.outside == here;
        is_made.then(|| self.stage(Role::Call, effect, "", &[], None))
    }

    fn read_flag(&self) -> Stage {
        // The flag counts as the answer of a query: a row means "seen before".
        let readings = vec![
            Reading {
                when: When::Found,
                means: Meaning::Duplicate,
            },
            Reading {
                when: When::Otherwise,
                means: Meaning::Proceed,
            },
        ];
        Stage {
            role: Role::ReadFlag,
            effect: None,
            sql: "",
            binds: &[],
            readings,
        }
    }

    fn ack(&self) -> Stage {
        let readings = vec![Reading {
            when: When::Otherwise,
            means: Meaning::Proceed,
        }];
        Stage {
            role: Role::Ack,
            effect: None,
            sql: "",
            binds: &[],
            readings,
        }
    }

    fn begin(&self, effect: EffectName) -> Stage {
        let sql = match self.design.begin {
            Begin::Deferred => "BEGIN",
            Begin::Immediate => "BEGIN IMMEDIATE",
        };
        self.stage(Role::Begin, effect, sql, &[], None)
    }

    fn commit(&self, effect: EffectName) -> Stage {
        self.stage(Role::Commit, effect, "COMMIT", &[], None)
    }

    fn check(&self, effect: EffectName) -> Option<Stage> {
        if self.design.arbitration != Arbitration::CheckThenInsert {
            return None;
        }
        let (sql, binds) = check_statement(self.design.key);
        Some(self.stage(Role::Check, effect, sql, binds, Some(When::Found)))
    }

    fn claim(&self, effect: EffectName) -> Option<Stage> {
        if !self.design.has_receipt() {
            return None;
        }
        let (sql, binds) = claim_statement(self.design.arbitration, self.design.key);
        let duplicate = match self.design.arbitration {
            Arbitration::OnConflictDoNothing | Arbitration::InsertOrIgnore => {
                Some(When::NothingChanged)
            }
            Arbitration::UniqueConstraint => Some(When::Unique),
            Arbitration::None | Arbitration::TrustRedelivered | Arbitration::CheckThenInsert => {
                None
            }
        };
        Some(self.stage(Role::Claim, effect, sql, binds, duplicate))
    }

    fn apply(&self, effect: EffectName) -> Stage {
        const BINDS: &[Bind] = &[
            Bind::TaskId,
            Bind::TicketId,
            Bind::TenantId,
            Bind::EffectName,
            Bind::Status,
        ];
        let sql = match self.design.arbitration {
            Arbitration::InsertOrIgnore => schema::INSERT_TASK_OR_IGNORE,
            _ => schema::INSERT_TASK,
        };
        self.stage(Role::Apply, effect, sql, BINDS, None)
    }

    /// A stage whose answer `duplicate` means duplicate, and whose errors the errors axis reads.
    fn stage(
        &self,
        role: Role,
        effect: EffectName,
        sql: &'static str,
        binds: &'static [Bind],
        duplicate: Option<When>,
    ) -> Stage {
        let mut readings = vec![];
        if let Some(when) = duplicate {
            readings.push(Reading {
                when,
                means: Meaning::Duplicate,
            });
        }
        if self.design.errors == Errors::AnyIntegrity {
            readings.push(Reading {
                when: When::Integrity,
                means: Meaning::Duplicate,
            });
        }
        let failed = match self.design.errors {
            Errors::TargetOnly | Errors::AnyIntegrity => Meaning::GiveBack,
            Errors::AnyAcked => Meaning::AckAnyway,
        };
        readings.push(Reading {
            when: When::Refused,
            means: failed,
        });
        readings.push(Reading {
            when: When::Otherwise,
            means: Meaning::Proceed,
        });
        Stage {
            role,
            effect: Some(effect),
            sql,
            binds,
            readings,
        }
    }
}

impl Stage {
    /// A stage outside the consumer's plan: `readings` come first, a refused statement leaves what is at
    /// hand as it was, and anything else leads on.
    fn outside(
        role: Role,
        sql: &'static str,
        binds: &'static [Bind],
        readings: &[(When, Meaning)],
    ) -> Stage {
        let usual = [
            (When::Refused, Meaning::GiveBack),
            (When::Otherwise, Meaning::Proceed),
        ];
        let readings = readings.iter().chain(&usual);
        Stage {
            role,
            effect: None,
            sql,
            binds,
            readings: readings
                .map(|(when, means)| Reading {
                    when: *when,
                    means: *means,
                })
                .collect(),
        }
    }
}

/// The SELECT that looks for a receipt, and the values that it binds.
pub fn check_statement(key: Key) -> (&'static str, &'static [Bind]) {
    match key {
        Key::EventEffect => (
            "SELECT 1 FROM effect_receipts WHERE event_id = :event_id AND effect_name = :effect_name",
            &[Bind::EventId, Bind::EffectName],
        ),
        Key::Event => (
            "SELECT 1 FROM effect_receipts WHERE event_id = :event_id",
            &[Bind::EventId],
        ),
        Key::Ticket => (
            "SELECT 1 FROM effect_receipts WHERE ticket_id = :ticket_id",
            &[Bind::TicketId],
        ),
    }
}

const PAIR: &[Bind] = &[Bind::EventId, Bind::EffectName];
const TRIPLE: &[Bind] = &[Bind::EventId, Bind::EffectName, Bind::TicketId];

/// The INSERT that claims a receipt.
fn claim_statement(arbitration: Arbitration, key: Key) -> (&'static str, &'static [Bind]) {
    /// The statement with its verb and what follows the values.
    macro_rules! insert {
        ($verb:literal, $conflict:literal) => {
            concat!(
                $verb,
                " INTO effect_receipts (event_id, effect_name) VALUES (:event_id, :effect_name)",
                $conflict
            )
        };
        ($verb:literal, ticket, $conflict:literal) => {
            concat!(
                $verb,
                " INTO effect_receipts (event_id, effect_name, ticket_id) \
                 VALUES (:event_id, :effect_name, :ticket_id)",
                $conflict
            )
        };
    }
    match (arbitration, key) {
        (Arbitration::OnConflictDoNothing, Key::EventEffect) => (
            insert!("INSERT", " ON CONFLICT (event_id, effect_name) DO NOTHING"),
            PAIR,
        ),
        (Arbitration::OnConflictDoNothing, Key::Event) => (
            insert!("INSERT", " ON CONFLICT (event_id) DO NOTHING"),
            PAIR,
        ),
        (Arbitration::OnConflictDoNothing, Key::Ticket) => (
            insert!("INSERT", ticket, " ON CONFLICT (ticket_id) DO NOTHING"),
            TRIPLE,
        ),
        (Arbitration::InsertOrIgnore, Key::Ticket) => {
            (insert!("INSERT OR IGNORE", ticket, ""), TRIPLE)
        }
        (Arbitration::InsertOrIgnore, _) => (insert!("INSERT OR IGNORE", ""), PAIR),
        (_, Key::Ticket) => (insert!("INSERT", ticket, ""), TRIPLE),
        (_, _) => (insert!("INSERT", ""), PAIR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn roles(design: Design) -> Vec<Role> {
        let plan = Plan::compile(design, &EffectName::ALL[..1]);
        plan.stages.iter().map(|stage| stage.role).collect()
    }

    #[test]
    fn the_contract_claims_before_it_applies_and_acks_after_it_commits() {
        use Role::*;
        assert_eq!(roles(Design::CONTRACT), [Begin, Claim, Apply, Commit, Ack]);
        assert_eq!(
            roles(Design::preset("receipt-first").unwrap()),
            [Begin, Claim, Commit, Begin, Apply, Commit, Ack]
        );
        assert_eq!(
            roles(Design::preset("effect-first").unwrap()),
            [Begin, Check, Apply, Commit, Begin, Claim, Commit, Ack]
        );
        assert_eq!(
            roles(Design::preset("check-then-insert").unwrap()),
            [Check, Claim, Apply, Ack]
        );
        assert_eq!(roles(Design::preset("ack-first").unwrap())[0], Ack);
    }

    #[test]
    fn a_statement_binds_its_parameters_in_the_order_of_their_names() {
        for design in design::all() {
            for stage in Plan::compile(design, &EffectName::ALL).stages {
                let mut positions = stage
                    .binds
                    .iter()
                    .map(|bind| stage.sql.find(bind.parameter()));
                assert!(
                    positions.all(|position| position.is_some()),
                    "{}",
                    stage.sql
                );
                let mut sorted = stage.binds.to_vec();
                sorted.sort_by_key(|bind| stage.sql.find(bind.parameter()));
                assert_eq!(sorted, stage.binds, "{}", stage.sql);
                assert_eq!(
                    stage.sql.matches(':').count(),
                    stage.binds.len(),
                    "{}",
                    stage.sql
                );
            }
        }
    }

    #[test]
    fn a_duplicate_goes_on_with_the_next_effect() {
        let plan = Plan::compile(Design::CONTRACT, &EffectName::ALL);
        assert_eq!(plan.after_effect(1), 4);
        assert_eq!(plan.stages[4].effect, Some(EffectName::SearchProjection));
        assert_eq!(plan.stages[plan.after_effect(9)].role, Role::Ack);
    }
}
