//! Drawing of mutants.

use std::{fmt, ops::RangeInclusive, path::Path, process::Command};

use anyhow::{Context as _, Result, bail};

use crate::mutant::Mutant;

/// Draws `size` of the mutants: one out of each of `size` equal stretches of the source, so that each module has its share.
pub(crate) fn draw<'a>(mutants: &[&'a Mutant], size: usize, seed: u64) -> Vec<&'a Mutant> {
    let size = size.min(mutants.len());
    let mut random = fastrand::Rng::with_seed(seed);
    let edge = |stretch: usize| stretch * mutants.len() / size.max(1);
    (0..size).map(|stretch| mutants[random.usize(edge(stretch)..edge(stretch + 1))]).collect()
}

/// A part of a sample, written `2/5`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shard {
    nth: usize,
    of: usize,
}

impl std::str::FromStr for Shard {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (nth, of) = text.split_once('/').context("a shard is written 2/5")?;
        let shard = Self { nth: nth.parse()?, of: of.parse()? };
        if !(1..=shard.of).contains(&shard.nth) {
            bail!("there is no shard {text}");
        }
        Ok(shard)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-of-{}", self.nth, self.of)
    }
}

impl Shard {
    /// Returns every `of`th of the mutants, so that shards take much the same time.
    pub(crate) fn of<'a>(self, mutants: &[&'a Mutant]) -> Vec<&'a Mutant> {
        mutants.iter().skip(self.nth - 1).step_by(self.of).copied().collect()
    }
}

/// The lines of each file that differ from another commit's.
#[derive(Debug)]
pub(crate) struct Changed {
    lines: Vec<(String, RangeInclusive<usize>)>,
}

impl Changed {
    /// Asks git for the lines that are new since the branch left `base`.
    pub(crate) fn since(root: &Path, base: &str) -> Result<Self> {
        let mut git = Command::new("git");
        git.args(["diff", "--unified=0", "--no-color", "--merge-base", base, "--", "*.rs"]).current_dir(root);
        Ok(Self::parse(&crate::tree::output(&mut git)?))
    }

    fn parse(diff: &str) -> Self {
        let (mut lines, mut file) = (Vec::new(), String::new());
        for line in diff.lines() {
            if let Some(name) = line.strip_prefix("+++ b/") {
                name.clone_into(&mut file);
            } else if let Some(hunk) = line.strip_prefix("@@ ") {
                let new = hunk.split(' ').find_map(|word| word.strip_prefix('+')).unwrap_or("0,0");
                let (first, count) = new.split_once(',').unwrap_or((new, "1"));
                if let (Ok(first), Ok(count @ 1..)) = (first.parse::<usize>(), count.parse::<usize>()) {
                    lines.push((file.clone(), first..=first + count - 1));
                }
            }
        }
        Self { lines }
    }

    /// Returns `true` if the mutant starts on a changed line.
    pub(crate) fn has(&self, mutant: &Mutant) -> bool {
        self.lines.iter().any(|(file, lines)| *file == mutant.file && lines.contains(&mutant.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(number: u32) -> Mutant {
        Mutant {
            number,
            file: "src/a.rs".into(),
            line: number as usize,
            function: "f".into(),
            original: "a".into(),
            replacement: "b".into(),
            nth: 0,
            in_const_fn: false,
        }
    }

    #[test]
    fn a_sample_is_spread_and_depends_on_the_seed() {
        let mutants: Vec<Mutant> = (1..=100).map(mutant).collect();
        let all: Vec<&Mutant> = mutants.iter().collect();
        let drawn = |seed| draw(&all, 10, seed).iter().map(|mutant| mutant.number).collect::<Vec<_>>();
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        assert!((0..).zip(drawn(3)).all(|(tens, number)| (number - 1) / 10 == tens));
        assert_eq!(draw(&all, 1000, 1).len(), 100);
        let shards = (1..=3).map(|nth| Shard { nth, of: 3 }.of(&all).len());
        assert_eq!(shards.sum::<usize>(), 100);
    }

    #[test]
    fn a_diff_names_lines() {
        let changed = Changed::parse("+++ b/src/a.rs\n@@ -3,2 +4,2 @@ fn f() {\n@@ -9 +11 @@\n@@ -20,3 +21,0 @@\n");
        let lines: Vec<usize> = (1..30).filter(|&line| changed.has(&mutant(line as u32))).collect();
        assert_eq!(lines, [4, 5, 11]);
    }
}
