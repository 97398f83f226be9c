//! A synthetic population of loan applicants whose causes are known (Karimi et al. 2020).
//!
//! With σ the logistic function and deviations from typical values as units:
//!
//! ```text
//! gender     G ~ Bernoulli(½)
//! age        A = −35 + Gamma(shape 10, scale 3.5)
//! education  E = −0.5 + σ(−1 + 0.5·G + σ(0.1·A) + U_E)        U_E ~ N(0, 0.5²)
//! amount     L = 1 + 0.01·(A − 5)(5 − A) + G + U_L            U_L ~ N(0, 2²)
//! duration   D = −1 + 0.1·A + 2·G + L + U_D                   U_D ~ N(0, 3²)
//! income     I = −4 + 0.1·(A + 35) + 2·G + G·E + U_I          U_I ~ N(0, 2²)
//! savings    S = −4 + 1.5·max(I, 0) + U_S                     U_S ~ N(0, 5²)
//! repaid     Y ~ Bernoulli(σ(0.3·(−L − D + I + S + I·S)))
//! ```
//!
//! [`Circumstances`] are the U of one person, everything that no action changes; [`Circumstances::under`] says what the
//! person's life would have been, had they acted: the truth that causal recourse is compared with.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;
use rand_distr::{Distribution, Gamma, StandardNormal};
use redress::table::{Column, Missing, Table, Text, Values};

use crate::stream::STREAM_ROWS;

/// The rows that the built-in data set `loan` has.
pub const BUILTIN_ROWS: usize = 10_000;

/// The seed of the built-in data set `loan`.
pub const BUILTIN_SEED: u64 = 0;

/// σ(x) = 1 / (1 + e⁻ˣ). By hand: σ(0) = ½.
pub fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// E = −0.5 + σ(−1 + 0.5·G + σ(0.1·A) + U_E). By hand: G = 1, A = 0, U_E = 0 gives −0.5 + σ(0) = 0.
pub fn education(gender: f64, age: f64, noise: f64) -> f64 {
    -0.5 + logistic(-1.0 + 0.5 * gender + logistic(0.1 * age) + noise)
}

/// L = 1 + 0.01·(A − 5)(5 − A) + G + U_L. By hand: G = 1, A = 15, U_L = 0 gives 1 − 1 + 1 = 1.
pub fn amount(gender: f64, age: f64, noise: f64) -> f64 {
    1.0 + 0.01 * (age - 5.0) * (5.0 - age) + gender + noise
}

/// D = −1 + 0.1·A + 2·G + L + U_D. By hand: G = 1, A = 10, L = 3, U_D = 0 gives −1 + 1 + 2 + 3 = 5.
pub fn duration(gender: f64, age: f64, amount: f64, noise: f64) -> f64 {
    -1.0 + 0.1 * age + 2.0 * gender + amount + noise
}

/// I = −4 + 0.1·(A + 35) + 2·G + G·E + U_I. By hand: G = 1, A = 5, E = 0.5, U_I = 0 gives −4 + 4 + 2 + 0.5 = 2.5.
pub fn income(gender: f64, age: f64, education: f64, noise: f64) -> f64 {
    -4.0 + 0.1 * (age + 35.0) + 2.0 * gender + gender * education + noise
}

/// S = −4 + 1.5·max(I, 0) + U_S. By hand: I = 4, U_S = 0 gives −4 + 6 = 2.
pub fn savings(income: f64, noise: f64) -> f64 {
    -4.0 + 1.5 * income.max(0.0) + noise
}

/// P[Y = 1] = σ(0.3·(−L − D + I + S + I·S)). By hand: all 0 gives ½.
pub fn chance(amount: f64, duration: f64, income: f64, savings: f64) -> f64 {
    logistic(0.3 * (-amount - duration + income + savings + income * savings))
}

/// What is given for one person and stays when they act.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Circumstances {
    /// G: 1 for a man.
    pub gender: f64,
    /// A.
    pub age: f64,
    /// U_E.
    pub education: f64,
    /// U_L.
    pub amount: f64,
    /// U_D.
    pub duration: f64,
    /// U_I.
    pub income: f64,
    /// U_S.
    pub savings: f64,
    /// Y is 1 when this draw from [0, 1) lies below the chance.
    pub luck: f64,
}

