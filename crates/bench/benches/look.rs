//! Cost of a snapshot: cold on the simulator, and on a captured tree with five hundred processes, first and again.
//!
//! `cargo bench -p amdgpu-bench --bench look`. The floor is reading the fdinfo of each client once, with nothing around it:
//! no look can be cheaper. Times are medians.

use std::{
    env,
    fmt::Write as _,
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::Duration,
};

use amdgpu_bench::measure::{median, timed};
use amdgpu_budget::{
    collect::{CollectOptions, Collector},
    machine::Captured,
    screen::{render, state::State},
    text::Style,
};

/// The first argument of a run that is to be `amdgpu-budget`.
const AS_THE_INSPECTOR: &str = "as-the-inspector";
const PROCESSES: u32 = 500;
const ROUNDS: usize = 40;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    // The inspector's program belongs to another package, so this one is it, when it is asked to be.
    let mut arguments = env::args_os();
    let program = arguments.next().ok_or("no name")?;
    if arguments.next().is_some_and(|first| first == AS_THE_INSPECTOR) {
        let status = amdgpu_budget::app::main([program].into_iter().chain(arguments));
        return if status == ExitCode::SUCCESS { Ok(()) } else { Err("the inspector failed".into()) };
    }
    let program = &env::current_exe()?;
    let tree = env::temp_dir().join(format!("amdgpu-budget-bench-{}", std::process::id()));
    let made = make_tree(program, &tree);
    let done = made.and_then(|()| measure(program, &tree, &mut out));
    fs::remove_dir_all(&tree)?;
    done
}

fn measure(program: &Path, tree: &Path, out: &mut dyn io::Write) -> Result<(), Failure> {
    let nothing = typical(|| run(program, &["--version"]))?;
    let simulated = typical(|| run(program, &["--sim", "navi21", "show"]))?;
    let root = tree.to_str().ok_or("an odd path")?;
    let captured = typical(|| run(program, &["--root", root, "show"]))?;
    let floor = typical(|| read_all(tree))?;
    writeln!(out, "start, and nothing else           {nothing:>10.2?}")?;
    writeln!(out, "show, cold, simulator             {simulated:>10.2?}   wanted below 20 ms")?;
    writeln!(out, "show, cold, {PROCESSES} processes         {captured:>10.2?}   wanted below 50 ms")?;
    writeln!(out, "floor: fdinfo of {PROCESSES} processes    {floor:>10.2?}")?;
    let mut collector =
        Collector::new(Captured::open(tree)?, CollectOptions { per_client: true, ..CollectOptions::default() });
    let snapshot = collector.look()?.ok_or("nothing to see")?;
    let again = typical(|| {
        collector.look_again()?;
        Ok(())
    })?;
    let mut state = State::new(Style::default(), 1.0);
    let drawn = typical(|| {
        state.see(snapshot.clone());
        render(&mut state, (160, 50)).map(drop).map_err(Into::into)
    })?;
    let ratio = again.as_secs_f64() / floor.as_secs_f64();
    writeln!(out, "look again, {PROCESSES} processes         {again:>10.2?}   {ratio:.2} x floor")?;
    writeln!(out, "remember and draw 160x50          {drawn:>10.2?}")?;
    let share = (again + drawn).as_secs_f64() * 100.0;
    writeln!(out, "top at 1 Hz                       {share:>9.2}%   of a core, wanted below 1%")?;
    Ok(())
}

fn typical(mut once: impl FnMut() -> Result<(), Failure>) -> Result<Duration, Failure> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let mut done = Ok(());
        times.push(timed(|| done = once()));
        done?;
    }
    Ok(Duration::from_secs_f64(median(&mut times) / 1e9))
}

fn run(program: &Path, arguments: &[&str]) -> Result<(), Failure> {
    let status = Command::new(program).arg(AS_THE_INSPECTOR).args(arguments).stdout(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{arguments:?}: {status}").into()) }
}

/// The cheapest way to know what every client holds.
fn read_all(tree: &Path) -> Result<(), Failure> {
    for pid in 0..PROCESSES {
        std::hint::black_box(fs::read(fdinfo(tree, pid))?);
    }
    Ok(())
}

fn fdinfo(tree: &Path, pid: u32) -> PathBuf {
    tree.join(format!("proc/{}/fdinfo/7", 20_000 + pid))
}

/// A captured card with many processes, each with a client and a few descriptors of other things.
fn make_tree(program: &Path, tree: &Path) -> Result<(), Failure> {
    run(program, &["--sim", "navi21", "capture", tree.to_str().ok_or("an odd path")?])?;
    for pid in 0..PROCESSES {
        let process = tree.join(format!("proc/{}", 20_000 + pid));
        fs::create_dir_all(process.join("fd"))?;
        fs::create_dir_all(process.join("fdinfo"))?;
        for fd in 0..7 {
            symlink("socket:[1]", process.join(format!("fd/{fd}")))?;
        }
        symlink("/dev/dri/renderD128", process.join("fd/7"))?;
        let mut text = String::from("drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\n");
        writeln!(text, "drm-client-id:\t{}", 1000 + pid)?;
        for key in ["drm-memory-vram", "drm-memory-gtt", "amd-requested-vram", "amd-evicted-vram", "drm-shared-vram"] {
            writeln!(text, "{key}:\t{} KiB", 64 + pid)?;
        }
        fs::write(fdinfo(tree, pid), text)?;
        fs::write(process.join("comm"), format!("worker-{pid}\n"))?;
        fs::write(process.join("status"), "PPid:\t1\nUid:\t1000\n")?;
        fs::write(process.join("stat"), format!("{pid} (worker) S 1 {}4200 0\n", "0 ".repeat(17)))?;
        fs::write(process.join("cgroup"), "0::/user.slice\n")?;
    }
    Ok(())
}
