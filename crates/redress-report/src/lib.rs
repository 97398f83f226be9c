//! Reports for people: one self-contained HTML file, and charts that stand alone.
//!
//! A [`Report`] is plain data: a headline, sections of [`Block`]s, where it came from. [`Report::html`] renders it as one
//! file without scripts and without anything from elsewhere, which opens offline, prints well, follows the reader's light
//! or dark setting and reads on a phone. [`Chart`]s are SVG with real text; a [`Table`] renders as HTML, Markdown, aligned
//! text or CSV. This crate knows nothing of models or recourse.
//!
//! ```
//! use redress_report::{Block, Report, Section, Tone};
//!
//! let report = Report::new("Audit of adult.redress")
//!     .headline(Tone::Good, "With 95% confidence, at least 95 in 100 people like these can reach approval.")
//!     .section(Section::new("People").block(Block::paragraph("Measured on 750 people it had not seen.")));
//! let html = report.html();
//! assert!(html.starts_with("<!DOCTYPE html>"));
//! assert!(!html.contains("<script"));
//! ```

pub mod chart;
pub mod document;
pub mod number;
pub mod table;
mod theme;

pub use chart::Chart;
pub use document::{Block, Change, KeyFigure, Person, Prose, Report, Section};
pub use table::{Align, Cell, Column, Table, Tone};
