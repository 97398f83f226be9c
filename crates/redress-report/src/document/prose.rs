//! Running text with a little emphasis. Plain strings are plain: nothing in them is ever read as markup.

use maud::{Markup, Render, html};

/// A stretch of text.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// As it is.
    Plain(String),
    /// Strong.
    Strong(String),
    /// As a program reads it.
    Code(String),
    /// Leads somewhere: a file beside this one, `#section`, or an http(s) address.
    Link {
        /// What is read.
        text: String,
        /// Where it leads.
        address: String,
    },
}

/// Running text.
///
/// ```
/// use redress_report::Prose;
/// let text = Prose::from("At least ").strong("95 in 100").then(" people.");
/// assert_eq!(text.plain(), "At least 95 in 100 people.");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prose(pub Vec<Span>);

impl Prose {
    /// Adds plain text.
    pub fn then(self, text: impl Into<String>) -> Prose {
        self.and(Span::Plain(text.into()))
    }

    /// Adds strong text.
    pub fn strong(self, text: impl Into<String>) -> Prose {
        self.and(Span::Strong(text.into()))
    }

    /// Adds text as a program reads it.
    pub fn code(self, text: impl Into<String>) -> Prose {
        self.and(Span::Code(text.into()))
    }

    /// Adds a link. An address that is neither relative nor http(s) is left out, its text stays.
    pub fn link(self, text: impl Into<String>, address: impl Into<String>) -> Prose {
        self.and(Span::Link { text: text.into(), address: address.into() })
    }

    /// The words alone.
    pub fn plain(&self) -> String {
        let text = |span: &Span| match span {
            Span::Plain(text) | Span::Strong(text) | Span::Code(text) | Span::Link { text, .. } => text.clone(),
        };
        self.0.iter().map(text).collect()
    }

    fn and(mut self, span: Span) -> Prose {
        self.0.push(span);
        self
    }
}

impl From<&str> for Prose {
    fn from(text: &str) -> Prose {
        Prose::default().then(text)
    }
}

impl From<String> for Prose {
    fn from(text: String) -> Prose {
        Prose::default().then(text)
    }
}

impl Render for Prose {
    fn render(&self) -> Markup {
        html! {
            @for span in &self.0 {
                @match span {
                    Span::Plain(text) => (text),
                    Span::Strong(text) => strong { (text) },
                    Span::Code(text) => code { (text) },
                    Span::Link { text, address } => @match safe_link(address) {
                        Some(address) => a href=(address) { (text) },
                        None => (text),
                    },
                }
            }
        }
    }
}

/// The address if it may be followed: relative, a fragment, or http(s). `javascript:` and its like are not.
pub(crate) fn safe_link(address: &str) -> Option<&str> {
    let address = address.trim();
    let scheme = address.split(['/', '?', '#']).next().unwrap_or_default();
    let web = address.starts_with("https://") || address.starts_with("http://");
    let relative = !scheme.contains(':') && !address.starts_with("//") && !address.contains(char::is_control);
    (!address.is_empty() && (web || relative)).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_addresses_become_links() {
        for good in ["table1.html", "#people", "figures/figure1.svg?x=a:b", "https://example.org/a", "./a#b:c"] {
            assert_eq!(safe_link(good), Some(good));
        }
        for bad in
            ["javascript:alert(1)", " JavaScript:alert(1)", "data:text/html,x", "//evil.example", "", "java\nscript:x"]
        {
            assert_eq!(safe_link(bad), None, "{bad:?}");
        }
    }
}
