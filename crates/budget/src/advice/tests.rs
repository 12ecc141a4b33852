use super::*;
use crate::{
    files::Memory,
    snapshot::model::{Domain, Domains, Effective, Process, System},
};

const GIB: u64 = 1 << 30;
const PCI: &str = "0000:c4:00.0";
const UMA: &str = "sys/class/drm/renderD128/device/uma";

fn domain(total: u64) -> Domain {
    Domain { total: Some(total), usable: Some(total), used: Some(0), ..Domain::default() }
}

/// An APU in a machine with 128 GiB, of which this much is carved out, as Linux sets it up by itself.
fn apu(carve_out: u64) -> Snapshot {
    let memory = 128 * GIB - carve_out;
    let gtt = memory / 2;
    let gpu = Gpu {
        pci: PCI.to_owned(),
        render: Some("/dev/dri/renderD128".to_owned()),
        apu: Some(true),
        domains: Domains { vram: domain(carve_out), visible_vram: domain(carve_out), gtt: domain(gtt) },
        effective: Effective { total: Some(carve_out + gtt), available: Some(carve_out + gtt), ..Effective::default() },
        ..Gpu::default()
    };
    let system = System { mem_total: Some(memory), mem_available: Some(memory), ttm_limit: Some(gtt) };
    Snapshot { gpus: vec![gpu], system, ..Snapshot::default() }
}

fn of(snapshot: &Snapshot, files: &Memory, wish: &Wish) -> Advice {
    advise(snapshot, files, wish).remove(0)
}

fn models(snapshot: &Snapshot, files: &Memory, gib: u64) -> Advice {
    of(snapshot, files, &Wish::Models { bytes: gib * GIB })
}

fn lines(steps: &[Step]) -> Vec<&str> {
    steps.iter().flat_map(|step| step.lines.iter().map(String::as_str)).collect()
}

fn codes(advice: &Advice) -> Vec<&str> {
    advice.conflicts.iter().map(|conflict| conflict.code).collect()
}

fn machine(release: &str) -> Memory {
    let mut files = Memory::default();
    files.put("etc/os-release", release);
    files.put("sys/module/ttm/initstate", "live\n");
    files
}

/// The page limit that guides for machines with 128 GB give for 96 GiB.
#[test]
fn each_distribution_has_lines_of_its_own_for_96_gib() {
    const ARGUMENT: &str = "ttm.pages_limit=25165824";
    let mut ubuntu = machine("ID=ubuntu\nID_LIKE=debian\n");
    ubuntu.put("etc/default/grub", "");
    let mut bazzite = machine("ID=bazzite\nID_LIKE=\"fedora\"\n");
    bazzite.put("run/ostree-booted", "");
    let silverblue = machine("ID=fedora\nVARIANT_ID=silverblue\nOSTREE_VERSION='44.1'\n");
    let mut endeavour = machine("ID=endeavouros\nID_LIKE=\"arch\"\n");
    endeavour.put("etc/dracut.conf", "");
    let mut pop = machine("ID=pop\nID_LIKE=\"ubuntu debian\"\n");
    pop.put("etc/kernelstub/configuration", "{}");
    for (files, wanted, undone) in [
        (
            machine("ID=fedora\n"),
            "sudo grubby --update-kernel=ALL --args=ttm.pages_limit=25165824",
            "sudo grubby --update-kernel=ALL --remove-args=ttm.pages_limit",
        ),
        (
            bazzite,
            "rpm-ostree kargs --append-if-missing=ttm.pages_limit=25165824",
            "rpm-ostree kargs --delete-if-present=ttm.pages_limit=25165824",
        ),
        (
            silverblue,
            "rpm-ostree kargs --append-if-missing=ttm.pages_limit=25165824",
            "rpm-ostree kargs --delete-if-present=ttm.pages_limit=25165824",
        ),
        (
            ubuntu,
            "echo 'GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT ttm.pages_limit=25165824\"' | \
             sudo tee /etc/default/grub.d/amdgpu-budget.cfg",
            "sudo rm /etc/default/grub.d/amdgpu-budget.cfg",
        ),
        (
            machine("ID=debian\n"),
            "echo 'options ttm pages_limit=25165824' | sudo tee /etc/modprobe.d/amdgpu-budget.conf",
            "sudo rm /etc/modprobe.d/amdgpu-budget.conf",
        ),
        (machine("ID=cachyos\nID_LIKE=arch\n"), "sudo mkinitcpio -P", "sudo rm /etc/modprobe.d/amdgpu-budget.conf"),
        (machine("ID=nixos\n"), "boot.kernelParams = [ \"ttm.pages_limit=25165824\" ];", "sudo nixos-rebuild boot"),
        (
            machine("ID=steamos\nID_LIKE=arch\n"),
            "echo /etc/modprobe.d/amdgpu-budget.conf | sudo tee /etc/atomic-update.conf.d/amdgpu-budget.conf",
            "sudo rm /etc/modprobe.d/amdgpu-budget.conf /etc/atomic-update.conf.d/amdgpu-budget.conf",
        ),
        (endeavour, "sudo dracut --force --regenerate-all", "sudo rm /etc/modprobe.d/amdgpu-budget.conf"),
        (
            pop,
            "sudo kernelstub --add-options 'ttm.pages_limit=25165824'",
            "sudo kernelstub --delete-options 'ttm.pages_limit=25165824'",
        ),
        (machine("ID=novel\n"), ARGUMENT, ARGUMENT),
        (Memory::default(), ARGUMENT, ARGUMENT),
    ] {
        let advice = models(&apu(GIB / 2), &files, 96);
        assert_eq!((advice.verdict, advice.choices.len()), (Verdict::Possible, 1));
        let choice = &advice.choices[0];
        assert!(choice.reboot && lines(&choice.steps).contains(&wanted), "{:?}", lines(&choice.steps));
        assert!(lines(&choice.undo).contains(&undone), "{:?}", lines(&choice.undo));
    }
}

