//! Every block and every chart on one page, to look at: `cargo run -p redress-report --example gallery -- OUT`.
//!
//! Writes `OUT/gallery.html` and a stand-alone SVG for each chart. The numbers are made up.

use std::path::PathBuf;
use std::process::ExitCode;

use redress_report::chart::{
    Axis, BarChart, Chart, DotChart, DotRow, Estimate, Histogram, Layout, LineChart, Panels, Point, Reference,
    ScatterChart, Series,
};
use redress_report::document::Rule;
use redress_report::{Block, Cell, Change, Column, KeyFigure, Person, Prose, Report, Section, Table, Tone, number};

fn main() -> ExitCode {
    let Some(out) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: gallery OUT");
        return ExitCode::from(2);
    };
    match write(&out) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", out.display());
            ExitCode::from(2)
        }
    }
}

fn write(out: &std::path::Path) -> std::io::Result<()> {
    std::fs::create_dir_all(out)?;
    std::fs::write(out.join("gallery.html"), report().html())?;
    for (name, chart) in charts() {
        std::fs::write(out.join(format!("{name}.svg")), chart.svg())?;
    }
    println!("{}", table().text());
    Ok(())
}

fn charts() -> Vec<(&'static str, Chart)> {
    vec![
        ("frontier", frontier().into()),
        ("threshold", threshold().into()),
        ("training", training().into()),
        ("groups", groups().into()),
        ("costs", costs().into()),
        ("levers", levers().into()),
        ("verdicts", verdicts().into()),
        ("scores", scores().into()),
        ("panels", panels().into()),
        ("many", many().into()),
        ("gaps", gaps().into()),
        ("empty", LineChart::new("Nothing was measured", Axis::new("λ"), Axis::new("F1")).into()),
    ]
}

/// A smooth stand-in for a measured curve.
fn curve(from: f64, to: f64, bend: f64, x: f64) -> f64 {
    from + (to - from) * (1.0 - (-bend * x).exp())
}

fn lambdas() -> impl Iterator<Item = f64> {
    (0..=10).map(|step| f64::from(step) * 0.2)
}

fn frontier() -> ScatterChart {
    let along = |shift: f64, chosen: f64| {
        lambdas().map(move |lambda| {
            let recourse = curve(0.22, 0.84 + shift, 1.7, lambda);
            let f1 = curve(0.69, 0.58 + shift, 0.6, lambda);
            let point = Point::new(
                Estimate::within(recourse, recourse - 0.02, recourse + 0.02),
                Estimate::within(f1, f1 - 0.008, f1 + 0.008),
            );
            let point = point.label(format!("λ = {lambda:.1}"));
            if (lambda - chosen).abs() < 1e-9 { point.chosen() } else { point }
        })
    };
    ScatterChart::new(
        "Frontier of F1 against recourse",
        Axis::percent("Turned down people with recourse"),
        Axis::new("F1"),
    )
    .series(Series::new("trained on whole steps", along(0.04, 0.8)))
    .series(Series::new("trained on any real change", along(-0.05, -1.0)))
    .series(Series::new("printed in the paper", [Point::new(0.498, 0.636), Point::new(0.21, 0.684)]).loose().style(6))
}

fn threshold() -> LineChart {
    let at = |count: u32| (0..=count).map(move |step| f64::from(step) / f64::from(count));
    LineChart::new(
        "What each threshold would give",
        Axis::new("Threshold θ₀").at_least(0.0, 1.0),
        Axis::percent("Share"),
    )
    .series(Series::xy("approved or with recourse", at(60).map(|t| (t, 1.0 - t.powi(4)))))
    .series(Series::xy("approved", at(60).map(|t| (t, (1.0 - t).powf(1.4)))))
    .series(Series::xy("F1", at(60).map(|t| (t, 0.66 - (t - 0.42).powi(2) * 1.3))))
    .reference(Reference::x(0.47, "bound θ̂₀ = 0.47"))
    .reference(Reference::x(0.42, "chosen θ₀ = 0.42"))
    .reference(Reference::y(0.95, "95% required"))
}

