//! Trees of sysfs and proc from public reports.

use std::{fs, os::unix::fs::symlink, path::Path};

use serde_json::Value;

use crate::support::{Directory, run};

/// Copies a tree. What a folder `fd` holds are links, which the data stores as files with the path that they lead to: a package
/// cannot hold links that lead nowhere.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().unwrap().is_dir() {
            copy(&from, &to);
        } else if from.parent().is_some_and(|folder| folder.ends_with("fd")) {
            symlink(fs::read_to_string(&from).unwrap(), &to).unwrap();
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}

fn json(tree: &str) -> Value {
    let scratch = Directory::new();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reports").join(tree), scratch.path());
    let root = scratch.path().to_str().unwrap();
    let output = run(&["--root", root, "--json"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    serde_json::from_str(&output.stdout).unwrap()
}

fn process(value: &Value, pid: u64) -> &Value {
    value["gpus"][0]["processes"].as_array().unwrap().iter().find(|process| process["pid"] == pid).unwrap()
}

/// An RX 570 with 4 GiB of VRAM and as much GTT.
#[test]
fn a_discrete_gpu_is_told_by_its_pci_id_where_gtt_is_as_large_as_vram() {
    let value = json("gtt-equals-vram");
    let gpu = &value["gpus"][0];
    assert_eq!((&gpu["apu"], &gpu["effective"]["rule"]), (&false.into(), &"dgpu".into()));
    assert!(gpu["name"].as_str().unwrap().contains("570"), "{}", gpu["name"]);
    assert_eq!(gpu["domains"]["vram"]["used"], 1_258_291_200_u64);
    let root = format!("{}/tests/data/reports/gtt-equals-vram", env!("CARGO_MANIFEST_DIR"));
    for command in [&["--root", &root][..], &["--root", &root, "list"]] {
        let shown = run(command).stdout;
        assert!(!shown.contains("unknown"), "{shown}");
    }
}

#[test]
fn fdinfo_of_new_kernels_counts_bytes_without_unit_and_no_npu() {
    let value = json("fdinfo-6.18");
    assert_eq!(value["gpus"][0]["apu"], true);
    let server = process(&value, 4100);
    assert_eq!((&server["own_gtt"], &server["shared"]["gtt"]), (&(25_864_192_000_u64 - 2048).into(), &2048.into()));
    assert_eq!(server["clients"].as_array().unwrap().len(), 1, "{server}");
}

#[test]
fn fdinfo_of_old_kernels_has_clients_by_pasid() {
    let value = json("fdinfo-legacy");
    assert_eq!(value["gpus"][0]["apu"], false);
    let figures =
        |pid| [&process(&value, pid)["vram"], &process(&value, pid)["gtt"]].map(|bytes| bytes.as_u64().unwrap());
    assert_eq!(figures(2217), [2_117_632, 8_388_608]);
    assert_eq!(figures(2300), [1_048_576, 8192]);
}

/// Captures of GPUs with the heaps of public reports.
#[test]
fn heaps_of_odd_machines_have_the_sizes_of_radv() {
    for (name, expected) in [
        // GTT of 82000 MiB beside a carve-out of 2 GiB.
        ("raven.json", &[29_376_905_216_u64, 58_753_810_432][..]),
        // All VRAM is visible: no heap is left for a rest.
        ("polaris_full_bar.json", &[8_573_157_376, 8_573_157_376]),
        ("renoir_512.json", &[2_868_551_680, 5_737_111_552]),
    ] {
        let file = format!("{}/tests/data/reports/{name}", env!("CARGO_MANIFEST_DIR"));
        let output = run(&["--sim", &file, "--json"]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        let value: Value = serde_json::from_str(&output.stdout).unwrap();
        let heaps = value["gpus"][0]["heaps"].as_array().unwrap();
        let figures = |key: &str| heaps.iter().map(|heap| heap[key].as_u64().unwrap()).collect::<Vec<_>>();
        assert_eq!(figures("size"), expected, "{name}");
        let budgets = figures("budget");
        assert!(budgets.iter().zip(expected).all(|(budget, size)| budget <= size), "{name}: {budgets:?}");
    }
}

/// RADV 25.0.7 does not know GFX1013 (BC-250), which is not to be run as another chip of GFX10.
#[test]
fn a_chip_that_is_not_known_is_refused_with_its_numbers() {
    let file = format!("{}/tests/data/reports/gfx1013.json", env!("CARGO_MANIFEST_DIR"));
    let output = run(&["--sim", &file]);
    assert_eq!((output.code, output.stdout.as_str()), (64, ""), "{}", output.stderr);
    assert!(output.stderr.contains("chip unknown: family 143, external revision 0x82"), "{}", output.stderr);
}
