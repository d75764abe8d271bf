//! The largest directions of a sparse matrix, by randomised subspace iteration.

/// A dense matrix, row by row.
pub(crate) struct Matrix {
    columns: usize,
    numbers: Vec<f32>,
}

impl Matrix {
    pub(crate) fn new(rows: usize, columns: usize) -> Self {
        Self { columns, numbers: vec![0.0; rows * columns] }
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    pub(crate) fn row(&self, row: usize) -> &[f32] {
        &self.numbers[row * self.columns..(row + 1) * self.columns]
    }

    fn row_mut(&mut self, row: usize) -> &mut [f32] {
        &mut self.numbers[row * self.columns..(row + 1) * self.columns]
    }

    fn rows(&self) -> usize {
        self.numbers.len().checked_div(self.columns).unwrap_or_default()
    }
}

/// Adds a multiple of one vector to another.
pub(crate) fn add_scaled(sum: &mut [f32], vector: &[f32], factor: f32) {
    sum.iter_mut().zip(vector).for_each(|(sum, number)| *sum += factor * number);
}

/// More directions than are asked for, which makes those more exact.
const SPARE: usize = 16;

/// Returns the `wanted` right singular vectors of a sparse matrix with the largest singular values, as
/// a row of coordinates for each column of the matrix.
pub(crate) fn largest_directions(
    matrix: &[Vec<(u32, f32)>],
    columns: usize,
    wanted: usize,
    rounds: usize,
    is_over: &dyn Fn() -> bool,
) -> Option<Matrix> {
    let width = (wanted + SPARE).min(columns);
    let mut basis = random(columns, width);
    orthonormalise(&mut basis);
    for _ in 0..rounds {
        if is_over() {
            return None;
        }
        let images = times(matrix, &basis);
        basis = transposed_times(matrix, columns, &images);
        if is_over() {
            return None;
        }
        orthonormalise(&mut basis);
    }
    // Within the subspace, the directions are the eigenvectors of a small matrix.
    let images = times(matrix, &basis);
    let (values, rotation) = eigen(gram(&images));
    let mut order: Vec<usize> = (0..width).collect();
    order.sort_unstable_by(|one, other| values[*other].total_cmp(&values[*one]));
    order.truncate(wanted);
    let mut directions = Matrix::new(columns, wanted);
    for row in 0..columns {
        let coordinates = basis.row(row);
        for (target, direction) in directions.row_mut(row).iter_mut().zip(&order) {
            *target = coordinates.iter().enumerate().map(|(at, number)| number * rotation[at][*direction] as f32).sum();
        }
    }
    Some(directions)
}

/// Numbers that look random and are always the same, so that a library has the same results everywhere.
fn random(rows: usize, columns: usize) -> Matrix {
    let mut matrix = Matrix::new(rows, columns);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for number in &mut matrix.numbers {
        // xorshift64*
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        let bits = state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40;
        *number = bits as f32 / (1_u32 << 23) as f32 - 1.0;
    }
    matrix
}

fn times(matrix: &[Vec<(u32, f32)>], basis: &Matrix) -> Matrix {
    let mut product = Matrix::new(matrix.len(), basis.columns);
    for (row, entries) in matrix.iter().enumerate() {
        let sum = product.row_mut(row);
        entries.iter().for_each(|(column, weight)| add_scaled(sum, basis.row(*column as usize), *weight));
    }
    product
}

fn transposed_times(matrix: &[Vec<(u32, f32)>], columns: usize, images: &Matrix) -> Matrix {
    let mut product = Matrix::new(columns, images.columns);
    for (row, entries) in matrix.iter().enumerate() {
        for (column, weight) in entries {
            add_scaled(product.row_mut(*column as usize), images.row(row), *weight);
        }
    }
    product
}

/// Returns the products of all pairs of columns.
fn gram(matrix: &Matrix) -> Vec<Vec<f64>> {
    let width = matrix.columns;
    let mut sums = vec![vec![0.0_f64; width]; width];
    // In parts, so that the additions are in single precision and the sums are not.
    for start in (0..matrix.rows()).step_by(256) {
        let mut part = vec![0.0_f32; width * width];
        for row in start..(start + 256).min(matrix.rows()) {
            let numbers = matrix.row(row);
            for (at, number) in numbers.iter().enumerate() {
                add_scaled(&mut part[at * width..at * width + at + 1], numbers, *number);
            }
        }
        for (at, (sums, part)) in sums.iter_mut().zip(part.chunks_exact(width)).enumerate() {
            for (sum, number) in sums.iter_mut().zip(&part[..=at]) {
                *sum += f64::from(*number);
            }
        }
    }
    for at in 1..width {
        let (above, below) = sums.split_at_mut(at);
        for (row, sum) in above.iter_mut().zip(&below[0]) {
            row[at] = *sum;
        }
    }
    sums
}

/// Makes the columns orthonormal, by the Cholesky decomposition of their products; twice, because the
/// first time is not exact if they are almost parallel.
fn orthonormalise(matrix: &mut Matrix) {
    for _ in 0..2 {
        let lower = cholesky(gram(matrix));
        let width = matrix.columns;
        for row in 0..matrix.rows() {
            let numbers = matrix.row_mut(row);
            for at in 0..width {
                let known: f64 = (0..at).map(|other| lower[at][other] * f64::from(numbers[other])).sum();
                let own = lower[at][at];
                numbers[at] = if own > 0.0 { ((f64::from(numbers[at]) - known) / own) as f32 } else { 0.0 };
            }
        }
    }
}

/// The rest of a direction's square after the directions before it, as a part of the whole, below which it
/// is nothing new: the products are that exact.
const NOTHING_NEW: f64 = 1e-7;

/// Returns the lower triangle whose square is this matrix. Directions that add nothing to those before
/// them get the length 0, as in a library whose chunks repeat each other.
fn cholesky(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let width = matrix.len();
    for at in 0..width {
        for other in 0..=at {
            let known: f64 = (0..other).map(|below| matrix[at][below] * matrix[other][below]).sum();
            let rest = matrix[at][other] - known;
            matrix[at][other] = if at == other {
                if rest > matrix[at][at] * NOTHING_NEW { rest.sqrt() } else { 0.0 }
            } else if matrix[other][other] > 0.0 {
                rest / matrix[other][other]
            } else {
                0.0
            };
        }
    }
    matrix
}

/// Returns the eigenvalues of a symmetric matrix and, as columns, its eigenvectors, by Jacobi rotations.
fn eigen(mut matrix: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
    let width = matrix.len();
    let mut vectors = vec![vec![0.0; width]; width];
    (0..width).for_each(|at| vectors[at][at] = 1.0);
    for _ in 0..12 {
        let outside: f64 = (0..width)
            .flat_map(|row| (0..row).map(move |column| (row, column)))
            .map(|(row, column)| matrix[row][column] * matrix[row][column])
            .sum();
        let inside: f64 = (0..width).map(|at| matrix[at][at] * matrix[at][at]).sum();
        if outside <= inside * 1e-18 {
            break;
        }
        for row in 1..width {
            for column in 0..row {
                rotate(&mut matrix, &mut vectors, row, column);
            }
        }
    }
    ((0..width).map(|at| matrix[at][at]).collect(), vectors)
}

/// Makes one element of a symmetric matrix 0.
fn rotate(matrix: &mut [Vec<f64>], vectors: &mut [Vec<f64>], row: usize, column: usize) {
    let element = matrix[row][column];
    if element.abs() < f64::MIN_POSITIVE {
        return;
    }
    let ratio = (matrix[row][row] - matrix[column][column]) / (2.0 * element);
    let tangent = ratio.signum() / (ratio.abs() + ratio.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    for line in matrix.iter_mut().chain(vectors.iter_mut()) {
        let (one, other) = (line[column], line[row]);
        line[column] = cosine * one - sine * other;
        line[row] = sine * one + cosine * other;
    }
    if let Ok([first, second]) = matrix.get_disjoint_mut([column, row]) {
        for (one, other) in first.iter_mut().zip(second) {
            (*one, *other) = (cosine * *one - sine * *other, sine * *one + cosine * *other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvectors_of_a_symmetric_matrix_are_found() {
        let matrix = vec![vec![2.0, 1.0, 0.0], vec![1.0, 2.0, 0.0], vec![0.0, 0.0, 5.0]];
        let (mut values, vectors) = eigen(matrix.clone());
        for at in 0..3 {
            for row in 0..3 {
                let image: f64 = (0..3).map(|column| matrix[row][column] * vectors[column][at]).sum();
                let expected = values[at] * vectors[row][at];
                assert!((image - expected).abs() < 1e-9);
            }
        }
        values.sort_unstable_by(f64::total_cmp);
        assert!(
            values.iter().zip([1.0, 3.0, 5.0]).all(|(value, expected)| (value - expected).abs() < 1e-9),
            "{values:?}"
        );
    }

    #[test]
    fn largest_direction_of_a_matrix_is_found() {
        // Rows along (3, 4, 0) and a little of (0, 0, 1).
        let rows: Vec<_> = (1..20).map(|at| vec![(0, 3.0 * at as f32), (1, 4.0 * at as f32), (2, 0.1)]).collect();
        let found = largest_directions(&rows, 3, 1, 4, &|| false).unwrap();
        let direction: Vec<_> = (0..3).map(|row| found.row(row)[0].abs()).collect();
        assert!(
            (direction[0] - 0.6).abs() < 0.01 && (direction[1] - 0.8).abs() < 0.01 && direction[2] < 0.01,
            "{direction:?}"
        );
    }
}
