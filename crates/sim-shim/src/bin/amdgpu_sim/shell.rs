//! `amdgpu-sim shell`.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::ExitCode,
};

use amdgpu_output::files;
use nix::sys::signal::Signal;

use crate::{
    cli::Shell,
    error::RunError,
    hang_report,
    run::{prepare, wait_for},
    signals,
};

/// File of the world's directory that bash reads instead of `~/.bashrc`.
const BASH: &str = "shell.bash";

/// Starts a shell in a world of its own, and returns its exit code.
pub(crate) fn shell(arguments: &Shell) -> Result<ExitCode, RunError> {
    let signals = signals::hold();
    let prepared = prepare(&arguments.world, arguments.null)?;
    let program = env::var_os("SHELL").filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".into());
    let hint = format!("(amdgpu-sim {}) ", plain(&prepared.chips));
    let file = prepared.world.layout().directory().join(BASH);
    let prompt = Prompt::new(&program, &hint, &file);
    if let Some(text) = &prompt.file {
        files::write(&file, text).map_err(|error| RunError::Log { path: file, error })?;
    }
    // Interactive shells ignore SIGTERM.
    let mut command = prepared.command(&program, &prompt.arguments, Signal::SIGHUP);
    // The tools of the README, such as amdgpu-sim census, are beside this program.
    if let Some(path) = path_with_tools(env::current_exe().ok().as_deref(), env::var_os("PATH")) {
        command.env("PATH", path);
    }
    if let Some(prompt) = prompt.variable {
        command.env("PS1", prompt);
    }
    crate::terminal::complain(&format!(
        "a shell with {} begins; `exit` ends it and its simulated machine",
        prepared.chips
    ));
    let code = wait_for(command, signals);
    prepared.world.print_complaints();
    if let Some(hangs) = hang_report::summary(&prepared.world.devices()) {
        crate::terminal::complain(&hangs);
    }
    prepared.tell_hazards()?;
    prepared.print_skipped();
    code
}

/// Returns the search path for programs with the folder of this program in front.
fn path_with_tools(program: Option<&Path>, path: Option<OsString>) -> Option<OsString> {
    let own = program?.parent()?.to_owned();
    let others = path.map(|path| env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
    let is_first = others.first() == Some(&own);
    let all = (!is_first).then_some(own).into_iter().chain(others);
    // A folder whose name has a colon cannot be on the path.
    env::join_paths(all).ok()
}

/// The way in which a shell is given a prompt.
#[derive(Debug, Default, PartialEq, Eq)]
struct Prompt {
    arguments: Vec<OsString>,
    /// Value of PS1.
    variable: Option<String>,
    /// Content of [`BASH`].
    file: Option<String>,
}

impl Prompt {
    /// Puts `hint` before the prompt of a shell. Bash and fish have their own settings read first; others take PS1, unless their
    /// settings replace it.
    fn new(shell: &OsStr, hint: &str, file: &Path) -> Self {
        let name = Path::new(shell).file_name().and_then(OsStr::to_str).unwrap_or_default();
        match name {
            "bash" => Self {
                arguments: ["--rcfile".into(), PathBuf::from(file).into_os_string()].into(),
                file: Some(format!("[ -r ~/.bashrc ] && . ~/.bashrc\nPS1='{hint}'\"$PS1\"\n")),
                ..Self::default()
            },
            "fish" => {
                let command = format!(
                    "functions -c fish_prompt amdgpu_sim_prompt; \
                     function fish_prompt; echo -n '{hint}'; amdgpu_sim_prompt; end"
                );
                Self { arguments: ["--init-command".into(), command.into()].into(), ..Self::default() }
            }
            "zsh" => Self { variable: Some(format!("{hint}%# ")), ..Self::default() },
            _ => Self { variable: Some(format!("{hint}$ ")), ..Self::default() },
        }
    }
}

/// Returns chips as they may stand in a shell's prompt: paths of captures may hold anything.
fn plain(chips: &str) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, ',' | '.' | '_' | '-' | '/');
    chips.chars().filter(is_plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shell_gets_its_prompt_in_its_own_way() {
        let prompt = |shell: &str| Prompt::new(OsStr::new(shell), "(x) ", Path::new("/world/rc"));
        let bash = prompt("/usr/bin/bash");
        assert_eq!(bash.arguments, ["--rcfile", "/world/rc"]);
        assert!(bash.file.is_some_and(|file| file.ends_with("PS1='(x) '\"$PS1\"\n")));
        assert_eq!(prompt("dash").variable, Some("(x) $ ".to_owned()));
        assert!(prompt("fish").arguments[1].to_str().is_some_and(|text| text.contains("echo -n '(x) '")));
        assert_eq!(plain("navi21,/tmp/a'b;$(c).json"), "navi21,/tmp/abc.json");
    }

    #[test]
    fn the_launchers_folder_is_first_on_the_path_and_only_once() {
        let path = |program: &str, path: Option<&str>| {
            path_with_tools(Some(Path::new(program)), path.map(OsString::from)).map(|path| path.into_string().unwrap())
        };
        assert_eq!(path("/opt/bin/amdgpu-sim", Some("/usr/bin:/bin")).as_deref(), Some("/opt/bin:/usr/bin:/bin"));
        assert_eq!(path("/opt/bin/amdgpu-sim", Some("/opt/bin:/bin")).as_deref(), Some("/opt/bin:/bin"));
        assert_eq!(path("/opt/bin/amdgpu-sim", None).as_deref(), Some("/opt/bin"));
        assert_eq!(path("/opt/a:b/amdgpu-sim", Some("/bin")), None);
    }
}
