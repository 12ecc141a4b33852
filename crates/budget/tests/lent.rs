//! The buffers of another process in a simulated world, whose open file it lends.

mod support;

use std::{
    env,
    io::{self, BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use amdgpu_sim_world::{KERNEL_VARIABLE, Server, WORLD_VARIABLE, gpus, options};
use amdgpu_winsys::{
    heaps::{AllocateInfo, MemoryManager, TableOptions},
    winsys::{Device, RenderNode},
};
use serde_json::Value;
use support::command;

/// The variable with which the process that holds a GPU is started.
const HOLDS: &str = "AMDGPU_BUDGET_TEST_HOLDS";
/// The size of its buffer in bytes, which no other has.
const SIZE: u64 = (3 << 20) + (64 << 10);

/// Holds a buffer until its input ends, if it is started for that.
#[test]
#[ignore = "the process that the other test asks about"]
fn holder() {
    if env::var_os(HOLDS).is_none() {
        return;
    }
    let device = Device::new(RenderNode::open(Path::new("/dev/dri/renderD128")).unwrap()).unwrap();
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let held = manager.allocate(&AllocateInfo::new(0, SIZE)).unwrap();
    println!("\nheld {:#x}", held.bo().handle());
    io::stdout().flush().unwrap();
    let _ = io::stdin().read_line(&mut String::new());
}

fn shim() -> PathBuf {
    // Cargo builds the preload library for this test, and leaves it beside the test.
    let shim = env::current_exe().unwrap().with_file_name("libamdgpu_sim_shim.so");
    assert!(shim.exists(), "{} was not built", shim.display());
    shim
}

#[test]
fn the_buffers_of_another_process_are_listed_where_it_lends_its_files() {
    let options = options(|name| (name == KERNEL_VARIABLE).then(|| "7.2".to_owned())).unwrap();
    let world = Server::start(&gpus("navi21").unwrap(), options).unwrap();
    let inside = |mut command: Command| {
        command.env("LD_PRELOAD", shim()).env(WORLD_VARIABLE, world.layout().directory());
        command
    };
    let mut holder = Command::new(env::current_exe().unwrap());
    holder.args(["--exact", "holder", "--ignored", "--nocapture"]).env(HOLDS, "1");
    let mut holder = inside(holder).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines().map_while(Result::ok);
    let handle = lines.find_map(|line| line.strip_prefix("held 0x").map(str::to_owned)).expect("a buffer is held");
    let handle = u32::from_str_radix(&handle, 16).unwrap();
    let output = inside(command(&["buffers", &holder.id().to_string(), "--json"])).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("does not lend its descriptors") {
        // Some machines let no process trace another one.
        assert_eq!(output.status.code(), Some(77), "{said}");
    } else {
        assert!(output.status.success(), "{said}");
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        let listed = value["files"][0]["buffers"].as_array().unwrap();
        let own = listed.iter().find(|buffer| buffer["handle"] == handle).expect("the buffer");
        assert_eq!((&own["size"], own["ranges"].as_array().unwrap().len()), (&SIZE.into(), 1), "{own}");
    }
    drop(holder.stdin.take());
    assert!(holder.wait().unwrap().success());
}
