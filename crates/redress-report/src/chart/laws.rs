//! Laws that every drawing obeys, whatever the data: checked on random charts with gaps, infinities and hostile names.

use proptest::prelude::*;
use roxmltree::{Document, Node};

use super::geometry::Rect;
use super::*;

/// Values as they come: mostly tame, now and then none at all.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -2.0..2.0f64,
        3 => 0.0..1.0f64,
        1 => -1e7..1e7f64,
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(f64::NEG_INFINITY),
        1 => any::<f64>(),
    ]
}

fn estimate() -> impl Strategy<Value = Estimate> {
    (value(), prop::option::of((value(), value()))).prop_map(|(value, interval)| Estimate { value, interval })
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z λθ&<>'\"]{0,24}",
        1 => Just("</svg><script>alert(1)</script>".to_owned()),
        1 => Just("\u{0}\u{b}\u{1b}[31m]]>\u{ffff}".to_owned()),
        1 => "[a-z ]{60,90}",
        1 => "\\PC{0,12}",
    ]
}

fn axis() -> impl Strategy<Value = Axis> {
    (name(), prop_oneof![Just(Format::Decimal), Just(Format::Percent), Just(Format::Whole)], any::<bool>()).prop_map(
        |(title, format, from_nought)| Axis { title, unit: None, format, at_least: from_nought.then_some((0.0, 1.0)) },
    )
}

fn series() -> impl Strategy<Value = Series> {
    let point = (estimate(), estimate(), prop::option::of(name()), prop::bool::weighted(0.1))
        .prop_map(|(x, y, label, chosen)| Point { x, y, label, chosen });
    (name(), prop::collection::vec(point, 0..14), any::<bool>(), any::<bool>()).prop_map(
        |(name, points, band, joined)| {
            let spread = if band { Spread::Band } else { Spread::Whiskers };
            Series { name, points, spread, joined, style: None }
        },
    )
}

fn references() -> impl Strategy<Value = Vec<Reference>> {
    let axis = prop_oneof![Just(Across::X), Just(Across::Y)];
    let reference = (name(), value(), axis).prop_map(|(label, at, axis)| Reference { label, at, axis });
    prop::collection::vec(reference, 0..4)
}

fn plot() -> BoxedStrategy<Plot> {
    let many = || (name(), axis(), axis(), prop::collection::vec(series(), 0..9), references());
    let line = many().prop_map(|(title, x, y, series, references)| {
        Plot::Line(LineChart { title, description: None, x, y, series, references })
    });
    let scatter = many().prop_map(|(title, x, y, series, references)| {
        Plot::Scatter(ScatterChart { title, description: None, x, y, series, references })
    });
    let layout = prop_oneof![Just(Layout::Grouped), Just(Layout::Lying), Just(Layout::Stacked)];
    let bars =
        (name(), prop::collection::vec(estimate(), 0..8)).prop_map(|(name, values)| Bars { name, values, style: None });
    let bar =
        (name(), axis(), prop::collection::vec(name(), 0..8), prop::collection::vec(bars, 0..5), layout, references())
            .prop_map(|(title, values, categories, series, layout, references)| {
                Plot::Bar(BarChart { title, description: None, categories, values, series, layout, references })
            });
    let histogram =
        (name(), axis(), 1usize..30, prop::collection::vec((name(), prop::collection::vec(value(), 0..40)), 0..3))
            .prop_map(|(title, x, bins, series)| Plot::Histogram(Histogram::of(title, x, bins, series)));
    let row =
        (name(), prop::option::of(name()), prop::option::of("n = [0-9]{1,6}"), prop::collection::vec(estimate(), 0..3))
            .prop_map(|(name, heading, note, values)| DotRow { name, heading, note, values });
    let dots = (name(), axis(), prop::collection::vec(name(), 0..3), prop::collection::vec(row, 0..8), references())
        .prop_map(|(title, values, series, rows, references)| {
            let chart = DotChart { rows, references, ..DotChart::new(title, values, series) };
            Plot::Dots(chart)
        });
    prop_oneof![line, scatter, bar, histogram, dots].boxed()
}

fn chart() -> impl Strategy<Value = Chart> {
    let panels = (name(), 1usize..5, prop::collection::vec(plot(), 0..5))
        .prop_map(|(title, columns, plots)| Chart::Panels(Panels { title, description: None, columns, plots }));
    prop_oneof![4 => plot().prop_map(Chart::One), 1 => panels]
}

fn number(node: Node, name: &str) -> f64 {
    node.attribute(name).unwrap_or_else(|| panic!("{name} of {node:?}")).parse().expect("a number")
}

fn rect(node: Node) -> Rect {
    Rect::new(number(node, "x"), number(node, "y"), number(node, "width"), number(node, "height"))
}

fn has_class(node: Node, class: &str) -> bool {
    node.attribute("class").is_some_and(|all| all.split(' ').any(|one| one == class))
}

/// Where a marker stands.
fn place(node: Node) -> (f64, f64) {
    let inner =
        node.attribute("transform").expect("a transform").trim_start_matches("translate(").trim_end_matches(')');
    let (x, y) = inner.split_once(' ').expect("two numbers");
    (x.parse().expect("a number"), y.parse().expect("a number"))
}

/// The room that a text takes by the same estimate that laid it out.
fn extent_of(node: Node) -> Rect {
    let text = node.text().unwrap_or_default();
    let (w, x, y) = (text::width(text), number(node, "x"), number(node, "y") - 4.0);
    let left = match node.attribute("text-anchor") {
        Some("end") => x - w,
        Some("middle") => x - w / 2.0,
        _ => x,
    };
    Rect::new(left, y - 6.0, w, 12.0)
}

