//! What to know of the fidelity of a model before it runs, in words.

use crate::load::Loaded;

/// One sentence per body that a switch does nothing to, or too much, and per support that strikes its beam at nodes.
pub fn notes(loaded: &Loaded) -> Vec<String> {
    let warnings = loaded.mechanism.fidelity_warnings();
    warnings.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use lissom::Override;

    use super::notes;
    use crate::load::load_text;
    use crate::models;

    /// Property: tied slopes are remarked on where the beam has nodes, and only there.
    #[test]
    fn tied_slopes_along_elements_are_remarked_on() {
        let text = models::find("sliding-links").unwrap().text;
        let with = |changes: &[&str]| {
            let changes: Vec<Override> = (changes.iter())
                .map(|text| Override::parse(text).unwrap())
                .collect();
            notes(&load_text("sliding-links", text, &changes).unwrap())
        };
        assert!(with(&[]).is_empty());
        let found = with(&["body.first.beam.basis={elements={count=4}}"]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("support first-bearing ties the slope of first"));
    }
}
