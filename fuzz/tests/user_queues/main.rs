//! Memory of user queues, which may hold anything at any time.
//!
//! The queue's process writes to the ring, its pointers and the doorbell whatever it likes, unbinds them, and makes requests about
//! the queue. Whatever comes of it, a queue of another file works, and nothing is left in the end.

use std::{
    os::fd::{OwnedFd, RawFd},
    sync::Arc,
    time::Duration,
};

use amdgpu_fuzz::reach::Reach;
use amdgpu_sim::{Client, KernelRelease, LockupTimeout, SimDevice, SimKernel, SimOptions, profile};
use amdgpu_winsys::{
    uapi::{
        Answered, Argument, GemCreateFlags, GemDomain, Userq, UserqCompute, UserqGfx, UserqSdma, UserqSignal,
        UserqWait, VaFlags, userq_op,
    },
    vamgr::VaRequest,
    winsys::{Binding, Bo, BoRequest, BoundRequest, Device, Errno, Ip, Mapping, Syncobj, UserRing},
};

static REACH: Reach = Reach::new("user_queues::any_memory_of_a_user_queue_hangs_no_other_one");

const PAGE: u64 = 4096;
/// Bytes of the ring.
const RING: u64 = 2 * PAGE;
/// Bytes of the areas beside it.
const AREA: u64 = 80 << 10;

/// This process as a client, so that addresses in arguments are copied by the system, and a bad one is an errno.
#[derive(Debug)]
struct Own;

impl Client for Own {
    fn pid(&self) -> libc::pid_t {
        std::process::id().cast_signed()
    }

    fn descriptor(&self, _: RawFd) -> Result<OwnedFd, Errno> {
        Err(Errno::EBADF)
    }

    fn install(&self, fd: OwnedFd, _: bool) -> Result<RawFd, Errno> {
        drop(fd);
        Ok(3)
    }

    fn is_interrupted(&self) -> bool {
        true
    }
}

/// Makes a request of this process.
fn send<A: Argument>(kernel: &SimKernel, argument: &mut A) -> Result<(), Errno> {
    let address = std::ptr::from_mut(argument).expose_provenance() as u64;
    kernel.serve(Arc::new(Own), A::REQUEST, address).map(drop)
}

fn address<T>(values: &[T]) -> u64 {
    values.as_ptr().expose_provenance() as u64
}

/// A queue whose memory is to be spoiled.
struct Victim {
    kernel: Arc<SimKernel>,
    ip: Ip,
    parts: [Option<(Binding, Mapping)>; 4],
    area: Binding,
    doorbell: Mapping,
    syncobj: Syncobj,
    queue: Option<u32>,
}

impl Victim {
    fn new(gpu: &SimDevice, ip: Ip) -> Self {
        let kernel = Arc::new(gpu.open());
        let device = Device::new(Arc::clone(&kernel)).expect("a device");
        let mapped = |bytes| {
            let binding = bound(&device, bytes);
            let mapping = Mapping::new(binding.bo()).expect("a mapping");
            Some((binding, mapping))
        };
        let parts = [mapped(RING), mapped(PAGE), mapped(PAGE), mapped(PAGE)];
        let request =
            BoRequest { size: PAGE, alignment: PAGE, domains: GemDomain::DOORBELL, flags: GemCreateFlags::empty() };
        let doorbell = Mapping::new(&Bo::create(&device, request).expect("a doorbell")).expect("a mapping");
        let (area, syncobj) = (bound(&device, AREA), Syncobj::new(&device, false).expect("a sync object"));
        Self { kernel, ip, parts, area, doorbell, syncobj, queue: None }
    }

    /// The address of a part, or of nothing once it is gone.
    fn va(&self, part: usize) -> u64 {
        self.parts[part].as_ref().map_or(0x1_0000, |(binding, _)| binding.address().as_u64())
    }

    fn store(&self, part: usize, at: u64, value: u64) {
        if let Some((_, mapping)) = &self.parts[part] {
            let at = at % (mapping.len() as u64 / 8) * 8;
            mapping.store_u64(at, value).expect("within the mapping");
        }
    }

    fn create(&mut self, spoiled: (u8, u32)) -> bool {
        let area = self.area.address().as_u64();
        let (gfx, compute, sdma) = (
            [UserqGfx { shadow_va: area, csa_va: area }],
            [UserqCompute { eop_va: area }],
            [UserqSdma { csa_va: area }],
        );
        let (mqd, mqd_size) = match self.ip {
            Ip::Gfx => (address(&gfx), 16),
            Ip::Compute => (address(&compute), 8),
            _ => (address(&sdma), 8),
        };
        let mut question = Userq {
            op: userq_op::CREATE,
            ip_type: self.ip.raw(),
            doorbell_handle: self.doorbell.bo().handle(),
            queue_va: self.va(0),
            queue_size: RING,
            rptr_va: self.va(1),
            wptr_va: self.va(2),
            mqd,
            mqd_size,
            ..Userq::ZEROED
        };
        let (field, value) = spoiled;
        match field % 32 {
            0 => question.ip_type = value,
            1 => question.doorbell_handle = value % 8,
            2 => question.doorbell_offset = value,
            3 => question.flags = value % 16,
            4 => question.queue_va = value.into(),
            5 => question.queue_size = value.into(),
            6 => question.rptr_va = value.into(),
            7 => question.wptr_va = value.into(),
            8 => question.mqd = value.into(),
            9 => question.mqd_size = value.into(),
            _ => {}
        }
        let made = send(&self.kernel, &mut question).is_ok();
        if made {
            self.queue = Some(question.answer().queue_id);
        }
        made
    }

