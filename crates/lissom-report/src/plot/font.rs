//! Letters made of strokes, on a grid five points wide: the baseline at height 2, small letters up to 6, capitals and
//! digits up to 8, descenders down to 0.

/// Grid units from one letter to the next.
pub(super) const ADVANCE: f64 = 5.6;
/// Height of the baseline.
pub(super) const BASELINE: f64 = 2.0;

/// The strokes of a letter: polygons of grid points. A stroke of one point twice is a dot.
pub(super) fn strokes(letter: char) -> impl Iterator<Item = impl Iterator<Item = [f64; 2]>> {
    glyph(letter).split(' ').map(|stroke| {
        let (points, _) = stroke.as_bytes().as_chunks::<2>();
        points
            .iter()
            .map(|point| point.map(|digit| f64::from(digit - b'0')))
    })
}

/// Points as pairs of digits, strokes separated by spaces.
fn glyph(letter: char) -> &'static str {
    match letter {
        ' ' => "",
        '0' | 'O' => "120307183847433212",
        '1' => "172822 1232",
        '2' => "07183847460242",
        '3' => "07183847463515 354443321203",
        '4' => "32380444",
        '5' => "480805354443321203",
        '6' => "4738180703123243443505",
        '7' => "084812",
        '8' => "150607183847463515 1504031232434435",
        '9' => "0312324347381807061545",
        'A' => "022842 1434",
        'B' => "02083847463505 3544433202",
        'C' => "4738180703123243",
        'D' => "02082846442202",
        'E' => "48080242 0535",
        'F' => "480802 0535",
        'G' => "47381807031232434525",
        'H' => "0208 4248 0545",
        'I' => "2228 1232 1838",
        'J' => "4843321203",
        'K' => "0208 0448 1542",
        'L' => "080242",
        'M' => "0208254842",
        'N' => "02084248",
        'P' => "02083847463505",
        'Q' => "120307183847433212 2442",
        'R' => "02083847463505 2542",
        'S' => "473818070615354443321203",
        'T' => "0848 2228",
        'U' => "080312324348",
        'V' => "082248",
        'W' => "0812253248",
        'X' => "0248 0842",
        'Y' => "082548 2522",
        'Z' => "08480242",
        'a' => "16364542 441403123243",
        'b' => "0802 0516364543321203",
        'c' => "4536160503123243",
        'd' => "4842 4536160503123243",
        'e' => "04444536160503123243",
        'f' => "47382722 1636",
        'g' => "4641301001 4536160503123243",
        'h' => "0208 0516364542",
        'i' => "2622 2828",
        'j' => "36312010 3838",
        'k' => "0208 0436 1532",
        'l' => "282332",
        'm' => "0206 05162522 25364542",
        'n' => "0206 0516364542",
        'o' => "120305163645433212",
        'p' => "0600 0516364543321203",
        'q' => "4640 4536160503123243",
        'r' => "1216 143646",
        's' => "45361605143443321203",
        't' => "282332 1636",
        'u' => "0603123243 4642",
        'v' => "062246",
        'w' => "0612253246",
        'x' => "0246 0642",
        'y' => "0622 4610",
        'z' => "06460242",
        '.' => "2222",
        ',' => "2211",
        ':' => "2222 2525",
        '-' | '–' | '−' => "1535",
        '+' => "0545 2327",
        '=' => "0444 0646",
        '_' => "0141",
        '/' => "0248",
        '(' => "38272332",
        ')' => "18272312",
        '[' => "38181232",
        ']' => "18383212",
        '^' => "162836",
        '%' => "0248 1717 3333",
        '\'' => "2826",
        '"' => "1816 3836",
        '#' => "1218 3238 0444 0646",
        '*' => "0446 0644 2327",
        '<' => "470543",
        '>' => "074503",
        '?' => "07183847463524 2222",
        '!' => "2824 2222",
        '|' => "2028",
        '×' => "1337 1733",
        '·' => "2525",
        // what has no strokes is a box
        _ => "0208484202",
    }
}

#[cfg(test)]
mod tests {
    use super::{glyph, strokes};

    /// Property: every letter that names and units are made of is drawn on the grid, and no two look alike.
    #[test]
    fn letters_are_on_the_grid() {
        let letters: Vec<char> = ('!'..='~')
            .filter(|c| c.is_ascii_alphanumeric() || "._-/()[]^%#:,+".contains(*c))
            .collect();
        for (i, &letter) in letters.iter().enumerate() {
            assert_ne!(glyph(letter), glyph('\u{1}'), "{letter} has no strokes");
            for stroke in strokes(letter) {
                let points: Vec<[f64; 2]> = stroke.collect();
                assert!(points.len() >= 2, "{letter}");
                assert!(
                    points.iter().all(|&[x, y]| x <= 4.0 && y <= 8.0),
                    "{letter}"
                );
            }
            let alike = letters[..i]
                .iter()
                .find(|&&other| glyph(other) == glyph(letter));
            assert!(
                alike.is_none() || letter == 'O',
                "{letter} looks like {alike:?}"
            );
        }
    }
}
