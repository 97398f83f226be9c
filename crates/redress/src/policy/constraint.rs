//! Affine constraints between changes, written readably: `hours_per_week + 4 * education_num <= 12`.

use std::fmt;
use std::ops::Range;

use super::Comparison;
use super::scan::{Named, Plain, Scanner, SentenceError};

/// An affine comparison of changes, `Σ coefficient · change  ≤, ≥ or =  bound`, that staying put satisfies.
///
/// Each number counts in original units from where the person is now. Its [`Display`](fmt::Display) form parses back to
/// an equal value.
#[derive(Debug, Clone, PartialEq)]
pub struct Affine {
    /// Feature name and coefficient, each name once, in order of appearance.
    pub terms: Vec<(String, f64)>,
    /// At most, at least or equal.
    pub comparison: Comparison,
    /// The right-hand side.
    pub bound: f64,
    /// Where each name stands in the sentence.
    pub(super) places: Vec<Range<usize>>,
}

/// One side of the comparison, or their difference.
#[derive(Default)]
struct Sum {
    terms: Vec<(String, f64, Range<usize>)>,
    constant: f64,
}

impl Affine {
    /// Parses one constraint. Terms and numbers may stand on both sides.
    ///
    /// ```
    /// use redress::policy::Affine;
    /// let row = Affine::parse("hours_per_week + 4 * education_num <= 12")?;
    /// assert_eq!(row.terms, [("hours_per_week".to_owned(), 1.0), ("education_num".to_owned(), 4.0)]);
    /// assert_eq!(row.bound, 12.0);
    /// # Ok::<(), redress::policy::SentenceError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, SentenceError> {
        let mut scanner = Scanner::new(text);
        let left = Sum::parse(&mut scanner)?;
        let comparison = comparison(&mut scanner)?;
        let right = Sum::parse(&mut scanner)?;
        if !scanner.at_end() {
            let (found, range) = scanner.upcoming();
            return Err(SentenceError::new(range, format!("{found} is not expected here: one comparison is enough")));
        }
        let whole = 0..text.len();
        if !holds_at_zero(left.constant, comparison, right.constant) {
            let at_zero = format!("{} {} {}", Plain(left.constant), symbol(comparison), Plain(right.constant));
            return Err(SentenceError::new(
                whole,
                format!("the constraint excludes staying put: with no change it reads {at_zero}"),
            )
            .help("numbers count changes from where the person is now, so that all of them 0 must be allowed"));
        }
        let bound = right.constant - left.constant + 0.0;
        let sum = left.minus(right);
        if sum.terms.is_empty() {
            return Err(SentenceError::new(whole, "the constraint mentions no feature"));
        }
        if !(bound.is_finite() && sum.terms.iter().all(|(_, coefficient, _)| coefficient.is_finite())) {
            return Err(SentenceError::new(whole, "the numbers of this constraint are too large"));
        }
        let (terms, places) =
            sum.terms.into_iter().map(|(name, coefficient, place)| ((name, coefficient), place)).unzip();
        Ok(Self { terms, comparison, bound, places })
    }

    /// The rows `Σ coefficient · change ≤ bound` it stands for: signs turned for `>=`, both ways for `==`.
    pub(super) fn rows(&self) -> Vec<(Vec<f64>, f64)> {
        let up = (self.terms.iter().map(|(_, coefficient)| *coefficient).collect(), self.bound);
        let down = (self.terms.iter().map(|(_, coefficient)| -coefficient).collect(), -self.bound + 0.0);
        match self.comparison {
            Comparison::AtLeast => vec![down],
            Comparison::Equal => vec![up, down],
            _ => vec![up],
        }
    }
}

impl fmt::Display for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, coefficient)) in self.terms.iter().enumerate() {
            let sign = match (index, coefficient.is_sign_negative()) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            f.write_str(sign)?;
            if coefficient.abs() != 1.0 {
                write!(f, "{} * ", Plain(coefficient.abs()))?;
            }
            write!(f, "{}", Named(name))?;
        }
        write!(f, " {} {}", symbol(self.comparison), Plain(self.bound))
    }
}

