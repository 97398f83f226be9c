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
    if rows < BLOCK || columns < BLOCK {
        for i in 0..rows {
            (0..columns).for_each(|j| out[j * out_row + i] = matrix[i * matrix_row + j]);
        }
        return;
    }
    for i in starts(rows) {
        for j in starts(columns) {
            // SAFETY: the block lies inside both, by the assertions.
            unsafe {
                let from = matrix.as_ptr().add(i * matrix_row + j);
                L::transpose_block(from, matrix_row, out.as_mut_ptr().add(j * out_row + i), out_row);
            }
        }
    }
}

/// Where blocks start that cover `count ≥ 8` rows. The last one may lie over the one before it: writing an element twice
/// is cheaper than treating the rest one by one.
#[inline(always)]
fn starts(count: usize) -> impl Iterator<Item = usize> {
    (0..count.div_ceil(BLOCK)).map(move |block| (block * BLOCK).min(count - BLOCK))
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
