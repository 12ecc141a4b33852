//! Figures: the same in every format, explained by equations that hold, absent where they are unknown.

use std::fs;

use crate::{
    bare_tree, sim,
    support::{Directory, run},
};

/// Each view's JSON is what the view shows.
#[test]
fn json_is_specific_to_the_view() {
    let value = |arguments: &[&str]| -> serde_json::Value {
        let output = sim(&[arguments, &["--json"]].concat());
        assert_eq!(output.code, 0, "{arguments:?}: {}", output.stderr);
        serde_json::from_str(&output.stdout).unwrap()
    };
    let names = |view: &serde_json::Value, at: &str| -> Vec<String> {
        view["gpus"][0][at].as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default()
    };
    for name in ["list", "ps", "heaps", "explain"] {
        let view = value(&[name]);
        assert_eq!(view["schema"], format!("amdgpu-budget-{name}/1"));
        assert!(view["gpus"][0].get("counters").is_none() && names(&view, "domains").is_empty(), "{name}");
    }
    assert_eq!(value(&["show"])["schema"], "amdgpu-budget/1");
    let explained = value(&["explain", "effective.total"]);
    let figures = explained["gpus"][0]["figures"].as_array().unwrap();
    assert!(figures.len() == 1 && figures[0]["arithmetic"].as_str().unwrap().starts_with("usable VRAM"), "{figures:?}");
    let rows = value(&["ps", "--pid", "3301"])["gpus"][0]["processes"].as_array().unwrap().len();
    assert_eq!(rows, 1);
    let doctor = value(&["doctor"]);
    assert!(doctor["findings"].as_array().unwrap().iter().all(|one| one["state"].is_string()), "{doctor}");
    let held = value(&["wait", "free>1GiB"]);
    assert_eq!((&held["holds"], &held["schema"]), (&true.into(), &"amdgpu-budget-wait/1".into()));
}

#[test]
fn explain_of_a_name_that_does_not_exist_lists_the_names() {
    let message = sim(&["explain", "nosuch"]).stderr;
    assert!(message.contains("vram.total") && message.contains("effective.available"), "{message}");
}

/// Reads a sum, a difference, `min` and `max` of the numbers in a sentence; words are left out.
fn evaluated(text: &str) -> Option<i128> {
    let mut words = text.replace('(', " ( ").replace(')', " ) ").replace(',', " , ");
    words.retain(|c| !c.is_control());
    let tokens: Vec<&str> = words
        .split(' ')
        .filter(|w| w.parse::<i128>().is_ok() || ["(", ")", ",", "+", "-", "min", "max"].contains(w))
        .collect();
    let mut place = 0;
    let value = sum(&tokens, &mut place)?;
    (place == tokens.len()).then_some(value)
}

fn sum(tokens: &[&str], place: &mut usize) -> Option<i128> {
    let mut value = term(tokens, place)?;
    while let Some(sign @ (&"+" | &"-")) = tokens.get(*place) {
        *place += 1;
        let next = term(tokens, place)?;
        value = if *sign == "+" { value + next } else { value - next };
    }
    Some(value)
}

fn term(tokens: &[&str], place: &mut usize) -> Option<i128> {
    let token = *tokens.get(*place)?;
    *place += 1;
    if token != "min" && token != "max" {
        return token.parse().ok();
    }
    let mut value = None;
    while tokens.get(*place) != Some(&")") {
        // Behind the parenthesis or the comma.
        *place += 1;
        let next = sum(tokens, place)?;
        value = Some(value.map_or(next, |value: i128| if token == "min" { value.min(next) } else { value.max(next) }));
    }
    *place += 1;
    value
}

/// Every equation that is printed holds, on every chip and at every stage of the script.
#[test]
fn explain_never_prints_a_false_equation() {
    let mut count = 0;
    for profile in amdgpu_sim::profiles() {
        for step in ["0", "14", "30"] {
            let output = run(&["--sim", &profile.name, "--sim-step", step, "explain", "--json"]);
            let value: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
            for one in value["gpus"][0]["figures"].as_array().unwrap() {
                let (name, text) = (one["figure"].as_str().unwrap(), one["arithmetic"].as_str().unwrap());
                let is_sum = [".usable", ".budget"].iter().any(|end| name.ends_with(end))
                    || ["effective.", "unattributed."].iter().any(|start| name.starts_with(start));
                if is_sum {
                    count += 1;
                    let wanted = one["value"].as_u64().map(i128::from);
                    // "free F of a pool + own O" has no other numbers.
                    assert_eq!(evaluated(text), wanted, "{} {step}: {name} = {text}", profile.name);
                }
            }
        }
    }
    assert!(count > 200, "{count}");
}

