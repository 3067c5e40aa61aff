//! Written schedules on both sides of the consumer: what becomes of a ticket's event before it is in the
//! queue, and of a notification once its task is committed.

use deliver_twice_core::scenario::{Provider, Scenario};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::schedules::{check, check_trace};

/// One ticket, and nobody who consumes.
fn ticket() -> Scenario {
    Scenario {
        workers: 0,
        ..Scenario::default()
    }
}

/// The same, with two relays.
fn two_relays() -> Scenario {
    Scenario {
        relays: 2,
        ..ticket()
    }
}

/// One ticket, and one consumer for its event.
fn whole_way() -> Scenario {
    Scenario {
        workers: 1,
        ..Scenario::default()
    }
}

/// One event, once, to one consumer.
fn notification() -> Scenario {
    Scenario {
        deliveries: 1,
        workers: 1,
        ..Scenario::default()
    }
}

// ---- Two orders, two windows ---------------------------------------------------------------------

#[test]
fn a_crash_after_the_commit_and_before_the_publication_loses_the_event() {
    check(
        "commit-then-publish",
        ticket(),
        "s1:P3.xP",
        "receipts 0, tasks 0, acked 0, tickets 1 \
         lost-event e1: P committed the ticket at step 3, before it had published; it \
         stopped at step 4, and nothing in the database says that it still had to",
    );
    check(
        "commit-then-publish",
        ticket(),
        "s1:P3.nP",
        "receipts 0, tasks 0, acked 0, tickets 1 \
         lost-event e1: the broker did not take what P published at step 4, and nobody \
         waits to hear that",
    );
    check(
        "commit-then-publish",
        whole_way(),
        "s1:P4.dA.A5",
        "receipts 1, tasks 1, acked 1, tickets 1",
    );
}

#[test]
fn a_crash_after_the_publication_and_before_the_commit_leaves_a_ghost() {
    check(
        "publish-then-commit",
        ticket(),
        "s1:P3.xP",
        "receipts 0, tasks 0, acked 0, queued 1, tickets 0 \
         ghost-event e1: P published at step 3, before the ticket was committed; it \
         stopped at step 4, and then the commit never came",
    );
    check(
        "publish-then-commit",
        whole_way(),
        "s1:P3.xP.dA.A5.dA.A5.dA.A5",
        "receipts 0, tasks 0, acked 0, parked 1, tickets 0 \
         ghost-event e1: P published at step 3, before the ticket was committed; it \
         stopped at step 4, and then the commit never came",
    );
}

#[test]
fn one_writer_at_a_time_makes_the_consumer_wait_for_the_ticket() {
    check(
        "publish-then-commit",
        whole_way(),
        "s1:P3.dA.A2.P.A4",
        "receipts 1, tasks 1, acked 1, tickets 1",
    );
}

// ---- The outbox ----------------------------------------------------------------------------------

#[test]
fn a_ticket_and_its_event_commit_together_or_not_at_all() {
    check(
        "outbox",
        ticket(),
        "s1:P3.xP",
        "receipts 0, tasks 0, acked 0, tickets 0",
    );
    check(
        "outbox",
        ticket(),
        "s1:P3.rP",
        "receipts 0, tasks 0, acked 0, tickets 1, row pending",
    );
}

#[test]
fn a_confirm_marks_the_row_and_nothing_else_does() {
    check_trace(
        "outbox",
        ticket(),
        "s1:P4.R4",
        "1 P begin: done -> goes on \
         2 P ticket: changed 1 -> goes on | P SHARED, P RESERVED \
         3 P enqueue: changed 1 -> goes on \
         4 P commit: done -> goes on | P EXCLUSIVE, P back to SHARED, P back to NONE \
         5 R lease: row e1 1 1 ticket-1 ticket.created -> goes on | R SHARED, R \
         RESERVED, R EXCLUSIVE, R back to SHARED, R back to NONE \
         6 R sent e1, Confirmed \
         7 R heard of e1: Confirmed -> goes on \
         8 R mark: changed 1 -> done with it | R SHARED, R RESERVED, R EXCLUSIVE, R back \
         to SHARED, R back to NONE",
    );
    check(
        "outbox",
        ticket(),
        "s1:P4.R4",
        "receipts 0, tasks 0, acked 0, queued 1, tickets 1, row published",
    );
}

