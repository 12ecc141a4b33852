//! Lists of what is known to fail, to flake and to be left out, in the form of Mesa's CI.
//!
//! `CHIP-fails.txt` has lines `id,Fail` (any of IGT's words but pass and skip), `CHIP-flakes.txt` and `CHIP-skips.txt`
//! regular expressions for whole ids; empty lines and lines that begin with `#` count for nothing. Mesa's own lists for
//! its CI (`src/amd/ci/*-fails.txt`) are made like that, after the rules of deqp-runner.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use regex::Regex;

use crate::result::{
    check_result::CheckResult,
    status::{Expected, Status},
};

/// The expected results of a GPU: checks that are known to fail, that fail sometimes, or that are skipped.
#[derive(Clone, Debug, Default)]
pub struct Expectations {
    fails: BTreeMap<String, Status>,
    flakes: Vec<Regex>,
    skips: Vec<Regex>,
}

/// The reason why a list of expectations cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExpectationsError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A line of the file is invalid.
    #[error("{}:{line}: {reason}", path.display())]
    Line {
        /// The path of the file.
        path: PathBuf,
        /// The line number, counted from 1.
        line: usize,
        /// The reason why it is invalid.
        reason: String,
    },
}

/// The kind of list in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// Checks that are known to fail.
    Fails,
    /// Checks that fail sometimes.
    Flakes,
    /// Checks that are skipped.
    Skips,
}

impl Expectations {
    /// Adds the lines of a file.
    ///
    /// # Errors
    ///
    /// [`ExpectationsError`] if the file cannot be read or a line is invalid.
    pub fn add(&mut self, list: List, path: &Path) -> Result<(), ExpectationsError> {
        let text =
            fs::read_to_string(path).map_err(|source| ExpectationsError::Read { path: path.to_owned(), source })?;
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            self.add_line(list, line).map_err(|reason| ExpectationsError::Line {
                path: path.to_owned(),
                line: number,
                reason,
            })?;
        }
        Ok(())
    }

    /// Adds the files `CHIP-fails.txt`, `CHIP-flakes.txt` and `CHIP-skips.txt` of a directory. Files that do not exist are ignored.
    ///
    /// # Errors
    ///
    /// [`ExpectationsError`] if an existing file cannot be read or has an invalid line.
    pub fn add_directory(&mut self, directory: &Path, chip: &str) -> Result<(), ExpectationsError> {
        for (list, name) in [(List::Fails, "fails"), (List::Flakes, "flakes"), (List::Skips, "skips")] {
            let path = directory.join(format!("{chip}-{name}.txt"));
            if path.exists() {
                self.add(list, &path)?;
            }
        }
        Ok(())
    }

    fn add_line(&mut self, list: List, line: &str) -> Result<(), String> {
        let whole = || Regex::new(&format!("^(?:{line})$")).map_err(|_| format!("{line:?} is no regular expression"));
        match list {
            List::Flakes => self.flakes.push(whole()?),
            List::Skips => self.skips.push(whole()?),
            List::Fails => {
                let (id, status) =
                    line.split_once(',').ok_or_else(|| format!("{line:?} is not of the form id,Status"))?;
                let bad = Status::ALL.into_iter().filter(|status| !matches!(status, Status::Pass | Status::Skip));
                let status = status.trim();
                let known = bad.into_iter().find(|known| known.name().eq_ignore_ascii_case(status));
                let known = known.ok_or_else(|| format!("{status:?} is no status of a failed check"))?;
                self.fails.insert(id.trim().to_owned(), known);
            }
        }
        Ok(())
    }

    /// Returns `true` if a check should be skipped.
    pub fn skips(&self, id: &str) -> bool {
        self.skips.iter().any(|skip| skip.is_match(id))
    }

    /// Stores the expectation of the lists in a result.
    pub fn judge(&self, result: &mut CheckResult) {
        let listed = self.fails.get(&result.id);
        let is_flake = self.flakes.iter().any(|flake| flake.is_match(&result.id));
        result.expected = match (listed, result.status) {
            (Some(status), found) if *status == found => Some(Expected::Fail),
            (Some(_), Status::Pass) if !is_flake => Some(Expected::UnexpectedPass),
            (_, found) if is_flake && found.is_bad() => Some(Expected::Flake),
            _ => result.expected,
        };
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn lists(lines: &[(List, &str)]) -> Expectations {
        let mut lists = Expectations::default();
        for (list, line) in lines {
            lists.add_line(*list, line).unwrap();
        }
        lists
    }

    fn judged(lists: &Expectations, id: &str, status: Status) -> (Option<Expected>, bool) {
        let mut result = CheckResult::new(id, status, "", Duration::ZERO);
        lists.judge(&mut result);
        (result.expected, result.is_failure())
    }

    #[test]
    fn a_listed_failure_is_none_and_a_pass_instead_is_one() {
        let lists = lists(&[(List::Fails, "exec.copy.sdma0,Fail"), (List::Fails, "bo.map, Timeout")]);
        assert_eq!(judged(&lists, "exec.copy.sdma0", Status::Fail), (Some(Expected::Fail), false));
        assert_eq!(judged(&lists, "exec.copy.sdma0", Status::Pass), (Some(Expected::UnexpectedPass), true));
        assert_eq!(judged(&lists, "exec.copy.sdma0", Status::Crash), (None, true));
        assert_eq!(judged(&lists, "exec.copy.sdma0", Status::Skip), (None, false));
        assert_eq!(judged(&lists, "bo.map", Status::Timeout), (Some(Expected::Fail), false));
        assert_eq!(judged(&lists, "bo.create", Status::Fail), (None, true));
    }

    #[test]
    fn a_flake_may_pass_and_may_fail() {
        let lists = lists(&[(List::Flakes, r"order\..*"), (List::Fails, "order.timeline,Fail")]);
        assert_eq!(judged(&lists, "order.syncobj", Status::Fail), (Some(Expected::Flake), false));
        assert_eq!(judged(&lists, "order.syncobj", Status::Pass), (None, false));
        assert_eq!(judged(&lists, "order.timeline", Status::Pass), (None, false));
    }

    #[test]
    fn skips_fit_whole_ids() {
        let lists = lists(&[(List::Skips, "exec.*gfx0")]);
        assert!(lists.skips("exec.copy.gfx0") && !lists.skips("exec.copy.gfx01") && !lists.skips("an.exec.gfx0"));
    }

    #[test]
    fn lines_that_make_no_sense_are_refused() {
        let mut lists = Expectations::default();
        for (list, line) in
            [(List::Fails, "exec.copy"), (List::Fails, "exec.copy,Pass"), (List::Fails, "a,b"), (List::Skips, "(")]
        {
            assert!(lists.add_line(list, line).is_err(), "{line}");
        }
    }
}