#[test]
fn a_module_that_is_built_in_takes_the_command_line_alone() {
    let mut files = machine("ID=arch\n");
    files.remove("sys/module/ttm/initstate");
    let advice = models(&apu(GIB / 2), &files, 96);
    assert_eq!(lines(&advice.choices[0].steps), ["ttm.pages_limit=25165824"]);
}

#[test]
fn what_there_is_already_needs_no_line() {
    let advice = models(&apu(GIB / 2), &machine("ID=fedora\n"), 60);
    assert_eq!((advice.verdict, advice.choices.len()), (Verdict::Met, 0));
}

#[test]
fn no_more_is_promised_than_the_machine_has() {
    let advice = models(&apu(GIB / 2), &machine("ID=fedora\n"), 126);
    assert_eq!((advice.verdict, advice.choices.len()), (Verdict::Impossible, 0));
    assert!(advice.reason.contains("no more than 124.00 GiB"), "{}", advice.reason);
    let mut card = apu(0);
    card.gpus[0].apu = Some(false);
    card.gpus[0].effective.total = Some(16 * GIB);
    let advice = models(&card, &machine("ID=fedora\n"), 24);
    assert_eq!(advice.verdict, Verdict::Impossible);
    assert!(advice.reason.contains("the other 8.00 GiB would lie in system memory"), "{}", advice.reason);
    card.gpus[0].apu = None;
    assert_eq!(models(&card, &machine(""), 24).verdict, Verdict::Unknown);
}

#[test]
fn a_large_carve_out_is_made_small_or_completed_or_chosen_larger() {
    let mut files = machine("ID=fedora\n");
    files.put(format!("{UMA}/carveout_options"), "0: Minimum (512 MB)\n1:  (64 GB)\n2: High (96 GB)\n");
    files.put(format!("{UMA}/carveout"), "1\n");
    let advice = models(&apu(64 * GIB), &files, 96);
    assert_eq!((advice.verdict, advice.choices.len()), (Verdict::Met, 0), "64 GiB and half of the other 64");
    let advice = models(&apu(64 * GIB), &files, 110);
    let titles: Vec<_> = advice.choices.iter().map(|choice| choice.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "Make the carve-out small, and let GTT have 110.00 GiB",
            "Leave the carve-out of 64.00 GiB, and let GTT have the other 46.00 GiB"
        ]
    );
    let first = &advice.choices[0];
    let write = |index: u32| format!("echo {index} | sudo tee /{UMA}/carveout");
    assert_eq!(lines(&first.steps)[0], write(0));
    assert!(lines(&first.undo).contains(&write(1).as_str()), "{:?}", first.undo);
    let advice = models(&apu(GIB / 2), &files, 90);
    let carved = advice.choices.iter().find(|choice| choice.title.starts_with("Carve out")).unwrap();
    assert_eq!((lines(&carved.steps), carved.reboot), (vec![write(2).as_str()], true));
    assert!(carved.loses.starts_with("95.50 GiB of system memory, always"), "{}", carved.loses);
    assert_eq!(codes(&advice), ["carve-out-pending"], "the option of 64 GB is chosen for the next boot");
    files.remove(UMA);
    let advice = models(&apu(64 * GIB), &files, 110);
    assert!(advice.choices[0].steps[0].text.contains("firmware setup"), "{:?}", advice.choices[0].steps);
}

