//! A panel in Braille dots for terminals. It shows the sum of the layers; each character cell covers two moments and four steps of
//! height.

use std::fmt::Write as _;

use super::series::Panel;
use crate::snapshot::units::Units;

/// Bits of a braille cell's dots, from the bottom up, for the left and the right column (Unicode 15, chapter 21.1).
const DOTS: [[u32; 4]; 2] = [[0x40, 0x04, 0x02, 0x01], [0x80, 0x20, 0x10, 0x08]];

/// Draws the sums of a panel's layers as text of `width` by `height` character cells, with a scale on the left and a line at the
/// limit.
pub fn draw(series: &Panel, width: usize, height: usize, ascii: bool) -> String {
    let top = series.top();
    let columns = width * 2;
    let heights: Vec<usize> = (0..columns).map(|column| filled(series, column, columns, height * 4, top)).collect();
    let limit = series.limit.as_ref().filter(|limit| limit.bytes > 0).map(|limit| {
        let dot = usize::try_from(u128::from(limit.bytes) * (height * 4) as u128 / u128::from(top)).unwrap_or(0);
        (dot.saturating_sub(1).min((height * 4).saturating_sub(1)), limit.bytes)
    });
    let mut text = format!("{}\n", series.title);
    for row in (0..height).rev() {
        let label = match row {
            0 => "0".to_owned(),
            row if row + 1 == height => Units::Auto.text(top),
            row => match limit {
                Some((dot, bytes)) if dot / 4 == row => Units::Auto.text(bytes),
                _ => String::new(),
            },
        };
        let line = limit.map(|(dot, _)| dot).filter(|dot| dot / 4 == row).map(|dot| dot % 4);
        let cells: String = heights.chunks(2).map(|pair| cell(pair, row, line, ascii)).collect();
        text.push_str(format!("{label:>12} |{cells}").trim_end());
        text.push('\n');
    }
    let seconds = series.seconds.last().copied().unwrap_or(0.0);
    // Writing to a string does not fail.
    let (first, last) = (series.clock(0.0), series.clock(seconds));
    let room = width.saturating_sub(first.len());
    let _ = writeln!(text, "{:>12}  {first}{last:>room$}", "");
    text
}

/// Returns the height of a column in dots.
fn filled(series: &Panel, column: usize, columns: usize, dots: usize, top: u64) -> usize {
    let last = series.seconds.len().saturating_sub(1);
    let index = (column * last).checked_div(columns.saturating_sub(1)).unwrap_or(0);
    let sum = series.layers.iter().filter(|layer| !layer.is_missing).filter_map(|layer| layer.bytes.get(index));
    let sum = sum.fold(0_u64, |sum, &bytes| sum.saturating_add(bytes));
    usize::try_from(u128::from(sum) * dots as u128 / u128::from(top)).unwrap_or(dots)
}

/// Returns the character of two columns in a row, with the dots of the limit, if it is in this row.
fn cell(pair: &[usize], row: usize, limit: Option<usize>, ascii: bool) -> char {
    let bits = pair.iter().zip(DOTS).fold(0, |bits, (&height, dots)| {
        dots.iter().enumerate().filter(|(dot, _)| height > row * 4 + dot).fold(bits, |bits, (_, dot)| bits | dot)
    });
    let line = limit.map_or(0, |dot| DOTS.iter().filter_map(|dots| dots.get(dot)).fold(0, |all, dot| all | dot));
    match (ascii, bits) {
        (true, 0) if line != 0 => '-',
        (false, bits) if line != 0 => char::from_u32(0x2800 + (bits | line)).unwrap_or(' '),
        (_, 0) => ' ',
        (true, bits) => {
            if bits.count_ones() > 4 {
                '#'
            } else {
                '.'
            }
        }
        (false, bits) => char::from_u32(0x2800 + bits).unwrap_or(' '),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_a_line_of_dots_above_what_is_used() {
        let line = DOTS[0][1] | DOTS[1][1];
        assert_eq!(cell(&[0, 0], 3, Some(1), false), char::from_u32(0x2800 + line).unwrap());
        assert_eq!(cell(&[0, 0], 3, Some(1), true), '-');
        assert_eq!(cell(&[0, 0], 3, None, false), ' ');
        // What is used covers it.
        assert_eq!(cell(&[16, 16], 3, Some(1), false), '\u{28ff}');
        assert_eq!(cell(&[16, 16], 3, Some(1), true), '#');
    }
}