proptest! {
    #[test]
    fn every_drawing_is_well_formed_and_holds_no_number_that_is_none(chart in chart()) {
        for svg in [chart.svg(), format!("<p>{}</p>", chart.inline("chart-1"))] {
            let document = Document::parse(&svg).map_err(|error| TestCaseError::fail(format!("{error}\n{svg}")))?;
            for node in document.descendants().filter(Node::is_element) {
                prop_assert!(node.tag_name().name() != "script");
                for attribute in node.attributes().filter(|attribute| !matches!(attribute.name(), "class" | "id")) {
                    let value = attribute.value();
                    prop_assert!(!value.contains("NaN") && !value.contains("inf"), "{value}");
                }
            }
            let images: Vec<_> = document.descendants().filter(|node| node.attribute("role") == Some("img")).collect();
            for image in images {
                for id in image.attribute("aria-labelledby").unwrap_or_default().split(' ') {
                    prop_assert_eq!(image.children().filter(|child| child.attribute("id") == Some(id)).count(), 1);
                }
            }
        }
    }

    #[test]
    fn every_point_stands_inside_its_plot(plot in plot()) {
        let svg = Chart::One(plot).svg();
        let document = Document::parse(&svg).expect("well-formed");
        let area = document.descendants().find(|node| has_class(*node, "plot")).map(rect);
        for node in document.descendants().filter(|node| has_class(*node, "point")) {
            let (area, (x, y)) = (area.expect("points stand on a plot"), place(node));
            prop_assert!(x >= area.x - 0.1 && x <= area.right() + 0.1, "{x} outside {area:?}");
            prop_assert!(y >= area.y - 0.1 && y <= area.bottom() + 0.1, "{y} outside {area:?}");
        }
        for node in document.descendants().filter(|node| has_class(*node, "bar") && node.first_child().is_some()) {
            let (area, bar) = (area.expect("bars stand on a plot"), rect(node));
            prop_assert!(bar.x >= area.x - 0.2 && bar.right() <= area.right() + 0.2, "{bar:?} outside {area:?}");
            prop_assert!(bar.y >= area.y - 0.2 && bar.bottom() <= area.bottom() + 0.2, "{bar:?} outside {area:?}");
        }
    }

    #[test]
    fn no_label_covers_another(plot in plot()) {
        for width in [WIDE, NARROW] {
            let mut canvas = Canvas::new("c");
            Chart::One(plot.clone()).compose(&mut canvas, width, 0.0);
            let svg = format!("<svg>{}</svg>", canvas.finish());
            let document = Document::parse(&svg).expect("well-formed");
            let labels: Vec<_> = document.descendants().filter(|node| has_class(*node, "label")).collect();
            for (index, a) in labels.iter().enumerate() {
                for b in &labels[index + 1..] {
                    let shared = extent_of(*a).shared(&extent_of(*b));
                    prop_assert!(shared < 8.0, "{:?} and {:?} share {shared} at {width}\n{svg}", a.text(), b.text());
                }
            }
        }
    }

    #[test]
    fn the_table_of_a_chart_has_every_value(values in prop::collection::vec(-1e6..1e6f64, 1..20)) {
        let points = values.iter().enumerate().map(|(index, &y)| (index as f64, y));
        let chart = Chart::from(LineChart::new("t", Axis::new("x"), Axis::new("y")).series(Series::xy("", points)));
        let csv = chart.tables()[0].csv();
        let back: Vec<f64> =
            csv.lines().skip(1).map(|line| line.split(',').nth(1).expect("y").parse().expect("a number")).collect();
        prop_assert_eq!(back, values);
    }
}

#[test]
fn a_chart_without_data_says_so() {
    let nothing = [
        Chart::from(LineChart::new("", Axis::new("x"), Axis::new("y")).series(Series::xy("a", [(0.0, f64::NAN)]))),
        Chart::from(ScatterChart::default()),
        Chart::from(BarChart::new("", Axis::new("x"), ["a"]).series("", [f64::INFINITY])),
        Chart::from(Histogram::of("", Axis::new("x"), 10, [("a", [f64::NAN])])),
        Chart::from(DotChart::new("", Axis::new("x"), [""]).row(DotRow::new("a", f64::NAN))),
        Chart::from(Panels::new("", 3)),
    ];
    for chart in nothing {
        assert!(chart.svg().contains(">no data</text>"), "{chart:?}");
    }
}

#[test]
fn a_name_looks_the_same_in_every_panel() {
    let plot = |names: [&str; 2]| {
        let chart = LineChart::new("p", Axis::new("x"), Axis::new("y"));
        names.into_iter().fold(chart, |chart, name| chart.series(Series::xy(name, [(0.0, 0.0)])))
    };
    let svg = Chart::from(Panels::new("t", 2).plot(plot(["a", "b"])).plot(plot(["b", "c"]))).svg();
    let document = Document::parse(&svg).expect("well-formed");
    let mut styles = document.descendants().filter(|node| has_class(*node, "point"));
    let mut style_of = |name: &str| {
        let node = styles.find(|node| node.descendants().any(|d| d.text().is_some_and(|t| t.starts_with(name))));
        node.and_then(|node| node.attribute("class").map(str::to_owned)).expect("a marker with a tooltip")
    };
    let (a, b, b_again, c) = (style_of("a:"), style_of("b:"), style_of("b:"), style_of("c:"));
    assert_eq!(b, b_again);
    assert!(a != b && b != c && a != c);
}
