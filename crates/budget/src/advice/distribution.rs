//! The lines with which a distribution sets a parameter of a kernel module.

use super::words::Step;
use crate::files::Files;

/// The file for settings of modules that the steps write.
const MODPROBE: &str = "/etc/modprobe.d/amdgpu-budget.conf";
/// The file for the kernel's command line that the steps write where GRUB is Debian's.
const GRUB: &str = "/etc/default/grub.d/amdgpu-budget.cfg";

/// The command that builds the initial RAM disks anew where dracut makes them.
const DRACUT: &str = "sudo dracut --force --regenerate-all";
/// The file that lists what updates of SteamOS keep of /etc.
const KEPT: &str = "/etc/atomic-update.conf.d/amdgpu-budget.conf";

/// The way in which a machine gets parameters at boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    /// `rpm-ostree kargs`, of images such as Bazzite and Silverblue.
    Ostree,
    /// `grubby`, of Fedora and its kin.
    Grubby,
    /// A file in `grub.d`, and `update-grub`, of Debian and its kin.
    GrubFile,
    /// `boot.kernelParams` of NixOS.
    Nix,
    /// `kernelstub`, of Pop!_OS on EFI.
    Kernelstub,
    /// A file in `modprobe.d` of SteamOS, whose system is read-only and replaced by updates, except for listed files.
    SteamOs,
    /// A file in `modprobe.d`, and this command, which builds the initial RAM disk anew.
    Modprobe(&'static str),
    /// None that is known.
    Unknown,
}

fn os_release(files: &dyn Files) -> String {
    files.read("etc/os-release").or_else(|_| files.read("usr/lib/os-release")).unwrap_or_default()
}

/// Returns `true` if the system is an image of ostree. A captured tree may have no `/run`.
fn is_image(files: &dyn Files) -> bool {
    files.read("run/ostree-booted").is_ok() || os_release(files).lines().any(|line| line.starts_with("OSTREE_VERSION="))
}

/// Returns the identifiers of the distribution and of those that it derives from, the closest first.
fn identifiers(files: &dyn Files) -> Vec<String> {
    let text = os_release(files);
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        line.unwrap_or_default().trim().trim_matches(['"', '\'']).to_lowercase()
    };
    let (own, like) = (value("ID"), value("ID_LIKE"));
    std::iter::once(own.as_str())
        .chain(like.split_whitespace())
        .filter(|id| !id.is_empty())
        .map(str::to_owned)
        .collect()
}

fn means(files: &dyn Files, is_module: bool) -> Means {
    if is_image(files) {
        return Means::Ostree;
    }
    let is_there = |file: &str| files.read(file).is_ok();
    let has_dracut = is_there("etc/dracut.conf") && !is_there("etc/mkinitcpio.conf");
    let by_identifier = |id: &String| match id.as_str() {
        "pop" if is_there("etc/kernelstub/configuration") => Some(Means::Kernelstub),
        "steamos" if is_module => Some(Means::SteamOs),
        "nixos" => Some(Means::Nix),
        "fedora" | "rhel" | "centos" => Some(Means::Grubby),
        "debian" | "ubuntu" if is_there("etc/default/grub") => Some(Means::GrubFile),
        "debian" | "ubuntu" if is_module => Some(Means::Modprobe("sudo update-initramfs -u -k all")),
        "arch" if is_module && has_dracut => Some(Means::Modprobe(DRACUT)),
        "arch" if is_module => Some(Means::Modprobe("sudo mkinitcpio -P")),
        "suse" | "opensuse" if is_module => Some(Means::Modprobe(DRACUT)),
        _ => None,
    };
    identifiers(files).iter().find_map(by_identifier).unwrap_or(Means::Unknown)
}

