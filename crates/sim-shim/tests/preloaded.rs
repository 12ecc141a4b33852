//! Programs with the shim preloaded, run as a user would run them.

mod support;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use support::{LAUNCHER, command, expect_success, guest, launcher, shim};

/// Runs a guest's scenario in a world that the launcher serves.
fn launched(chips: &str, scenario: &[&str]) {
    let mut run = launcher(chips);
    run.arg(guest()).args(scenario);
    expect_success(&run.output().expect("the launcher"));
}

/// Runs a guest's scenario in a world that the guest itself serves.
fn hosted(chips: &str, scenario: &[&str]) {
    let mut run = command(guest());
    run.args(scenario).env("LD_PRELOAD", shim()).env("AMDGPU_SIM", chips);
    expect_success(&run.output().expect("the guest"));
}

/// Both ways, for what must not depend on where the server is.
fn both_ways(scenario: &[&str]) {
    launched("navi21", scenario);
    hosted("navi21", scenario);
}

#[test]
fn nodes_and_sysfs_look_like_the_real_ones() {
    both_ways(&["paths"]);
}

#[test]
fn open_refuses_what_the_kernel_refuses() {
    both_ways(&["refused"]);
}

/// libsystemd follows each path so.
#[test]
fn a_walk_from_directory_to_directory_leads_where_the_path_does() {
    both_ways(&["walks"]);
}

#[test]
fn the_list_of_classes_has_drm_and_those_of_the_host() {
    both_ways(&["classes"]);
}

#[test]
fn a_program_works_in_directories_of_the_tree() {
    both_ways(&["chdir"]);
}

#[test]
fn a_link_in_proc_opens_its_node_anew_and_a_nodes_rights_can_change() {
    both_ways(&["reopened"]);
}

/// Debian's `ldconfig` is static, so that it runs where libraries are missing.
#[test]
fn the_launcher_says_so_of_a_program_that_it_does_not_reach() {
    let said = |run: &mut Command| String::from_utf8_lossy(&run.output().expect("the launcher").stderr).into_owned();
    let of_static = said(launcher("navi21").args(["/sbin/ldconfig", "--version"]));
    assert!(of_static.contains("/sbin/ldconfig is linked statically: it sees no simulated GPU"), "{of_static}");
    let of_guest = said(launcher("navi21").arg(guest()).arg("paths"));
    assert!(!of_guest.contains("sees no simulated GPU"), "{of_guest}");
}

#[test]
fn a_node_is_one_file_by_path_and_by_descriptor() {
    both_ways(&["same-file"]);
}

#[test]
fn files_of_power_management_follow_a_load() {
    let load = std::env::temp_dir().join(format!("amdgpu-sim-load-{}", std::process::id()));
    std::fs::write(&load, "0.2 0 0\n0.2 100 100 91.5\n").expect("a file");
    let mut run = command(LAUNCHER);
    run.args(["run", "--gpu", "navi21", "--load"]).arg(&load).arg("--shim").arg(shim()).arg("--");
    expect_success(&run.arg(guest()).arg("power").output().expect("the launcher"));
    let mut run = command(guest());
    run.arg("power").env("LD_PRELOAD", shim()).env("AMDGPU_SIM", "navi21").env("AMDGPU_SIM_LOAD", &load);
    expect_success(&run.output().expect("the guest"));
    std::fs::write(&load, "1 200 0").expect("a file");
    let output = launcher("navi21").arg("true").env("AMDGPU_SIM_LOAD", &load).output().expect("the launcher");
    std::fs::remove_file(&load).expect("a file");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(125) && said.contains("percent \"200\" is not from 0 to 100"), "{said}");
}

#[test]
fn a_card_that_is_not_used_sleeps_and_its_world_tells_what_woke_it() {
    let mut run = command(LAUNCHER);
    run.args(["run", "--gpu", "navi21", "--runtime-pm", "--shim"]).arg(shim()).arg("--");
    expect_success(&run.arg(guest()).arg("sleep").output().expect("the launcher"));
    let mut run = command(guest());
    run.arg("sleep").env("LD_PRELOAD", shim()).env("AMDGPU_SIM", "navi21").env("AMDGPU_SIM_RUNTIME_PM", "1");
    expect_success(&run.output().expect("the guest"));
}