fn training() -> LineChart {
    let epochs = || (1..=15).map(f64::from);
    let band = |from: f64, to: f64, wide: f64| {
        epochs().map(move |epoch| {
            let y = curve(from, to, 0.3, epoch);
            Point::new(epoch, Estimate::within(y, y - wide, y + wide))
        })
    };
    LineChart::new("Training", Axis::whole("Epoch"), Axis::new("Loss"))
        .series(Series::new("training", band(0.7, 0.38, 0.01)).band())
        .series(Series::new("validation", band(0.68, 0.42, 0.025)).band())
        .reference(Reference::x(11.0, "kept"))
}

fn groups() -> DotChart {
    let row = |heading: &str, name: &str, n: u64, all: f64, neg: f64| {
        let wide = 1.0 / (n as f64).sqrt();
        DotRow::new(name, Estimate::within(all, all - 0.5 * wide, (all + 0.3 * wide).min(1.0)))
            .and(Estimate::within(neg, (neg - wide).max(0.0), (neg + wide).min(1.0)))
            .under(heading)
            .note(format!("n = {}", number::count(n)))
    };
    DotChart::new("Recourse by group", Axis::percent("Share of the group"), ["recourse all", "recourse neg"])
        .row(row("Sex", "women", 10_771, 0.963, 0.71))
        .row(row("Sex", "men", 21_790, 0.958, 0.68))
        .row(row("Race", "White", 27_816, 0.961, 0.70))
        .row(row("Race", "Black", 3_124, 0.948, 0.61))
        .row(row("Race", "Asian or Pacific Islander", 1_039, 0.955, 0.66))
        .row(row("Race", "American Indian, Aleut or Eskimo", 311, 0.941, 0.55))
        .row(DotRow::new("other", f64::NAN).and(f64::NAN).under("Race").note("n = 0"))
        .reference(Reference::x(0.95, "95% required"))
}

fn costs() -> BarChart {
    let e = Estimate::within;
    BarChart::new(
        "Cost of recourse by group",
        Axis::new("Median cost").unit("standard deviations"),
        ["women", "men", "all"],
    )
    .series("this model", [e(0.42, 0.38, 0.47), e(0.51, 0.48, 0.55), e(0.48, 0.46, 0.51)])
    .series("without recourse in training", [e(0.81, 0.72, 0.93), e(0.88, 0.80, 0.97), e(0.86, 0.79, 0.92)])
}

fn levers() -> BarChart {
    let names =
        ["hours worked per week", "years of education", "capital gain in the year before the application", "age"];
    BarChart::new("What people are told to change", Axis::percent("Share of the advice"), names)
        .series("", [0.61, 0.52, 0.08, 0.0])
}

fn verdicts() -> BarChart {
    BarChart::new("What happens to people", Axis::percent("Share of the group"), ["women", "men", "all"])
        .series("approved", [0.31, 0.42, 0.385])
        .series("can reach approval", [0.65, 0.54, 0.575])
        .series("proven: no way", [0.035, 0.035, 0.035])
        .series("unknown", [0.005, 0.005, 0.005])
        .layout(Layout::Stacked)
}

fn scores() -> Histogram {
    let before: Vec<f64> = (0..400).map(|i| f64::from(i) / 400.0).map(|u| u.powf(2.2) * 0.6).collect();
    let after: Vec<f64> = (0..400).map(|i| f64::from(i) / 400.0).map(|u| 0.2 + u.powf(0.8) * 0.6).collect();
    Histogram::of(
        "Scores before and after",
        Axis::new("Score").at_least(0.0, 1.0),
        25,
        [("before", before), ("after", after)],
    )
    .reference(Reference::x(0.42, "needed: 0.42"))
}

