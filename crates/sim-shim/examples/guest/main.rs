//! A client of the shim, for its tests: each scenario is what an unmodified program might do, and checks what it sees.
//!
//! `guest SCENARIO [ARGUMENT...]`, to be run with the shim preloaded. Exit code 0 says that all was as it must be.

mod books;
mod descriptors;
mod hangs;
mod hotplug;
mod memory;
mod node;
mod null;
mod paths;
mod power;
mod screen;
mod strangers;
mod timelines;
mod uevents;
mod waits;
mod walks;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let scenario = arguments.next().unwrap_or_default();
    let arguments: Vec<String> = arguments.collect();
    match scenario.as_str() {
        "paths" => paths::paths(),
        "devices" => paths::devices(&arguments),
        "fdinfo" => paths::fdinfo(),
        "refused" => paths::refused(),
        "walks" => walks::walks(),
        "classes" => walks::classes(),
        "chdir" => walks::working_directory(),
        "reopened" => walks::reopened(),
        "same-file" => paths::same_file(),
        "exhausted" => descriptors::exhausted(),
        "duplicates" => descriptors::duplicates(),
        "fork" => descriptors::fork(),
        "exec" => descriptors::exec(),
        "without-variables" => descriptors::without_variables(),
        "joined" => descriptors::joined(arguments.first().map_or("", String::as_str)),
        "inherited" => descriptors::inherited(&arguments),
        "pass" => descriptors::pass(),
        "closed-behind" => descriptors::closed_behind(),
        "killed" => descriptors::killed(),
        "hold" => descriptors::hold(),
        "dropped-jobs" => descriptors::dropped_jobs(),
        "submit" => descriptors::submit(),
        "endless-jobs" => descriptors::endless_jobs(),
        "endless" => descriptors::endless(&arguments),
        "hang" => hangs::hang(&arguments),
        "hotplug" => hotplug::hotplug(),
        "recover" => hotplug::recover(),
        "clients" => hotplug::clients(),
        "power" => power::power(),
        "sleep" => power::sleep(),
        "suspend" => power::suspend(),
        "coredump" => hangs::coredump(),
        "uevents" => uevents::uevents(&arguments),
        "carve-out" => uevents::carve_out(),
        "screen" => screen::screen(),
        "lease" => screen::lease(),
        "share" => descriptors::share(),
        "first-client" => books::first_client(),
        "second-client" => books::second_client(),
        "books" => books::books(),
        "fork-and-drop" => books::fork_and_drop(),
        "faults" => memory::faults(),
        "mappings" => memory::mappings(),
        "dma-buf-mappings" => memory::dma_buf_mappings(),
        "user-pages" => memory::user_pages(),
        "null" => null::null(),
        "primary" => paths::primary(),
        "sw-sync" => timelines::sw_sync(),
        "threads" => waits::threads(),
        "signal" => waits::signal(),
        "unnamed-errno" => node::unnamed_errno(),
        "by-number" => strangers::by_number(),
        "squatter" => strangers::squatter(),
        "truncate" => strangers::truncate(),
        "cut-pages" => strangers::cut_pages(),
        "sandbox" => strangers::sandbox(),
        "deputy" => strangers::deputy(),
        "victim" => strangers::victim(),
        "read-only" => memory::read_only(),
        "crowd" => strangers::crowd(),
        "die" => strangers::die(arguments.first().map_or("SIGKILL", String::as_str)),
        other => {
            eprintln!("no scenario {other:?}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
