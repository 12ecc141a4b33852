//! A user queue with memory for IBs and data.

use amdgpu_sim::{KernelRelease, LockupTimeout, SimDevice, SimOptions, profile};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    cs::{Target, pm4, sdma},
    uapi::{
        Answered, GemCreateFlags, GemDomain, GemWaitIdle, UqFwAreas, Userq, UserqCompute, UserqGfx, UserqSdma,
        UserqSignal, VaFlags, VaOperation, query, userq_op,
    },
    vamgr::GpuVa,
    winsys::Ip,
};
use zerocopy::IntoBytes;

use crate::support::{File, HANG, PAGE, Range, View, address, encode, open};

/// Addresses of a queue's memory, from the place of the queue.
const RING: u64 = 0x0;
const READ: u64 = 0x10_0000;
const WRITE: u64 = 0x11_0000;
const AREA: u64 = 0x12_0000;
const IBS: u64 = 0x14_0000;
const DATA: u64 = 0x15_0000;
/// Bytes of the ring: so few that it goes round.
pub(crate) const RING_BYTES: u64 = PAGE;

/// A GPU of GFX11 whose kernel has user queues.
pub(crate) fn card() -> SimDevice {
    let options = SimOptions { user_queues: true, lockup_timeout: LockupTimeout::all(HANG), ..newer() };
    SimDevice::new(profile("navi31").unwrap(), options)
}

/// The options of the newest kernel.
pub(crate) fn newer() -> SimOptions {
    SimOptions::of_kernel(KernelRelease::V6_17)
}

/// A queue's memory, bound, with the question that makes the queue.
pub(crate) struct Bench {
    pub(crate) file: File,
    pub(crate) ip: Ip,
    base: u64,
    pub(crate) ring: u32,
    pub(crate) read: u32,
    pub(crate) write: u32,
    /// The BO with what the engine itself needs.
    pub(crate) area: u32,
    pub(crate) doorbell: u32,
    ibs: u32,
    data: u32,
    mqd: Vec<u8>,
    /// Dwords written to the ring, and bytes of IBs.
    written: std::cell::Cell<(u64, u64)>,
}

impl Bench {
    pub(crate) fn new(device: &SimDevice, ip: Ip) -> Self {
        Self::of_file(open(device), ip, 0x1000_0000)
    }

    /// With memory of a file at an address.
    pub(crate) fn of_file(file: File, ip: Ip, base: u64) -> Self {
        let bound = |size, at: u64| {
            let bo = file.create(size);
            file.bind(bo, base + at, size).unwrap();
            bo
        };
        let ring = bound(RING_BYTES, RING);
        let (read, write) = (bound(PAGE, READ), bound(PAGE, WRITE));
        let areas: UqFwAreas = file.info(query::UQ_FW_AREAS, [0; 4]).unwrap();
        let area_bo = bound(u64::from(areas.shadow_size).next_multiple_of(PAGE), AREA);
        let (ibs, data) = (bound(16 * PAGE, IBS), bound(PAGE, DATA));
        let doorbell = doorbell(&file).unwrap();
        let area = base + AREA;
        let mqd = match ip {
            Ip::Gfx => UserqGfx { shadow_va: area, csa_va: area }.as_bytes().to_vec(),
            Ip::Compute => UserqCompute { eop_va: area }.as_bytes().to_vec(),
            _ => UserqSdma { csa_va: area }.as_bytes().to_vec(),
        };
        Self { file, ip, base, ring, read, write, area: area_bo, doorbell, ibs, data, mqd, written: (0, 0).into() }
    }

    /// The question that makes the queue.
    pub(crate) fn question(&self) -> Userq {
        Userq {
            op: userq_op::CREATE,
            ip_type: self.ip as u32,
            doorbell_handle: self.doorbell,
            doorbell_offset: 3,
            queue_va: self.base + RING,
            queue_size: RING_BYTES,
            rptr_va: self.base + READ,
            wptr_va: self.base + WRITE,
            mqd: address(&self.mqd),
            mqd_size: self.mqd.len() as u64,
            ..Userq::ZEROED
        }
    }

    pub(crate) fn create(&self) -> Result<u32, Errno> {
        let mut question = self.question();
        self.file.send(&mut question).map(|()| question.answer().queue_id)
    }

    pub(crate) fn free(&self, queue_id: u32) -> Result<(), Errno> {
        self.file.send(&mut Userq { op: userq_op::FREE, queue_id, ..Userq::ZEROED })
    }

    fn target(&self) -> Target {
        Target::new(profile("navi31").unwrap().gfx_level, self.ip).unwrap()
    }