#[test]
fn a_nack_gives_the_row_back_to_be_tried_again() {
    check_trace(
        "outbox",
        ticket(),
        "s1:P4.R.nR.R2",
        "1 P begin: done -> goes on \
         2 P ticket: changed 1 -> goes on | P SHARED, P RESERVED \
         3 P enqueue: changed 1 -> goes on \
         4 P commit: done -> goes on | P EXCLUSIVE, P back to SHARED, P back to NONE \
         5 R lease: row e1 1 1 ticket-1 ticket.created -> goes on | R SHARED, R \
         RESERVED, R EXCLUSIVE, R back to SHARED, R back to NONE \
         6 nR sent e1, Nacked \
         7 R heard of e1: Nacked -> release \
         8 R release: changed 1 -> done with it | R SHARED, R RESERVED, R EXCLUSIVE, R \
         back to SHARED, R back to NONE",
    );
    check(
        "outbox",
        ticket(),
        "s1:P4.R.nR.R2",
        "receipts 0, tasks 0, acked 0, tickets 1, row pending",
    );
    check(
        "outbox",
        ticket(),
        "s1:P4.R.nR.R6",
        "receipts 0, tasks 0, acked 0, queued 1, tickets 1, row published",
    );
}

#[test]
fn a_third_nack_puts_the_row_aside() {
    check(
        "outbox",
        ticket(),
        "s1:P4.R.nR.R3.nR.R3.nR.R2",
        "receipts 0, tasks 0, acked 0, tickets 1, row parked",
    );
}

#[test]
fn a_return_puts_the_row_aside_at_once() {
    check(
        "outbox",
        ticket(),
        "s1:P4.R.uR.R2",
        "receipts 0, tasks 0, acked 0, tickets 1, row parked",
    );
}

#[test]
fn a_lost_confirm_leaves_the_row_leased_until_the_lease_expires() {
    check(
        "outbox",
        ticket(),
        "s1:P4.R2.cR",
        "receipts 0, tasks 0, acked 0, queued 1, tickets 1, row leased",
    );
    check(
        "outbox",
        ticket(),
        "s1:P4.R2.cR.e.R4",
        "receipts 0, tasks 0, acked 0, queued 2, tickets 1, row published \
         allowed doubled-publication e1 x2: R published at step 10 what the broker had \
         taken at step 6, which a relay cannot always know, and a receipt is there to \
         absorb",
    );
    check(
        "outbox-leased-forever",
        ticket(),
        "s1:P4.R2.cR",
        "receipts 0, tasks 0, acked 0, queued 1, tickets 1, row leased \
         stuck-row e1: R claimed the row at step 5, and the claim never expires",
    );
}

#[test]
fn a_doubled_publication_is_absorbed_by_the_receipt() {
    check(
        "outbox",
        whole_way(),
        "s1:P4.R2.xR.e.R4.dA.A5.dA.A4",
        "receipts 1, tasks 1, acked 2, tickets 1, row published \
         allowed doubled-publication e1 x2: R published at step 10 what the broker had \
         taken at step 6, which a relay cannot always know, and a receipt is there to \
         absorb",
    );
}

#[test]
fn a_crash_of_the_relay_leaves_a_row_that_another_takes_over() {
    check(
        "outbox",
        ticket(),
        "s1:P4.R.xR.e.R4",
        "receipts 0, tasks 0, acked 0, queued 1, tickets 1, row published",
    );
    check(
        "outbox-leased-forever",
        ticket(),
        "s1:P4.R.xR",
        "receipts 0, tasks 0, acked 0, tickets 1, row leased \
         stuck-row e1: R claimed the row at step 5; it stopped at step 6, and the claim \
         never expires",
    );
}

