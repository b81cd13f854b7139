//! Where a key is too deep: the reader of TOML does not tell.

use std::ops::Range;

/// Parts of a dotted key from which on the reader refuses it.
const MOST_PARTS: usize = 80;

/// What is said of such a key.
pub(super) const TOO_DEEP: &str = "this key has too many parts";

/// The first dotted key of so many parts that it is refused.
pub(super) fn deepest_key(text: &str) -> Option<Range<usize>> {
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        if let Some(found) = in_line(line) {
            return Some(line_start + found.start..line_start + found.end);
        }
        line_start += line.len();
    }
    None
}

fn in_line(line: &str) -> Option<Range<usize>> {
    let (mut start, mut parts) = (0, 0);
    // whether a dot is the last thing seen but space
    let mut after_dot = false;
    let mut characters = line.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let end = match character {
            '.' => {
                after_dot = parts > 0;
                continue;
            }
            ' ' | '\t' => continue,
            '#' => return None,
            '"' | '\'' => {
                let mut end = at + 1;
                while let Some((inside, c)) = characters.next() {
                    end = inside + c.len_utf8();
                    if c == character {
                        break;
                    }
                    if c == '\\' && character == '"' {
                        characters.next();
                    }
                }
                end
            }
            c if is_bare(c) => {
                let mut end = at + 1;
                while let Some((inside, _)) = characters.next_if(|&(_, c)| is_bare(c)) {
                    end = inside + 1;
                }
                end
            }
            _ => {
                parts = 0;
                continue;
            }
        };
        (start, parts) = if after_dot {
            (start, parts + 1)
        } else {
            (at, 1)
        };
        after_dot = false;
        if parts >= MOST_PARTS {
            return Some(start..end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By construction: a key of a thousand parts stands in the second line.
    #[test]
    fn a_deep_key_is_found() {
        let key = vec!["a"; 1000].join(".");
        for line in [
            format!("{key} = 1\n"),
            format!("[{key}]\n"),
            format!("x = {{ {key} = 1 }}"),
        ] {
            let text = format!("format = 1 # {}\n{line}", "x.".repeat(200));
            let found = deepest_key(&text).unwrap();
            assert!(found.start > text.find('\n').unwrap());
            assert!(text[found].starts_with("a.a"));
        }
        let quoted = "\"x.y\" . 'z'. ".repeat(60) + "end = 1";
        assert!(deepest_key(&quoted).is_some());
        assert_eq!(deepest_key("a.b = 1\nc = [1.0, 2.0]\n"), None);
    }
}