fn holds_at_zero(left: f64, comparison: Comparison, right: f64) -> bool {
    match comparison {
        Comparison::AtMost => left <= right,
        Comparison::AtLeast => left >= right,
        _ => left == right,
    }
}

/// The symbol of a comparison, as policies write it.
pub(super) fn symbol(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Less => "<",
        Comparison::AtMost => "<=",
        Comparison::Greater => ">",
        Comparison::AtLeast => ">=",
        Comparison::Equal => "==",
        Comparison::NotEqual => "!=",
    }
}

fn comparison(scanner: &mut Scanner) -> Result<Comparison, SentenceError> {
    scanner.skip_blanks();
    let start = scanner.at;
    for (written, comparison) in
        [("<=", Comparison::AtMost), (">=", Comparison::AtLeast), ("==", Comparison::Equal), ("=", Comparison::Equal)]
    {
        if scanner.takes(written) {
            return Ok(comparison);
        }
    }
    if scanner.takes("<") || scanner.takes(">") {
        let strict = &scanner.since(start);
        return Err(SentenceError::new(strict.clone(), "a constraint compares with <=, >= or ==")
            .help("a strict limit has no last permitted point: write <= or >="));
    }
    let (found, range) = scanner.upcoming();
    Err(SentenceError::new(range, format!("expected +, -, *, /, <=, >= or ==, found {found}")))
}

impl Sum {
    /// `[-] term { (+|-) term }`
    fn parse(scanner: &mut Scanner) -> Result<Self, SentenceError> {
        let mut sum = Sum::default();
        let mut sign = 1.0;
        while scanner.takes("-") {
            sign = -sign;
        }
        loop {
            sum.add_term(scanner, sign)?;
            if scanner.takes("+") {
                sign = 1.0;
            } else if scanner.takes("-") {
                sign = -1.0;
            } else {
                return Ok(sum);
            }
        }
    }

    /// `factor { (*|/) factor }` with at most one name among the factors.
    fn add_term(&mut self, scanner: &mut Scanner, sign: f64) -> Result<(), SentenceError> {
        let mut coefficient = sign;
        let mut name = None;
        let mut divides = false;
        loop {
            scanner.skip_blanks();
            let start = scanner.at;
            if let Some(number) = scanner.number()? {
                if divides && number == 0.0 {
                    return Err(SentenceError::new(scanner.since(start), "nothing can be divided by 0"));
                }
                coefficient = if divides { coefficient / number } else { coefficient * number };
            } else if let Some(found) = scanner.name()? {
                if divides {
                    return Err(SentenceError::new(found.range, "only a number may stand under a division"));
                }
                if name.is_some() {
                    return Err(SentenceError::new(found.range, "two features cannot be multiplied")
                        .help("constraints are affine: a number times a feature, added up"));
                }
                name = Some(found);
            } else {
                let (found, range) = scanner.upcoming();
                return Err(SentenceError::new(range, format!("expected a feature or a number, found {found}")));
            }
            divides = false;
            if scanner.takes("/") {
                divides = true;
            } else if !scanner.takes("*") {
                break;
            }
        }
        match name {
            Some(name) => self.add(name.text, coefficient, name.range),
            None => self.constant += coefficient,
        }
        Ok(())
    }

    fn add(&mut self, name: String, coefficient: f64, place: Range<usize>) {
        match self.terms.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, sum, _)) => *sum += coefficient,
            None => self.terms.push((name, coefficient, place)),
        }
    }

    fn minus(mut self, other: Sum) -> Sum {
        for (name, coefficient, place) in other.terms {
            self.add(name, -coefficient, place);
        }
        self.terms.retain(|(_, coefficient, _)| *coefficient != 0.0);
        self
    }
}
