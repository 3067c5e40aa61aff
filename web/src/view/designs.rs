//! A design: its preset, and a control for each axis.

use deliver_twice_core::axis::Axis;
use deliver_twice_core::design::{
    AckTiming, Arbitration, Begin, Chapter, Design, Errors, Grouping, Key, Lease, Marking, Outside,
    Publication,
};
use deliver_twice_core::schema;
use yew::prelude::*;

use super::{Select, View, is_wide, side_class, verdict};
use crate::session::{Action, Side};
use crate::words;

/// The button that brings a side to the front where there is room for one only.
pub fn segment(view: &View<'_>, side: Side) -> Html {
    let pressed = view.session.shown == side;
    html! {
        <button
            aria-pressed={pressed.to_string()}
            onclick={view.on(Action::Show(side))}
            data-testid={format!("show-{}", side_class(side))}
        >
            { title(view, side) }
            { verdict::badge(view, side) }
        </button>
    }
}

/// The name of a side's design; in a repair also whose it is.
fn title(view: &View<'_>, side: Side) -> String {
    let design = words::design(view.messages, &view.session.design(side));
    let key = match (view.session.is_repair(), side) {
        (false, _) => return design.to_owned(),
        (true, Side::Left) => "repair.before",
        (true, Side::Right) => "repair.yours",
    };
    view.messages.fill(key, &[("design", design)])
}

/// The panel of a side's design.
pub fn show(view: &View<'_>, side: Side) -> Html {
    let design = view.session.design(side);
    let label = match side {
        Side::Left => "design.left",
        Side::Right => "design.right",
    };
    html! {
        <section class={classes!("design", side_class(side))} aria-label={view.say(label).to_owned()}>
            <div class="design__head">
                <h3>{ title(view, side) }</h3>
                if view.session.exercise.is_none() && view.embed.has_choices() { { preset(view, side, design) } }
            </div>
            <details class="settings" open={is_wide() || view.session.is_repair()}>
                <summary>{ view.say("design.axes") }</summary>
                <div class="axes">{ for axes(view, side, design) }</div>
            </details>
            <span class="axes__receipts">{ receipts(view, &design) }</span>
            <p class="axes__refused" role="alert" data-testid={format!("refused-{}", side_class(side))}>
                { view.session.refused.filter(|(refused, _)| *refused == side)
                    .map(|(_, nonsense)| words::nonsense(view.messages, nonsense)) }
            </p>
        </section>
    }
}

/// What the design's table of receipts is like.
fn receipts(view: &View<'_>, design: &Design) -> String {
    let constraint = match design.key {
        Key::EventEffect => schema::RECEIPT_CONSTRAINT,
        Key::Event => "uq_effect_event",
        Key::Ticket => "uq_effect_ticket",
    };
    match (design.has_receipt(), design.has_constraint()) {
        (false, _) => view.say("design.receipts.none").to_owned(),
        (true, false) => view.say("design.receipts.unguarded").to_owned(),
        (true, true) => view
            .messages
            .fill("design.receipts.guarded", &[("constraint", constraint)]),
    }
}

fn preset(view: &View<'_>, side: Side, design: Design) -> Html {
    let mut options = vec![];
    let mut headings = vec![];
    for chapter in Chapter::ALL {
        headings.push((options.len(), view.messages.get(chapter_key(chapter))));
        let names = chapter.presets().iter().map(|preset| preset.name);
        options.extend(names.map(|name| (name, view.messages.get(words::preset_key(name)))));
    }
    if design.preset_name().is_none() {
        headings.push((options.len(), view.say("design.own")));
        options.push(("", view.say("design.own")));
    }
    let act = view.act.clone();
    Select {
        label: view.say("design.preset").to_owned(),
        testid: format!("preset-{}", side_class(side)),
        options,
        current: design.preset_name().unwrap_or(""),
        class: "select--preset",
    }
    .show_under(&headings, move |name| {
        let chosen = Design::preset(name);
        if let Some(design) = chosen {
            act.emit(Action::SetDesign(side, design));
        }
        chosen.is_some()
    })
}

/// The key of a chapter's name.
pub fn chapter_key(chapter: Chapter) -> &'static str {
    match chapter {
        Chapter::Consumer => "chapter.consumer",
        Chapter::Producer => "chapter.producer",
        Chapter::Outside => "chapter.outside",
    }
}

