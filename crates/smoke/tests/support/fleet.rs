//! Reports of a simulated fleet: runs on simulated chips, in machines with kernels, firmware, boards and slots of their own, and with
//! faults that go with some of them.

#![allow(dead_code, reason = "no test uses all of it")]

use std::{
    collections::BTreeMap,
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use amdgpu_smoke::{Mutant, Options, Target, run};
use serde_json::{Value, json};

/// The firmware with which copies of the copy engines lose bytes.
pub(crate) const BAD_FIRMWARE: &str = "0x0000004a";
/// The kernel with which metadata is lost.
pub(crate) const BAD_KERNEL: &str = "6.9.3";
/// The slot in which machines stop.
pub(crate) const BAD_SLOT: &str = "5";
/// The time of the first report in seconds since 1970.
const FIRST: u64 = 1_700_000_000;

/// A fleet to make.
pub(crate) struct Plan<'a> {
    /// The chips, each of which a share of the machines has.
    pub(crate) chips: &'a [&'a str],
    /// The checks that the machines run, as a regular expression.
    pub(crate) filter: &'a str,
    /// Number of machines.
    pub(crate) machines: usize,
    /// Files of each kind that is no report of its own: halves, foreign documents, text, and reports made before.
    pub(crate) junk: usize,
    /// The seed of the random numbers.
    pub(crate) seed: u64,
}

/// Random numbers by the method SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[usize::try_from(self.next() % values.len() as u64).unwrap_or_default()]
    }

    fn is_one_of(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }
}

/// Runs the checks on a simulated chip, which makes a mistake if one is named.
fn report(chip: &str, mutation: Option<&str>, filter: &str) -> Result<Value, Box<dyn Error>> {
    let target = match mutation {
        Some(mutation) => Target::mutant(chip, mutation.parse::<Mutant>()?)?,
        None => Target::simulated(chip)?,
    };
    Ok(serde_json::to_value(run(&target, &Options::filtered(filter)?, &mut ()))?)
}

/// Writes the reports below a directory, with a directory for each hundred machines.
pub(crate) fn write(directory: &Path, plan: &Plan<'_>) -> Result<(), Box<dyn Error>> {
    let mut random = Random(plan.seed);
    let mut models = BTreeMap::new();
    for &chip in plan.chips {
        for mutation in [None, Some("short-copy:sdma"), Some("lost-metadata")] {
            models.insert((chip, mutation), report(chip, mutation, plan.filter)?);
        }
    }
    let mut made: Vec<PathBuf> = Vec::new();
    for machine in 0..plan.machines {
        let chip = random.of(plan.chips);
        let firmware = random.of(&[BAD_FIRMWARE, "0x0000004b", "0x0000004c", "0x0000004c", "0x0000004d"]);
        let kernel = random.of(&["6.1.90", "6.6.30", "6.6.30", BAD_KERNEL, "6.12.1"]);
        let slot = random.of(&["1", "2", "3", "4", BAD_SLOT, "6", "7"]);
        let (vendor, mainboard) = (random.of(&["1002", "1043", "1458", "1da2"]), random.of(&["X1", "X2", "Y7"]));
        let smc = random.of(&["0x004e7e00", "0x004e8100"]);
        let is_cut = firmware == BAD_FIRMWARE && random.is_one_of(90);
        let is_lost = !is_cut && kernel == BAD_KERNEL && random.is_one_of(60);
        let is_stopped = slot == BAD_SLOT && random.is_one_of(50);
        // Some fail without a reason that the fleet shows.
        let mutation = match random.next() % 200 {
            0 => Some("short-copy:sdma"),
            1 => Some("lost-metadata"),
            _ if is_cut => Some("short-copy:sdma"),
            _ if is_lost => Some("lost-metadata"),
            _ => None,
        };
        let mut report = models[&(chip, mutation)].clone();
        report["made"] = json!(FIRST + machine as u64);
        report["machine"] = json!({ "name": format!("node{machine}"), "mainboard": format!("Vendor {mainboard}") });
        let gpu = &mut report["gpu"];
        gpu["kernel"] = json!(kernel);
        gpu["board"]["subsystem"] = json!(format!("{vendor}:{:04x}", machine % 3));
        gpu["board"]["slot"] = json!(slot);
        gpu["board"]["firmware"]["sdma"] = json!(firmware);
        gpu["board"]["firmware"]["smc"] = json!(smc);
        if is_stopped || random.next().is_multiple_of(300) {
            stop(&mut report);
        }
        let folder = directory.join(format!("rack{}", machine / 100));
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("node{machine}.json"));
        fs::write(&path, serde_json::to_string_pretty(&report)?)?;
        made.push(path);
    }
    junk(directory, plan, &made)
}

/// Makes a report one of a machine that stopped in the middle of a run.
fn stop(report: &mut Value) {
    if let Some(results) = report["results"].as_array_mut() {
        results.truncate(results.len() / 2);
        let last = results.last().and_then(|result| result["id"].as_str()).unwrap_or_default().to_owned();
        report["reason"] = json!(format!("the run was killed while {last} ran"));
        report["aborted"] = json!(true);
        if let Some(fields) = report.as_object_mut() {
            fields.remove("conclusion");
        }
    }
}

/// Writes files that are not reports of machines of their own.
fn junk(directory: &Path, plan: &Plan<'_>, made: &[PathBuf]) -> Result<(), Box<dyn Error>> {
    let folder = directory.join("junk");
    fs::create_dir_all(&folder)?;
    for (number, whole) in (0..plan.junk).zip(made.iter().cycle()) {
        let text = fs::read_to_string(whole)?;
        let half: String = text.chars().take(text.len() / 2).collect();
        fs::write(folder.join(format!("half{number}.json")), half)?;
        fs::write(folder.join(format!("foreign{number}.json")), r#"{"schema": "amdgpu-budget/1", "gpus": []}"#)?;
        fs::write(folder.join(format!("page{number}.json")), "<html>not found</html>")?;
        fs::write(folder.join(format!("notes{number}.txt")), "notes")?;
        // The day before all of them worked.
        let mut before: Value = serde_json::from_str(&text)?;
        before["made"] = json!(FIRST - 86_400);
        before["results"] = json!([{ "id": "bo.map", "status": "pass", "detail": "", "ms": 1.0 }]);
        fs::write(folder.join(format!("before{number}.json")), before.to_string())?;
    }
    Ok(())
}
