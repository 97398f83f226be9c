//! Transposes, for the backward pass to read weights along its own rows.

const BLOCK: usize = 8;

/// Writes `out[j][i] = matrix[i][j]` for the `rows × columns` numbers of a matrix whose rows are `matrix_row` apart,
/// into one whose rows are `out_row` apart. The rest of `out` keeps its value.
pub(crate) fn transpose(
    (rows, columns): (usize, usize),
    matrix: &[f32],
    matrix_row: usize,
    out: &mut [f32],
    out_row: usize,
) {
    if rows == 0 || columns == 0 {
        return;
    }
    assert!(columns <= matrix_row && rows <= out_row);
    assert!(matrix.len() >= (rows - 1) * matrix_row + columns && out.len() >= (columns - 1) * out_row + rows);
    let (whole_rows, whole_columns) = (rows / BLOCK * BLOCK, columns / BLOCK * BLOCK);
    for i in (0..whole_rows).step_by(BLOCK) {
        for j in (0..whole_columns).step_by(BLOCK) {
            // A block of fixed size through registers: the compiler turns the copies into shuffles.
            let mut block = [[0.0f32; BLOCK]; BLOCK];
            for (r, line) in block.iter_mut().enumerate() {
                let at = (i + r) * matrix_row + j;
                line.copy_from_slice(&matrix[at..at + BLOCK]);
            }
            for c in 0..BLOCK {
                let at = (j + c) * out_row + i;
                let line: [f32; BLOCK] = std::array::from_fn(|r| block[r][c]);
                out[at..at + BLOCK].copy_from_slice(&line);
            }
        }
        for j in whole_columns..columns {
            for r in i..i + BLOCK {
                out[j * out_row + r] = matrix[r * matrix_row + j];
            }
        }
    }
    for i in whole_rows..rows {
        for j in 0..columns {
            out[j * out_row + i] = matrix[i * matrix_row + j];
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn moves_each_element_to_its_mirror(rows in 0usize..40, columns in 0usize..40, gap in 0usize..5) {
            let (matrix_row, out_row) = (columns + gap, rows + gap);
            let matrix: Vec<f32> = (0..rows * matrix_row).map(|i| i as f32).collect();
            let mut out = vec![-1.0; columns * out_row];
            super::transpose((rows, columns), &matrix, matrix_row, &mut out, out_row);
            for (at, value) in out.iter().enumerate() {
                let (j, i) = (at / out_row, at % out_row);
                prop_assert_eq!(*value, if i < rows { matrix[i * matrix_row + j] } else { -1.0 });
            }
        }
    }
}
