//! What a mechanism with loops remembers beside positions and velocities, as plain numbers: whoever has them goes on to the
//! last bit as if nothing had come between.
//!
//! | name | field | why |
//! |---|---|---|
//! | `kept_equations` | `rows` | of equations that follow from each other, those kept decide how rounding falls, and they change where others say more |
//! | `dependent_coordinates` | `dependent` of `Complement` | the partition of the method `automatic` after every repartitioning, in its order |
//! | `determinant_columns`, `determinant_pivot_ratio` | `reference` of `Multipliers` | which determinant tells of singular configurations, and how well-conditioned it was when chosen |
//! | `chosen_condition` | `chosen_condition` | equations and coordinates are chosen anew once the condition number is ten times this one |
//! | `support_elements` | `stretch` of every `Contact` | whose functions a support sees, also beyond the nodes of the element |
//! | `last_time`, `last_step`, `determinant_sign`, `last_position`, `last_velocity` | `last` | the end of the last step, from which the next one is searched for singular configurations |
//!
//! A number that there is not, or that is infinite, is an empty vector.
//!
//! What is not remembered: `redundant` and `independent` are all that is not in `rows` and `dependent`. `given`, `joints`, `elastic` and
//! `automatic` come from the linkage and never change. `constraints`, `kinematics`, `articulated` and all matrices and factors of
//! `Complement` and `Multipliers` are made anew by every evaluation before they are read; `multipliers`, `change` and
//! `workspace` are its results and scratch. `worst` and the factors of the determinant are those of the last step and are made
//! again there. `repartitions` is a list for the audit of a run: it begins empty.

use lissom_numerics::{Memory, RecallError};

use super::setup::method;
use super::{Loops, Method, SINGULAR, Watched};
use crate::Linkage;

const KEPT: &str = "kept_equations";
const DEPENDENT: &str = "dependent_coordinates";
const COLUMNS: &str = "determinant_columns";
const RATIO: &str = "determinant_pivot_ratio";
const CONDITION: &str = "chosen_condition";
const ELEMENTS: &str = "support_elements";
const TIME: &str = "last_time";
const STEP: &str = "last_step";
const SIGN: &str = "determinant_sign";
const POSITION: &str = "last_position";
const VELOCITY: &str = "last_velocity";

impl Loops {
    /// What later evaluations and steps depend on beside time, positions and velocities: the partition into independent and
    /// dependent coordinates, the equations kept, the element of its beam that every support is on, and the end of the last step
    /// with the sign by which singular configurations are noticed. Changes of the independent coordinates
    /// [so far](Self::repartitions) are not part of it.
    pub fn memory(&self) -> Memory {
        let mut memory = Memory::default();
        memory.set_indices(KEPT, &self.rows);
        match &self.method {
            Method::Complement(complement) if self.automatic => {
                memory.set_indices(DEPENDENT, &complement.dependent);
            }
            Method::Complement(_) => {}
            Method::Multipliers(multipliers) => {
                let (columns, ratio) = multipliers.reference();
                memory.set_indices(COLUMNS, columns);
                memory.set(RATIO, finite(ratio));
            }
        }
        memory.set(CONDITION, finite(self.chosen_condition));
        memory.set_indices(ELEMENTS, &self.constraints.stretches());
        memory.set(TIME, finite(self.last.time));
        memory.set(STEP, finite(self.last.step));
        memory.set(SIGN, [self.last.side]);
        memory.set(POSITION, self.last.position.iter().copied());
        memory.set(VELOCITY, self.last.velocity.iter().copied());
        memory
    }

    /// Takes over the [memory](Self::memory) of other loops of this linkage, wherever these were made. Forces and
    /// violations are those of a state once it has been evaluated.
    ///
    /// # Errors
    /// When the memory does not fit the linkage or its method; then nothing has changed.
    pub fn recall(&mut self, linkage: &Linkage, memory: &Memory) -> Result<(), RecallError> {
        let rows = memory.index_list(KEPT, self.constraints.len())?;
        increasing(KEPT, &rows)?;
        let recalled_method = self.recalled_method(linkage, memory, &rows)?;
        let stretches = self.recalled_stretches(linkage, memory)?;
        let last = self.recalled_step(memory)?;
        let chosen_condition = memory.number(CONDITION)?.unwrap_or(f64::INFINITY);

        let mut recalled = self.clone();
        recalled.redundant = (0..self.constraints.len())
            .filter(|row| !rows.contains(row))
            .collect();
        recalled.rows = rows;
        recalled.method = recalled_method;
        recalled.constraints.set_stretches(&stretches);
        recalled.chosen_condition = chosen_condition;
        recalled.multipliers.fill(0.0);
        recalled.repartitions.clear();
        recalled.resume(linkage, last)?;
        *self = recalled;
        Ok(())
    }

