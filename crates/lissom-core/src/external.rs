//! Inputs from outside: values that replace those of a model's inputs while somebody else steps it.

/// The value of one input over an interval: a straight line, or one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct External {
    /// Where the line begins.
    pub from_s: f64,
    /// Value there and before.
    pub from: f64,
    /// Where it ends.
    pub until_s: f64,
    /// Value there and behind.
    pub until: f64,
}

impl External {
    /// One value for all times.
    pub fn held(value: f64) -> Self {
        Self {
            from_s: 0.0,
            from: value,
            until_s: 0.0,
            until: value,
        }
    }

    /// The value at an instant.
    pub fn at(&self, time_s: f64) -> f64 {
        if time_s >= self.until_s {
            self.until
        } else if time_s <= self.from_s {
            self.from
        } else {
            let share = (time_s - self.from_s) / (self.until_s - self.from_s);
            self.from + share * (self.until - self.from)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand.
    #[test]
    fn a_line_is_held_outside_its_interval() {
        let line = External {
            from_s: 1.0,
            from: 2.0,
            until_s: 3.0,
            until: 6.0,
        };
        for (time_s, value) in [(0.0, 2.0), (1.0, 2.0), (2.0, 4.0), (3.0, 6.0), (9.0, 6.0)] {
            assert_eq!(line.at(time_s), value);
        }
        assert_eq!(External::held(0.5).at(-1.0), 0.5);
    }
}
