//! Text to values: what counts as an integer, a number, a boolean.

/// Ten to the powers that a double holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// A whole number that fits 64 bits: digits with an optional sign.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let (negative, digits) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, bytes),
    };
    if digits.is_empty() {
        return None;
    }
    if digits.len() > 18 {
        return digits.iter().all(u8::is_ascii_digit).then(|| text.parse().ok()).flatten();
    }
    let mut value = 0i64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(if negative { -value } else { value })
}

/// A finite real number in decimal notation, with or without an exponent. `nan` and `inf` are text: whoever means
/// "missing" by them lists them among the missing values.
pub(crate) fn number(text: &str) -> Option<f64> {
    if let Some(value) = short_decimal(text.as_bytes()) {
        return Some(value);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// The fast path: at most 15 digits and no exponent, so that digits and power of ten are exact doubles and one
/// division rounds once, to the nearest double, as the standard library does.
fn short_decimal(bytes: &[u8]) -> Option<f64> {
    let (negative, rest) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, bytes),
    };
    if rest.is_empty() || rest.len() > 16 {
        return None;
    }
    let (mut digits, mut count, mut point) = (0u64, 0usize, None);
    for &byte in rest {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            digits = digits * 10 + u64::from(digit);
            count += 1;
        } else if byte == b'.' && point.is_none() {
            point = Some(count);
        } else {
            return None;
        }
    }
    if count == 0 || count > 15 {
        return None;
    }
    let value = digits as f64 / POWERS[count - point.unwrap_or(count)];
    Some(if negative { -value } else { value })
}

/// `true` or `false`, in small letters, capitals or capitalised.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_number_reads_back_bit_for_bit(value in any::<f64>().prop_filter("finite", |v| v.is_finite())) {
            prop_assert_eq!(number(&value.to_string()).map(f64::to_bits), Some(value.to_bits()));
            prop_assert_eq!(number(&format!("{value:e}")).map(f64::to_bits), Some(value.to_bits()));
        }

        #[test]
        fn the_fast_path_agrees_with_the_standard_library(text in "[-+]?[0-9]{0,12}[.]?[0-9]{0,12}(e[0-9]{1,2})?") {
            let slow = text.parse::<f64>().ok();
            prop_assert_eq!(number(&text).map(f64::to_bits), slow.map(f64::to_bits));
        }

        #[test]
        fn every_integer_reads_back(value in any::<i64>()) {
            prop_assert_eq!(integer(&value.to_string()), Some(value));
        }

        #[test]
        fn integers_are_what_the_standard_library_calls_so(text in "[-+]?[0-9a]{0,21}") {
            prop_assert_eq!(integer(&text), text.parse::<i64>().ok());
        }
    }

    #[test]
    fn not_a_number_and_infinity_are_text() {
        for text in ["nan", "NaN", "inf", "-inf", "infinity", "1e999", "", "-", ".", "1_000", "0x10", "12a"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