#[test]
fn a_fenced_relay_that_is_late_changes_nothing() {
    check_trace(
        "outbox",
        two_relays(),
        "s1:P4.R.nR.R.l.S4.R",
        "1 P begin: done -> goes on \
         2 P ticket: changed 1 -> goes on | P SHARED, P RESERVED \
         3 P enqueue: changed 1 -> goes on \
         4 P commit: done -> goes on | P EXCLUSIVE, P back to SHARED, P back to NONE \
         5 R lease: row e1 1 1 ticket-1 ticket.created -> goes on | R SHARED, R \
         RESERVED, R EXCLUSIVE, R back to SHARED, R back to NONE \
         6 nR sent e1, Nacked \
         7 R heard of e1: Nacked -> release \
         8 l lease on e1 expired \
         9 S lease: row e1 2 2 ticket-1 ticket.created -> goes on | S SHARED, S \
         RESERVED, S EXCLUSIVE, S back to SHARED, S back to NONE \
         10 S sent e1, Confirmed \
         11 S heard of e1: Confirmed -> goes on \
         12 S mark: changed 1 -> done with it | S SHARED, S RESERVED, S EXCLUSIVE, S \
         back to SHARED, S back to NONE \
         13 R release: changed 0 -> done with it | R SHARED, R RESERVED, R EXCLUSIVE, R \
         back to SHARED, R back to NONE",
    );
    check(
        "outbox",
        two_relays(),
        "s1:P4.R.nR.R.l.S4.R",
        "receipts 0, tasks 0, acked 0, queued 1, tickets 1, row published",
    );
}

#[test]
fn an_unfenced_relay_that_is_late_undoes_what_another_did() {
    check(
        "outbox-unfenced",
        two_relays(),
        "s1:P4.R.nR.R.l.S4.R",
        "receipts 0, tasks 0, acked 0, queued 1, tickets 1, row pending \
         stale-write e1: at step 13 R changed a row that was not its own any more, \
         because its statement asks for the event and not for the claim",
    );
    check(
        "outbox-unfenced",
        two_relays(),
        "s1:P4.R3.l.S.R",
        "receipts 0, tasks 0, acked 0, queued 1, tickets 1, row published \
         stale-write e1: at step 10 R changed a row that was not its own any more, \
         because its statement asks for the event and not for the claim",
    );
}

#[test]
fn a_mark_before_the_confirm_says_what_is_not_so() {
    check(
        "outbox-marked-when-sent",
        ticket(),
        "s1:P4.R.nR.R",
        "receipts 0, tasks 0, acked 0, tickets 1, row published \
         lost-event e1: R marked the row at step 7 without hearing the broker, who did \
         not take what R sent at step 6 \
         false-published e1: R marked the row at step 7 without hearing the broker, who \
         did not take what R sent at step 6",
    );
    check(
        "outbox-marked-when-claimed",
        ticket(),
        "s1:P4.R.xR",
        "receipts 0, tasks 0, acked 0, tickets 1, row published \
         lost-event e1: R marked the row at step 5, before it had sent the message; it \
         stopped at step 6, and the row tells nobody to send it \
         false-published e1: R marked the row at step 5, before it had sent the message; \
         it stopped at step 6, and the row tells nobody to send it",
    );
}

// ---- The world outside ---------------------------------------------------------------------------

#[test]
fn a_call_inside_the_transaction_is_not_rolled_back_with_it() {
    check(
        "call-in-transaction",
        notification(),
        "s1:dA.A4.xA",
        "receipts 0, tasks 0, acked 0, queued 1, done 0, sent 1 \
         sent-in-vain e1: A called at step 5, before the task was committed; it stopped \
         at step 6, and no rollback calls a message back",
    );
    check(
        "call-in-transaction",
        notification(),
        "s1:dA.A4.xA.dA.A6",
        "receipts 1, tasks 1, acked 1, done 0, sent 2 \
         sent-twice e1 x2: A called the provider at step 11, though the message had gone \
         out at step 5, and nothing told it so \
         sent-in-vain e1: A called at step 5, before the task was committed; it stopped \
         at step 6, and no rollback calls a message back",
    );
}

