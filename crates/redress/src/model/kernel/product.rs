//! Matrix products over register tiles.

use super::PAD;
use super::dispatched;
use super::lanes::Lanes;

/// A matrix whose element (i, k) is `data[i · row + k · step]`: plain (`step` 1), transposed (`row` 1) or constant
/// (both 0).
#[derive(Clone, Copy)]
pub(crate) struct Strided<'a> {
    /// The numbers.
    pub data: &'a [f32],
    /// From one row to the next.
    pub row: usize,
    /// From one column to the next.
    pub step: usize,
}

/// The operands of `out[i][j] = start[j] + Σₖ left[i][k] · right[k][j]`.
pub(crate) struct Product<'a> {
    /// Rows of `left` and `out`.
    pub rows: usize,
    /// Columns of `left`, rows of `right`.
    pub depth: usize,
    /// `rows × depth`.
    pub left: Strided<'a>,
    /// `depth × width`, row after row; the width is a multiple of [`PAD`].
    pub right: &'a [f32],
    /// One number a column, or zeros.
    pub start: Option<&'a [f32]>,
    /// `rows × width`, row after row.
    pub out: &'a mut [f32],
    /// Columns of `right` and `out`.
    pub width: usize,
}

dispatched! {
    /// Computes the product. Each output adds its terms in the order of `k`, whatever the number of rows.
    fn product(operands: Product<'_>) = tiles
}

/// Splits `left` things into nearly equal parts of at most `most`, and returns the size of the first.
#[inline(always)]
fn first_part(left: usize, most: usize) -> usize {
    left.div_ceil(left.div_ceil(most))
}

#[inline(always)]
unsafe fn tiles<L: Lanes>(operands: Product<'_>) {
    let Product { rows, depth, left, right, start, out, width } = operands;
    if rows == 0 || width == 0 {
        return;
    }
    assert!(width.is_multiple_of(PAD) && right.len() >= depth * width && out.len() >= rows * width);
    assert!(depth == 0 || left.data.len() > (rows - 1) * left.row + (depth - 1) * left.step);
    assert!(start.is_none_or(|start| start.len() >= width));
    let registers = width / L::WIDTH;
    let mut register = 0;
    // Columns outside, rows inside: a panel of `right` stays in the nearest cache while every row passes over it.
    while register < registers {
        let part = first_part(registers - register, L::TILE_REGISTERS);
        let column = register * L::WIDTH;
        let mut row = 0;
        while row < rows {
            let part_rows = first_part(rows - row, L::TILE_ROWS);
            // SAFETY: the assertions above cover every row and column.
            unsafe {
                let tile = Tile {
                    depth,
                    left: left.data.as_ptr().wrapping_add(row * left.row),
                    left_row: left.row,
                    left_step: left.step,
                    right: right.as_ptr().add(column),
                    start: start.map(|start| start.as_ptr().add(column)),
                    out: out.as_mut_ptr().add(row * width + column),
                    width,
                };
                match part {
                    1 => tile.of_rows::<L, 1>(part_rows),
                    2 => tile.of_rows::<L, 2>(part_rows),
                    _ => tile.of_rows::<L, 3>(part_rows),
                }
            }
            row += part_rows;
        }
        register += part;
    }
}

/// One tile of the product, by pointers to its corners.
struct Tile {
    depth: usize,
    left: *const f32,
    left_row: usize,
    left_step: usize,
    right: *const f32,
    start: Option<*const f32>,
    out: *mut f32,
    width: usize,
}

impl Tile {
    #[inline(always)]
    unsafe fn of_rows<L: Lanes, const REGISTERS: usize>(&self, rows: usize) {
        unsafe {
            match rows {
                1 => self.run::<L, 1, REGISTERS>(),
                2 => self.run::<L, 2, REGISTERS>(),
                3 => self.run::<L, 3, REGISTERS>(),
                4 => self.run::<L, 4, REGISTERS>(),
                5 => self.run::<L, 5, REGISTERS>(),
                6 => self.run::<L, 6, REGISTERS>(),
                7 => self.run::<L, 7, REGISTERS>(),
                _ => self.run::<L, 8, REGISTERS>(),
            }
        }
    }

    #[inline(always)]
    unsafe fn run<L: Lanes, const ROWS: usize, const REGISTERS: usize>(&self) {
        unsafe {
            let mut sums = [[L::splat(0.0); REGISTERS]; ROWS];
            if let Some(start) = self.start {
                for register in 0..REGISTERS {
                    let value = L::load(start.add(register * L::WIDTH));
                    for row in &mut sums {
                        row[register] = value;
                    }
                }
            }
            for k in 0..self.depth {
                let right = self.right.add(k * self.width);
                let mut operands = [L::splat(0.0); REGISTERS];
                for (register, operand) in operands.iter_mut().enumerate() {
                    *operand = L::load(right.add(register * L::WIDTH));
                }
                let left = self.left.add(k * self.left_step);
                for (index, row) in sums.iter_mut().enumerate() {
                    let value = L::splat(*left.add(index * self.left_row));
                    for (sum, operand) in row.iter_mut().zip(operands) {
                        *sum = value.mul_add(operand, *sum);
                    }
                }
            }
            for (index, row) in sums.iter().enumerate() {
                for (register, sum) in row.iter().enumerate() {
                    sum.store(self.out.add(index * self.width + register * L::WIDTH));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::kernel::Isa;

    /// The slow twin: one output at a time, in `f64`.
    fn naive(rows: usize, depth: usize, width: usize, left: &Strided, right: &[f32], start: &[f32]) -> Vec<f64> {
        let mut out = Vec::new();
        for i in 0..rows {
            for j in 0..width {
                let term =
                    |k: usize| f64::from(left.data[i * left.row + k * left.step]) * f64::from(right[k * width + j]);
                out.push(f64::from(start[j]) + (0..depth).map(term).sum::<f64>());
            }
        }
        out
    }

    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let hash = |i: usize| (i as u32 ^ seed).wrapping_mul(0x9E37_79B9).rotate_left(13).wrapping_mul(0x85EB_CA6B);
        (0..count).map(|i| hash(i) as f32 / u32::MAX as f32 * 2.0 - 1.0).collect()
    }

    proptest! {
        #[test]
        fn equals_the_slow_twin_on_every_instruction_set(
            rows in 1usize..40, depth in 0usize..30, blocks in 1usize..9, transposed: bool, with_start: bool, seed: u32,
        ) {
            let width = blocks * PAD;
            let data = numbers(rows * depth.max(1), seed);
            let (row, step) = if transposed { (1, rows) } else { (depth, 1) };
            let left = Strided { data: &data, row, step };
            let right = numbers(depth * width, seed ^ 1);
            let start = if with_start { numbers(width, seed ^ 2) } else { vec![0.0; width] };
            let expected = naive(rows, depth, width, &left, &right, &start);
            let mut previous: Option<(Isa, Vec<f32>)> = None;
            for isa in Isa::available() {
                let mut out = vec![f32::NAN; rows * width];
                let start = with_start.then_some(&start[..]);
                product(isa, Product { rows, depth, left, right: &right, start, out: &mut out, width });
                for (value, expected) in out.iter().zip(&expected) {
                    prop_assert!((f64::from(*value) - expected).abs() < 1e-5, "{} {value} {expected}", isa.name());
                }
                // AVX2 and AVX-512 fuse alike, so they agree in every bit.
                if let Some((before, bits)) = &previous && before.name() == "avx512" {
                    prop_assert_eq!(bits, &out);
                }
                previous = Some((isa, out));
            }
        }

        #[test]
        fn a_row_has_the_same_bits_in_any_batch(rows in 1usize..40, depth in 1usize..30, seed: u32) {
            let width = 7 * PAD;
            let (data, right, start) = (numbers(rows * depth, seed), numbers(depth * width, !seed), numbers(width, 5));
            for isa in Isa::available() {
                let run = |rows: usize, data: &[f32]| {
                    let mut out = vec![0.0; rows * width];
                    let left = Strided { data, row: depth, step: 1 };
                    let start = Some(&start[..]);
                    product(isa, Product { rows, depth, left, right: &right, start, out: &mut out, width });
                    out
                };
                let together = run(rows, &data);
                for (point, row) in data.chunks(depth).zip(together.chunks(width)) {
                    prop_assert_eq!(run(1, point), row);
                }
            }
        }
    }
}
