//! Transposes, for the backward pass to read weights along its own rows.

use super::dispatched;
use super::lanes::Lanes;

const BLOCK: usize = 8;

/// The operands of `out[j][i] = matrix[i][j]` for `rows × columns` numbers. The rest of `out` keeps its value.
pub(crate) struct Transpose<'a> {
    /// Rows of the matrix.
    pub rows: usize,
    /// Columns of the matrix.
    pub columns: usize,
    /// The matrix, its rows `matrix_row` apart.
    pub matrix: &'a [f32],
    /// From one row of the matrix to the next.
    pub matrix_row: usize,
    /// The transpose, its rows `out_row` apart.
    pub out: &'a mut [f32],
    /// From one row of the transpose to the next.
    pub out_row: usize,
}

dispatched! {
    /// Transposes a matrix.
    fn transpose(operands: Transpose<'_>) = blocks
}

#[inline(always)]
unsafe fn blocks<L: Lanes>(operands: Transpose<'_>) {
    let Transpose { rows, columns, matrix, matrix_row, out, out_row } = operands;
    if rows == 0 || columns == 0 {
        return;
    }
    assert!(columns <= matrix_row && rows <= out_row);
    assert!(matrix.len() >= (rows - 1) * matrix_row + columns && out.len() >= (columns - 1) * out_row + rows);
    let (whole_rows, whole_columns) = (rows / BLOCK * BLOCK, columns / BLOCK * BLOCK);
    for i in (0..whole_rows).step_by(BLOCK) {
        for j in (0..whole_columns).step_by(BLOCK) {
            // SAFETY: the block lies inside both, by the assertions.
            unsafe {
                let from = matrix.as_ptr().add(i * matrix_row + j);
                L::transpose_block(from, matrix_row, out.as_mut_ptr().add(j * out_row + i), out_row);
            }
        }
    }
    // SAFETY: every index is below `rows` and `columns`, which the assertions cover.
    let single = |i: usize, j: usize, out: &mut [f32]| unsafe {
        *out.get_unchecked_mut(j * out_row + i) = *matrix.get_unchecked(i * matrix_row + j);
    };
    for j in whole_columns..columns {
        (0..whole_rows).for_each(|i| single(i, j, out));
    }
    for i in whole_rows..rows {
        (0..columns).for_each(|j| single(i, j, out));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::kernel::Isa;

    proptest! {
        #[test]
        fn moves_each_element_to_its_mirror(rows in 0usize..40, columns in 0usize..40, gap in 0usize..5) {
            let (matrix_row, out_row) = (columns + gap, rows + gap);
            let matrix: Vec<f32> = (0..rows * matrix_row).map(|i| i as f32).collect();
            for isa in Isa::available() {
                let mut out = vec![-1.0; columns * out_row];
                transpose(isa, Transpose { rows, columns, matrix: &matrix, matrix_row, out: &mut out, out_row });
                for (at, value) in out.iter().enumerate() {
                    let (j, i) = (at / out_row, at % out_row);
                    prop_assert_eq!(*value, if i < rows { matrix[i * matrix_row + j] } else { -1.0 });
                }
            }
        }
    }
}
