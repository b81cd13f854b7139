//! Misspelt words: the nearest known one, and keys that differ in their unit alone.

/// Words that may stand for units at the end of a key, in this format or in a reader's habit.
const UNITS: [&str; 37] = [
    "m", "m2", "m3", "mm", "cm", "km", "kg", "g", "s", "s2", "ms", "us", "min", "rad", "deg",
    "degrees", "n", "kn", "nm", "n2", "hz", "rpm", "pa", "mpa", "gpa", "nms", "nm2", "kg2", "kgm2",
    "per", "w", "j", "percent", "meters", "seconds", "radians", "newtons",
];

/// Letters of the longest word that is compared with others: nobody writes a longer one by a slip, and comparing takes its square.
const LONGEST: usize = 100;

/// The known word nearest to the given one, if it is near enough to be meant; never the word itself, which is known but does not fit.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = word.chars().count();
    if letters > LONGEST {
        return None;
    }
    let allowed = (letters / 3).max(1);
    // a word that is longer by more than that cannot be near
    let is_comparable = |candidate: &&str| candidate.chars().count() <= letters + allowed;
    known
        .into_iter()
        .filter(is_comparable)
        .filter(|candidate| *candidate != word)
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The known key that says the same as the given one in another unit, if there is exactly one.
pub(super) fn in_other_unit<'a>(
    key: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let (stem, unit) = split_unit(key);
    let mut same = known.into_iter().filter(|candidate| {
        let (known_stem, known_unit) = split_unit(candidate);
        !known_unit.is_empty() && unit != known_unit && common_stem(stem) == common_stem(known_stem)
    });
    let first = same.next()?;
    if same.next().is_some() {
        None
    } else {
        Some(first)
    }
}

/// A key as what it says and the unit it says it in, both without the underscore between them.
fn split_unit(key: &str) -> (&str, &str) {
    let mut start = key.len();
    for (position, _) in key.rmatch_indices('_') {
        if !UNITS.contains(&&key[position + 1..start]) {
            break;
        }
        start = position;
    }
    (&key[..start], key[start..].trim_start_matches('_'))
}

/// What rotation and translation call by different words.
fn common_stem(stem: &str) -> String {
    stem.replace("displacement", "position")
        .replace("angle", "position")
        .replace("torque", "load")
        .replace("force", "load")
}

/// Letters to insert, delete, exchange or swap with their neighbour to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let exchanged = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = exchanged.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: letters inserted, swapped and left out.
    #[test]
    fn distances_count_single_slips() {
        assert_eq!(distance("length", "length"), 0);
        assert_eq!(distance("lenght", "length"), 1);
        assert_eq!(distance("ground", "groud"), 1);
        assert_eq!(distance("", "abc"), 3);
    }

    /// By hand: what a reader would take for the same word, and what not.
    #[test]
    fn only_near_words_are_suggested() {
        assert_eq!(nearest("shuolder", ["elbow", "shoulder"]), Some("shoulder"));
        assert_eq!(nearest("wrist", ["elbow", "shoulder"]), None);
        assert_eq!(nearest("elbow", ["elbow", "elbow2"]), Some("elbow2"));
        assert_eq!(nearest("elbow", ["elbow", "shoulder"]), None);
        // comparing these would take as many steps as the product of their lengths
        let long = "a".repeat(1_000_000);
        assert_eq!(nearest(&long, [long.as_str(), "a"]), None);
        assert_eq!(nearest("elbo", [long.as_str(), "elbow"]), Some("elbow"));
    }

    /// By hand: another unit, no unit, and the word that the other kind of joint uses.
    #[test]
    fn units_are_told_from_what_they_measure() {
        let known = ["length_m", "initial_displacement_m", "initial_rate_m_per_s"];
        assert_eq!(in_other_unit("length_mm", known), Some("length_m"));
        assert_eq!(in_other_unit("length", known), Some("length_m"));
        assert_eq!(
            in_other_unit("initial_angle_rad", known),
            Some("initial_displacement_m")
        );
        assert_eq!(
            in_other_unit("initial_rate_rad_per_s", known),
            Some("initial_rate_m_per_s")
        );
        assert_eq!(in_other_unit("lenght_m", known), None);
    }
}