/// Returns the steps that set a parameter at boot, and those that undo it. `module` and `name` are those of the parameter.
pub(super) fn set(files: &dyn Files, module: &str, name: &str, value: &str) -> (Vec<Step>, Vec<Step>) {
    // A module that is built in takes the kernel's command line alone.
    let is_module = files.read(&format!("sys/module/{module}/initstate")).is_ok();
    let argument = format!("{module}.{name}={value}");
    let step = |text: &str, lines: &[String]| vec![Step::new(text, lines.iter().cloned())];
    match means(files, is_module) {
        Means::Ostree => (
            step("Set it for the next boot", &[format!("rpm-ostree kargs --append-if-missing={argument}")]),
            step("Remove it", &[format!("rpm-ostree kargs --delete-if-present={argument}")]),
        ),
        Means::Grubby => (
            step("Set it for the next boot", &[format!("sudo grubby --update-kernel=ALL --args={argument}")]),
            step("Remove it", &[format!("sudo grubby --update-kernel=ALL --remove-args={module}.{name}")]),
        ),
        Means::GrubFile => (
            step(
                "Set it for the next boot",
                &[
                    format!(
                        "echo 'GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT {argument}\"' | sudo tee {GRUB}"
                    ),
                    "sudo update-grub".to_owned(),
                ],
            ),
            step("Remove it", &[format!("sudo rm {GRUB}"), "sudo update-grub".to_owned()]),
        ),
        Means::Nix => (
            vec![
                Step::new("Add to /etc/nixos/configuration.nix", [format!("boot.kernelParams = [ \"{argument}\" ];")]),
                Step::new("Build it for the next boot", ["sudo nixos-rebuild boot".to_owned()]),
            ],
            vec![Step::new("Remove the line, and build anew", ["sudo nixos-rebuild boot".to_owned()])],
        ),
        Means::Modprobe(build) => (
            step(
                "Set it for the next boot",
                &[format!("echo 'options {module} {name}={value}' | sudo tee {MODPROBE}"), build.to_owned()],
            ),
            step("Remove it", &[format!("sudo rm {MODPROBE}"), build.to_owned()]),
        ),
        Means::Kernelstub => (
            step("Set it for the next boot", &[format!("sudo kernelstub --add-options '{argument}'")]),
            step("Remove it", &[format!("sudo kernelstub --delete-options '{argument}'")]),
        ),
        Means::SteamOs => (
            step(
                "Set it for the next boot, and for the time after updates",
                &[
                    "sudo steamos-readonly disable".to_owned(),
                    format!("echo 'options {module} {name}={value}' | sudo tee {MODPROBE}"),
                    format!("echo {MODPROBE} | sudo tee {KEPT}"),
                    "sudo mkinitcpio -P".to_owned(),
                    "sudo steamos-readonly enable".to_owned(),
                ],
            ),
            step(
                "Remove it",
                &[
                    "sudo steamos-readonly disable".to_owned(),
                    format!("sudo rm {MODPROBE} {KEPT}"),
                    "sudo mkinitcpio -P".to_owned(),
                    "sudo steamos-readonly enable".to_owned(),
                ],
            ),
        ),
        Means::Unknown => (
            step(
                "Add to the kernel's command line, by the means of the boot loader (the distribution is not known)",
                std::slice::from_ref(&argument),
            ),
            step("Remove it from the kernel's command line", std::slice::from_ref(&argument)),
        ),
    }
}

/// A place where a parameter is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// The file, such as `/proc/cmdline`.
    pub(super) file: String,
    pub(super) value: String,
}