#[test]
fn settings_that_are_in_the_way_are_removed_and_come_back() {
    let mut files = machine("ID=fedora\n");
    files.put("sys/module/amdgpu/parameters/gttsize", "131072\n");
    files.put("proc/cmdline", "root=/dev/sda1 amdgpu.gttsize=131072 quiet amdttm.pages_limit=1\n");
    files.put(
        "etc/modprobe.d/ai.conf",
        "# gtt\noptions amdgpu gttsize=131072 ppfeaturemask=1\noptions ttm pages_limit=100\n",
    );
    let mut snapshot = apu(GIB / 2);
    snapshot.gpus[0].domains.gtt = domain(120 * GIB);
    let advice = models(&snapshot, &files, 96);
    assert_eq!(codes(&advice), ["gttsize-deprecated", "gttsize-differs", "gttsize-cut", "amdttm-without-module"]);
    let choice = &advice.choices[0];
    let steps = lines(&choice.steps);
    assert_eq!(steps[0], "echo 25165824 | sudo tee /sys/module/ttm/parameters/pages_limit", "GTT is large enough");
    for line in [
        "sudo grubby --update-kernel=ALL --remove-args=amdgpu.gttsize",
        "sudo sed -i 's/ gttsize=[^ ]*//' /etc/modprobe.d/ai.conf",
        "sudo sed -i 's/ pages_limit=[^ ]*//' /etc/modprobe.d/ai.conf",
    ] {
        assert!(steps.contains(&line), "{line}: {steps:?}");
    }
    let undo = lines(&choice.undo);
    for line in [
        "sudo grubby --update-kernel=ALL --args=amdgpu.gttsize=131072",
        "sudo mv /etc/modprobe.d/ai.conf.before /etc/modprobe.d/ai.conf",
    ] {
        assert!(undo.contains(&line), "{line}: {undo:?}");
    }
    files.put("proc/cmdline", "ttm.pages_limit=200\n");
    assert!(codes(&models(&snapshot, &files, 96)).contains(&"pages-limit-twice"));
}

/// NixOS makes /etc and the command line from its configuration.
#[test]
fn on_nixos_settings_are_removed_in_the_configuration() {
    let mut files = machine("ID=nixos\n");
    files.put("sys/module/amdgpu/parameters/gttsize", "65536\n");
    files.put("proc/cmdline", "init=/nix/store/x amdgpu.gttsize=65536\n");
    files.put("etc/modprobe.d/nixos.conf", "options ttm pages_limit=100\n");
    let advice = models(&apu(GIB / 2), &files, 96);
    let steps = &advice.choices[0].steps;
    let of =
        |place: &str| lines(steps.iter().find(|step| step.text.contains(place)).map(std::slice::from_ref).unwrap());
    assert_eq!(of("take out of boot.kernelParams"), ["amdgpu.gttsize=65536"]);
    assert_eq!(of("take out of boot.extraModprobeConfig"), ["options ttm pages_limit=100"]);
    assert!(!lines(steps).iter().any(|line| line.contains("sed")), "{steps:?}");
    assert!(lines(&advice.choices[0].undo).contains(&"options ttm pages_limit=100"), "{:?}", advice.choices[0].undo);
}

#[test]
fn a_memory_limit_of_the_cgroup_is_named_because_a_models_file_counts() {
    let mut files = machine("ID=fedora\n");
    files.put("proc/self/cgroup", "0::/system.slice/llm.service\n");
    files.put("sys/fs/cgroup/system.slice/llm.service/memory.max", "34359738368\n");
    let advice = models(&apu(GIB / 2), &files, 96);
    let conflict = advice.conflicts.iter().find(|conflict| conflict.code == "cgroup-memory").unwrap();
    assert!(conflict.text.starts_with("memory.max of /system.slice/llm.service is 32.00 GiB"), "{}", conflict.text);
}

/// A card with 16 GiB and a game, on a kernel with the controller, which only the root has been given.
fn gaming() -> (Snapshot, Memory) {
    let mut snapshot = apu(0);
    let gpu = &mut snapshot.gpus[0];
    gpu.apu = Some(false);
    let cgroup = "/user.slice/user-1000.slice/app-game.scope".to_owned();
    gpu.processes = Some(vec![Process { pid: 7, cgroup: Some(cgroup.clone()), ..Process::default() }]);
    let mut files = machine("ID=steamos\n");
    files.put("sys/fs/cgroup/dmem.capacity", format!("drm/0000:01:00.0/vram 1\ndrm/{PCI}/vram {}\n", 16 * GIB));
    files.put("sys/fs/cgroup/cgroup.subtree_control", "cpu dmem memory\n");
    files.put("sys/fs/cgroup/user.slice/cgroup.subtree_control", "cpu memory\n");
    files.put("sys/fs/cgroup/user.slice/dmem.low", format!("drm/{PCI}/vram 1024\n"));
    files.put("proc/7/cgroup", format!("0::{cgroup}\n"));
    (snapshot, files)
}