/// A kernel's figures may make no sense: usable is never more than the total, in any output.
#[test]
fn usable_memory_is_never_more_than_there_is() {
    let value: serde_json::Value = serde_json::from_str(&sim(&["--json"]).stdout).unwrap();
    let domains = &value["gpus"][0]["domains"];
    for name in ["vram", "visible_vram", "gtt"] {
        assert!(domains[name]["usable"].as_u64() <= domains[name]["total"].as_u64(), "{name}: {domains}");
    }
    let missing = value["gpus"][0]["missing"].to_string();
    assert!(missing.contains("visible_vram.usable") && missing.contains("273055744"), "{missing}");
}

/// Every figure of a process is the same in JSON, CSV, Prometheus and text.
#[test]
fn a_figure_is_the_same_in_every_format() {
    let value: serde_json::Value = serde_json::from_str(&sim(&["--json"]).stdout).unwrap();
    let csv = sim(&["--csv"]).stdout;
    let directory = Directory::new();
    let file = directory.join("metrics.prom");
    assert_eq!(sim(&["serve", "--textfile", &file, "--per-process"]).code, 0);
    let metrics = fs::read_to_string(&file).unwrap();
    let text = sim(&["ps", "--units", "bytes", "--no-header"]).stdout;
    for process in value["gpus"][0]["processes"].as_array().unwrap() {
        let (pid, name) = (process["pid"].as_u64().unwrap(), process["name"].as_str().unwrap());
        for figure in ["vram", "own_vram", "gtt", "own_gtt"] {
            let bytes = process[figure].as_u64().unwrap();
            assert!(csv.contains(&format!(",process,{pid},{figure},{bytes}\r\n")), "{figure} of {name}");
            let series = format!(
                "amdgpu_process_{figure}_bytes{{gpu=\"0000:03:00.0\",pid=\"{pid}\",name=\"{name}\"}} {bytes}\n"
            );
            assert!(metrics.contains(&series), "{series}");
        }
        let row: Vec<&str> = text
            .lines()
            .find(|line| line.trim_start().starts_with(&pid.to_string()))
            .unwrap()
            .split_whitespace()
            .collect();
        assert_eq!((row[2], row[4]), (&*process["own_vram"].to_string(), &*process["own_gtt"].to_string()), "{name}");
    }
}

/// Load, clocks, temperature and power are what the kernel says, and absent where it says nothing.
#[test]
fn sensors_are_read_of_a_gpu_that_is_awake() {
    let tree = bare_tree();
    let device = tree.path().join("sys/class/drm/renderD128/device");
    fs::create_dir_all(device.join("hwmon/hwmon3")).unwrap();
    for (name, text) in [
        ("gpu_busy_percent", "37\n"),
        ("hwmon/hwmon3/freq1_input", "2105000000\n"),
        ("hwmon/hwmon3/temp1_input", "61500\n"),
        ("hwmon/hwmon3/power1_average", "183000000\n"),
    ] {
        fs::write(device.join(name), text).unwrap();
    }
    let sensors = || -> serde_json::Value {
        let output = run(&["--root", tree.path().to_str().unwrap(), "--json"]);
        serde_json::from_str::<serde_json::Value>(&output.stdout).unwrap()["gpus"][0]["sensors"].clone()
    };
    assert!(sensors()["power_uw"].is_null(), "asleep, the files are not touched");
    fs::write(device.join("power/runtime_status"), "active\n").unwrap();
    let read = sensors();
    assert_eq!((&read["busy_percent"], &read["power_uw"]), (&37.into(), &183_000_000.into()));
    assert!(read["memory_clock_hz"].is_null());
    let shown = run(&["--root", tree.path().to_str().unwrap(), "show"]).stdout;
    assert!(shown.contains("busy 37%, 2105 MHz, 61.5 C, 183.0 W"), "{shown}");
}
