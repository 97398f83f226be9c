//! What every report must be: one file, well formed, in order for screen readers, and safe with hostile text.

use std::collections::HashSet;
use std::fmt::Write as _;

use redress_report::chart::{Axis, LineChart, Reference, Series};
use redress_report::document::Rule;
use redress_report::{Block, Cell, Change, Column, KeyFigure, Person, Prose, Report, Section, Table, Tone};
use roxmltree::{Document, Node};

/// Elements that HTML leaves open and XML does not.
const VOID: [&str; 1] = ["meta"];

/// The page as XML: the doctype gone, void elements closed.
fn as_xml(html: &str) -> String {
    let mut xml = html.trim_start_matches("<!DOCTYPE html>").to_owned();
    for tag in VOID {
        let mut from = 0;
        while let Some(start) = xml[from..].find(&format!("<{tag} ")).map(|at| at + from) {
            let end = start + xml[start..].find('>').expect("an end of the tag");
            xml.insert(end, '/');
            from = end;
        }
    }
    // A style sheet is raw text in HTML.
    let (start, end) = (xml.find("<style>").expect("a style") + 7, xml.find("</style>").expect("a style's end"));
    xml.replace_range(start..end, "");
    xml
}

fn chart() -> LineChart {
    LineChart::new("F1 over λ", Axis::new("λ"), Axis::new("F1"))
        .series(Series::xy("as written", [(0.0, 0.69), (0.8, 0.64)]))
        .series(Series::xy("as released", [(0.0, 0.69), (0.8, 0.62)]))
        .reference(Reference::y(0.636, "printed"))
}

fn table(text: &str) -> Table {
    let mut table = Table::new([Column::text(text), Column::number("F1")]).caption(text);
    table.row([text.into(), Cell::number(0.64, 2).tone(Tone::Good)]);
    table.highlighted([Cell::text(text).link("table1.html"), Cell::number(f64::NAN, 2)]);
    table
}

/// A report with `text` wherever a text can stand.
fn everything(text: &str) -> Report {
    let person = Person::new(text, Tone::Good, text)
        .facts(text)
        .change(Change::new(text, text, text).unit(text))
        .scores(0.3, Some(0.5), 0.4)
        .note(text);
    let blocks = [
        Block::Heading(text.to_owned()),
        Block::paragraph(Prose::from(text).strong(text).code(text).link(text, text)),
        Block::Table(table(text)),
        Block::KeyFigures(vec![KeyFigure::new(text, text).detail(text).tone(Tone::Bad)]),
        Block::captioned(LineChart { title: text.to_owned(), ..chart() }, text),
        Block::People(vec![person]),
        Block::list([text]),
        Block::List { ordered: true, items: vec![text.into()] },
        Block::Rules(vec![Rule::new(text, text).tag(text)]),
        Block::Code { caption: Some(text.to_owned()), text: text.to_owned() },
        Block::Note { tone: Tone::Warning, title: Some(text.to_owned()), text: text.into() },
    ];
    let folded = Block::details(text, blocks.clone());
    let section = blocks.into_iter().chain([folded]).fold(Section::new(text).id(text).lead(text), Section::block);
    Report::new(text)
        .kicker(text)
        .subtitle(text)
        .headline(Tone::Good, text)
        .headline_because(text, text)
        .figure(KeyFigure::new(text, text))
        .section(section.clone())
        .section(section)
        .provenance(text, text)
        .footer(text)
}

/// The tree of elements with what matters to a reader: ids, classes, roles and short texts.
fn outline(node: Node, depth: usize, out: &mut String) {
    for child in node.children().filter(Node::is_element) {
        let name = child.tag_name().name();
        let _ = write!(out, "{:depth$}{name}", "", depth = depth * 2);
        for attribute in
            child.attributes().filter(|attribute| matches!(attribute.name(), "id" | "class" | "role" | "href"))
        {
            let _ = write!(out, " {}={}", attribute.name(), attribute.value());
        }
        let text = child.text().unwrap_or_default().trim();
        if !text.is_empty() {
            let _ = write!(out, " “{text}”");
        }
        out.push('\n');
        // Inside a drawing only its name and its words are structure.
        if name == "svg" {
            for part in child.descendants().filter(|part| matches!(part.tag_name().name(), "title" | "desc")) {
                let parent = part.parent().expect("inside the drawing").tag_name().name();
                if parent == "svg" {
                    let _ = writeln!(
                        out,
                        "{:d$}{} “{}”",
                        "",
                        part.tag_name().name(),
                        part.text().unwrap_or_default(),
                        d = depth * 2 + 2
                    );
                }
            }
        } else {
            outline(child, depth + 1, out);
        }
    }
}

