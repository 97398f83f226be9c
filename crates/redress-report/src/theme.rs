//! The colours, once: every role in its light and its dark value.
//!
//! A page defines them as CSS variables, so that charts inside it follow the reader's light or dark setting. A
//! stand-alone figure has the light values written in, since programs other than browsers rarely know CSS variables.

/// One colour by what it is for.
pub(crate) struct Role {
    /// The CSS variable's name, without the dashes.
    pub name: &'static str,
    pub light: &'static str,
    pub dark: &'static str,
}

const fn role(name: &'static str, light: &'static str, dark: &'static str) -> Role {
    Role { name, light, dark }
}

/// How many series styles there are before they repeat.
pub(crate) const SERIES: usize = 8;

/// Every colour of a report. `c0`…`c7` are the hues of Okabe and Ito, told apart by readers with any colour vision,
/// darkened (or lightened) until each has a contrast of 3:1 against the surface.
pub(crate) const ROLES: &[Role] = &[
    role("page", "#f6f7f9", "#0f1318"),
    role("surface", "#ffffff", "#171c23"),
    role("sunken", "#f1f3f6", "#1f252e"),
    role("ink", "#18202c", "#e7ebf0"),
    role("soft", "#535d6b", "#a6b0bd"),
    role("line", "#dde2e8", "#2d3540"),
    role("grid", "#e8ebf0", "#262d37"),
    role("axis", "#7d8795", "#77828f"),
    role("accent", "#0b5cad", "#6db3f5"),
    role("tint", "#e9f1fa", "#16283b"),
    role("good", "#17703f", "#62cf90"),
    role("good-tint", "#e8f5ed", "#12281c"),
    role("warning", "#855000", "#efb455"),
    role("warning-tint", "#fcf3e1", "#2c220f"),
    role("bad", "#b3261e", "#ff8f86"),
    role("bad-tint", "#fcebea", "#331a1a"),
    role("c0", "#0072b2", "#4ba6e3"),
    role("c1", "#d55e00", "#f08441"),
    role("c2", "#00926a", "#2fc197"),
    role("c3", "#b9609a", "#df9dc5"),
    role("c4", "#a87400", "#f0b429"),
    role("c5", "#2f8fc9", "#93d2f7"),
    role("c6", "#4a5059", "#c5ccd6"),
    role("c7", "#857c00", "#f0e442"),
];

/// The declarations of every colour as CSS variables.
pub(crate) fn variables(pick: impl Fn(&Role) -> &'static str) -> String {
    ROLES.iter().map(|role| format!("--{}:{};", role.name, pick(role))).collect()
}

/// `css` with each `var(--role)` replaced by its light value.
pub(crate) fn light_values(css: &str) -> String {
    ROLES.iter().fold(css.to_owned(), |css, role| css.replace(&format!("var(--{})", role.name), role.light))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(hex: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).expect("two hex digits")) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn colour(name: &str, dark: bool) -> &'static str {
        let role = ROLES.iter().find(|role| role.name == name).expect("a role");
        if dark { role.dark } else { role.light }
    }

    /// WCAG AA: 4.5 for text, 3 for marks, in both themes.
    #[test]
    fn text_and_marks_have_the_contrast_that_wcag_asks_for() {
        let text = [
            ("ink", "page"),
            ("ink", "surface"),
            ("ink", "sunken"),
            ("ink", "tint"),
            ("ink", "good-tint"),
            ("ink", "warning-tint"),
            ("ink", "bad-tint"),
            ("soft", "page"),
            ("soft", "surface"),
            ("soft", "sunken"),
            ("accent", "page"),
            ("accent", "surface"),
            ("accent", "tint"),
            ("good", "surface"),
            ("good", "good-tint"),
            ("soft", "good-tint"),
            ("soft", "warning-tint"),
            ("soft", "bad-tint"),
            ("soft", "tint"),
            ("warning", "surface"),
            ("warning", "warning-tint"),
            ("bad", "surface"),
            ("bad", "bad-tint"),
        ];
        for dark in [false, true] {
            for (front, back) in text {
                let ratio = contrast(colour(front, dark), colour(back, dark));
                assert!(ratio >= 4.5, "{front} on {back}, dark {dark}: {ratio:.2}");
            }
            for series in 0..SERIES {
                let ratio = contrast(colour(&format!("c{series}"), dark), colour("surface", dark));
                assert!(ratio >= 3.0, "c{series}, dark {dark}: {ratio:.2}");
            }
            let ratio = contrast(colour("axis", dark), colour("surface", dark));
            assert!(ratio >= 3.0, "axis, dark {dark}: {ratio:.2}");
        }
    }
}
