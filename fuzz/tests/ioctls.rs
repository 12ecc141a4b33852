//! Requests of another process, which may hold anything.
//!
//! The client is a process that sleeps. Its memory is reached as that of real clients of a world is, so addresses may be
//! anything too: what is not mapped there is EFAULT, and what the simulator writes lands on a stack that is never returned to.

use std::{
    io::{IoSlice, Write as _},
    os::fd::{AsFd, OwnedFd, RawFd},
    process::{Child, Command, Stdio},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicI32, Ordering},
    },
    time::Duration,
};

use amdgpu_fuzz::{
    arguments::{ARENA, number, request, sw_sync, word},
    reach::Reach,
};
use amdgpu_sim::{Client, SimDevice, SimOptions, profile};
use amdgpu_winsys::{uapi::Request, winsys::Errno};
use nix::{
    sys::uio::{RemoteIoVec, process_vm_writev},
    unistd::Pid,
};

static REACH: Reach = Reach::new("ioctls::any_ioctl_of_another_process_is_answered");

/// A process that does nothing, and the lowest address of its stack.
struct Sleeper {
    child: Child,
    stack: u64,
}

impl Sleeper {
    fn start() -> Self {
        // Reads a pipe that is never written: it ends when this process does.
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("cat starts");
        // Once it answers, it is past everything that changes its mappings.
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(b"?").expect("cat reads");
        let output = child.stdout.as_mut().expect("a pipe");
        std::io::Read::read_exact(output, &mut [0]).expect("cat writes");
        child.stdin = Some(input);
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", child.id())).expect("a child's maps");
        let line = maps.lines().find(|line| line.ends_with("[stack]")).expect("a stack");
        let start = line.split('-').next().expect("a range");
        let stack = u64::from_str_radix(start, 16).expect("a hexadecimal address");
        Self { child, stack }
    }

    fn pid(&self) -> libc::pid_t {
        self.child.id().cast_signed()
    }

    /// Fills the arena with bytes, over and over.
    fn fill(&self, bytes: &[u8]) {
        let mut all = bytes.repeat(ARENA as usize / bytes.len().max(1));
        all.resize(ARENA as usize, 0);
        let local = [IoSlice::new(&all)];
        let remote = [RemoteIoVec { base: self.stack as usize, len: all.len() }];
        let written = process_vm_writev(Pid::from_raw(self.pid()), &local, &remote);
        assert_eq!(written, Ok(all.len()), "a parent may write");
    }
}

/// The sleeper as a client: it has no descriptors, takes any, and a signal ends each of its waits.
#[derive(Debug)]
struct Impatient {
    pid: libc::pid_t,
    installed: AtomicI32,
}

impl Client for Impatient {
    fn pid(&self) -> libc::pid_t {
        self.pid
    }

    fn descriptor(&self, _: RawFd) -> Result<OwnedFd, Errno> {
        Err(Errno::EBADF)
    }

    fn install(&self, fd: OwnedFd, _: bool) -> Result<RawFd, Errno> {
        drop(fd);
        Ok(self.installed.fetch_add(1, Ordering::Relaxed))
    }

    fn is_interrupted(&self) -> bool {
        true
    }
}

fn sleeper() -> &'static Sleeper {
    static SLEEPER: OnceLock<Sleeper> = OnceLock::new();
    SLEEPER.get_or_init(Sleeper::start)
}

#[test]
fn any_ioctl_of_another_process_is_answered() {
    let profiles = ["pitcairn", "polaris10", "renoir", "navi21", "navi31"].map(|name| profile(name).expect("a chip"));
    let display = Some("320x200".parse().expect("a display"));
    let options = SimOptions { display, ..SimOptions::hanging_for(Duration::from_millis(5)) };
    let sleeper = sleeper();
    bolero::check!().with_type::<(u8, Vec<(u8, u8, [(u8, u32); 8])>)>().with_iterations(2_000).for_each(
        |(chip, calls)| {
            let gpu = SimDevice::new(profiles[usize::from(*chip) % profiles.len()], options);
            let (machine, files) = (gpu.machine(), [gpu.open(), gpu.open_primary(true)]);
            let timeline = machine.open_sw_sync("sleeper").expect("a timeline");
            let mut granted = false;
            let client = Arc::new(Impatient { pid: sleeper.pid(), installed: AtomicI32::new(3) });
            for &(raw, shape, words) in calls.iter().take(24) {
                let bytes: Vec<u8> = words.iter().flat_map(|&raw| word(raw, sleeper.stack).to_le_bytes()).collect();
                sleeper.fill(&bytes);
                // A client has timelines of sw_sync, too.
                if shape >> 2 & 7 == 7 {
                    let request = Request::from_bits(sw_sync(raw, shape));
                    granted |= machine.serve(client.clone(), timeline.as_fd(), request, sleeper.stack).is_ok();
                    continue;
                }
                let request = Request::from_bits(request(number(raw, shape), shape));
                let file = &files[usize::from(shape >> 1 & 1)];
                granted |= file.serve(client.clone(), request, sleeper.stack).is_ok();
            }
            drop(files);
            assert_eq!((gpu.census().files, gpu.census().bos), (0, 0), "something is left");
            REACH.count(granted);
        },
    );
    REACH.report();
}
