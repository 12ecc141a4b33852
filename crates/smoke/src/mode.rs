//! The mode in which the program runs, decided once from its arguments.

use std::{path::Path, time::Duration};

use crate::{cli::RunArguments, result::soak::UNTIL_STOPPED};

/// A mode of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode<'a> {
    /// Prints the names of the simulated chips.
    ListProfiles,
    /// Prints the checks of a level.
    ListChecks,
    /// Prints a recording.
    Dump(&'a Path),
    /// Runs the checks of a recording on the recorded answers.
    Replay(&'a Path),
    /// Runs one check or names the plan, as the child of another process of this program.
    Child,
    /// Tests several GPUs, each in a process of its own; if only one is there, tests that one.
    Several(Test<'a>),
    /// Tests one GPU.
    One(Test<'a>),
}

/// The way in which one GPU is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test<'a> {
    /// Prints the plan and runs nothing.
    DryRun,
    /// In this process, with a recording of all calls.
    Record(&'a Path),
    /// In this process.
    InProcess,
    /// Each check in a process of its own.
    Isolated,
    /// Likewise, again and again until a time has passed.
    Soak(Duration),
}

impl<'a> Mode<'a> {
    /// Returns the mode that the arguments ask for.
    pub(crate) fn of(arguments: &'a RunArguments) -> Mode<'a> {
        if arguments.list_profiles {
            Mode::ListProfiles
        } else if arguments.list_checks {
            Mode::ListChecks
        } else if let Some(path) = &arguments.dump {
            Mode::Dump(path)
        } else if arguments.child.child_plan || arguments.child.child.is_some() {
            // A child may record too, for the bundle of its parent.
            Mode::Child
        } else if asks_for_several(arguments) {
            Mode::Several(Test::of(arguments))
        } else if let Some(path) = &arguments.replay {
            Mode::Replay(path)
        } else {
            Mode::One(Test::of(arguments))
        }
    }
}

impl<'a> Test<'a> {
    fn of(arguments: &'a RunArguments) -> Test<'a> {
        if arguments.dry_run {
            Test::DryRun
        } else if let Some(path) = &arguments.record {
            Test::Record(path)
        } else if arguments.no_fork {
            Test::InProcess
        } else {
            let endless = arguments.until_stopped.then_some(UNTIL_STOPPED);
            arguments.soak.or(endless).map_or(Test::Isolated, Test::Soak)
        }
    }
}

fn asks_for_several(arguments: &RunArguments) -> bool {
    arguments.gpu.as_deref() == Some("all") || arguments.sim.as_ref().is_some_and(|sim| sim.contains(','))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Arguments;

    #[test]
    fn the_arguments_decide_the_mode() {
        let cases: [(&[&str], Mode<'_>); 12] = [
            (&[], Mode::One(Test::Isolated)),
            (&["--list-profiles"], Mode::ListProfiles),
            (&["--list-checks"], Mode::ListChecks),
            (&["--dump", "a.rec"], Mode::Dump(Path::new("a.rec"))),
            (&["--replay", "a.rec"], Mode::Replay(Path::new("a.rec"))),
            (&["--gpu", "all"], Mode::Several(Test::Isolated)),
            (&["--sim", "navi21,navi31", "--dry-run"], Mode::Several(Test::DryRun)),
            (&["--sim", "navi21", "--record", "a.rec"], Mode::One(Test::Record(Path::new("a.rec")))),
            (&["--sim", "navi21", "--no-fork"], Mode::One(Test::InProcess)),
            (&["--sim", "navi21", "--for", "1h"], Mode::One(Test::Soak(Duration::from_hours(1)))),
            (&["--sim", "navi21", "--until-stopped"], Mode::One(Test::Soak(UNTIL_STOPPED))),
            (&["--sim", "navi21", "--child-plan", "--record", "a.rec"], Mode::Child),
        ];
        for (given, mode) in cases {
            let arguments = Arguments::try_parse_from(["amdgpu-smoke"].iter().chain(given)).unwrap();
            assert_eq!(Mode::of(&arguments.run), mode, "{given:?}");
        }
    }
}
