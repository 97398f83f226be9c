//! The document as HTML: landmarks, headings in order, one style sheet inside, no script, nothing from elsewhere.

use std::collections::HashSet;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Block, Headline, KeyFigure, Report, Rule, Section};
use crate::chart::{self, Chart};
use crate::table::{Table, Tone};
use crate::theme;

const STYLE: &str = include_str!("report.css");

/// The section of the provenance.
const PROVENANCE: &str = "provenance";

/// The whole page.
pub(super) fn page(report: &Report) -> String {
    let mut page = Page::default();
    let sections: Vec<(String, &Section)> =
        report.sections.iter().map(|section| (page.address(section), section)).collect();
    let last = (!report.provenance.is_empty()).then(|| page.unique(PROVENANCE));
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (report.title) }
                style { (PreEscaped(style())) }
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                main #content {
                    div.top {
                        header {
                            @if let Some(kicker) = &report.kicker { p.kicker { (kicker) } }
                            h1 { (report.title) }
                            @if let Some(subtitle) = &report.subtitle { p.subtitle { (subtitle) } }
                        }
                        @if let Some(headline) = &report.headline { (headline_markup(headline)) }
                        @if !report.figures.is_empty() { (figures_markup(&report.figures)) }
                    }
                    // After the answer, which comes first on a phone; a desk shows it at the side.
                    (contents(&sections, last.as_deref()))
                    div.body {
                        @for (id, section) in &sections { (page.section(id, section)) }
                        @if let Some(id) = &last { (provenance(id, &report.provenance)) }
                        @if let Some(footer) = &report.footer { footer { p { (footer) } } }
                    }
                }
            }
        }
    };
    markup.into_string()
}

/// Every rule of the page: colours, light and dark, then layout, then charts. Paper is always light.
fn style() -> String {
    let (light, dark) = (theme::variables(|role| role.light), theme::variables(|role| role.dark));
    let css = format!(
        ":root{{color-scheme:light dark;{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\
         @media print{{:root{{color-scheme:light;{light}}}}}{STYLE}{}",
        chart::STYLE
    );
    css.lines().map(str::trim).collect()
}

fn contents(sections: &[(String, &Section)], last: Option<&str>) -> Markup {
    if sections.len() + usize::from(last.is_some()) < 2 {
        return html! {};
    }
    html! {
        nav.contents aria-label="Contents" {
            p { "Contents" }
            ol {
                @for (id, section) in sections { li { a href={ "#" (id) } { (section.title) } } }
                @if let Some(id) = last { li { a href={ "#" (id) } { "Where this came from" } } }
            }
        }
    }
}

fn headline_markup(headline: &Headline) -> Markup {
    html! {
        section class={ "headline " (headline.tone.class()) } aria-label="The answer" {
            @if let Some(status) = &headline.status {
                p.status {
                    @if headline.tone != Tone::Neutral { span.sign aria-hidden="true" { (headline.tone.sign()) } " " }
                    (status)
                }
            }
            p.sentence { (headline.sentence) }
            @if let Some(detail) = &headline.detail { p.detail { (detail) } }
        }
    }
}

fn figures_markup(figures: &[KeyFigure]) -> Markup {
    html! {
        dl.figures {
            @for figure in figures {
                div class=(figure.tone.class()) {
                    dt { (figure.label) }
                    dd.value {
                        (figure.value)
                        @if figure.tone != Tone::Neutral { span.sign aria-hidden="true" { (figure.tone.sign()) } }
                    }
                    @if let Some(detail) = &figure.detail { dd.detail { (detail) } }
                }
            }
        }
    }
}

fn provenance(id: &str, facts: &[(String, String)]) -> Markup {
    html! {
        section id=(id) aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { "Where this came from" }
            dl.provenance {
                @for (name, value) in facts { div { dt { (name) } dd { (value) } } }
            }
        }
    }
}

fn rules(rules: &[Rule]) -> Markup {
    html! {
        dl.rules {
            @for rule in rules {
                div {
                    dt { (rule.subject) @if let Some(tag) = &rule.tag { " " span.badge.neutral { (tag) } } }
                    dd { (rule.text) }
                }
            }
        }
    }
}

/// What must be unique on a page: addresses, and the number of a chart.
#[derive(Default)]
struct Page {
    taken: HashSet<String>,
    charts: usize,
}

impl Page {
    /// A section's address: its own or its title in small letters, told apart by a number where it is taken.
    fn address(&mut self, section: &Section) -> String {
        let wanted = if section.id.is_empty() { &section.title } else { &section.id };
        self.unique(&slug(wanted))
    }

    fn unique(&mut self, wanted: &str) -> String {
        // "content" is the page's own.
        let mut address = wanted.to_owned();
        let mut number = 2;
        while address == "content" || !self.taken.insert(address.clone()) {
            address = format!("{wanted}-{number}");
            number += 1;
        }
        address
    }

    fn section(&mut self, id: &str, section: &Section) -> Markup {
        html! {
            section id=(id) aria-labelledby={ (id) "-title" } {
                h2 id={ (id) "-title" } { (section.title) }
                @if let Some(lead) = &section.lead { p.lead { (lead) } }
                @for block in &section.blocks { (self.block(block)) }
            }
        }
    }

    fn block(&mut self, block: &Block) -> Markup {
        match block {
            Block::Heading(text) => html! { h3 { (text) } },
            Block::Paragraph(text) => html! { p { (text) } },
            Block::Table(table) => table.markup(),
            Block::KeyFigures(figures) => figures_markup(figures),
            Block::Chart { chart, caption } => {
                let caption = caption.as_ref().map(|caption| html! { p { (caption) } });
                self.chart(chart, caption)
            }
            Block::People(people) => html! { ul.people role="list" { @for person in people { (person.markup()) } } },
            Block::List { ordered: true, items } => html! { ol { @for item in items { li { (item) } } } },
            Block::List { ordered: false, items } => html! { ul { @for item in items { li { (item) } } } },
            Block::Rules(list) => rules(list),
            Block::Code { caption, text } => html! {
                figure.code {
                    @if let Some(caption) = caption { figcaption { (caption) } }
                    pre tabindex="0" { code { (text) } }
                }
            },
            Block::Note { tone, title, text } => html! {
                aside class={ "note " (tone.class()) } {
                    @if let Some(title) = title { p.title { (title) } }
                    p { (text) }
                }
            },
            Block::Details { summary, blocks, open } => html! {
                details open[*open] {
                    summary { (summary) }
                    div.fold { @for block in blocks { (self.block(block)) } }
                }
            },
        }
    }

    fn chart(&mut self, chart: &Chart, caption: Option<Markup>) -> Markup {
        self.charts += 1;
        let drawing = chart.inline(&format!("chart-{}", self.charts));
        let tables: Vec<Table> = chart.tables().into_iter().filter(|table| !table.rows.is_empty()).collect();
        html! {
            figure.picture {
                figcaption { p.title { (chart.title()) } @if let Some(caption) = caption { (caption) } }
                (PreEscaped(drawing))
                @if !tables.is_empty() {
                    details.numbers {
                        summary { "The numbers" }
                        @for table in tables { (table.markup()) }
                    }
                }
            }
        }
    }
}

/// `text` as an address: small letters, digits and hyphens.
fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    let out = out.trim_end_matches('-');
    if out.is_empty() { "section".to_owned() } else { out.to_owned() }
}
