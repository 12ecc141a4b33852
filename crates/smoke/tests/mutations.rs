//! The mutation proof: a simulated GPU that makes one mistake fails the check that is there to find it.
//!
//! `AMDGPU_SMOKE_WRITE_MUTATIONS=1 cargo test -p amdgpu-smoke --test mutations` brings MUTATIONS.md up to date.

use std::{collections::HashSet, fmt::Write, fs, path::Path};

use amdgpu_sim::Mutation;
use amdgpu_smoke::{CheckResult, Choice, Exit, Filter, Level, Mutant, Options, Status, Target, run};

/// Number of a hundred mistakes that their checks must find at least.
const ENOUGH: usize = 95;

/// The check that is there to find a mistake.
fn intended(mutant: Mutant) -> String {
    use Mutation as M;
    let ring = mutant.ip.map(|ip| format!("{}0", ip.name().to_ascii_lowercase())).unwrap_or_default();
    let each = |check: &str| format!("{check}.{ring}");
    match mutant.mutation {
        M::DropWrite | M::SkippedJob => each("exec.write"),
        M::ShortCopy | M::ShiftedCopy => each("exec.copy"),
        M::ShortFill => each("exec.fill"),
        M::StalePageTable | M::StuckBit => each("transfer.odd"),
        M::WeakCell => "memory.whole".to_owned(),
        M::WrongFenceValue => each("exec.nop"),
        M::LostWakeUp => "order.syncobj".to_owned(),
        M::ReversedIbs => each("exec.many"),
        M::IgnoredWait => "order.held".to_owned(),
        M::SilentFault => each("reset.fault"),
        M::EvictionWithoutRestore => "stress.evict".to_owned(),
        M::IgnoredMap => "exec.nop.gfx0".to_owned(),
        M::IgnoredReplace => "sparse.bind".to_owned(),
        M::WrongDomain => "bo.create".to_owned(),
        M::LostMetadata => "bo.metadata".to_owned(),
        M::LostSignal | M::LostReset | M::NoWait | M::WrongErrno => "syncobj.binary".to_owned(),
        M::NoJobWait => "transfer.wait.gfx0".to_owned(),
        M::SwappedHandles => "exec.write.gfx0".to_owned(),
        M::IgnoredUnmap => "va.rebind".to_owned(),
        M::LeakedHandle | M::LeakedContext | M::LeakedSyncobj => "leak.objects".to_owned(),
        M::LostLane => each("shader.ids"),
        M::ShiftedLoad => each("shader.copy"),
        M::LostStore => each("shader.fill"),
        M::SharedScratch => each("shader.scratch"),
        M::OpenBarrier => each("shader.reduce"),
        M::LateAtomic => each("shader.atomic"),
        M::LostCarry => each("shader.wide"),
        M::SwappedTexel => each("shader.image.store"),
        M::WrongRow => each("shader.image.load"),
        M::Unfiltered => each("shader.image.sample"),
        M::SwappedChannel => "draw.clear".to_owned(),
        M::WrongEdge => "draw.triangle".to_owned(),
        M::StaleDepth => "draw.depth".to_owned(),
        M::WrongTexel => "draw.texture".to_owned(),
        M::ForgetfulSleep => "power.suspend".to_owned(),
        M::UnnoticedRemoval => "device.unplug".to_owned(),
        M::LostFlip => "display.flip".to_owned(),
        M::ForeignInterface => "kfd.open".to_owned(),
        // Errors of the hardware come with the first job.
        _ if mutant.mutation.hardware_error().is_some() => "exec.nop.gfx0".to_owned(),
        other => panic!("{other:?} has no check that is there to find it"),
    }
}

fn tried(mutant: Option<Mutant>, check: &str) -> CheckResult {
    let target = match mutant {
        None => Target::simulated("navi21"),
        Some(mutant) => Target::mutant("navi21", mutant),
    };
    let choice = Choice { filter: Some(Filter::exactly(check).unwrap()), ..Choice::default() };
    let mut options = Options { level: Level::Destructive, choice, memory: Some(4 << 20), ..Options::default() };
    // Uncorrectable errors fail a check in any case, others are warnings.
    let is_warning = |mutation| mutation != Mutation::RasUncorrectable && mutation != Mutation::AerFatal;
    let hardware = mutant.map(|mutant| mutant.mutation).filter(|mutation| mutation.hardware_error().is_some());
    options.strict_hardware = hardware.is_some_and(is_warning);
    let report = run(&target.unwrap(), &options, &mut ());
    // Some mistakes keep the GPU from being opened.
    let result = report.results.first().unwrap_or_else(|| panic!("{check} did not run: {report:?}"));
    assert_eq!(Exit::of(&report) == Exit::Pass, result.status == Status::Pass, "{report:?}");
    result.clone()
}

#[test]
fn a_wrong_shader_is_reported_by_its_lane_and_its_instructions() {
    let result = tried(Some(Mutant { mutation: Mutation::LostStore, ip: None }), "shader.ids.gfx0");
    assert_eq!(result.status, Status::Fail, "{}", result.detail);
    for part in ["lane 7 of wave 0 of group 0 (wave32)", "stored by `", "_store_dword", "after `", "v_lshlrev_b32"] {
        assert!(result.detail.contains(part), "{part}: {}", result.detail);
    }
}

#[test]
fn the_intended_check_finds_each_mistake() {
    let mut table = String::from(
        "# What this test finds\n\nEach row is a mistake that the simulated GPU makes, on all rings of an IP where it is a \
         ring's, and the check that is there to find it. `cargo test -p amdgpu-smoke --test mutations` tries all of them, \
         and each check without any mistake; `amdgpu-smoke --sim navi21 --mutate NAME` shows one.\n\n\
         | mistake | intended check | found |\n|---|---|---|\n",
    );
    let (mut honest, mut found, mut all) = (HashSet::new(), 0, 0);
    for mutant in Mutant::all() {
        let check = intended(mutant);
        if honest.insert(check.clone()) {
            let result = tried(None, &check);
            assert_eq!((&*result.id, result.status), (&*check, Status::Pass), "without a mistake: {}", result.detail);
        }
        let result = tried(Some(mutant), &check);
        let is_found = result.status.is_bad() && result.id == check;
        if !is_found {
            eprintln!("{mutant}: {} {} {}", result.id, result.status.name(), result.detail);
        }
        all += 1;
        found += usize::from(is_found);
        writeln!(table, "| `{mutant}` | `{check}` | {} |", if is_found { "yes" } else { "no" }).unwrap();
    }
    writeln!(table, "\n{found} of {all} are found by the check that is there for them.").unwrap();
    assert!(found * 100 >= all * ENOUGH, "{table}");

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("MUTATIONS.md");
    if std::env::var_os("AMDGPU_SMOKE_WRITE_MUTATIONS").is_some() {
        fs::write(&path, &table).unwrap();
    }
    let published = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(published, table, "MUTATIONS.md is not what was found");
}