/// Values that an action sets, whatever their causes say.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Intervention {
    /// do(E = …).
    pub education: Option<f64>,
    /// do(L = …).
    pub amount: Option<f64>,
    /// do(D = …).
    pub duration: Option<f64>,
    /// do(I = …).
    pub income: Option<f64>,
    /// do(S = …).
    pub savings: Option<f64>,
}

/// One person as a table shows them, with the chance that only the truth knows.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub struct Applicant {
    pub gender: f64,
    pub age: f64,
    pub education: f64,
    pub amount: f64,
    pub duration: f64,
    pub income: f64,
    pub savings: f64,
    /// P[Y = 1].
    pub chance: f64,
    /// Y.
    pub repaid: bool,
}

impl Circumstances {
    /// The person as they are.
    pub fn applicant(&self) -> Applicant {
        self.under(&Intervention::default())
    }

    /// The person as they would be after the action: what it sets is set, what depends on that follows, what is given
    /// stays.
    pub fn under(&self, action: &Intervention) -> Applicant {
        let (gender, age) = (self.gender, self.age);
        let education = action.education.unwrap_or_else(|| education(gender, age, self.education));
        let amount = action.amount.unwrap_or_else(|| amount(gender, age, self.amount));
        let duration = action.duration.unwrap_or_else(|| duration(gender, age, amount, self.duration));
        let income = action.income.unwrap_or_else(|| income(gender, age, education, self.income));
        let savings = action.savings.unwrap_or_else(|| savings(income, self.savings));
        let chance = chance(amount, duration, income, savings);
        let repaid = self.luck < chance;
        Applicant { gender, age, education, amount, duration, income, savings, chance, repaid }
    }

    /// Abduction: the circumstances of somebody whose values are seen. Their luck, which nobody sees, is given.
    pub fn of(seen: &Applicant, luck: f64) -> Circumstances {
        let (gender, age) = (seen.gender, seen.age);
        let share = seen.education + 0.5;
        Circumstances {
            gender,
            age,
            education: (share / (1.0 - share)).ln() - (-1.0 + 0.5 * gender + logistic(0.1 * age)),
            amount: seen.amount - amount(gender, age, 0.0),
            duration: seen.duration - duration(gender, age, seen.amount, 0.0),
            income: seen.income - income(gender, age, seen.education, 0.0),
            savings: seen.savings - savings(seen.income, 0.0),
            luck,
        }
    }
}

/// An endless population: equal seeds draw equal people in equal order.
#[derive(Debug, Clone)]
pub struct Population {
    random: ChaCha12Rng,
    age: Gamma<f64>,
}

impl Population {
    /// The population of this seed, from its first person.
    pub fn new(seed: u64) -> Self {
        let age = Gamma::new(10.0, 3.5).expect("shape and scale are positive");
        Population { random: ChaCha12Rng::seed_from_u64(seed), age }
    }

    fn normal(&mut self, deviation: f64) -> f64 {
        let z: f64 = StandardNormal.sample(&mut self.random);
        deviation * z
    }

