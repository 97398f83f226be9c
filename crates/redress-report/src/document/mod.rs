//! The document: what a report says, as plain data.

mod html;
mod people;
mod prose;

pub use people::{Change, Person};
pub(crate) use prose::safe_link;
pub use prose::{Prose, Span};

use crate::chart::Chart;
use crate::table::{Table, Tone};

/// A report: the answer first, then the evidence, then where it came from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// What the report is about.
    pub title: String,
    /// The kind of report, above the title: "Audit".
    pub kicker: Option<String>,
    /// One line under the title: which model, which data, when.
    pub subtitle: Option<String>,
    /// The answer in one sentence.
    pub headline: Option<Headline>,
    /// Numbers worth seeing at once, under the headline.
    pub figures: Vec<KeyFigure>,
    /// The evidence.
    pub sections: Vec<Section>,
    /// Where it came from: hashes, versions, seeds. Shown last.
    pub provenance: Vec<(String, String)>,
    /// The last line of the page.
    pub footer: Option<String>,
}

/// The answer in one sentence, and what to think of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Headline {
    /// Good, warning or bad.
    pub tone: Tone,
    /// The tone in words: "The guarantee holds".
    pub status: Option<String>,
    /// The sentence.
    pub sentence: Prose,
    /// What it rests on, smaller.
    pub detail: Option<Prose>,
}

/// A part of a report, listed in its table of contents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Its address on the page; made from the title if empty.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// What the section shows, in a sentence.
    pub lead: Option<Prose>,
    /// What it holds.
    pub blocks: Vec<Block>,
}

/// A number worth seeing at once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeyFigure {
    /// The number, as it is to be read.
    pub value: String,
    /// What it is.
    pub label: String,
    /// Its interval, or what it is compared with.
    pub detail: Option<String>,
    /// Good, warning or bad.
    pub tone: Tone,
}

/// A rule in plain words: what it is about, and what it says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule {
    /// What the rule is about: a feature's name.
    pub subject: String,
    /// A word that sums it up: "fixed", "may grow".
    pub tag: Option<String>,
    /// What it says.
    pub text: Prose,
}

/// One piece of a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A heading inside a section.
    Heading(String),
    /// Running text.
    Paragraph(Prose),
    /// A table.
    Table(Table),
    /// Big numbers.
    KeyFigures(Vec<KeyFigure>),
    /// A picture, a sentence under it, and its numbers in a fold.
    Chart {
        /// The picture.
        chart: Box<Chart>,
        /// What to see in it.
        caption: Option<Prose>,
    },
    /// People before and after.
    People(Vec<Person>),
    /// Items.
    List {
        /// Numbered, or with bullets.
        ordered: bool,
        /// The items.
        items: Vec<Prose>,
    },
    /// Rules in plain words.
    Rules(Vec<Rule>),
    /// Text as a program reads it.
    Code {
        /// What it is: a file's name, "TOML".
        caption: Option<String>,
        /// The text.
        text: String,
    },
    /// A remark that stands out.
    Note {
        /// Neutral for a remark, warning or bad for a reservation.
        tone: Tone,
        /// The remark's heading.
        title: Option<String>,
        /// The remark.
        text: Prose,
    },
    /// What only some readers want, folded away. Printing shows only the summary unless it is open.
    Details {
        /// What the fold holds.
        summary: String,
        /// Its blocks.
        blocks: Vec<Block>,
        /// Unfolded from the start.
        open: bool,
    },
}

impl Report {
    /// An empty report.
    pub fn new(title: impl Into<String>) -> Report {
        Report { title: title.into(), ..Report::default() }
    }

    /// The same report with a kind above its title.
    pub fn kicker(self, kicker: impl Into<String>) -> Report {
        Report { kicker: Some(kicker.into()), ..self }
    }

    /// The same report with a line under its title.
    pub fn subtitle(self, subtitle: impl Into<String>) -> Report {
        Report { subtitle: Some(subtitle.into()), ..self }
    }

    /// The same report with its answer.
    pub fn headline(self, tone: Tone, sentence: impl Into<Prose>) -> Report {
        let headline = Headline { tone, sentence: sentence.into(), ..self.headline.unwrap_or_default() };
        Report { headline: Some(headline), ..self }
    }

    /// The same report with its answer's tone in words, and what the answer rests on.
    pub fn headline_because(self, status: impl Into<String>, detail: impl Into<Prose>) -> Report {
        let (status, detail) = (Some(status.into()), Some(detail.into()));
        let headline = Headline { status, detail, ..self.headline.unwrap_or_default() };
        Report { headline: Some(headline), ..self }
    }

