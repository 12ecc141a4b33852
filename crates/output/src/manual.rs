//! Manual pages and shell completions of the project's tools, made from their command lines.
//!
//! A page has what `clap_mangen` writes, the options of each command, and the sections that a command line does not know:
//! examples, exit statuses, environment variables. Options that all commands take are on the page once, and once in the help of the
//! program ([`compact`]).

use std::io::{self, Write as _};

use clap::Command;
pub use clap_complete::Shell;

/// A section of a manual page: terms and what they mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    heading: &'static str,
    introduction: &'static str,
    entries: Vec<(String, String)>,
}

impl Section {
    /// Creates a section with a heading such as `EXAMPLES`.
    pub fn new<T: ToString, M: ToString>(heading: &'static str, entries: impl IntoIterator<Item = (T, M)>) -> Self {
        let entries = entries.into_iter().map(|(term, meaning)| (term.to_string(), meaning.to_string())).collect();
        Self { heading, introduction: "", entries }
    }

    /// Returns the section with a sentence before its entries.
    #[must_use]
    pub fn introduced(mut self, introduction: &'static str) -> Self {
        self.introduction = introduction;
        self
    }

    fn write(&self, page: &mut Vec<u8>) -> io::Result<()> {
        writeln!(page, ".SH \"{}\"", self.heading)?;
        if !self.introduction.is_empty() {
            writeln!(page, "{}", text(self.introduction))?;
        }
        self.entries.iter().try_for_each(|(term, meaning)| writeln!(page, ".TP\n.B {}\n{}", text(term), text(meaning)))
    }
}

/// Returns the manual page of a program: its options, those of its commands, the given sections, and `see_also`, which names
/// programs with pages in section 1.
pub fn page(mut command: Command, sections: &[Section], see_also: &[&str]) -> Vec<u8> {
    let mut page = Vec::new();
    command.build();
    // Writing into memory does not fail.
    let _ = write(&mut page, &mut command, sections, see_also);
    page
}

fn write(page: &mut Vec<u8>, command: &mut Command, sections: &[Section], see_also: &[&str]) -> io::Result<()> {
    clap_mangen::Man::new(command.clone()).render(page)?;
    if command.has_subcommands() {
        writeln!(page, ".SH \"COMMANDS IN DETAIL\"")?;
    }
    for sub in command.get_subcommands_mut().filter(|sub| sub.get_name() != "help") {
        let about = sub.get_long_about().or(sub.get_about()).map(ToString::to_string).unwrap_or_default();
        writeln!(page, ".SS {}\n{}\n", sub.get_name().replace('-', "\\-"), text(&about))?;
        options(page, sub)?;
    }
    sections.iter().try_for_each(|section| section.write(page))?;
    let pages: Vec<String> = see_also.iter().map(|name| format!(".BR {} (1)", text(name))).collect();
    writeln!(page, ".SH \"SEE ALSO\"\n{}", pages.join(",\n"))
}

/// Writes the options of a command, without those that all commands take, below the name of the command.
fn options(page: &mut Vec<u8>, command: &Command) -> io::Result<()> {
    let mut section = Vec::new();
    clap_mangen::Man::new(own_options(command.clone())).render_options_section(&mut section)?;
    // A heading of its own would be one of many that are all called OPTIONS.
    let section = String::from_utf8_lossy(&section);
    write!(page, "{}", section.replacen(".SH OPTIONS\n", "", 1))
}

/// Returns a command in whose help and page only its own options are.
fn own_options(command: Command) -> Command {
    command.mut_args(|option| if option.is_global_set() { option.hide(true) } else { option })
}