    /// The method over equations `rows`, with its choice of coordinates.
    fn recalled_method(
        &self,
        linkage: &Linkage,
        memory: &Memory,
        rows: &[usize],
    ) -> Result<Method, RecallError> {
        let velocities = self.change.len();
        let as_many = |name: &str, found: usize| {
            (found == rows.len()).then_some(()).ok_or_else(|| {
                let (name, expected) = (name.to_owned(), rows.len());
                RecallError::Length {
                    name,
                    expected,
                    found,
                }
            })
        };
        let dependent = if self.automatic {
            let dependent = memory.index_list(DEPENDENT, velocities)?;
            as_many(DEPENDENT, dependent.len())?;
            self.free_and_distinct(DEPENDENT, &dependent)?;
            dependent
        } else {
            Vec::new()
        };
        let entries = [&self.given[..], &self.joints[..], &self.elastic[..]];
        let made = method(linkage, &self.constraints, rows, entries);
        let mut method = made.map_err(|_| RecallError::Length {
            name: KEPT.to_owned(),
            expected: self.rows.len(),
            found: rows.len(),
        })?;
        match &mut method {
            Method::Complement(complement) if self.automatic => {
                complement.partition(dependent, &self.joints, &self.elastic);
            }
            Method::Complement(_) => {}
            Method::Multipliers(multipliers) => {
                let columns = memory.index_list(COLUMNS, velocities)?;
                if !columns.is_empty() {
                    as_many(COLUMNS, columns.len())?;
                    self.free_and_distinct(COLUMNS, &columns)?;
                }
                let ratio = memory.number(RATIO)?.unwrap_or(f64::INFINITY);
                multipliers.set_reference(columns, ratio);
            }
        }
        Ok(method)
    }

    /// Refuses entries of the velocity vector that are prescribed or that are there twice.
    fn free_and_distinct(&self, name: &str, entries: &[usize]) -> Result<(), RecallError> {
        let is_free = |at: &usize| self.joints.contains(at) || self.elastic.contains(at);
        for (i, at) in entries.iter().enumerate() {
            if !is_free(at) || entries[..i].contains(at) {
                let expected = "a free velocity that no other entry is";
                return Err(RecallError::value(name, i, *at as f64, expected));
            }
        }
        Ok(())
    }

    fn recalled_stretches(
        &self,
        linkage: &Linkage,
        memory: &Memory,
    ) -> Result<Vec<usize>, RecallError> {
        let counts = self.constraints.stretch_counts(&linkage.system);
        let most = counts.iter().copied().max().unwrap_or(0);
        let stretches = memory.index_list(ELEMENTS, most)?;
        if !stretches.is_empty() && stretches.len() != counts.len() {
            return Err(RecallError::Length {
                name: ELEMENTS.to_owned(),
                expected: counts.len(),
                found: stretches.len(),
            });
        }
        for (i, (&stretch, &count)) in stretches.iter().zip(&counts).enumerate() {
            if stretch >= count {
                let expected = "an element of its beam";
                return Err(RecallError::value(ELEMENTS, i, stretch as f64, expected));
            }
        }
        Ok(stretches)
    }

    fn recalled_step(&self, memory: &Memory) -> Result<Watched, RecallError> {
        let side = memory.numbers(SIGN, 1)?[0];
        if ![-1.0, 0.0, 1.0].contains(&side) {
            return Err(RecallError::value(
                SIGN,
                0,
                side,
                "1, -1, or 0 if none is known",
            ));
        }
        Ok(Watched {
            time: memory.number(TIME)?.unwrap_or(f64::NAN),
            step: memory.number(STEP)?.unwrap_or(f64::NAN),
            side,
            position: memory.numbers(POSITION, self.last.position.len())?.to_vec(),
            velocity: memory.numbers(VELOCITY, self.last.velocity.len())?.to_vec(),
        })
    }

    /// Stands at the end of the last step, as after [`watch`](Self::watch).
    fn resume(&mut self, linkage: &Linkage, last: Watched) -> Result<(), RecallError> {
        let prepared = self.prepare(linkage, &last.position, &last.velocity);
        // leaves the determinant factored
        self.side();
        self.worst = None;
        if !last.time.is_nan() {
            let condition = self.condition();
            // steps end before a singular configuration
            if !prepared || condition >= SINGULAR {
                return Err(RecallError::Singular {
                    name: POSITION.to_owned(),
                });
            }
            self.worst = self.close_to_singular(linkage, condition);
        }
        self.last = last;
        Ok(())
    }
}

/// A number that every file format can carry, if it is one.
fn finite(number: f64) -> Option<f64> {
    Some(number).filter(|number| number.is_finite())
}

/// Refuses indices that do not rise.
fn increasing(name: &str, indices: &[usize]) -> Result<(), RecallError> {
    match indices.windows(2).position(|pair| pair[0] >= pair[1]) {
        Some(i) => {
            let value = indices[i + 1] as f64;
            Err(RecallError::value(
                name,
                i + 1,
                value,
                "larger than the entry before",
            ))
        }
        None => Ok(()),
    }
}