fn keep(snapshot: &Snapshot, files: &Memory, gib: u64, group: &str) -> Advice {
    of(snapshot, files, &Wish::Keep { bytes: gib * GIB, of: group.to_owned() })
}

#[test]
fn a_group_is_protected_with_all_groups_above_it() {
    let (snapshot, files) = gaming();
    for group in ["app-game.scope", "7", "/user.slice/user-1000.slice/app-game.scope"] {
        let advice = keep(&snapshot, &files, 6, group);
        assert_eq!((advice.verdict, codes(&advice)), (Verdict::Possible, Vec::new()), "{group}");
        let choice = &advice.choices[0];
        let low = |level: &str| format!("echo 'drm/{PCI}/vram 6442450944' | sudo tee /sys/fs/cgroup{level}/dmem.low");
        let game = "/user.slice/user-1000.slice/app-game.scope";
        let steps = lines(&choice.steps);
        assert_eq!(
            steps[..5],
            [
                "echo +dmem | sudo tee /sys/fs/cgroup/user.slice/cgroup.subtree_control".to_owned(),
                "echo +dmem | sudo tee /sys/fs/cgroup/user.slice/user-1000.slice/cgroup.subtree_control".to_owned(),
                low("/user.slice"),
                low("/user.slice/user-1000.slice"),
                low(game),
            ]
        );
        assert_eq!(steps[5], format!("w /sys/fs/cgroup/user.slice/dmem.low - - - - drm/{PCI}/vram 6442450944"));
        assert!(!choice.reboot);
        let undo = lines(&choice.undo);
        assert_eq!(undo[2], format!("echo 'drm/{PCI}/vram 1024' | sudo tee /sys/fs/cgroup/user.slice/dmem.low"));
        assert_eq!(undo[0], format!("echo 'drm/{PCI}/vram 0' | sudo tee /sys/fs/cgroup{game}/dmem.low"));
    }
}

#[test]
fn protection_that_cannot_be_is_refused_with_the_reason() {
    let (snapshot, mut files) = gaming();
    for (gib, group, verdict, reason) in [
        (17, "7", Verdict::Impossible, "17.00 GiB are more than the GPU has: 16.00 GiB"),
        (6, "8", Verdict::Unknown, "the cgroup of process 8 is unknown: not there"),
        (6, "other.scope", Verdict::Unknown, "no group with memory on this GPU"),
        (6, "/a/../b", Verdict::Unknown, "characters"),
        (6, "/a'; reboot '", Verdict::Unknown, "characters"),
        (6, "/", Verdict::Unknown, "the root group has no protection"),
    ] {
        let advice = keep(&snapshot, &files, gib, group);
        assert_eq!(advice.verdict, verdict, "{group}");
        assert!(advice.reason.contains(reason) && advice.choices.is_empty(), "{group}: {}", advice.reason);
    }
    files.put("sys/fs/cgroup/user.slice/dmem.max", format!("drm/{PCI}/vram {GIB}\n"));
    assert_eq!(codes(&keep(&snapshot, &files, 6, "7")), ["max-below-low"]);
    files.remove("sys/fs/cgroup/dmem.capacity");
    files.put("proc/sys/kernel/osrelease", "7.2.13-amd64\n");
    let advice = keep(&snapshot, &files, 6, "7");
    assert_eq!(advice.verdict, Verdict::Impossible);
    assert!(advice.reason.contains("CONFIG_CGROUP_DMEM") && advice.reason.contains("7.2.13"), "{}", advice.reason);
}

#[test]
fn units_have_their_place_among_the_slices() {
    let (snapshot, files) = gaming();
    for (unit, level) in [("llm.service", "/system.slice/llm.service"), ("ai-big.slice", "/ai.slice/ai-big.slice")] {
        let advice = keep(&snapshot, &files, 1, unit);
        let wanted = format!("echo 'drm/{PCI}/vram 1073741824' | sudo tee /sys/fs/cgroup{level}/dmem.low");
        assert!(lines(&advice.choices[0].steps).contains(&wanted.as_str()), "{:?}", advice.choices[0].steps);
    }
}

#[test]
fn a_group_that_is_protected_enough_needs_no_line() {
    let (snapshot, mut files) = gaming();
    for level in ["", "/user-1000.slice", "/user-1000.slice/app-game.scope"] {
        files.put(format!("sys/fs/cgroup/user.slice{level}/dmem.low"), format!("drm/{PCI}/vram max\n"));
    }
    assert_eq!(keep(&snapshot, &files, 6, "7").verdict, Verdict::Met);
}
