//! Table 6: what a recourse looks like, real-valued as in the paper and in whole steps.

use redress::{dataset::People, feasible::Lattice};
use redress_report::chart::{Axis, BarChart};
use redress_report::{Cell, Column, Table};

use super::Experiment;
use crate::{
    data::Name,
    error::PaperError,
    lab::{Appraised, Lab},
    method::{Method, Way},
    outcome::Outcome,
    printed,
    recipe::{Recipe, Sample},
    settings::Settings,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "examples",
    title: "Table 6: example recourses, real-valued and in whole steps",
    effort: 2.0,
    both_readings: false,
    models,
    run,
};

/// The data sets of the printed examples.
const DATA: [Name; 2] = [Name::Adult, Name::Compas];

/// People shown of each data set.
const SHOWN: usize = 3;

fn recipe(data: Name, settings: &Settings) -> Recipe {
    Recipe::paper(Sample::paper(data, 1), 0.8, settings)
}

fn models(settings: &Settings) -> Vec<Recipe> {
    DATA.map(|data| recipe(data, settings)).into_iter().collect()
}

fn run(lab: &Lab) -> Result<Outcome, PaperError> {
    let mut outcome = Outcome::new(EXPERIMENT.name, EXPERIMENT.title, lab.settings.reading);
    outcome.setup("model", "λ = 0.8, first split, gradient descent, as in the paper");
    let mut table = Table::new([
        Column::text("data"),
        Column::text("person"),
        Column::text("feature"),
        Column::number("x"),
        Column::number("x + δ, any real change"),
        Column::number("δ"),
        Column::number("x + δ, whole steps"),
        Column::number("δ"),
    ]);
    for example in &printed::EXAMPLES {
        table.row([
            example.data.as_str().into(),
            "printed".into(),
            example.feature.into(),
            Cell::number(example.before, 1),
            Cell::number(example.after, 3),
            Cell::number(example.after - example.before, 3),
            "–".into(),
            "–".into(),
        ]);
    }
    let mut shares = Vec::new();
    for data in lab.present(&DATA) {
        let real = lab.model(&recipe(data, &lab.settings))?;
        let whole = lab.under(&real, real.recipe.sample.lattice(Lattice::AsPolicy))?;
        let real_found = lab.found(&real, Method::Gradient, real.threshold)?;
        let whole_found = lab.found(&whole, Method::Gradient, real.threshold)?;
        shares.push((data, real_found.rates.neg(), whole_found.rates.neg()));
        let both = real_found
            .ways
            .iter()
            .filter_map(|way| Some((way, whole_found.ways.iter().find(|other| other.row == way.row)?)));
        for (way, whole_way) in both.take(SHOWN) {
            person(&mut table, data, &real, way, whole_way);
        }
    }
    outcome.extra("Recourses in the person's own units", table);
    let axis = Axis::new("recourse neg").at_least(0.0, 1.0);
    let chart = BarChart::new(
        "Who can follow: any real change, or whole steps only",
        axis,
        shares.iter().map(|(data, _, _)| data.as_str()),
    )
    .series("any real change", shares.iter().map(|share| share.1))
    .series("whole steps within the policy's limits", shares.iter().map(|share| share.2));
    outcome.charts.push(chart.into());
    for (data, real, whole) in shares {
        outcome.finding(format!(
            "{}: {real:.3} of the people turned down find a way by any real change; {whole:.3} find one in whole steps (of the same \
             model, which was not trained for them).",
            data.as_str()
        ));
    }
    Ok(outcome)
}

/// The rows of one person: every feature that either way changes.
fn person(table: &mut Table, data: Name, model: &Appraised, real: &Way, whole: &Way) {
    let people: &People = &model.study.test.dataset.people;
    let before = people.row(real.row);
    let source = people.source_rows[real.row];
    for (feature, rule) in people.schema.features.iter().enumerate() {
        let (x, real, whole) = (before[feature], real.values[feature], whole.values[feature]);
        if x != real || x != whole {
            table.row([
                data.as_str().into(),
                Cell::text(format!("row {}", source)),
                Cell::text(&rule.label),
                Cell::number(x, 1),
                Cell::number(real, 3),
                Cell::number(real - x, 3),
                Cell::number(whole, 1),
                Cell::number(whole - x, 1),
            ]);
        }
    }
}