fn panels() -> Panels {
    let data = [("adult", 0.69, 0.25), ("compas", 0.75, 0.57), ("bail", 0.77, 0.16), ("german", 0.55, 0.47)];
    let points = |from: f64, to: f64, bend: f64, wide: f64| {
        lambdas().map(move |x| {
            let y = curve(from, to, bend, x);
            Point::new(x, Estimate::within(y, y - wide, y + wide))
        })
    };
    let mut panels = Panels::new("Performance and recourse over λ", 4);
    for (name, f1, _) in data {
        let chart = LineChart::new(name, Axis::new("λ"), Axis::new("Performance").at_least(0.4, 0.9))
            .series(Series::new("F1", points(f1, f1 - 0.1, 0.9, 0.012)))
            .series(Series::new("accuracy", points(f1 + 0.1, f1, 0.7, 0.01)));
        panels = panels.plot(chart);
    }
    for (name, _, recourse) in data {
        let chart = LineChart::new(name, Axis::new("λ"), Axis::percent("Recourse"))
            .series(Series::new("recourse neg", points(recourse, 0.98, 1.6, 0.03)))
            .series(Series::new("recourse all", points(recourse + 0.2, 0.99, 2.0, 0.02)));
        panels = panels.plot(chart);
    }
    panels
}

fn many() -> LineChart {
    let names = ["linear", "gradient", "lp", "exact", "causal", "lattice", "as released", "as written"];
    let mut chart =
        LineChart::new("Eight solvers that end close together", Axis::new("λ"), Axis::percent("Recourse neg").tight());
    for (index, name) in names.into_iter().enumerate() {
        let shift = index as f64 * 0.012;
        chart = chart.series(Series::xy(name, lambdas().map(|x| (x, curve(0.2 + 2.0 * shift, 0.8 + shift, 1.2, x)))));
    }
    chart
}

fn gaps() -> LineChart {
    let wild = [(0.0, 1.0), (1.0, 3.0), (2.0, f64::NAN), (3.0, 2.0), (4.0, f64::INFINITY), (5.0, 2.5), (6.0, 4.0)];
    LineChart::new("Gaps where there is no number", Axis::whole("Run"), Axis::new("Seconds"))
        .series(Series::xy("measured", wild))
}

fn table() -> Table {
    let columns = ["F1", "accuracy", "recourse neg", "printed", "difference"].map(Column::number);
    let mut table = Table::new(
        [Column::text("data"), Column::text("model")].into_iter().chain(columns).chain([Column::text("note")]),
    )
    .caption("Table 1, means over 3 splits");
    let rows = [
        ("adult", "λ = 0", 0.685, 0.830, 0.219, 0.210, ""),
        ("adult", "λ = 0.8", 0.664, 0.828, 0.603, 0.498, "whole years and hours"),
        ("compas", "λ = 1.6", 0.721, 0.588, 1.000, 1.000, ""),
        ("german", "λ = 0.8", 0.557, 0.570, f64::NAN, 0.968, "label as released"),
    ];
    for (data, model, f1, accuracy, recourse, printed, note) in rows {
        let difference: f64 = recourse - printed;
        let tone = if difference >= 0.0 { Tone::Good } else { Tone::Neutral };
        let cells = [
            data.into(),
            model.into(),
            Cell::number(f1, 3),
            Cell::number(accuracy, 3),
            Cell::number(recourse, 3),
            Cell::number(printed, 3),
            Cell::number(difference, 3).tone(tone),
            note.into(),
        ];
        table.row(cells).highlight = model == "λ = 0.8" && data == "adult";
    }
    table
}

fn people() -> Vec<Person> {
    vec![
        Person::new("Person 17", Tone::Good, "can reach approval")
            .facts("34 years · private sector · 10 years of school")
            .change(Change::new("Hours worked", "40", "45").unit("per week"))
            .change(Change::new("Education", "10", "11").unit("years"))
            .scores(0.31, Some(0.46), 0.42)
            .note("Also: 49 hours per week alone."),
        Person::new("Person 212", Tone::Good, "can reach approval")
            .facts("51 years · self-employed · 13 years of school")
            .change(Change::new("Hours worked", "38", "40").unit("per week"))
            .scores(0.39, Some(0.43), 0.42),
        Person::new("Person 640", Tone::Bad, "proven: no allowed change leads to a yes")
            .facts("22 years · 7 years of school · 55 hours per week")
            .scores(0.04, Some(0.19), 0.42)
            .note("The best of all 38 allowed combinations scores 0.19."),
    ]
}