#[test]
fn error_counters_of_link_and_memory_can_be_read() {
    let counters = ["aer_dev_fatal", "aer_dev_correctable", "ras/umc_err_count", "current_link_width"];
    let paths = counters.map(|name| format!("/sys/class/drm/renderD128/device/{name}"));
    let mut run = command(LAUNCHER);
    run.args(["run", "--gpu", "navi21", "--ras", "--shim"]).arg(shim()).args(["--", "cat"]).args(&paths);
    let output = run.output().expect("the launcher");
    expect_success(&output);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for line in ["TOTAL_ERR_FATAL 0\n", "TOTAL_ERR_COR 0\n", "ue: 0\nce: 0\nde: 0\n", "\n16\n"] {
        assert!(text.contains(line), "{line:?} in\n{text}");
    }
    let plain = launcher("navi21").arg("cat").arg(&paths[2]).output().expect("the launcher");
    assert!(!plain.status.success(), "memory has ECC only if it is asked for");
}

#[test]
fn a_program_sets_a_mode_and_its_picture_is_kept() {
    let picture = std::env::temp_dir().join(format!("amdgpu-sim-screen-{}.png", std::process::id()));
    let mut run = command(LAUNCHER);
    run.args(["run", "--gpu", "navi21", "--display", "640x480", "--screenshot"]).arg(&picture);
    run.arg("--shim").arg(shim()).arg("--").arg(guest()).arg("screen");
    expect_success(&run.output().expect("the launcher"));
    let mut reader = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&picture).expect("a file")))
        .read_info()
        .expect("a PNG file");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a small picture")];
    let info = reader.next_frame(&mut pixels).expect("a picture");
    std::fs::remove_file(&picture).expect("a file");
    assert_eq!((info.width, info.height), (640, 480));
    assert!(pixels.chunks(4).all(|pixel| pixel == [0, 0, 0xff, 0xff]), "it is all blue");
    // A program that shows nothing leaves no picture.
    let mut run = command(LAUNCHER);
    run.args(["run", "--gpu", "navi21", "--screenshot"]).arg(&picture).arg("--shim").arg(shim());
    let output = run.args(["--", "true"]).output().expect("the launcher");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(125) && said.contains("has shown nothing"), "{said}");
}

#[test]
fn a_program_leases_display_objects_to_a_descriptor() {
    both_ways(&["lease"]);
}

#[test]
fn a_gpu_is_removed_and_found_again_by_writing_to_sysfs() {
    both_ways(&["hotplug"]);
}

#[test]
fn a_write_to_the_state_of_the_computer_suspends_its_gpus_and_wakes_them() {
    both_ways(&["suspend"]);
}

#[test]
fn root_resets_one_gpu_by_reading_a_file_of_debugfs() {
    launched("navi21,renoir", &["recover"]);
    hosted("navi21,renoir", &["recover"]);
}

#[test]
fn root_sees_a_directory_of_debugfs_for_each_open_file() {
    launched("navi21,renoir", &["clients"]);
    hosted("navi21,renoir", &["clients"]);
}

#[test]
fn a_program_makes_and_signals_fences_of_its_own() {
    both_ways(&["sw-sync"]);
}

#[test]
fn a_program_without_free_descriptors_maps_and_is_refused_others() {
    both_ways(&["exhausted"]);
}

#[test]
fn a_primary_node_serves_its_first_opener() {
    both_ways(&["primary"]);
}

#[test]
fn a_duplicate_is_the_same_file_and_another_open_is_not() {
    both_ways(&["duplicates"]);
}

#[test]
fn a_forked_child_shares_its_parents_files() {
    both_ways(&["fork"]);
}

#[test]
fn a_program_without_environment_is_in_the_world_of_the_one_that_starts_it() {
    both_ways(&["without-variables"]);
}

#[test]
fn a_file_survives_exec_unless_it_closes_on_exec() {
    launched("navi21", &["exec"]);
}

#[test]
fn a_descriptor_can_be_passed_to_another_process() {
    both_ways(&["pass"]);
}

#[test]
fn a_dma_buf_is_the_same_memory_in_another_process() {
    both_ways(&["share"]);
}

/// Each of two programs has an import on its own ledger once, and the GPU has its memory once.
#[test]
fn two_clients_that_share_memory_are_each_charged_once() {
    both_ways(&["first-client"]);
}

#[test]
fn whatever_a_driver_and_its_forked_children_do_its_books_are_right() {
    launched("navi21", &["books"]);
    launched("renoir", &["books"]);
}

/// The rule that `Device` states for fork: the file is one, so what a child drops is gone for its parent, which is told so.
#[test]
fn what_a_forked_child_drops_is_refused_to_its_parent_and_nothing_worse() {
    launched("navi21", &["fork-and-drop"]);
}