#[test]
fn the_structure_of_a_small_report() {
    let person = Person::new("Person 17", Tone::Good, "can reach approval")
        .change(Change::new("Hours", "40", "45").unit("per week"))
        .scores(0.31, Some(0.46), 0.42);
    let report = Report::new("Audit of adult")
        .kicker("Audit")
        .subtitle("750 people")
        .headline(Tone::Good, "At least 95 in 100.")
        .headline_because("The guarantee holds", "735 rows.")
        .figure(KeyFigure::new("96.1%", "approved or with recourse").detail("94.5% to 97.4%"))
        .section(Section::new("What it is worth").lead("A lead.").block(Block::chart(chart())).block(table("data")))
        .section(Section::new("People").block(vec![person]))
        .provenance("seed", "7");
    let xml = as_xml(&report.html());
    let document = Document::parse(&xml).expect("well-formed");
    let mut out = String::new();
    outline(document.root(), 0, &mut out);
    insta::assert_snapshot!(out);
}

#[test]
fn hostile_text_stays_text_everywhere() {
    let hostile = [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "javascript:alert(1)",
        "</style></title></svg>]]> & &amp; '\"",
        "<!-- ${7*7} {{7*7}} -->",
    ];
    for text in hostile {
        let html = everything(text).html();
        let xml = as_xml(&html);
        let document = Document::parse(&xml).unwrap_or_else(|error| panic!("{error} with {text}"));
        for node in document.descendants().filter(Node::is_element) {
            assert!(!matches!(node.tag_name().name(), "script" | "img" | "iframe" | "object" | "link"), "{text}");
            assert!(node.attributes().all(|attribute| !attribute.name().starts_with("on")), "{text}");
            if let Some(address) = node.attribute("href") {
                assert!(!address.to_lowercase().starts_with("javascript"), "{text}");
            }
        }
        let shown: String = document.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect();
        assert!(shown.contains(text), "{text} is not shown as it is");
    }
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let html = everything("words").html();
    assert!(html.starts_with("<!DOCTYPE html>"));
    for outside in ["<script", "<link", "@import", "url(http", "src=", "//fonts", "@font-face"] {
        assert!(!html.contains(outside), "{outside}");
    }
    // The one address in a page is the name of the SVG language, which nothing fetches.
    assert_eq!(html.matches("http").count(), html.matches("xmlns=\"http://www.w3.org/2000/svg\"").count());
}

#[test]
fn addresses_are_unique_and_every_one_that_is_named_exists() {
    let xml = as_xml(&everything("The same title").html());
    let document = Document::parse(&xml).expect("well-formed");
    let mut ids = HashSet::new();
    for id in document.descendants().filter_map(|node| node.attribute("id")) {
        assert!(ids.insert(id), "{id} twice");
    }
    for node in document.descendants() {
        let fragment = node.attribute("href").and_then(|address| address.strip_prefix('#'));
        let labels = node.attribute("aria-labelledby").into_iter().flat_map(|ids| ids.split(' '));
        for named in fragment.into_iter().chain(labels) {
            assert!(ids.contains(named), "#{named} leads nowhere");
        }
    }
}

#[test]
fn headings_go_down_one_level_at_a_time_under_a_single_title() {
    let xml = as_xml(&everything("words").html());
    let document = Document::parse(&xml).expect("well-formed");
    let level = |node: Node| node.tag_name().name().strip_prefix('h').and_then(|level| level.parse::<u8>().ok());
    let levels: Vec<u8> = document.descendants().filter(Node::is_element).filter_map(level).collect();
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
    assert_eq!(levels[0], 1);
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
    let count = |name: &str| document.descendants().filter(|node| node.tag_name().name() == name).count();
    assert_eq!((count("main"), count("nav"), count("h1")), (1, 1, 1));
}

#[test]
fn no_missing_number_is_ever_printed_as_nan() {
    let mut table = Table::new([Column::number("a")]);
    table.row([Cell::number(f64::NAN, 3)]);
    table.row([Cell::percent(f64::NAN, 1)]);
    let person = Person::new("p", Tone::Bad, "unknown").scores(f64::NAN, Some(f64::NAN), f64::NAN);
    let report = Report::new("t").section(Section::new("s").block(table).block(vec![person]));
    assert!(!report.html().contains("NaN"));
}

#[test]
fn an_empty_report_is_still_a_page() {
    let xml = as_xml(&Report::default().html());
    assert!(Document::parse(&xml).is_ok());
}
