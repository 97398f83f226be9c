//! Numbers as a reader sees them: a true minus sign, grouped thousands, and words where there is no number.
//!
//! Nothing here ever prints `NaN` or `inf`: a value that is not a number is an en dash, for "none".

/// What stands where a number is missing.
pub const MISSING: &str = "–";

/// `value` with `digits` decimals: `fixed(-0.125, 2)` is `−0.13`, `fixed(1234567.0, 0)` is `1,234,567`.
///
/// A result that rounds to zero has no sign; a value that is not a number is [`MISSING`]; from 10¹⁵ on only three digits
/// and the power of ten are written.
///
/// ```
/// use redress_report::number::fixed;
/// assert_eq!(fixed(0.6364, 3), "0.636");
/// assert_eq!(fixed(-0.0001, 2), "0.00");
/// assert_eq!(fixed(-12345.5, 1), "−12,345.5");
/// assert_eq!(fixed(f64::NAN, 3), "–");
/// ```
pub fn fixed(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return MISSING.to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "−∞" }.to_owned();
    }
    if value.abs() >= 1e15 {
        return scientific(value);
    }
    let plain = format!("{:.digits$}", value.abs());
    let zero = plain.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let (whole, fraction) = plain.split_once('.').map_or((plain.as_str(), None), |(a, b)| (a, Some(b)));
    let mut text = String::with_capacity(plain.len() + 8);
    if value < 0.0 && !zero {
        text.push('−');
    }
    text.push_str(&grouped(whole));
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

/// A count with grouped thousands: `count(32561)` is `32,561`.
///
/// ```
/// assert_eq!(redress_report::number::count(32_561), "32,561");
/// assert_eq!(redress_report::number::count(512), "512");
/// ```
pub fn count(number: u64) -> String {
    grouped(&number.to_string())
}

/// A share of one as a percentage: `percent(0.9563, 1)` is `95.6%`.
///
/// ```
/// assert_eq!(redress_report::number::percent(0.9563, 1), "95.6%");
/// assert_eq!(redress_report::number::percent(f64::NAN, 1), "–");
/// ```
pub fn percent(share: f64, digits: usize) -> String {
    let text = fixed(share * 100.0, digits);
    if share.is_nan() { text } else { text + "%" }
}

/// An interval in words: `interval(0.91, 0.95, 2)` is `0.91 to 0.95`. Words, since a dash reads as a minus.
pub fn interval(low: f64, high: f64, digits: usize) -> String {
    format!("{} to {}", fixed(low, digits), fixed(high, digits))
}

/// The shortest text within `digits` decimals: `short(2.50, 3)` is `2.5`.
pub(crate) fn short(value: f64, digits: usize) -> String {
    let text = fixed(value, digits);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A number too large or too small for decimals: `scientific(-1.5e-7)` is `−1.50e-7`.
pub(crate) fn scientific(value: f64) -> String {
    format!("{}{:.2e}", if value < 0.0 { "−" } else { "" }, value.abs())
}

/// Commas between groups of three.
fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