    /// One deed of a hostile process. Returns `true` if it was about a queue that is there.
    fn act(&mut self, (deed, at, value): (u8, u32, u32)) -> bool {
        let (at, wide) = (u64::from(at), u64::from(value) | u64::from(at) << 32);
        match deed % 16 {
            0..=3 => self.store(0, at, wide),
            4 => self.store(0, at, u64::from(value) << 32 | HEADERS[at as usize % HEADERS.len()]),
            // A call of an IB, at an even dword of the ring.
            5 => {
                self.store(0, at, self.va(3) << 32 | HEADERS[0]);
                self.store(0, at + 1, u64::from(value & 0xf0_03ff) << 32);
            }
            6 => self.store(3, at, wide),
            7..=9 => self.ring(u64::from(value) % 64),
            10 => self.ring(wide),
            11 => drop(self.parts[value as usize % 4].take()),
            12 => return self.create((at as u8, value)),
            13 => {
                let queue_id = if value % 4 == 0 { value } else { self.queue.unwrap_or(1) };
                let freed = Userq { op: userq_op::FREE, queue_id, ..Userq::ZEROED };
                return send(&self.kernel, &mut { freed }).is_ok();
            }
            14 => {
                let handles = [self.syncobj.handle(), value];
                let (queue_id, syncobj_handles) = (self.queue.unwrap_or(1), address(&handles));
                let num_syncobj_handles = 1 + u16::from(at % 8 == 0);
                let signal = UserqSignal { queue_id, syncobj_handles, num_syncobj_handles, ..UserqSignal::ZEROED };
                return send(&self.kernel, &mut { signal }).is_ok();
            }
            _ => {
                let (handles, room) = ([self.syncobj.handle()], [0_u64; 8]);
                let wait = UserqWait {
                    waitq_id: self.queue.unwrap_or(1),
                    syncobj_handles: address(&handles),
                    num_syncobj_handles: 1,
                    num_fences: (value % 4) as u16,
                    out_fences: address(&room),
                    ..UserqWait::ZEROED
                };
                return send(&self.kernel, &mut { wait }).is_ok();
            }
        }
        self.queue.is_some()
    }

    fn ring(&self, pointer: u64) {
        self.store(2, 0, pointer);
        self.doorbell.store_u64(0, pointer).expect("within the page");
    }
}

/// Headers that begin packets: a call of an IB, the queue's fence, waits for fences, waits, and what copy engines have for them.
const HEADERS: [u64; 8] = [0xc002_3f00, 0xc000_d000, 0xc004_d100, 0xc005_3c00, 0xffff_1000, 0x4, 0x105, 0x8];

fn bound(device: &Device, size: u64) -> Binding {
    let bo = BoRequest { size, alignment: PAGE, domains: GemDomain::GTT, flags: GemCreateFlags::empty() };
    let flags = VaFlags::READABLE | VaFlags::WRITEABLE | VaFlags::EXECUTABLE;
    let request = BoundRequest { bo, addresses: VaRequest::new(size), flags, priority: 0, guard_page: false };
    Bo::create_bound(device, &request).expect("memory")
}

/// Runs NOPs on a queue of a file of its own.
fn works(gpu: &SimDevice) {
    let device = Device::new(gpu.open()).expect("a device");
    let mut ring = UserRing::new(&device, Ip::Compute).expect("a queue");
    ring.push(&[0xffff_1000; 4]).expect("room");
    ring.start().expect("a doorbell");
    while ring.free_dwords().expect("a read pointer") < ring.dwords() {
        std::thread::yield_now();
    }
}

#[test]
fn any_memory_of_a_user_queue_hangs_no_other_one() {
    let chip = profile("navi31").expect("a chip");
    let options = SimOptions {
        user_queues: true,
        strict: false,
        lockup_timeout: LockupTimeout::all(Duration::from_millis(2)),
        ..SimOptions::of_kernel(KernelRelease::V6_17)
    };
    bolero::check!().with_type::<(u8, Vec<(u8, u32, u32)>)>().with_iterations(300).for_each(|(engine, deeds)| {
        let gpu = SimDevice::new(chip, options);
        let ip = [Ip::Gfx, Ip::Compute, Ip::Sdma][usize::from(*engine) % 3];
        let mut victim = Victim::new(&gpu, ip);
        assert!(victim.create((u8::MAX, 0)), "a sound queue is made");
        let mut reached = false;
        for &deed in deeds.iter().take(48) {
            reached |= victim.act(deed);
        }
        works(&gpu);
        drop(victim);
        assert_eq!((gpu.census().files, gpu.census().bos), (0, 0), "something is left");
        REACH.count(reached);
    });
    REACH.report();
}
