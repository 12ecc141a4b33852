//! A context with memory for IBs and data, to run jobs on.

use std::sync::atomic::{AtomicU64, Ordering};

use amdgpu_sim::SimDevice;
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    cs::{Packet, Target, pm4, sdma},
    uapi::{Answered, Ctx, CtxStateAnswer, CtxStateFlags, GemCreateFlags, GemDomain, WaitCs, ctx_op},
    vamgr::GpuVa,
    winsys::Ip,
};

use super::{Chunk, File, Job, long, open};

/// Addresses of the IBs and of the data.
pub(crate) const IBS: u64 = 0x10_0000;
pub(crate) const DATA: u64 = 0x80_0000;
/// Bytes of each.
const SIZE: u64 = 0x10_0000;

/// A file with a context, room for IBs at [`IBS`] and for data at [`DATA`].
#[derive(Debug)]
pub(crate) struct Rig {
    pub(crate) file: File,
    pub(crate) context: u32,
    pub(crate) ibs: u32,
    pub(crate) data: u32,
    target: [Target; 3],
    used: AtomicU64,
}

impl Rig {
    pub(crate) fn new(device: &SimDevice) -> Self {
        let file = open(device);
        let flags = GemCreateFlags::EXPLICIT_SYNC;
        let [ibs, data] = [(); 2].map(|()| file.try_create(SIZE, 0, GemDomain::GTT, flags).unwrap());
        file.bind(ibs, IBS, SIZE).unwrap();
        file.bind(data, DATA, SIZE).unwrap();
        let context = file.context();
        let level = device.profile().gfx_level;
        let target = [Ip::Gfx, Ip::Compute, Ip::Sdma].map(|ip| Target::new(level, ip).unwrap());
        Self { file, context, ibs, data, target, used: AtomicU64::new(0) }
    }

    pub(crate) fn target(&self, ip: Ip) -> Target {
        self.target[ip as usize]
    }

    /// Puts dwords where an IB can be run: its address and length in bytes.
    pub(crate) fn ib(&self, dwords: &[u32]) -> (u64, u32) {
        let bytes = 4 * dwords.len() as u64;
        let at = self.used.fetch_add(bytes.next_multiple_of(256), Ordering::Relaxed);
        self.file.view(self.ibs, SIZE).store_all(at as usize, dwords);
        (IBS + at, bytes as u32)
    }

    /// A store of a value at a byte of the data.
    pub(crate) fn store(&self, ip: Ip, at: u64, value: u32) -> Vec<u32> {
        let va = GpuVa::new(DATA + at).unwrap();
        match self.target(ip) {
            Target::Pm4(target) => encode(&pm4::WriteData::new(va, &[value]), target),
            Target::Sdma(version) => encode(&sdma::WriteLinear { to: va, data: &[value] }, version),
        }
    }

    /// A wait until the dword at a byte of the data has a value.
    pub(crate) fn wait_value(&self, ip: Ip, at: u64, value: u32) -> Vec<u32> {
        let va = GpuVa::new(DATA + at).unwrap();
        match self.target(ip) {
            Target::Pm4(target) => encode(&pm4::WaitRegMem::new(va, pm4::Compare::Equal, value), target),
            Target::Sdma(version) => encode(&sdma::PollMem::new(va, pm4::Compare::Equal, value), version),
        }
    }

    /// A copy of a dword between addresses, on a graphics or compute ring.
    pub(crate) fn copy(&self, from: u64, to: u64) -> Vec<u32> {
        let [from, to] = [from, to].map(|raw| GpuVa::new(raw).unwrap());
        let Target::Pm4(target) = self.target(Ip::Gfx) else { unreachable!("a graphics ring speaks PM4") };
        let (from, to) = (pm4::CopySource::Memory(from), pm4::CopyTo::Memory(to));
        encode(&pm4::CopyData::new(from, to, pm4::CopySize::Dword), target)
    }

    /// A packet of the copy engine.
    pub(crate) fn encode_sdma<P: Packet<Language = sdma::Version>>(&self, packet: &P) -> Vec<u32> {
        let Target::Sdma(version) = self.target(Ip::Sdma) else { unreachable!("a copy engine speaks SDMA") };
        encode(packet, version)
    }

    /// A submission of one IB with the rig's BOs listed.
    pub(crate) fn job(&self, ip: Ip, ring: u32, dwords: &[u32]) -> Job {
        self.job_of(self.context, ip, ring, dwords)
    }

    /// The same in another context.
    pub(crate) fn job_of(&self, context: u32, ip: Ip, ring: u32, dwords: &[u32]) -> Job {
        Job::new(context).with(Chunk::ib(ip, ring, self.ib(dwords))).with(Chunk::bos(&[self.ibs, self.data]))
    }

    /// Submits one IB.
    pub(crate) fn run(&self, ip: Ip, ring: u32, dwords: &[u32]) -> Result<u64, Errno> {
        self.job(ip, ring, dwords).send(&self.file)
    }

    /// WAIT_CS until a timeout: whether it is done.
    pub(crate) fn wait_until(&self, context: u32, ip: Ip, ring: u32, handle: u64, timeout: u64) -> Result<bool, Errno> {
        let ip_type = ip as u32;
        let question = WaitCs { handle, timeout, ip_type, ip_instance: 0, ring, ctx_id: context };
        self.file.ask(question).map(|answer| answer.status == 0)
    }

    /// WAIT_CS as long as it takes; its error is the job's.
    pub(crate) fn finish(&self, ip: Ip, ring: u32, handle: u64) -> Result<(), Errno> {
        self.wait_until(self.context, ip, ring, handle, long()).map(|done| assert!(done, "a job takes too long"))
    }

    /// WAIT_CS as a poll.
    pub(crate) fn is_done(&self, ip: Ip, ring: u32, handle: u64) -> bool {
        self.wait_until(self.context, ip, ring, handle, 0).unwrap()
    }

    /// The dword at a byte of the data.
    pub(crate) fn load(&self, at: u64) -> u32 {
        self.file.view(self.data, SIZE).load(at as usize)
    }

    /// Stores a dword at a byte of the data, from the CPU.
    pub(crate) fn poke(&self, at: u64, value: u32) {
        self.file.view(self.data, SIZE).store(at as usize, value);
    }

    /// Waits until the dword at a byte of the data has a value.
    pub(crate) fn await_value(&self, at: u64, value: u32) {
        self.file.view(self.data, SIZE).await_value(at as usize, value);
    }

    /// QUERY_STATE's reset status.
    pub(crate) fn reset_status(&self, context: u32) -> u32 {
        self.file.ask(Ctx { op: ctx_op::QUERY_STATE, ctx_id: context, ..Ctx::ZEROED }).unwrap().reset_status
    }

    /// QUERY_STATE2's flags.
    pub(crate) fn state(&self, context: u32) -> CtxStateFlags {
        let mut request = Ctx { op: ctx_op::QUERY_STATE2, ctx_id: context, ..Ctx::ZEROED };
        self.file.send(&mut request).unwrap();
        let CtxStateAnswer { flags, .. } = request.answer();
        CtxStateFlags::from_bits_retain(flags)
    }
}

/// A packet's dwords.
pub(crate) fn encode<P: Packet>(packet: &P, language: P::Language) -> Vec<u32> {
    let mut dwords = vec![0; packet.len_dwords(language).unwrap()];
    packet.encode(language, &mut dwords).unwrap();
    dwords
}
