//! The point of a polytope nearest to another: least distance programming after Lawson and Hanson (*Solving Least
//! Squares Problems*, chapter 23), exact in finitely many steps.
//!
//! ```text
//! min |y|  over  G y ≥ h      is solved by      u = argmin over u ≥ 0 of |E u − f|,   E = [Gᵀ; hᵀ],  f = (0, …, 0, 1),
//!                             with the residual  r = E u − f:    y_j = −r_j / r_last,
//! ```
//!
//! and there is no such point where the residual is 0.

/// A side `normal · y ≥ bound`.
#[derive(Debug, Clone)]
pub(super) struct HalfSpace {
    pub normal: Vec<f64>,
    pub bound: f64,
}

/// The point nearest to the origin that lies in all half-spaces; `None` when there is none.
pub(super) fn nearest_to_origin(sides: &[HalfSpace], dimensions: usize) -> Option<Vec<f64>> {
    let columns: Vec<Vec<f64>> = sides.iter().filter_map(column).collect();
    let mut target = vec![0.0; dimensions + 1];
    target[dimensions] = 1.0;
    let residual = nonnegative_residual(&columns, &target);
    let last = residual[dimensions];
    if last <= 1e-12 {
        return None;
    }
    Some(residual[..dimensions].iter().map(|entry| -entry / last + 0.0).collect())
}

/// A half-space as a column of E, scaled so that its normal has length 1; `None` for one without a normal.
fn column(side: &HalfSpace) -> Option<Vec<f64>> {
    let length = side.normal.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
    (length > 0.0).then(|| side.normal.iter().chain([&side.bound]).map(|entry| entry / length).collect())
}

/// `f − E u` for the u ≥ 0 that makes it shortest: columns enter while they point along the residual, and leave when
/// their weight would turn negative.
fn nonnegative_residual(columns: &[Vec<f64>], target: &[f64]) -> Vec<f64> {
    let mut weights = vec![0.0; columns.len()];
    let mut passive: Vec<usize> = Vec::new();
    let mut residual = target.to_vec();
    // Each round enters one column; the method is finite, the limit guards against rounding in a circle.
    for _ in 0..10 * (columns.len() + target.len()) {
        let outside = (0..columns.len()).filter(|index| !passive.contains(index));
        let along = outside.map(|index| (dot(&columns[index], &residual), index));
        let Some((gain, entering)) = along.max_by(|a, b| a.0.total_cmp(&b.0)) else { break };
        let size = dot(&columns[entering], &columns[entering]).sqrt();
        if gain <= 1e-13 * size {
            break;
        }
        passive.push(entering);
        while let Some(solution) = least_squares(columns, &passive, target) {
            let leaving = passive.iter().zip(&solution).filter(|(_, weight)| **weight <= 0.0);
            let shares = leaving.map(|(&index, &weight)| weights[index] / (weights[index] - weight));
            let share = shares.fold(f64::INFINITY, f64::min);
            let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 1.0 };
            for (&index, &weight) in passive.iter().zip(&solution) {
                weights[index] += share * (weight - weights[index]);
            }
            if solution.iter().all(|&weight| weight > 0.0) {
                break;
            }
            let stays = |index: usize, weight: f64| weight > 0.0 || weights[index] > 1e-15;
            let kept = passive.iter().zip(&solution).filter(|&(&index, &weight)| stays(index, weight));
            let kept: Vec<usize> = kept.map(|(&index, _)| index).collect();
            passive.iter().filter(|index| !kept.contains(index)).for_each(|&index| weights[index] = 0.0);
            if kept.len() == passive.len() {
                break;
            }
            passive = kept;
        }
        residual = target.to_vec();
        for &index in &passive {
            let weight = weights[index];
            residual.iter_mut().zip(&columns[index]).for_each(|(cell, entry)| *cell -= weight * entry);
        }
    }
    residual
}

/// The weights of the chosen columns that come nearest to the target, by orthogonalisation (each column twice, so that
/// nearly parallel ones stay orthogonal to rounding). A column that depends on the others gets weight 0.
fn least_squares(columns: &[Vec<f64>], chosen: &[usize], target: &[f64]) -> Option<Vec<f64>> {
    if chosen.is_empty() {
        return None;
    }
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut triangle: Vec<Vec<f64>> = Vec::new();
    for &index in chosen {
        let mut vector = columns[index].clone();
        let size = dot(&vector, &vector).sqrt();
        let mut entries = vec![0.0; basis.len()];
        for _ in 0..2 {
            for (entry, other) in entries.iter_mut().zip(&basis) {
                let along = dot(&vector, other);
                *entry += along;
                vector.iter_mut().zip(other).for_each(|(cell, other)| *cell -= along * other);
            }
        }
        let length = dot(&vector, &vector).sqrt();
        let independent = length > 1e-13 * size;
        entries.push(if independent { length } else { 0.0 });
        vector.iter_mut().for_each(|cell| *cell = if independent { *cell / length } else { 0.0 });
        basis.push(vector);
        triangle.push(entries);
    }
    let mut weights: Vec<f64> = basis.iter().map(|vector| dot(vector, target)).collect();
    for index in (0..weights.len()).rev() {
        let pivot = triangle[index][index];
        weights[index] = if pivot > 0.0 { weights[index] / pivot } else { 0.0 };
        for above in 0..index {
            weights[above] -= triangle[index][above] * weights[index];
        }
    }
    Some(weights)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(normal: &[f64], bound: f64) -> HalfSpace {
        HalfSpace { normal: normal.to_vec(), bound }
    }

    #[test]
    fn the_foot_of_the_perpendicular() {
        let found = nearest_to_origin(&[side(&[1.0, 1.0], 2.0)], 2).unwrap();
        assert!(found.iter().all(|entry| (entry - 1.0).abs() < 1e-12), "{found:?}");
        let corner = nearest_to_origin(&[side(&[1.0, 1.0], 2.0), side(&[1.0, 0.0], 3.0)], 2).unwrap();
        assert!((corner[0] - 3.0).abs() < 1e-12 && corner[1].abs() < 1e-12, "{corner:?}");
    }

    #[test]
    fn a_narrow_wedge_has_its_tip_far_away() {
        // y₂ ≥ 1 and y₂ ≤ y₁ / 1000: the tip is at (1000, 1).
        let found = nearest_to_origin(&[side(&[0.0, 1.0], 1.0), side(&[1e-3, -1.0], 0.0)], 2).unwrap();
        assert!((found[0] - 1000.0).abs() < 1e-4 && (found[1] - 1.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn nothing_is_nearest_where_nothing_is() {
        assert_eq!(nearest_to_origin(&[side(&[1.0], 1.0), side(&[-1.0], 0.0)], 1), None);
    }
}