    /// The same report with one more number at the top.
    pub fn figure(mut self, figure: KeyFigure) -> Report {
        self.figures.push(figure);
        self
    }

    /// The same report with one more section.
    pub fn section(mut self, section: Section) -> Report {
        self.sections.push(section);
        self
    }

    /// The same report with one more fact about where it came from.
    pub fn provenance(mut self, name: impl Into<String>, value: impl Into<String>) -> Report {
        self.provenance.push((name.into(), value.into()));
        self
    }

    /// The same report with a last line.
    pub fn footer(self, footer: impl Into<String>) -> Report {
        Report { footer: Some(footer.into()), ..self }
    }

    /// The report as one HTML file that needs nothing else.
    pub fn html(&self) -> String {
        html::page(self)
    }
}

impl Section {
    /// A section without blocks.
    pub fn new(title: impl Into<String>) -> Section {
        Section { title: title.into(), ..Section::default() }
    }

    /// The same section at an address of its own.
    pub fn id(self, id: impl Into<String>) -> Section {
        Section { id: id.into(), ..self }
    }

    /// The same section with what it shows in a sentence.
    pub fn lead(self, lead: impl Into<Prose>) -> Section {
        Section { lead: Some(lead.into()), ..self }
    }

    /// The same section with one more block.
    pub fn block(mut self, block: impl Into<Block>) -> Section {
        self.blocks.push(block.into());
        self
    }
}

impl KeyFigure {
    /// A number and what it is.
    pub fn new(value: impl Into<String>, label: impl Into<String>) -> KeyFigure {
        KeyFigure { value: value.into(), label: label.into(), ..KeyFigure::default() }
    }

    /// The same number with its interval or comparison.
    pub fn detail(self, detail: impl Into<String>) -> KeyFigure {
        KeyFigure { detail: Some(detail.into()), ..self }
    }

    /// The same number with a tone.
    pub fn tone(self, tone: Tone) -> KeyFigure {
        KeyFigure { tone, ..self }
    }
}

impl Rule {
    /// A rule about a subject.
    pub fn new(subject: impl Into<String>, text: impl Into<Prose>) -> Rule {
        Rule { subject: subject.into(), tag: None, text: text.into() }
    }

    /// The same rule summed up in a word.
    pub fn tag(self, tag: impl Into<String>) -> Rule {
        Rule { tag: Some(tag.into()), ..self }
    }
}

impl Block {
    /// Running text.
    pub fn paragraph(text: impl Into<Prose>) -> Block {
        Block::Paragraph(text.into())
    }

    /// A picture.
    pub fn chart(chart: impl Into<Chart>) -> Block {
        Block::Chart { chart: Box::new(chart.into()), caption: None }
    }

    /// A picture with what to see in it.
    pub fn captioned(chart: impl Into<Chart>, caption: impl Into<Prose>) -> Block {
        Block::Chart { chart: Box::new(chart.into()), caption: Some(caption.into()) }
    }

    /// Items with bullets.
    pub fn list<P: Into<Prose>>(items: impl IntoIterator<Item = P>) -> Block {
        Block::List { ordered: false, items: items.into_iter().map(Into::into).collect() }
    }

    /// Text as a program reads it.
    pub fn code(text: impl Into<String>) -> Block {
        Block::Code { caption: None, text: text.into() }
    }

    /// A remark that stands out.
    pub fn note(tone: Tone, text: impl Into<Prose>) -> Block {
        Block::Note { tone, title: None, text: text.into() }
    }

    /// Blocks folded away.
    pub fn details(summary: impl Into<String>, blocks: impl IntoIterator<Item = Block>) -> Block {
        Block::Details { summary: summary.into(), blocks: blocks.into_iter().collect(), open: false }
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Block {
        Block::Table(table)
    }
}

impl From<Chart> for Block {
    fn from(chart: Chart) -> Block {
        Block::chart(chart)
    }
}

impl From<Vec<KeyFigure>> for Block {
    fn from(figures: Vec<KeyFigure>) -> Block {
        Block::KeyFigures(figures)
    }
}

impl From<Vec<Person>> for Block {
    fn from(people: Vec<Person>) -> Block {
        Block::People(people)
    }
}

impl From<Vec<Rule>> for Block {
    fn from(rules: Vec<Rule>) -> Block {
        Block::Rules(rules)
    }
}