#[test]
fn a_program_may_close_descriptors_that_are_not_its_own() {
    both_ways(&["closed-behind"]);
}

#[test]
fn bad_addresses_are_efault() {
    both_ways(&["faults"]);
}

#[test]
fn a_mapping_keeps_its_memory_and_its_file() {
    both_ways(&["mappings"]);
}

#[test]
fn a_dma_buf_is_mapped_to_its_end_and_not_privately() {
    both_ways(&["dma-buf-mappings"]);
}

#[test]
fn pages_of_a_process_are_looked_up_in_that_process() {
    both_ways(&["user-pages"]);
}

#[test]
fn a_thread_that_waits_holds_up_no_other() {
    both_ways(&["threads"]);
}

#[test]
fn an_errno_that_user_space_has_no_name_for_reaches_the_program() {
    let mut run = launcher("navi21");
    run.env("AMDGPU_SIM_KERNEL", "6.17").arg(guest()).arg("unnamed-errno");
    expect_success(&run.output().expect("the launcher"));
}

#[test]
fn a_signal_ends_a_wait() {
    both_ways(&["signal"]);
}

#[test]
fn fdinfo_says_whose_a_node_descriptor_is() {
    both_ways(&["fdinfo"]);
}

#[test]
fn a_killed_client_leaves_nothing_behind() {
    both_ways(&["killed"]);
}

#[test]
fn a_killed_clients_jobs_are_dropped() {
    both_ways(&["dropped-jobs"]);
}

#[test]
fn endless_jobs_of_a_killed_client_end_within_100_ms() {
    both_ways(&["endless-jobs"]);
}

#[test]
fn a_file_is_reached_by_its_descriptors_and_not_by_its_number() {
    both_ways(&["by-number"]);
}

#[test]
fn the_names_of_node_sockets_cannot_be_taken_before() {
    both_ways(&["squatter"]);
}

#[test]
fn nobody_cuts_shared_memory_off() {
    both_ways(&["truncate"]);
}

#[test]
fn pages_that_a_client_takes_away_harm_nobody_else() {
    both_ways(&["cut-pages"]);
}

#[test]
fn one_process_does_not_take_all_connections() {
    both_ways(&["crowd"]);
}

/// Returns `true` for root. For others, says that a test which gives up root's rights was skipped.
fn is_root(test: &str) -> bool {
    let is_root = nix::unistd::geteuid().is_root();
    if !is_root {
        eprintln!("SKIPPED: {test} needs root");
    }
    is_root
}

#[test]
fn a_world_of_root_refuses_a_child_that_gives_up_root() {
    if is_root("a_world_of_root_refuses_a_child_that_gives_up_root") {
        both_ways(&["sandbox"]);
    }
}

/// By the number of a process that has become a program with rights, or of another process, nothing is reached.
#[test]
fn the_server_reaches_into_no_set_user_id_program() {
    if is_root("the_server_reaches_into_no_set_user_id_program") {
        both_ways(&["deputy"]);
    }
}

#[test]
fn arguments_in_memory_that_is_protected_are_efault_and_stay_as_they_are() {
    both_ways(&["read-only"]);
}

/// A directory for worlds, so that nothing but this test's are in it.
struct Parent(PathBuf);

impl Parent {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("amdgpu-sim-test-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    fn worlds(&self) -> usize {
        std::fs::read_dir(&self.0).expect("a directory").count()
    }
}