#[test]
fn a_call_after_the_commit_may_never_be_made() {
    check(
        "call-after-commit",
        notification(),
        "s1:dA.A4.xA.dA.A4",
        "receipts 1, tasks 1, acked 1, done 0, sent 0 \
         never-sent e1: A committed the task at step 5, before it had called; it stopped \
         at step 6, and a later delivery is a duplicate, which calls nobody",
    );
}

#[test]
fn a_pending_row_is_sent_again_when_its_mark_is_missing() {
    check(
        "pending-row",
        notification(),
        "s1:dA.A5.N3",
        "receipts 1, tasks 1, acked 1, done 1, sent 1",
    );
    check(
        "pending-row",
        notification(),
        "s1:dA.A5.N2.xN.N3",
        "receipts 1, tasks 1, acked 1, done 1, sent 2 \
         sent-twice e1 x2: N called the provider at step 11, though the message had gone \
         out at step 8, and nothing told it so",
    );
    check(
        "pending-row",
        notification(),
        "s1:dA.A5.N.oN.N3",
        "receipts 1, tasks 1, acked 1, done 1, sent 2 \
         sent-twice e1 x2: N called the provider at step 10, though the message had gone \
         out at step 8, and nothing told it so",
    );
}

#[test]
fn a_key_that_the_provider_honours_makes_the_second_call_do_nothing() {
    check_trace(
        "pending-row-with-key",
        notification(),
        "s1:dA.A5.N2.xN.N3",
        "1 dA delivery 1, attempt 1 \
         2 A begin: done -> goes on \
         3 A claim: changed 1 -> goes on | A SHARED, A RESERVED \
         4 A apply: changed 1 -> goes on \
         5 A commit: done -> goes on | A EXCLUSIVE, A back to SHARED, A back to NONE \
         6 A acked delivery 1 \
         7 N pick: row 377a27a0-2a74-5970-8f5c-99ad927cff8a -> goes on | N SHARED, N \
         back to NONE \
         8 N called, key true, out true, answered true -> goes on \
         9 xN crashed \
         10 N pick: row 377a27a0-2a74-5970-8f5c-99ad927cff8a -> goes on | N SHARED, N \
         back to NONE \
         11 N called, key true, out false, answered true -> goes on \
         12 N done: changed 1 -> goes on | N SHARED, N RESERVED, N EXCLUSIVE, N back to \
         SHARED, N back to NONE",
    );
    check(
        "pending-row-with-key",
        notification(),
        "s1:dA.A5.N2.xN.N3",
        "receipts 1, tasks 1, acked 1, done 1, sent 1",
    );
}

#[test]
fn a_key_that_the_provider_ignores_guards_nothing() {
    let scenario = Scenario {
        provider: Provider::IgnoresKeys,
        ..notification()
    };
    check(
        "pending-row-with-key",
        scenario,
        "s1:dA.A5.N2.xN.N3",
        "receipts 1, tasks 1, acked 1, done 1, sent 2 \
         sent-twice e1 x2: N called the provider at step 11, though the message had gone \
         out at step 8, and the provider does not look at the key",
    );
    check(
        "pending-row-reconciled",
        scenario,
        "s1:dA.A5.N3.xN.N3",
        "receipts 1, tasks 1, acked 1, done 1, sent 1",
    );
}

#[test]
fn two_senders_that_ask_first_both_hear_no() {
    let scenario = Scenario {
        senders: 2,
        ..notification()
    };
    check(
        "pending-row-reconciled",
        scenario,
        "s1:dA.A4.N2.M3.N",
        "receipts 1, tasks 1, acked 0, unacked 1, done 0, sent 2 \
         sent-twice e1 x2: N called the provider at step 11, though the message had gone \
         out at step 10: when it asked, at step 7, it had not",
    );
}
