//! Selection of checks within a level.

use std::{fmt, str::FromStr};

use regex::Regex;

/// The selection of checks within a level. The default selects all checks.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Selects only checks whose ID contains a match of the expression.
    pub filter: Option<Filter>,
    /// Selects only one part of the plan.
    pub shard: Option<Shard>,
    /// The number of times that each check runs; 0 counts as 1.
    pub repeat: u32,
}

/// A regular expression that selects checks by their ID.
#[derive(Clone, Debug)]
pub struct Filter(Regex);

impl Filter {
    /// Compiles an expression in the syntax of the `regex` crate.
    ///
    /// # Errors
    ///
    /// [`BadFilter`] with the error in the expression.
    pub fn new(expression: &str) -> Result<Self, BadFilter> {
        Regex::new(expression).map(Self).map_err(|error| BadFilter(last_line(&error)))
    }

    /// Returns the filter that matches exactly one ID.
    ///
    /// # Errors
    ///
    /// [`BadFilter`] only if the ID is unreasonably long.
    pub fn exactly(id: &str) -> Result<Self, BadFilter> {
        Self::new(&format!("^{}$", regex::escape(id)))
    }

    /// Returns the text of the expression.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns `true` if the expression matches the ID.
    pub fn fits(&self, id: &str) -> bool {
        self.0.is_match(id)
    }
}

/// The parser's message shows the expression on lines of its own; its last line says what is wrong.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let line = text.lines().last().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

impl FromStr for Filter {
    type Err = BadFilter;

    fn from_str(text: &str) -> Result<Self, BadFilter> {
        Self::new(text)
    }
}

/// The error of an invalid filter expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a regular expression: {0}")]
pub struct BadFilter(String);

/// One of `n` parts of a plan. Each part contains every n-th check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of the part, from 1.
    pub(crate) index: usize,
    /// Of how many.
    pub(crate) count: usize,
}

/// The error of parsing a text that is not a valid shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a shard is I/N with 1 <= I <= N")]
pub struct BadShard;

impl FromStr for Shard {
    type Err = BadShard;

    fn from_str(text: &str) -> Result<Self, BadShard> {
        let (index, count) = text.split_once('/').ok_or(BadShard)?;
        let number = |text: &str| text.parse::<usize>().map_err(|_| BadShard);
        let (index, count) = (number(index)?, number(count)?);
        if (1..=count).contains(&index) { Ok(Self { index, count }) } else { Err(BadShard) }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_is_no_expression_says_why_in_one_line() {
        let error = Filter::new("exec.(nop").unwrap_err().to_string();
        assert_eq!(error, "not a regular expression: unclosed group");
        assert!(Filter::exactly("bo.map").is_ok_and(|filter| !filter.fits("bo.mapped") && !filter.fits("boxmap")));
    }
}