impl Drop for Parent {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The directory of a world whose server was killed is removed when the next world is made.
#[test]
fn a_killed_server_leaves_nothing_behind_for_long() {
    use std::os::unix::process::ExitStatusExt as _;

    let parent = Parent::new("server");
    for (signal, number) in [("SIGKILL", 9), ("SIGBUS", 7)] {
        let mut run = command(guest());
        run.args(["die", signal]).env("LD_PRELOAD", shim()).env("AMDGPU_SIM", "navi21").env("TMPDIR", &parent.0);
        let output = run.output().expect("the guest");
        assert_eq!(output.status.signal(), Some(number), "{output:?}");
        let world = PathBuf::from(String::from_utf8(output.stdout).expect("text").trim());
        assert!(world.starts_with(&parent.0) && world.exists(), "nobody could remove it: {}", world.display());
        let mut next = launcher("navi21");
        expect_success(&next.arg("true").env("TMPDIR", &parent.0).output().expect("the launcher"));
        assert_eq!(parent.worlds(), 0, "after {signal}");
    }
}

#[test]
fn with_a_killed_launcher_its_program_ends() {
    let parent = Parent::new("launcher");
    let mut run = launcher("navi21");
    // The launcher kills itself by way of its program, which would then go on for a long time.
    run.args(["sh", "-c", "kill -KILL $PPID; exec sleep 90"]).env("TMPDIR", &parent.0);
    let (output, end) = std::io::pipe().expect("a pipe");
    let mut killed = run.stdout(end).spawn().expect("the launcher");
    drop(run);
    killed.wait().expect("the launcher");
    // The program has the other end as long as it lives.
    let mut output = output;
    let started = std::time::Instant::now();
    std::io::Read::read_to_end(&mut output, &mut Vec::new()).expect("the end of the program");
    assert!(started.elapsed() < std::time::Duration::from_mins(1), "the program outlives its world");
    expect_success(&launcher("navi21").arg("true").env("TMPDIR", &parent.0).output().expect("the launcher"));
    assert_eq!(parent.worlds(), 0);
}

#[test]
fn a_world_has_the_devices_that_were_asked_for_in_that_order() {
    launched("navi21,renoir", &["devices", "navi21", "renoir"]);
    hosted("renoir,navi21,pitcairn", &["devices", "renoir", "navi21", "pitcairn"]);
}

#[test]
fn a_world_takes_captures_beside_names() {
    let captured = concat!(env!("CARGO_MANIFEST_DIR"), "/../sim/data/devices/pitcairn.json");
    launched(&format!("navi21,{captured}"), &["devices", "navi21", "pitcairn"]);
    hosted(&format!("{captured},renoir"), &["devices", "pitcairn", "renoir"]);
}

#[test]
fn a_file_that_is_no_capture_is_named_with_its_fault() {
    let output =
        launcher(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).arg("true").output().expect("the launcher");
    assert_eq!(output.status.code(), Some(125));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("Cargo.toml") && said.contains("not JSON") && said.lines().count() == 1, "{said}");
}

#[test]
fn an_unknown_chip_is_named_and_there_is_no_device() {
    let output = launcher("navi99").arg("true").output().expect("the launcher");
    assert_eq!(output.status.code(), Some(125));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("navi99") && said.contains("navi21") && said.lines().count() == 1, "{said}");

    for chips in ["navi99", "navi21,", ",", "navi21 renoir", "\u{1f642}"] {
        let mut run = command("cat");
        run.arg("/dev/dri/renderD128").env("LD_PRELOAD", shim()).env("AMDGPU_SIM", chips);
        let output = run.output().expect("cat");
        assert!(!output.status.success(), "{chips}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.starts_with("amdgpu-sim: AMDGPU_SIM=") && said.contains("No such device"), "{said}");
    }
}

#[test]
fn the_launcher_ends_as_its_command_did_and_cleans_up() {
    let code = |script: &str| {
        let output = launcher("navi21").args(["sh", "-c", script]).output().expect("the launcher");
        (output.status.code(), String::from_utf8(output.stdout).expect("text"))
    };
    assert_eq!(code("exit 7").0, Some(7));
    assert_eq!(code("kill -KILL $$").0, Some(137));
    let (ended, world) = code("echo $AMDGPU_SIM_WORLD");
    assert_eq!(ended, Some(0));
    assert!(world.contains("amdgpu-sim.") && !Path::new(world.trim()).exists(), "{world}");
    let missing = launcher("navi21").arg("/no/such/program").output().expect("the launcher");
    assert_eq!(missing.status.code(), Some(127));
}

#[test]
fn a_world_that_is_gone_is_replaced_with_a_word() {
    let mut run = command(guest());
    run.arg("primary").env("LD_PRELOAD", shim()).env("AMDGPU_SIM_WORLD", "/nowhere/amdgpu-sim.x");
    let output = run.output().expect("the guest");
    expect_success(&output);
    assert!(String::from_utf8_lossy(&output.stderr).contains("/nowhere/amdgpu-sim.x is gone"));
}

#[test]
fn what_is_none_of_its_business_is_left_alone() {
    let plain = command("ls").args(["/dev", "/sys", "/proc/self/fd"]).output().expect("ls");
    let mut shown = command("ls");
    shown.args(["/dev", "/sys", "/proc/self/fd"]).env("LD_PRELOAD", shim());
    assert_eq!(shown.output().expect("ls").stdout, plain.stdout);
}