/// One control for each axis that means something in this design.
fn axes(view: &View<'_>, side: Side, design: Design) -> Vec<Html> {
    let other = match side {
        Side::Left => view.session.design(Side::Right),
        Side::Right => view.session.design(Side::Left),
    };
    /// The control of one axis: its field, its type, its value.
    macro_rules! axis {
        ($field:ident, $axis:ident, $value:expr) => {{
            let act = view.act.clone();
            let select = Select {
                label: view.say(axis_key($value)).to_owned(),
                testid: format!("axis-{}-{}", $value, side_class(side)),
                options: $axis::ALL
                    .iter()
                    .filter(|&&$field| {
                        let next = Design { $field, ..design }.without_idle_choices();
                        next == design || view.session.may_become(side, &next)
                    })
                    .map(|choice| {
                        (
                            choice.as_str(),
                            view.messages.get(choice_key(choice.as_str())),
                        )
                    })
                    .collect(),
                current: design.$field.as_str(),
                class: if design.$field == other.$field {
                    "chip"
                } else {
                    "chip chip--differs"
                },
            }
            .show(move |name| {
                let chosen = $axis::ALL
                    .iter()
                    .copied()
                    .find(|choice| choice.as_str() == name);
                let next = Design {
                    $field: chosen.unwrap_or(design.$field),
                    ..design
                }
                .without_idle_choices();
                act.emit(Action::SetDesign(side, next));
                next.nonsense().is_none()
            });
            let disabled = !view.embed.has_choices() || !may_change(view, side, $value);
            html! { <fieldset class="axis" {disabled}>{ select }</fieldset> }
        }};
    }
    let mut axes = vec![
        axis!(arbitration, Arbitration, Axis::Arbitration),
        axis!(grouping, Grouping, Axis::Grouping),
        axis!(key, Key, Axis::Key),
        axis!(errors, Errors, Axis::Errors),
        axis!(ack, AckTiming, Axis::Ack),
        axis!(begin, Begin, Axis::Begin),
    ];
    // Two consumers by themselves differ in nothing that is around them; a preset of another chapter leads
    // there.
    let mut chapters = view.session.designs.iter().map(Design::chapter);
    if chapters.all(|chapter| chapter == Chapter::Consumer) {
        return axes;
    }
    axes.push(axis!(publication, Publication, Axis::Publication));
    if design.has_outbox() {
        axes.push(axis!(marking, Marking, Axis::Marking));
        axes.push(axis!(lease, Lease, Axis::Lease));
    }
    axes.push(axis!(outside, Outside, Axis::Outside));
    axes
}

/// Whether the visitor may change this axis: an exercise opens some of them, on the right, or none.
fn may_change(view: &View<'_>, side: Side, axis: Axis) -> bool {
    let exercise = view.session.exercise;
    exercise.is_none_or(|exercise| side == Side::Right && exercise.may_change(axis))
}

/// The key of an axis's name.
pub fn axis_key(axis: Axis) -> &'static str {
    match axis {
        Axis::Arbitration => "axis.arbitration",
        Axis::Grouping => "axis.grouping",
        Axis::Key => "axis.key",
        Axis::Errors => "axis.errors",
        Axis::Ack => "axis.ack",
        Axis::Begin => "axis.begin",
        Axis::Publication => "axis.publication",
        Axis::Marking => "axis.marking",
        Axis::Lease => "axis.lease",
        Axis::Outside => "axis.outside",
    }
}

/// The key of a choice's name.
pub fn choice_key(name: &str) -> &'static str {
    const KEYS: [&str; 34] = [
        "choice.none",
        "choice.trust-redelivered",
        "choice.check-then-insert",
        "choice.unique-constraint",
        "choice.on-conflict-do-nothing",
        "choice.insert-or-ignore",
        "choice.one-transaction",
        "choice.receipt-first",
        "choice.effect-first",
        "choice.autocommit",
        "choice.event-and-effect",
        "choice.event-only",
        "choice.ticket-only",
        "choice.target-only",
        "choice.any-integrity",
        "choice.any-acked",
        "choice.after-commit",
        "choice.before-processing",
        "choice.deferred",
        "choice.immediate",
        "choice.at-start",
        "choice.commit-then-publish",
        "choice.publish-then-commit",
        "choice.outbox",
        "choice.after-confirm",
        "choice.after-send",
        "choice.with-claim",
        "choice.fenced",
        "choice.unfenced",
        "choice.forever",
        "choice.in-transaction",
        "choice.pending-row",
        "choice.pending-row-with-key",
        "choice.reconciled",
    ];
    let named = KEYS
        .into_iter()
        .find(|key| key.strip_prefix("choice.") == Some(name));
    named.expect("every choice on an axis has a name")
}

#[cfg(test)]
mod tests {
    use super::choice_key;
    use deliver_twice_core::design::*;

    #[test]
    fn every_choice_has_a_name() {
        for design in all().chain(all_around_the_contract()) {
            choice_key(design.arbitration.as_str());
            choice_key(design.grouping.as_str());
            choice_key(design.key.as_str());
            choice_key(design.errors.as_str());
            choice_key(design.ack.as_str());
            choice_key(design.begin.as_str());
            choice_key(design.publication.as_str());
            choice_key(design.marking.as_str());
            choice_key(design.lease.as_str());
            choice_key(design.outside.as_str());
        }
        assert_eq!(choice_key(Key::Ticket.as_str()), "choice.ticket-only");
    }
}