fn report() -> Report {
    let policy = "[features.hours_per_week]\nkind = \"integer\"\nchange = \"any\"\nmax_change = 9\nstep = 1\n";
    let wide = Block::captioned(
        threshold(),
        Prose::from("Any threshold left of the bound keeps the guarantee; the one with the best F1 was taken."),
    );
    Report::new("Income above 50,000 a year")
        .kicker("Audit")
        .subtitle("adult.redress on adult-test.csv · 750 people the model had not seen")
        .headline(
            Tone::Good,
            Prose::from("With 95% confidence, ").strong("at least 95 in 100 people").then(
                " like these are approved or can reach approval by working up to 9 hours more or less, or by one more year of school.",
            ),
        )
        .headline_because("The guarantee holds", "735 calibration rows, 26 misses allowed, 21 seen. It speaks of people from the same population.")
        .figure(KeyFigure::new("96.1%", "approved or with recourse").detail("94.5% to 97.4%").tone(Tone::Good))
        .figure(KeyFigure::new("60.3%", "of those turned down have recourse").detail("55.9% to 64.6%"))
        .figure(KeyFigure::new("0.664", "F1").detail("0.726 without recourse in training"))
        .figure(KeyFigure::new("5 hours", "median change").detail("9 in 10 people: 8 hours or fewer"))
        .section(
            Section::new("What the model is worth")
                .lead("More recourse costs some accuracy. This is how much.")
                .block(Block::captioned(frontier(), "The ring marks the model of this report. Whiskers are standard errors over 3 splits."))
                .block(wide)
                .block(table())
                .block(Block::note(Tone::Warning, "Two of the printed values rest on a minimiser that was handed the opposite sign.")),
        )
        .section(
            Section::new("People by group")
                .lead("Intervals are Clopper–Pearson at 95%.")
                .block(Chart::from(groups()))
                .block(Chart::from(verdicts()))
                .block(Chart::from(costs()))
                .block(Block::Heading("Who has no way".to_owned()))
                .block(Block::list(["younger than 23 and fewer than 9 years of school (41 people)", "more than 60 hours already (7 people)"])),
        )
        .section(
            Section::new("What people are told")
                .block(Chart::from(levers()))
                .block(people())
                .block(Chart::from(scores())),
        )
        .section(
            Section::new("The policy in plain words")
                .block(vec![
                    Rule::new("Hours per week", "Up to 9 hours more or less, in whole hours, between 1 and 80.").tag("may change"),
                    Rule::new("Years of education", "One more year at the most, in whole years.").tag("may grow"),
                    Rule::new("Age, sex, race", "Never asked to change.").tag("fixed"),
                ])
                .block(Block::details("The policy file", [Block::Code { caption: Some("policy.toml".to_owned()), text: policy.to_owned() }]))
                .block(Block::note(Tone::Neutral, Prose::from("Run ").code("redress check policy.toml table.csv").then(" after every edit."))),
        )
        .section(
            Section::new("Charts at their limits")
                .block(Chart::from(panels()))
                .block(Chart::from(many()))
                .block(Chart::from(training()))
                .block(Chart::from(gaps()))
                .block(Chart::from(LineChart::new("Nothing was measured", Axis::new("λ"), Axis::new("F1")))),
        )
        .provenance("model", "sha256 5b2f0d8a9c2e4b7d8f6a1c3e5d7b9f0a2c4e6d8b0f1a3c5e7d9b1f3a5c7e9d0b")
        .provenance("table", "adult-test.csv, sha256 0f1a3c5e7d9b1f3a5c7e9d0b5b2f0d8a9c2e4b7d8f6a1c3e5d7b9f0a2c4e6d8b")
        .provenance("seed", "7")
        .provenance("redress", "0.1.0")
        .footer("Numbers in this gallery are made up.")
}
