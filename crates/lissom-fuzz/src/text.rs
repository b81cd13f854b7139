//! Changes that know the structure of texts: numbers, quoted texts, words, lines, tables.

use std::ops::Range;

use crate::bytes;
use crate::random::Random;

/// Numbers at which programs break.
const NUMBERS: [&str; 30] = [
    "0",
    "-0.0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "0.5",
    "1e-3",
    "1e-9",
    "1e-16",
    "1e-150",
    "1e-308",
    "5e-324",
    "1e3",
    "1e9",
    "1e16",
    "1e150",
    "1e308",
    "-1e308",
    "1e999",
    "nan",
    "inf",
    "-inf",
    "255",
    "65536",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "true",
];

/// Names at which programs break.
const TEXTS: [&str; 10] = [
    "\"\"",
    "\"ground\"",
    "\"tip\"",
    "\"root\"",
    "\"a.b\"",
    "\"time_s\"",
    "\"\\u0000\"",
    "\"ä\u{1F980}\\n\\u001b[31m\"",
    "\"../../etc/passwd\"",
    "\"a, \\\"b\\\" [m]\"",
];

/// What the parts of a text are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// TOML or JSON: texts stand in quotes, `#` begins a comment.
    Toml,
    /// Numbers and words with signs between them, quotes among these, as in XML and in files of finite-element programs.
    Plain,
}

/// What is put in the place of what stands there.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    /// Keys and values without quotes.
    words: Vec<String>,
    /// Lines of the form `key = value`.
    lines: Vec<String>,
    /// Tables, from their header to the next.
    tables: Vec<String>,
}

impl Dictionary {
    /// The words of a language, and what stands in some texts.
    pub fn new(words: impl IntoIterator<Item = String>, texts: &[String]) -> Self {
        let mut dictionary = Self::default();
        dictionary.words.extend(words);
        for text in texts {
            let lines = text.lines().filter(|line| line.contains(" = "));
            dictionary.lines.extend(lines.map(str::to_owned));
            let tables = tables(text).into_iter().map(|table| &text[table]);
            dictionary.tables.extend(tables.map(str::to_owned));
        }
        for list in [
            &mut dictionary.words,
            &mut dictionary.lines,
            &mut dictionary.tables,
        ] {
            list.sort_unstable();
            list.dedup();
        }
        dictionary
    }

    /// Makes one change to a text of TOML or JSON, which may not be one any more.
    pub fn mutate(&self, text: &mut Vec<u8>, random: &mut Random) {
        self.mutate_as(Syntax::Toml, text, random);
    }

    /// Makes one change to a text.
    pub fn mutate_as(&self, syntax: Syntax, text: &mut Vec<u8>, random: &mut Random) {
        let Ok(before) = std::str::from_utf8(text) else {
            return bytes::mutate(text, random);
        };
        let token = |random: &mut Random, kinds: &[Kind]| {
            self.change_token(&tokens(before, syntax), before, random, kinds)
        };
        let after = match random.below(100) {
            0..45 => token(random, &[Kind::Number]),
            45..60 => token(random, &[Kind::Text]),
            60..70 => token(random, &[Kind::Word]),
            70..75 => token(random, &[Kind::Sign, Kind::Word, Kind::Text]),
            75..83 => self.change_lines(before, random),
            83..97 => self.change_tables(before, syntax, random),
            _ => None,
        };
        match after {
            Some(after) => *text = after.into_bytes(),
            None => bytes::mutate(text, random),
        }
    }

    fn change_token(
        &self,
        tokens: &[Token],
        text: &str,
        random: &mut Random,
        kinds: &[Kind],
    ) -> Option<String> {
        let of_kind: Vec<&Token> = (tokens.iter())
            .filter(|(kind, _)| kinds.contains(kind))
            .collect();
        let (kind, at) = *random.one_of(&of_kind)?;
        let token = &text[at.clone()];
        let new = match kind {
            _ if kinds.len() > 1 => match random.below(3) {
                0 => String::new(),
                1 => format!("{token} {token}"),
                _ => text[random.one_of(tokens)?.1.clone()].to_owned(),
            },
            Kind::Number => number(token, random),
            Kind::Text if random.one_in(4) => (*random.one_of(&TEXTS)?).to_owned(),
            Kind::Text | Kind::Sign => text[random.one_of(&of_kind)?.1.clone()].to_owned(),
            Kind::Word => random.one_of(&self.words)?.clone(),
        };
        Some([&text[..at.start], &new, &text[at.end..]].concat())
    }

    fn change_lines(&self, text: &str, random: &mut Random) -> Option<String> {
        let mut lines: Vec<&str> = text.lines().collect();
        let at = random.below(lines.len());
        match random.below(4) {
            0 if !lines.is_empty() => drop(lines.remove(at)),
            1 => lines.insert(at, lines.get(random.below(lines.len()))?),
            _ => lines.insert(at, random.one_of(&self.lines)?),
        }
        Some(lines.join("\n"))
    }

