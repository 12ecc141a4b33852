//! The command advise: lines for a captured machine, in text and in JSON.

use std::fs;

use crate::support::{Directory, run};

/// An APU with a carve-out of 512 MiB in a machine with 128 GB and Fedora, whose amdgpu.gttsize is larger than its memory.
fn tree() -> Directory {
    let tree = Directory::new();
    for (path, text) in [
        ("sys/class/drm/renderD128/device/uevent", "DRIVER=amdgpu\nPCI_ID=1002:1586\nPCI_SLOT_NAME=0000:c4:00.0\n"),
        ("sys/class/drm/renderD128/device/power/runtime_status", "active\n"),
        ("sys/class/drm/renderD128/device/mem_info_vram_total", "536870912\n"),
        ("sys/class/drm/renderD128/device/mem_info_vram_used", "100000000\n"),
        ("sys/class/drm/renderD128/device/mem_info_gtt_total", "66571993088\n"),
        ("sys/class/drm/renderD128/device/mem_info_gtt_used", "30000000\n"),
        ("sys/module/ttm/parameters/pages_limit", "16252928\n"),
        ("sys/module/ttm/initstate", "live\n"),
        ("proc/meminfo", "MemTotal: 130023424 kB\nMemAvailable: 120000000 kB\n"),
        ("etc/os-release", "ID=fedora\n"),
    ] {
        let path = tree.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    tree
}

#[test]
fn advice_has_lines_their_cost_and_their_undoing() {
    let tree = tree();
    let root = tree.path().to_str().unwrap();
    let output = run(&["--root", root, "advise", "--models", "96GiB"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    for part in [
        "possible: programs can have 62.50 GiB now",
        "1. Let GTT have 96.00 GiB (after a reboot)",
        "       sudo grubby --update-kernel=ALL --args=ttm.pages_limit=25165824\n",
        "   loses: Nothing while it is not used",
        "       sudo grubby --update-kernel=ALL --remove-args=ttm.pages_limit\n",
        "Nothing was changed.",
    ] {
        assert!(output.stdout.contains(part), "{part}\n{}", output.stdout);
    }
    let value: serde_json::Value =
        serde_json::from_str(&run(&["--root", root, "--json", "advise", "--models", "96GiB"]).stdout).unwrap();
    assert_eq!((&value["schema"], &value["wish"]["bytes"]), (&"amdgpu-budget-advise/1".into(), &(96_u64 << 30).into()));
    let advice = &value["gpus"][0];
    assert_eq!((&advice["verdict"], &advice["choices"][0]["reboot"]), (&"possible".into(), &true.into()));
    assert_eq!(
        advice["choices"][0]["steps"][0]["lines"][0],
        "sudo grubby --update-kernel=ALL --args=ttm.pages_limit=25165824"
    );
}

#[test]
fn a_wish_that_cannot_be_met_ends_with_1_and_no_wish_with_64() {
    let tree = tree();
    let root = tree.path().to_str().unwrap();
    let output = run(&["--root", root, "advise", "--models", "200GiB"]);
    assert_eq!(output.code, 1);
    assert!(output.stdout.contains("impossible: programs can have 62.50 GiB now"), "{}", output.stdout);
    let output = run(&["--root", root, "advise", "--keep", "256MiB", "--of", "llm.service"]);
    assert_eq!(output.code, 1);
    assert!(output.stdout.contains("CONFIG_CGROUP_DMEM"), "{}", output.stdout);
    for usage in [
        &["advise"][..],
        &["advise", "--keep", "1GiB"],
        &["advise", "--models", "1GiB", "--keep", "1GiB", "--of", "x"],
        &["advise", "--models", "much"],
        &["--csv", "advise", "--models", "1GiB"],
        &["--from", "x", "advise", "--models", "1GiB"],
    ] {
        assert_eq!(run(usage).code, 64, "{usage:?}");
    }
}

#[test]
fn advice_writes_nothing() {
    let tree = tree();
    let root = tree.path().to_str().unwrap();
    let list = || {
        let mut names = Vec::new();
        let mut folders = vec![tree.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { names.push((fs::read(&path).unwrap(), path)) }
            }
        }
        names.sort();
        names
    };
    let before = list();
    run(&["--root", root, "advise", "--models", "96GiB"]);
    assert_eq!(list(), before);
}

#[test]
fn a_wish_of_a_few_bytes_lacks_a_unit() {
    for wish in ["0", "96", "1MiB"] {
        let output = run(&["--sim", "renoir", "advise", "--models", wish]);
        let is_wish = wish == "1MiB";
        assert_eq!((output.code == 0, output.stderr.contains("is a unit missing")), (is_wish, !is_wish), "{wish}");
    }
}
