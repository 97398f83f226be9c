//! The linear oracle as a mixed-integer program.
//!
//! Each piece of a lever gets a 0/1 variable, of which exactly one is 1, and a variable for the move within it, which is
//! 0 unless its piece is chosen. This is the tightest linear description of a union of pieces. Variables and rows are
//! scaled to about 1, since the solver's tolerances are absolute.

use microlp::{ComparisonOp, OptimizationDirection, Problem, SolveOptions, Variable};

use super::action::Action;
use super::minimise::Linear;
use super::pieces::{Affine, Span};
use super::set::FeasibleSet;

/// The solver may look at this many nodes: a bound that, unlike a deadline, gives the same answer on every machine.
const NODES: u64 = 5_000;

/// How a lever stands in the program.
struct Columns {
    /// For each piece: the variable that chooses it (none where there is nothing to choose) and the one that moves in it.
    pieces: Vec<(Option<Variable>, Option<Variable>)>,
}

/// The action that is smallest in a linear function, up to the solver's tolerance; `None` where the solver found none.
/// The moves lie in their domains; whether the rows hold exactly is the caller's to check.
pub(super) fn minimise(set: &FeasibleSet, linear: &Linear) -> Option<Action> {
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let largest = |affine: &Affine, span: &Span| {
        let (low, high) = affine.over(span.choices());
        low.abs().max(high.abs())
    };
    let sizes = set
        .pieces
        .iter()
        .zip(&linear.terms)
        .flat_map(|(pieces, terms)| pieces.iter().zip(terms).map(|(piece, term)| largest(term, &piece.span)));
    let size = sizes.fold(0.0, f64::max);
    if !(size > 0.0 && size.is_finite()) {
        return None;
    }
    let columns: Vec<Columns> =
        (0..set.pieces.len()).map(|lever| add_lever(&mut problem, set, linear, lever, size)).collect();
    for row in 0..set.rows.len() {
        add_row(&mut problem, set, &columns, row);
    }
    let mut options = SolveOptions::default();
    options.node_limit = Some(NODES);
    options.tolerances.feasibility = 1e-10;
    let outcome = problem.solve_with(options).ok()?;
    let solution = outcome.solution()?;
    let step = |lever: usize| {
        let chosen =
            columns[lever].pieces.iter().position(|piece| piece.0.is_none_or(|one| solution.var_value(one) > 0.5))?;
        let span = &set.pieces[lever][chosen].span;
        let (lo, hi) = span.choices();
        let x = match (columns[lever].pieces[chosen].1, span) {
            (Some(variable), Span::Real { .. }) => solution.var_value(variable) * scale(span),
            (Some(variable), _) => solution.var_value(variable).round(),
            (None, _) => lo,
        };
        Some(span.step(x.clamp(lo, hi)))
    };
    Some(Action { moves: (0..columns.len()).map(step).collect::<Option<_>>()? })
}

/// What one unit of a piece's variable means.
fn scale(span: &Span) -> f64 {
    match span {
        Span::Real { .. } => {
            let (lo, hi) = span.choices();
            lo.abs().max(hi.abs())
        }
        _ => 1.0,
    }
}

fn add_lever(problem: &mut Problem, set: &FeasibleSet, linear: &Linear, lever: usize, size: f64) -> Columns {
    let single = set.pieces[lever].len() == 1;
    let mut pieces = Vec::new();
    for (piece, term) in set.pieces[lever].iter().zip(&linear.terms[lever]) {
        let scale = scale(&piece.span);
        let (lo, hi) = piece.span.choices();
        let (low, high) = (lo / scale, hi / scale);
        let slope = term.slope * scale / size;
        let moves = hi > lo;
        let fixed = if moves { term.base } else { term.at(lo) };
        let one = (!single).then(|| problem.add_binary_var(fixed / size));
        let variable = moves.then(|| {
            let (least, most) = if single { (low, high) } else { (low.min(0.0), high.max(0.0)) };
            match piece.span {
                Span::Real { .. } => problem.add_var(slope, (least, most)),
                _ => problem.add_integer_var(slope, (least as i32, most as i32)),
            }
        });
        if let (Some(one), Some(variable)) = (one, variable) {
            problem.add_constraint([(variable, 1.0), (one, -high)], ComparisonOp::Le, 0.0);
            problem.add_constraint([(variable, 1.0), (one, -low)], ComparisonOp::Ge, 0.0);
        }
        pieces.push((one, variable));
    }
    if !single {
        let ones = pieces.iter().filter_map(|piece| Some((piece.0?, 1.0)));
        problem.add_constraint(ones, ComparisonOp::Eq, 1.0);
    }
    Columns { pieces }
}

fn add_row(problem: &mut Problem, set: &FeasibleSet, columns: &[Columns], row: usize) {
    let mut terms: Vec<(Variable, f64)> = Vec::new();
    let mut bound = set.rows[row].bound;
    for (pieces, columns) in set.pieces.iter().zip(columns) {
        for (piece, &(one, variable)) in pieces.iter().zip(&columns.pieces) {
            let term = piece.rows[row];
            let (lo, hi) = piece.span.choices();
            let fixed = if hi > lo { term.base } else { term.at(lo) };
            match one {
                Some(one) if fixed != 0.0 => terms.push((one, fixed)),
                Some(_) => {}
                None => bound -= fixed,
            }
            if let Some(variable) = variable.filter(|_| term.slope != 0.0) {
                terms.push((variable, term.slope * scale(&piece.span)));
            }
        }
    }
    let size = terms.iter().fold(0.0f64, |size, term| size.max(term.1.abs()));
    if size > 0.0 {
        problem.add_constraint(
            terms.iter().map(|&(variable, entry)| (variable, entry / size)),
            ComparisonOp::Le,
            bound / size,
        );
    }
}