    fn change_tables(&self, text: &str, syntax: Syntax, random: &mut Random) -> Option<String> {
        let tables = tables(text);
        let at = random.one_of(&tables)?.clone();
        let other = match random.below(4) {
            0 => "",
            1 => &text[random.one_of(&tables)?.clone()],
            2 => random.one_of(&self.tables)?,
            // again with one number changed, as a second body or joint would be
            _ => {
                let again = &text[at.clone()];
                let tokens = tokens(again, syntax);
                let kinds = [Kind::Number, Kind::Text];
                let again = self.change_token(&tokens, again, random, &kinds)?;
                return Some([&text[..at.end], &again, &text[at.end..]].concat());
            }
        };
        let from = if random.one_in(2) { at.start } else { at.end };
        Some([&text[..from], other, &text[at.end..]].concat())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Number,
    Text,
    Word,
    Sign,
}

/// Another number in the place of one: a special one, or one near it.
fn number(token: &str, random: &mut Random) -> String {
    if random.one_in(3) {
        return random.one_of(&NUMBERS).map_or("0", |text| text).to_owned();
    }
    if let Ok(count) = token.parse::<i64>() {
        return match random.below(3) {
            0 => count.wrapping_add(1).to_string(),
            1 => count.wrapping_sub(1).to_string(),
            _ => random.below(6).to_string(),
        };
    }
    let value: f64 = token.parse().unwrap_or(1.0);
    let value = match random.below(5) {
        0 => -value,
        1 => value * (1.0 + f64::EPSILON),
        2 => value * 10.0_f64.powi(i32::try_from(random.below(9)).unwrap_or(0) - 4),
        3 => value + 1.0,
        _ => value * random.fraction(),
    };
    format!("{value:?}")
}

/// What a part of a text is, and where it stands.
type Token = (Kind, Range<usize>);

/// Numbers, quoted texts, words and other signs; comments and blanks are passed over.
fn tokens(text: &str, syntax: Syntax) -> Vec<Token> {
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_+-.".contains(&byte);
    let (mut tokens, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let start = at;
        let kind = match bytes[at] {
            b'#' if syntax == Syntax::Toml => {
                at = text[at..].find('\n').map_or(bytes.len(), |end| at + end);
                continue;
            }
            b'"' if syntax == Syntax::Toml => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
                Kind::Text
            }
            first if is_word(first) => {
                while at < bytes.len() && is_word(bytes[at]) {
                    at += 1;
                }
                if first.is_ascii_digit() || b"+-".contains(&first) {
                    Kind::Number
                } else {
                    Kind::Word
                }
            }
            blank if blank.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            _ => {
                at += 1;
                Kind::Sign
            }
        };
        // a quoted text that is not closed may end inside a letter
        while !text.is_char_boundary(at) {
            at += 1;
        }
        tokens.push((kind, start..at));
    }
    tokens
}

/// The tables of a TOML text, each from its header to the next.
fn tables(text: &str) -> Vec<Range<usize>> {
    let mut starts: Vec<usize> = (text.match_indices("\n["))
        .map(|(start, _)| start + 1)
        .collect();
    starts.push(text.len());
    starts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known tokens.
    #[test]
    fn a_text_is_taken_apart() {
        let text = "[a.b] # c 1\nd_m = [-1e3, \"x \\\" y\", {e=2}]";
        let found: Vec<&str> = (tokens(text, Syntax::Toml).into_iter())
            .map(|(_, at)| &text[at])
            .collect();
        let expected = [
            "[",
            "a.b",
            "]",
            "d_m",
            "=",
            "[",
            "-1e3",
            ",",
            "\"x \\\" y\"",
            ",",
            "{",
            "e",
            "=",
            "2",
            "}",
            "]",
        ];
        assert_eq!(found, expected);
        assert_eq!(tables("x = 1\n[a]\ny = 2\n[[b]]\n"), [6..16, 16..22]);
    }

    /// Property: any text can be changed, and the same seed changes it in the same way.
    #[test]
    fn every_text_can_be_changed() {
        let dictionary = Dictionary::new(["key".to_owned()], &["a = 1\n[b]\n".to_owned()]);
        for execution in 0..2000 {
            let [first, again] = [(); 2].map(|()| {
                let mut random = Random::of(7, execution);
                let mut text = "[ä]\nb = \"ö\\".as_bytes().to_vec();
                for _ in 0..20 {
                    dictionary.mutate(&mut text, &mut random);
                }
                text
            });
            assert_eq!(first, again);
        }
    }
}