/// Returns where a parameter is set: on the kernel's command line, and in files of `modprobe.d`. The command line wins, because
/// modprobe puts it behind the files.
pub(super) fn settings(files: &dyn Files, module: &str, name: &str) -> Vec<Setting> {
    let mut found = Vec::new();
    let argument = format!("{module}.{name}=");
    for word in files.read("proc/cmdline").unwrap_or_default().split_whitespace() {
        if let Some(value) = word.replace('-', "_").strip_prefix(&argument).and(word.split_once('=')) {
            found.push(Setting { file: "/proc/cmdline".to_owned(), value: value.1.to_owned() });
        }
    }
    for folder in ["etc/modprobe.d", "usr/lib/modprobe.d", "run/modprobe.d"] {
        let mut names = files.list(folder).unwrap_or_default();
        names.retain(|name| name.rsplit_once('.').is_some_and(|(_, end)| end == "conf"));
        names.sort_unstable();
        for file in names {
            let text = files.read(&format!("{folder}/{file}")).unwrap_or_default();
            for line in text.lines() {
                let mut words = line.split_whitespace();
                if (words.next(), words.next()) != (Some("options"), Some(module)) {
                    continue;
                }
                for value in words.filter_map(|word| word.strip_prefix(name)?.strip_prefix('=')) {
                    found.push(Setting { file: format!("/{folder}/{file}"), value: value.to_owned() });
                }
            }
        }
    }
    found
}

/// Returns the steps that remove a parameter from a place, and those that undo it.
pub(super) fn remove(files: &dyn Files, module: &str, name: &str, place: &Setting) -> (Vec<Step>, Vec<Step>) {
    let argument = format!("{module}.{name}={}", place.value);
    let means = means(files, true);
    if means == Means::Nix {
        // Files in /etc are made from the configuration, and not to be edited.
        let (what, of) = if place.file == "/proc/cmdline" {
            (argument, "boot.kernelParams")
        } else {
            (format!("options {module} {name}={}", place.value), "boot.extraModprobeConfig")
        };
        let build = || Step::new("Build it for the next boot", ["sudo nixos-rebuild boot".to_owned()]);
        return (
            vec![Step::new(format!("In /etc/nixos/configuration.nix, take out of {of}"), [what.clone()]), build()],
            vec![Step::new(format!("In /etc/nixos/configuration.nix, add to {of} again"), [what]), build()],
        );
    }
    if place.file != "/proc/cmdline" {
        let file = &place.file;
        return (
            vec![Step::new(
                format!("Take {name} out of {file}"),
                [format!("sudo cp {file} {file}.before"), format!("sudo sed -i 's/ {name}=[^ ]*//' {file}")],
            )],
            vec![Step::new("Put the file back", [format!("sudo mv {file}.before {file}")])],
        );
    }
    match means {
        Means::Kernelstub => (
            vec![Step::new("Remove it", [format!("sudo kernelstub --delete-options '{argument}'")])],
            vec![Step::new("Set it again", [format!("sudo kernelstub --add-options '{argument}'")])],
        ),
        Means::Ostree => (
            vec![Step::new("Remove it", [format!("rpm-ostree kargs --delete-if-present={argument}")])],
            vec![Step::new("Set it again", [format!("rpm-ostree kargs --append-if-missing={argument}")])],
        ),
        Means::Grubby => (
            vec![Step::new("Remove it", [format!("sudo grubby --update-kernel=ALL --remove-args={module}.{name}")])],
            vec![Step::new("Set it again", [format!("sudo grubby --update-kernel=ALL --args={argument}")])],
        ),
        Means::GrubFile => (
            vec![Step::new(
                "Take it out of GRUB's settings",
                [
                    "sudo cp /etc/default/grub /etc/default/grub.before".to_owned(),
                    format!("sudo sed -i 's/ *{module}\\.{name}=[^ \"]*//' /etc/default/grub"),
                    "sudo update-grub".to_owned(),
                ],
            )],
            vec![Step::new(
                "Put them back",
                ["sudo mv /etc/default/grub.before /etc/default/grub".to_owned(), "sudo update-grub".to_owned()],
            )],
        ),
        _ => (
            vec![Step::new(
                "Remove from the kernel's command line, by the means of the boot loader",
                [argument.clone()],
            )],
            vec![Step::new("Add it to the kernel's command line again", [argument])],
        ),
    }
}
