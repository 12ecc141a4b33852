//! The program in a simulated world whose cards sleep.

mod support;

use std::{env, process::Output};

use amdgpu_sim::{WakeCause, sysfs::Setting};
use amdgpu_sim_world::{RUNTIME_PM_VARIABLE, Running, Server, WORLD_VARIABLE, gpus, options};
use support::{Directory, command};

/// Starts a world of two cards that are suspended between any two accesses.
fn sleeping_world() -> Running {
    let options = options(|name| (name == RUNTIME_PM_VARIABLE).then(|| "1".to_owned())).unwrap();
    let world = Server::start(&gpus("navi21,navi31").unwrap(), options).unwrap();
    for device in world.devices() {
        device.write_setting(Setting::AutosuspendDelay, b"0").unwrap();
        assert!(device.is_suspended());
    }
    world
}

/// Runs the program in a world.
fn run(world: &Running, arguments: &[&str]) -> Output {
    let programs = env::current_exe().unwrap();
    // Cargo builds the preload library for this test, and leaves it beside the test.
    let shim = programs.with_file_name("libamdgpu_sim_shim.so");
    assert!(shim.exists(), "{} was not built", shim.display());
    let mut command = command(arguments);
    command.env("LD_PRELOAD", shim).env(WORLD_VARIABLE, world.layout().directory()).output().unwrap()
}

#[test]
fn no_command_wakes_a_sleeping_gpu_unless_it_is_told_to() {
    let world = sleeping_world();
    let captured = Directory::new();
    let captured = captured.path().join("tree");
    for arguments in [
        &["list"][..],
        &["show"],
        &["--json", "show"],
        &["ps"],
        &["heaps"],
        &["explain"],
        &["doctor"],
        &["top", "--once", "80x24"],
        &["check", "--free", "1GiB", "--asleep-ok"],
        &["capture", captured.to_str().unwrap()],
    ] {
        let output = run(&world, arguments);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}{}", String::from_utf8_lossy(&output.stderr));
        if matches!(arguments[0], "list" | "show") {
            assert!(said.contains("AMD Radeon RX 6800") && said.contains("0000:04:00.0"), "{said}");
        }
        for device in world.devices() {
            assert!(device.is_suspended(), "{arguments:?}");
            assert_eq!(device.wake_ups().latest, [], "{arguments:?}");
        }
    }
    // The other half of the proof: an access would have been recorded.
    assert!(run(&world, &["--wake", "show"]).status.success());
    for device in world.devices() {
        let woken = device.wake_ups().latest;
        assert_eq!(woken[0].cause, WakeCause::Open);
        assert!(woken.iter().all(|woken| woken.process.name == "amdgpu-budget"), "{woken:?}");
    }
}
