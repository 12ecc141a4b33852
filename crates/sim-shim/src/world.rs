//! The world of this process.

use std::{
    ffi::{CString, OsString},
    io::Write as _,
    mem::MaybeUninit,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicI32, Ordering},
    },
};

use amdgpu_sim_world::{
    DEFAULT_GPU, GPUS_VARIABLE, LOAD_VARIABLE, Layout, NULL_VARIABLE, Running, Server, WORLD_VARIABLE, gpus, load,
    options,
};
use nix::{
    errno::Errno,
    sys::{
        socket::{AddressFamily, SockFlag, SockType, socket},
        stat::fstat,
    },
};
use parking_lot::Mutex;

use crate::c_text;

/// A world within reach.
#[derive(Debug)]
pub(crate) struct World {
    /// Root of its tree.
    pub(crate) root: PathBuf,
    /// The server's socket.
    pub(crate) socket: PathBuf,
    /// Its name, as node descriptors bear it.
    pub(crate) name: String,
    /// The variables that lead a program into it; none if the library's own path is unknown.
    variables: Option<[CString; 2]>,
}

impl World {
    fn new(layout: &Layout) -> Self {
        Self { root: layout.root(), socket: layout.socket(), name: layout.name(), variables: leading_to(layout) }
    }

    /// Root of the tree, without a slash at its end.
    pub(crate) fn root_bytes(&self) -> &[u8] {
        self.root.as_os_str().as_bytes()
    }
}

static WORLD: OnceLock<Result<World, Errno>> = OnceLock::new();
/// The server, if this process runs it, and the process that does: a forked child has only a copy of the value.
static SERVER: Mutex<Option<Running>> = Mutex::new(None);
static HOST: AtomicI32 = AtomicI32::new(0);
/// `true` if the world is being looked for or made. The threads of a server that starts here use the C library too, and must
/// not wait for the world that they are making.
static SEEKING: AtomicBool = AtomicBool::new(false);
static SAID: AtomicBool = AtomicBool::new(false);

/// The world, which is made if there is none.
///
/// # Errors
///
/// ENODEV when there is none; the reason was printed on standard error.
pub(crate) fn reach() -> Result<&'static World, Errno> {
    let seek = || {
        SEEKING.store(true, Ordering::SeqCst);
        let found = join().unwrap_or_else(host);
        SEEKING.store(false, Ordering::SeqCst);
        found
    };
    WORLD.get_or_init(seek).as_ref().map_err(|errno| *errno)
}

/// The world if this process already looked for it, or was started in it; none while it is being made.
pub(crate) fn known() -> Option<&'static World> {
    match WORLD.get() {
        Some(world) => world.as_ref().ok(),
        // With a variable that leads to a world, nothing needs to be made.
        None if SEEKING.load(Ordering::SeqCst) => None,
        None if variable(WORLD_VARIABLE).is_some() => reach().ok(),
        None => None,
    }
}

/// The variables that lead a program into the world of this process, once it has used it. Neither waits nor allocates.
pub(crate) fn variables() -> Option<&'static [CString; 2]> {
    WORLD.get()?.as_ref().ok()?.variables.as_ref()
}

fn leading_to(layout: &Layout) -> Option<[CString; 2]> {
    let variable = |name: &str, value: &[u8]| CString::new([name.as_bytes(), b"=", value].concat()).ok();
    let library = library()?;
    let directory = layout.directory().as_os_str().as_bytes();
    Some([variable("LD_PRELOAD", library.to_bytes())?, variable(WORLD_VARIABLE, directory)?])
}

/// Returns the path of this library.
fn library() -> Option<CString> {
    let mut about = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: any address may be asked for, and the answer goes to a structure of its type.
    let found = unsafe { libc::dladdr((&raw const WORLD).cast(), about.as_mut_ptr()) };
    if found == 0 {
        return None;
    }
    // SAFETY: `dladdr` filled it in.
    let about = unsafe { about.assume_init() };
    // SAFETY: the name of a library that stays loaded, or null.
    unsafe { c_text::bytes(about.dli_fname) }.and_then(|name| CString::new(name).ok())
}

/// The world that the launcher, or the process that first looked for a GPU, left in the environment.
fn join() -> Option<Result<World, Errno>> {
    let layout = Layout::new(PathBuf::from(variable(WORLD_VARIABLE)?));
    if layout.socket().as_os_str().len() > 1 && amdgpu_sim_world::Connection::open(&layout.socket()).is_ok() {
        return Some(Ok(World::new(&layout)));
    }
    say(&format!("the world in {} is gone; this process gets a new one", layout.directory().display()));
    None
}

/// Starts a world in this process.
fn host() -> Result<World, Errno> {
    // A null kernel needs a world for its paths.
    let wanted = variable(NULL_VARIABLE).or_else(|| variable(GPUS_VARIABLE)).unwrap_or_else(|| DEFAULT_GPU.into());
    let wanted = wanted.to_string_lossy();
    let refused = |cause: &str, error: &dyn std::fmt::Display| {
        say(&format!("{cause}{error}"));
        Errno::ENODEV
    };
    let options = options(|name| std::env::var(name).ok()).map_err(|error| refused("", &error))?;
    let load = variable(LOAD_VARIABLE).map(|path| load(Path::new(&path))).transpose();
    let load = load.map_err(|error| refused(&format!("{LOAD_VARIABLE}: "), &error))?;
    let started = gpus(&wanted).and_then(|profiles| Server::start(&profiles, options));
    let running = started.map_err(|error| refused(&format!("{GPUS_VARIABLE}={wanted}: "), &error))?;
    if let Some(load) = &load {
        running.follow_load(load);
    }
    let world = World::new(running.layout());
    // SAFETY: as `setenv` of a C program does, this races with other threads that read the environment without the C
    // library's lock. The first look for a GPU is usually made before there are others; programs with more demands use
    // the launcher.
    unsafe { std::env::set_var(WORLD_VARIABLE, running.layout().directory()) };
    *SERVER.lock() = Some(running);
    HOST.store(std::process::id().cast_signed(), Ordering::Release);
    // SAFETY: `at_exit` is a function of this library, which is never unloaded: it was preloaded.
    let registered = unsafe { libc::atexit(at_exit) };
    if registered != 0 {
        say("the world's directory will stay behind");
    }
    Ok(world)
}

/// Removes the directory when the process that runs the server ends.
extern "C" fn at_exit() {
    if HOST.load(Ordering::Acquire) != std::process::id().cast_signed() {
        return;
    }
    let ended = std::panic::catch_unwind(|| {
        // A thread that holds the lock was stopped in the middle; then the next world removes the directory.
        if let Some(mut server) = SERVER.try_lock() {
            drop(server.take());
        }
    });
    drop(ended);
}

/// A variable of the environment; none if empty.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Says one line on standard error.
pub(crate) fn say(what: &str) {
    let _ = writeln!(std::io::stderr(), "amdgpu-sim: {}", amdgpu_output::name(what));
}

/// Says a line that would otherwise be repeated at every call.
pub(crate) fn say_once(what: &str) {
    if !SAID.swap(true, Ordering::Relaxed) {
        say(what);
    }
}

/// The device number of sockets' inodes, by which node descriptors in `/proc` are distinguished from socket files.
pub(crate) fn sockets_device() -> Option<u64> {
    static DEVICE: OnceLock<Option<u64>> = OnceLock::new();
    *DEVICE.get_or_init(|| {
        let probe = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None).ok()?;
        fstat(&probe).ok().map(|about| about.st_dev)
    })
}
