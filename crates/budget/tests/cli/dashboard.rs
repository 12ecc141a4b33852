//! The dashboard for Grafana asks for what is served, and for all of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use serde_json::Value;

use crate::{
    bare_tree,
    support::{Directory, run},
};

/// Every string below the keys `expr` and `query`.
fn queries(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                match member {
                    Value::String(text) if key == "expr" || key == "query" => found.push(text.clone()),
                    member => queries(member, found),
                }
            }
        }
        Value::Array(members) => members.iter().for_each(|member| queries(member, found)),
        _ => {}
    }
}

/// Names in a text that begin with `amdgpu_`.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| word.starts_with("amdgpu_"))
}

/// Names of labels in a text: those before `=`, and what a legend shows in double braces.
fn labels(text: &str) -> impl Iterator<Item = &str> {
    let compared = text.match_indices('=').filter_map(|(at, _)| text.get(..at)).filter_map(|before| {
        before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())
    });
    let shown = text.split("{{").skip(1).filter_map(|rest| rest.split_once("}}").map(|(name, _)| name));
    compared.chain(shown)
}

fn dashboard() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/grafana-dashboard.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The labels of each name that is served: of a card and an APU under load, and of a GPU with all sensors.
fn served() -> BTreeMap<String, BTreeSet<String>> {
    let directory = Directory::new();
    let file = directory.join("metrics.prom");
    let metrics = |source: &[&str]| {
        assert_eq!(run(&[source, &["serve", "--textfile", &file, "--per-process"]].concat()).code, 0);
        fs::read_to_string(&file).unwrap()
    };
    let tree = bare_tree();
    let device = tree.path().join("sys/class/drm/renderD128/device");
    fs::create_dir_all(device.join("hwmon/hwmon3")).unwrap();
    fs::write(device.join("power/runtime_status"), "active\n").unwrap();
    let sensors = ["gpu_busy_percent", "mem_busy_percent"].map(str::to_owned).into_iter();
    let monitored =
        ["freq1_input", "freq2_input", "temp1_input", "power1_average"].map(|name| format!("hwmon/hwmon3/{name}"));
    for name in sensors.chain(monitored) {
        fs::write(device.join(name), "42\n").unwrap();
    }
    let text = metrics(&["--sim", "navi21,renoir"]) + &metrics(&["--root", tree.path().to_str().unwrap()]);
    let mut served: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let name = names(line).next().unwrap().to_owned();
        served.entry(name).or_default().extend(labels(line).map(str::to_owned));
    }
    served
}

#[test]
fn every_query_of_the_dashboard_names_series_and_labels_that_are_served() {
    let (dashboard, served) = (dashboard(), served());
    let mut found = Vec::new();
    queries(&dashboard, &mut found);
    assert!(found.len() > 20, "{found:?}");
    for query in found.iter().filter(|query| query.as_str() != "prometheus") {
        let name = names(query).next().unwrap_or_else(|| panic!("{query} names no series"));
        for name in names(query) {
            assert!(served.contains_key(name), "{query}: {name} is not served");
        }
        for label in labels(query) {
            assert!(served[name].contains(label), "{query}: {name} has no label {label}");
        }
    }
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            let name = names(target["expr"].as_str().unwrap()).next().unwrap();
            for label in labels(target["legendFormat"].as_str().unwrap()) {
                assert!(served[name].contains(label), "{}: {name} has no label {label}", panel["title"]);
            }
        }
    }
}

/// Those of a process are one choice of many.
#[test]
fn every_figure_of_a_gpu_is_on_the_dashboard() {
    let mut found = Vec::new();
    queries(&dashboard(), &mut found);
    let shown: BTreeSet<&str> = found.iter().flat_map(|query| names(query)).collect();
    let left_out = [
        "amdgpu_heap_usage_bytes",
        "amdgpu_memory_allocation_limit_bytes",
        "amdgpu_memory_size_bytes",
        "amdgpu_memory_unattributed_bytes",
        "amdgpu_processes",
        "amdgpu_unreadable_processes",
    ];
    let served = served();
    let missing = served.keys().filter(|name| !name.starts_with("amdgpu_process_") && !shown.contains(name.as_str()));
    assert_eq!(missing.collect::<Vec<_>>(), left_out);
}

/// Panels lie side by side in Grafana's 24 columns.
#[test]
fn panels_do_not_overlap() {
    let dashboard = dashboard();
    let mut taken = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        let [x, y, width, height] = ["x", "y", "w", "h"].map(|key| panel["gridPos"][key].as_u64().unwrap());
        assert!(x + width <= 24, "{}", panel["title"]);
        for cell in (x..x + width).flat_map(|x| (y..y + height).map(move |y| (x, y))) {
            assert!(taken.insert(cell), "{} covers {cell:?}, which is taken", panel["title"]);
        }
    }
}
