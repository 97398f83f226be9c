//! A small polytope as the table of its corners: a linear function is smallest at one of them.

use super::action::{Action, Move};
use super::minimise::Linear;
use super::pieces::Span;
use super::set::FeasibleSet;

/// Tables are made up to this many levers and rows.
const LEVERS: usize = 3;
const ROWS: usize = 8;

/// A constraint `normal · t ≤ bound` on the scaled changes.
struct Side {
    normal: [f64; LEVERS],
    bound: f64,
}

/// The corners of Δ(x), one change a lever, corner after corner; `None` unless every lever moves freely and without
/// links, and there are few levers and rows.
pub(super) fn of(set: &FeasibleSet) -> Option<Vec<f64>> {
    let levers = set.pieces.len();
    if levers == 0 || levers > LEVERS || set.rows.len() > ROWS {
        return None;
    }
    let mut ranges = Vec::with_capacity(levers);
    for pieces in &set.pieces {
        match pieces[..] {
            [ref piece] if matches!(piece.span, Span::Real { .. }) => ranges.push(piece.span.choices()),
            _ => return None,
        }
    }
    let scales: Vec<f64> =
        ranges.iter().map(|&(lo, hi)| (-lo).max(hi)).map(|size| if size > 0.0 { size } else { 1.0 }).collect();
    let sides = sides(set, &ranges, &scales);
    let mut corners = vec![];
    for_each_choice(sides.len(), levers, &mut |chosen| {
        let Some(solution) = intersect(&sides, chosen, levers) else { return };
        let inside = sides.iter().all(|side| dot(&side.normal, &solution) <= side.bound + 1e-9);
        if inside {
            let changes =
                (0..levers).map(|lever| (solution[lever] * scales[lever]).clamp(ranges[lever].0, ranges[lever].1));
            corners.extend(changes);
        }
    });
    Some(corners)
}

/// The permitted corner where the function is smallest.
pub(super) fn minimise(set: &FeasibleSet, corners: &[f64], linear: &Linear) -> Option<Action> {
    let levers = set.pieces.len();
    let value =
        |corner: &[f64]| corner.iter().zip(&linear.terms).map(|(&change, terms)| terms[0].at(change)).sum::<f64>();
    let mut ranked: Vec<(f64, &[f64])> = corners.chunks_exact(levers).map(|corner| (value(corner), corner)).collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    let actions =
        ranked.into_iter().map(|(_, corner)| Action { moves: corner.iter().map(|&by| Move::By(by)).collect() });
    actions.into_iter().find(|action| set.contains(action))
}

/// The sides of the scaled box and the rows, each row scaled so that its largest coefficient is 1.
fn sides(set: &FeasibleSet, ranges: &[(f64, f64)], scales: &[f64]) -> Vec<Side> {
    let mut sides = Vec::new();
    for (lever, (&(lo, hi), scale)) in ranges.iter().zip(scales).enumerate() {
        for (sign, end) in [(-1.0, -lo), (1.0, hi)] {
            let mut normal = [0.0; LEVERS];
            normal[lever] = sign;
            sides.push(Side { normal, bound: end / scale });
        }
    }
    for (row, limit) in set.rows.iter().enumerate() {
        let mut normal = [0.0; LEVERS];
        for (lever, pieces) in set.pieces.iter().enumerate() {
            normal[lever] = pieces[0].rows[row].slope * scales[lever];
        }
        let size = normal.iter().fold(0f64, |size, entry| size.max(entry.abs()));
        if size > 0.0 {
            normal.iter_mut().for_each(|entry| *entry /= size);
            sides.push(Side { normal, bound: limit.bound / size });
        }
    }
    sides
}

fn dot(a: &[f64; LEVERS], b: &[f64; LEVERS]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Calls `visit` with every way to choose `count` of `total`, ascending.
fn for_each_choice(total: usize, count: usize, visit: &mut impl FnMut(&[usize])) {
    let mut chosen: Vec<usize> = (0..count).collect();
    if total < count {
        return;
    }
    loop {
        visit(&chosen);
        let Some(turns) = (0..count).rev().find(|&place| chosen[place] < total - count + place) else { return };
        chosen[turns] += 1;
        for place in turns + 1..count {
            chosen[place] = chosen[place - 1] + 1;
        }
    }
}

/// The point where the chosen sides meet, by elimination with the largest pivot; `None` when they do not meet in one.
fn intersect(sides: &[Side], chosen: &[usize], levers: usize) -> Option<[f64; LEVERS]> {
    let mut system: Vec<([f64; LEVERS], f64)> =
        chosen.iter().map(|&side| (sides[side].normal, sides[side].bound)).collect();
    for column in 0..levers {
        let pivot =
            (column..levers).max_by(|&a, &b| system[a].0[column].abs().total_cmp(&system[b].0[column].abs()))?;
        system.swap(column, pivot);
        let (normal, bound) = system[column];
        if normal[column].abs() < 1e-9 {
            return None;
        }
        for (index, equation) in system.iter_mut().enumerate() {
            let factor = equation.0[column] / normal[column];
            if index != column && factor != 0.0 {
                for (entry, pivot) in equation.0.iter_mut().zip(normal) {
                    *entry -= factor * pivot;
                }
                equation.1 -= factor * bound;
            }
        }
    }
    let mut solution = [0.0; LEVERS];
    for lever in 0..levers {
        solution[lever] = system[lever].1 / system[lever].0[lever];
    }
    Some(solution)
}