    /// The packets of a ring that run an IB and then signal.
    fn call(&self, va: u64, dwords: u32) -> Vec<u32> {
        let (low, high) = (va as u32, (va >> 32) as u32);
        match self.ip {
            Ip::Gfx => vec![0xc002_3f00, low, high, dwords | 1 << 22, 0xc000_d000, 0],
            Ip::Compute => vec![0xc002_3f00, low, high, dwords | 1 << 23 | 1 << 30, 0xc000_d000, 0],
            _ => vec![4, low, high, dwords, 0, 0, 0x0105],
        }
    }

    /// The packets that store a value at a byte of the data.
    pub(crate) fn store(&self, at: u64, value: u32) -> Vec<u32> {
        let va = GpuVa::new(self.base + DATA + at).unwrap();
        match self.target() {
            Target::Pm4(target) => encode(&pm4::WriteData::new(va, &[value]), target),
            Target::Sdma(version) => encode(&sdma::WriteLinear { to: va, data: &[value] }, version),
        }
    }

    /// Puts packets into an IB, and what runs it and signals into the ring.
    pub(crate) fn push_ib(&self, dwords: &[u32]) {
        let (_, ibs) = self.written.get();
        self.view(self.ibs, 16 * PAGE).store_all(ibs as usize, dwords);
        let call = self.call(self.base + IBS + ibs, dwords.len() as u32);
        self.push(&call);
        let (ring, _) = self.written.get();
        self.written.set((ring, (ibs + 4 * dwords.len() as u64).next_multiple_of(256) % (15 * PAGE)));
    }

    /// Puts dwords into the ring.
    pub(crate) fn push(&self, dwords: &[u32]) {
        let (ring, ibs) = self.written.get();
        let view = self.view(self.ring, RING_BYTES);
        for (&dword, at) in dwords.iter().zip(ring..) {
            view.store((4 * at % RING_BYTES) as usize, dword);
        }
        self.written.set((ring + dwords.len() as u64, ibs));
    }

    /// The write pointer in the units of the engine.
    pub(crate) fn pointer(&self) -> u64 {
        self.written.get().0 * if self.ip == Ip::Sdma { 4 } else { 1 }
    }

    /// Stores the write pointer and rings the doorbell.
    pub(crate) fn ring_doorbell(&self) {
        self.tell(self.pointer());
    }

    /// Stores a write pointer and rings the doorbell with it.
    pub(crate) fn tell(&self, pointer: u64) {
        let halves = [pointer as u32, (pointer >> 32) as u32];
        self.view(self.write, PAGE).store_all(0, &halves);
        self.view(self.doorbell, PAGE).store_all(8 * 3, &halves);
    }

    /// Stores the write pointer, and does not ring the doorbell.
    pub(crate) fn tell_memory_only(&self) {
        let pointer = self.pointer();
        self.view(self.write, PAGE).store_all(0, &[pointer as u32, (pointer >> 32) as u32]);
    }

    /// Takes the ring out of the address space.
    pub(crate) fn unbind_ring(&self) {
        self.unbind(self.ring, RING);
    }

    /// Takes the write pointer out of the address space.
    pub(crate) fn unbind_write_pointer(&self) {
        self.unbind(self.write, WRITE);
    }

    fn unbind(&self, bo: u32, at: u64) {
        let range = Range { va: self.base + at, offset: 0, size: PAGE };
        self.file.va(VaOperation::Unmap, VaFlags::empty(), bo, range).unwrap();
    }

    /// USERQ_SIGNAL for a sync object.
    pub(crate) fn signal(&self, queue_id: u32, syncobj: u32) -> Result<(), Errno> {
        let handles = [syncobj];
        let syncobj_handles = address(&handles);
        self.file.send(&mut UserqSignal { queue_id, syncobj_handles, num_syncobj_handles: 1, ..UserqSignal::ZEROED })
    }

    /// Waits until the dword at a byte of the data has a value.
    pub(crate) fn await_value(&self, at: u64, value: u32) {
        self.view(self.data, PAGE).await_value(at as usize, value);
    }

    /// The dword at a byte of the data.
    pub(crate) fn load(&self, at: u64) -> u32 {
        self.view(self.data, PAGE).load(at as usize)
    }

    /// Waits until the read pointer has a value.
    pub(crate) fn await_read(&self, pointer: u64) {
        self.view(self.read, PAGE).await_value(0, pointer as u32);
    }

    /// GEM_WAIT_IDLE as a poll.
    pub(crate) fn is_idle(&self, handle: u32) -> bool {
        self.file.ask(GemWaitIdle { handle, flags: 0, timeout: 0 }).unwrap().status == 0
    }

    /// Waits until a complaint has these words.
    pub(crate) fn await_complaint(&self, words: &str) {
        while !self.file.complaints().contains(words) {
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
    }

    fn view(&self, handle: u32, len: u64) -> View<'_> {
        self.file.view(handle, len)
    }
}

/// A BO of doorbells.
pub(crate) fn doorbell(file: &File) -> Result<u32, Errno> {
    file.try_create(PAGE, 0, GemDomain::DOORBELL, GemCreateFlags::empty())
}