    /// A draw from [0, 1) with 53 bits.
    fn uniform(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl Iterator for Population {
    type Item = Circumstances;

    fn next(&mut self) -> Option<Circumstances> {
        Some(Circumstances {
            gender: if self.uniform() < 0.5 { 1.0 } else { 0.0 },
            age: -35.0 + self.age.sample(&mut self.random),
            education: self.normal(0.5),
            amount: self.normal(2.0),
            duration: self.normal(3.0),
            income: self.normal(2.0),
            savings: self.normal(5.0),
            luck: self.uniform(),
        })
    }
}

/// The first `rows` people of a seed as one table: gender, age, education, amount, duration, income, savings, repaid.
pub fn table(rows: usize, seed: u64) -> Table {
    applicants_table(Population::new(seed).take(rows).map(|person| person.applicant()))
}

/// The same people as tables of at most [`STREAM_ROWS`] rows, for populations that do not fit into
/// memory.
pub fn tables(rows: usize, seed: u64) -> impl Iterator<Item = Table> {
    let mut population = Population::new(seed);
    let mut left = rows;
    std::iter::from_fn(move || {
        let now = left.min(STREAM_ROWS);
        left -= now;
        (now > 0).then(|| applicants_table(population.by_ref().take(now).map(|person| person.applicant())))
    })
}

fn applicants_table(applicants: impl Iterator<Item = Applicant>) -> Table {
    let applicants: Vec<Applicant> = applicants.collect();
    let number = |name: &str, value: fn(&Applicant) -> f64| {
        Column::new(name, Values::Number(applicants.iter().map(value).collect()), Missing::none())
    };
    let gender = Text {
        codes: applicants.iter().map(|person| person.gender as u32).collect(),
        dictionary: vec!["female".to_owned(), "male".to_owned()],
    };
    let columns = vec![
        Column::new("gender", Values::Text(gender), Missing::none()),
        number("age", |person| person.age),
        number("education", |person| person.education),
        number("amount", |person| person.amount),
        number("duration", |person| person.duration),
        number("income", |person| person.income),
        number("savings", |person| person.savings),
        Column::new(
            "repaid",
            Values::Boolean(applicants.iter().map(|person| person.repaid).collect()),
            Missing::none(),
        ),
    ];
    Table::new(columns).expect("eight equally long columns with eight names")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(left: f64, right: f64, tolerance: f64) -> bool {
        (left - right).abs() <= tolerance
    }

    #[test]
    fn the_equations_give_the_numbers_worked_by_hand() {
        assert_eq!(logistic(0.0), 0.5);
        assert!(close(education(1.0, 0.0, 0.0), 0.0, 1e-15));
        assert!(close(amount(1.0, 15.0, 0.0), 1.0, 1e-12));
        assert!(close(duration(1.0, 10.0, 3.0, 0.0), 5.0, 1e-12));
        assert!(close(income(1.0, 5.0, 0.5, 0.0), 2.5, 1e-12));
        assert_eq!(savings(4.0, 0.0), 2.0);
        assert_eq!(savings(-1.0, 0.5), -3.5);
        assert_eq!(chance(0.0, 0.0, 0.0, 0.0), 0.5);
    }

    #[test]
    fn the_population_has_the_moments_of_its_equations() {
        let people: Vec<Circumstances> = Population::new(1).take(200_000).collect();
        let mean = |value: fn(&Circumstances) -> f64| people.iter().map(value).sum::<f64>() / people.len() as f64;
        // Gamma(10, 3.5) has mean 35 and variance 10 · 3.5²; five standard errors of each mean are allowed.
        assert!(close(mean(|p| p.age), 0.0, 5.0 * (122.5f64 / 200_000.0).sqrt()));
        assert!(close(mean(|p| p.age * p.age), 122.5, 3.0));
        assert!(close(mean(|p| p.gender), 0.5, 0.006));
        assert!(close(mean(|p| p.duration * p.duration), 9.0, 0.15));
        assert!(close(mean(|p| p.savings * p.savings), 25.0, 0.4));
        assert!(close(mean(|p| p.applicant().chance), mean(|p| f64::from(p.applicant().repaid)), 0.006));
    }

    #[test]
    fn abduction_finds_the_circumstances_and_doing_nothing_changes_nothing() {
        for person in Population::new(3).take(2_000) {
            let seen = person.applicant();
            let found = Circumstances::of(&seen, person.luck);
            let pairs = [
                (found.education, person.education),
                (found.amount, person.amount),
                (found.duration, person.duration),
                (found.income, person.income),
                (found.savings, person.savings),
            ];
            assert!(pairs.iter().all(|(left, right)| close(*left, *right, 1e-9)), "{pairs:?}");
            let same = Intervention { income: Some(seen.income), ..Intervention::default() };
            assert_eq!(person.under(&same), seen);
        }
    }

    #[test]
    fn an_action_moves_its_descendants_and_nothing_else() {
        for person in Population::new(4).take(500) {
            let (before, more) = (person.applicant(), 1.0);
            let raise = Intervention { amount: Some(before.amount + more), ..Intervention::default() };
            let after = person.under(&raise);
            assert!(close(after.duration - before.duration, more, 1e-9));
            assert_eq!(
                (after.income, after.savings, after.education),
                (before.income, before.savings, before.education)
            );
        }
    }

    #[test]
    fn pieces_are_the_whole() {
        let rows = STREAM_ROWS + 100;
        let whole = table(rows, 9);
        let pieces: Vec<Table> = tables(rows, 9).collect();
        assert_eq!(pieces.iter().map(Table::rows).collect::<Vec<_>>(), [STREAM_ROWS, 100]);
        let (last, column) = (&pieces[1], whole.column("savings").expect("savings"));
        assert!(
            (0..100).all(|row| last.column("savings").expect("savings").text(row) == column.text(STREAM_ROWS + row))
        );
    }
}
