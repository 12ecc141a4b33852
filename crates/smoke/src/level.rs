//! Levels of testing.

use clap::ValueEnum;

/// Level of testing; each level includes the ones before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum)]
pub enum Level {
    /// Read only: open, versions, facts, heaps.
    Inventory,
    /// Every ring, memory type and object once; ten seconds at most.
    #[default]
    Quick,
    /// Every way to move data, sparse memory, several processes, files and GPUs; two minutes at most.
    Core,
    /// Full memory, many objects, patterns over much of the memory; minutes.
    Stress,
    /// Bad packets, hanging rings and what comes after them: the GPU is reset.
    Destructive,
}

impl Level {
    /// All there are, from the least to the most.
    pub const ALL: [Self; 5] = [Self::Inventory, Self::Quick, Self::Core, Self::Stress, Self::Destructive];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inventory => "inventory",
            Self::Quick => "quick",
            Self::Core => "core",
            Self::Stress => "stress",
            Self::Destructive => "destructive",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_called_what_the_report_calls_them() {
        for level in Level::ALL {
            assert_eq!(Level::from_str(level.name(), false), Ok(level));
        }
        assert!(Level::ALL.is_sorted());
    }
}