/// Returns a program whose commands have only their own options in their help, and a line that names the others. All are accepted
/// as before.
pub fn compact(mut command: Command) -> Command {
    let name = command.get_name().to_owned();
    let common: Vec<String> = command
        .get_arguments()
        .filter(|option| option.is_global_set() && !option.is_hide_set())
        .filter_map(|option| option.get_long().map(|long| format!("--{long}")))
        .collect();
    if common.is_empty() {
        return command;
    }
    // Options of the program reach its commands when it is built.
    command.build();
    let line = format!("Common options, which {name} --help explains: {}", common.join(", "));
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    names
        .into_iter()
        .filter(|name| name != "help")
        .fold(command, |command, name| command.mut_subcommand(name, |sub| own_options(sub).after_help(line.clone())))
}

/// Returns the completions of a program for a shell.
pub fn completions(mut command: Command, shell: Shell) -> Vec<u8> {
    // The generator panics where its output refuses a byte; memory takes all of them.
    let mut completions = Vec::new();
    let name = command.get_name().to_owned();
    clap_complete::generate(shell, &mut command, name, &mut completions);
    completions
}

/// Returns text in which nothing is a command of the formatter.
fn text(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    let line = |line: &str| if line.starts_with('.') { format!("\\&{line}") } else { line.to_owned() };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    fn program() -> Command {
        let sub = Command::new("dry-run").about("Does nothing").arg(Arg::new("deep").long("deep"));
        Command::new("tool").about("A tool").subcommand(sub)
    }

    #[test]
    fn a_page_has_the_options_of_each_command_and_every_section() {
        let statuses = Section::new("EXIT STATUS", [(0, "fine"), (64, "usage")]).introduced("Of all commands:");
        let page = String::from_utf8(page(program(), &[statuses], &["other-tool"])).unwrap();
        for part in [
            ".TH tool 1",
            ".SS dry\\-run\nDoes nothing\n",
            "\\-\\-deep",
            ".SH \"EXIT STATUS\"\nOf all commands:\n.TP\n.B 0\nfine\n.TP\n.B 64\nusage\n",
            ".SH \"SEE ALSO\"\n.BR other\\-tool (1)\n",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }

    fn with_common_options() -> Command {
        let common = Arg::new("root").long("root").global(true).help("Another root");
        let other = Command::new("list").about("Lists").arg(Arg::new("all").long("all"));
        program().arg(common).subcommand(other)
    }

    #[test]
    fn options_of_all_commands_are_on_the_page_once_and_there_is_one_heading() {
        let page = String::from_utf8(page(with_common_options(), &[], &[])).unwrap();
        assert_eq!(page.matches("Another root").count(), 1, "{page}");
        assert_eq!(page.matches(".SH OPTIONS").count(), 1, "{page}");
        assert!(page.contains("\\-\\-deep") && page.contains("\\-\\-all"), "{page}");
    }

    #[test]
    fn the_help_of_a_command_names_common_options_in_a_line_and_they_are_accepted() {
        let mut compacted = compact(with_common_options());
        let help = |command: &mut Command, name: &str| {
            command.find_subcommand_mut(name).unwrap().clone().render_long_help().to_string()
        };
        for name in ["dry-run", "list"] {
            let help = help(&mut compacted, name);
            assert!(!help.contains("Another root"), "{help}");
            assert!(help.contains("Common options, which tool --help explains: --root"), "{help}");
        }
        assert!(compacted.render_long_help().to_string().contains("Another root"));
        let matches = compacted.try_get_matches_from(["tool", "list", "--root", "x"]).unwrap();
        let (_, list) = matches.subcommand().unwrap();
        assert_eq!(list.get_one::<String>("root").map(String::as_str), Some("x"));
    }

    #[test]
    fn no_text_is_a_command_of_the_formatter() {
        assert_eq!(text(".hidden\n'quoted' \\n --x"), "\\&.hidden\n\\(aqquoted\\(aq \\en \\-\\-x");
    }

    #[test]
    fn completions_of_every_shell_know_the_options() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Elvish, Shell::PowerShell] {
            let completions = String::from_utf8(completions(program(), shell)).unwrap();
            assert!(completions.contains("dry-run") && completions.contains("deep"), "{shell}");
        }
    }
}
