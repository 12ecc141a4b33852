//! User queues as the kernel has them: a ring, its pointers and a doorbell.

use std::sync::{
    Arc,
    atomic::{Ordering, fence},
};

use amdgpu_hw::num::{count, wide};
use parking_lot::Mutex;
use zerocopy::{FromZeros, IntoBytes};

use crate::{
    host_memory::{self, ArcRoom},
    uapi::{
        self, Answered, Argument, DevInfo, GemCreateFlags, GemDomain, GemVaTimeline, USERQ_DRM_MINOR, UqFwAreas, Userq,
        UserqCompute, UserqGfx, UserqSdma, UserqSignal, VaFlags, VaOperation, userq_op,
    },
    vamgr::{GpuVa, VaLease, VaRequest},
    winsys::{
        Binding, Bo, BoRequest, BoundRequest, Deadline, Device, Error, Feature, Ip, Mapping, PAGE_SIZE, Result,
        Syncobj,
        kernel::{send_raw, send_raw_quietly},
        release::release,
    },
};

/// Bytes of a ring.
const RING_BYTES: u64 = 64 << 10;
/// Bytes of the end-of-pipe area of a compute queue, and of the save area of a copy queue, at most.
const OWN_AREA: u64 = PAGE_SIZE;

/// A user queue of the kernel: a ring that this process fills, and starts with a store to a doorbell. No submission is an ioctl.
///
/// The ring is written and read as dwords. [`cs::UserQueue`](crate::cs::UserQueue) submits command lists through one.
///
/// Requests: AMDGPU_USERQ, AMDGPU_USERQ_SIGNAL. Linux 6.17 has user queues on GFX11 and later, where its parameter
/// `user_queue` turns them on; DEV_INFO tells for which IPs.
///
/// Source: Linux 6.17 `amdgpu_userq.c`, `mes_userqueue.c`; Mesa 25.2 `src/gallium/winsys/amdgpu/drm/amdgpu_userq.c`.
///
/// ```
/// use amdgpu_sim::{KernelRelease, SimDevice, SimOptions, profile};
/// use amdgpu_winsys::winsys::{Device, Ip, UserRing};
///
/// let options = SimOptions { user_queues: true, ..SimOptions::of_kernel(KernelRelease::V6_17) };
/// let device = Device::new(SimDevice::new(profile("navi31").ok_or("no such chip")?, options).open())?;
/// let mut ring = UserRing::new(&device, Ip::Compute)?;
/// ring.push(&[0xffff_1000; 4])?; // NOPs
/// ring.start()?; // the doorbell
/// while ring.free_dwords()? < ring.dwords() {}
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct UserRing {
    // Fields drop top to bottom: the kernel lets go of the memory before it goes.
    queue: QueueId,
    ip: Ip,
    doorbell: Mapping,
    ring: Mapping,
    read: Mapping,
    write: Mapping,
    number: Mapping,
    number_address: GpuVa,
    /// Dwords written so far.
    written: u64,
    page_tables: Arc<PageTables>,
    _bound: Vec<Binding>,
}

/// The kernel's queue, which is freed on drop.
#[derive(Debug)]
struct QueueId {
    device: Device,
    id: u32,
}

impl UserRing {
    /// Makes a queue of an IP, with a ring of 64 KiB.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] where the kernel has no user queues of the IP; those of [`Bo::create_bound`] and
    /// [`Mapping::new`]; [`Error::Ioctl`].
    pub fn new(device: &Device, ip: Ip) -> Result<Self> {
        if !Self::is_supported(device, ip)? {
            return Err(Error::Unsupported { feature: Feature::UserQueues });
        }
        let [ring, read, write, number] =
            [RING_BYTES, PAGE_SIZE, PAGE_SIZE, PAGE_SIZE].map(|bytes| bound(device, bytes));
        let (ring, read, write, number) = (ring?, read?, write?, number?);
        let (areas, parameters) = areas(device, ip)?;
        let doorbell = Bo::create(
            device,
            BoRequest {
                size: PAGE_SIZE,
                alignment: PAGE_SIZE,
                domains: GemDomain::DOORBELL,
                flags: GemCreateFlags::empty(),
            },
        )?;
        let nothing = device.addresses().allocate(VaRequest::new(PAGE_SIZE));
        let nothing = nothing.map_err(|source| Error::Address { is_fixed: false, source })?;
        let maps = (
            Mapping::new(&doorbell)?,
            Mapping::new(ring.bo())?,
            Mapping::new(read.bo())?,
            Mapping::new(write.bo())?,
            Mapping::new(number.bo())?,
        );
        let (doorbell_map, ring_map, read_map, write_map, number_map) = maps;
        let room = ArcRoom::new().map_err(|error| error.of("a user queue"))?;
        let page_tables = PageTables { done: Syncobj::new(device, false)?, point: Mutex::new(0), nothing };
        page_tables.wait(Deadline::NEVER)?;
        let queue = QueueId::create(
            device,
            Userq {
                op: userq_op::CREATE,
                ip_type: ip.raw(),
                doorbell_handle: doorbell.handle(),
                queue_va: ring.address().as_u64(),
                queue_size: RING_BYTES,
                rptr_va: read.address().as_u64(),
                wptr_va: write.address().as_u64(),
                ..Userq::ZEROED
            },
            &parameters,
        )?;
        let number_address = number.address();
        let mut all = vec![ring, read, write, number];
        all.extend(areas);
        Ok(Self {
            queue,
            ip,
            doorbell: doorbell_map,
            ring: ring_map,
            read: read_map,
            write: write_map,
            number: number_map,
            number_address,
            written: 0,
            page_tables: room.fill(page_tables),
            _bound: all,
        })
    }

    /// Returns `true` if the kernel has user queues of an IP.
    ///
    /// # Errors
    ///
    /// [`Error::Info`].
    pub fn is_supported(device: &Device, ip: Ip) -> Result<bool> {
        if device.info().driver.minor < USERQ_DRM_MINOR {
            return Ok(false);
        }
        let mut answer = DevInfo::ZEROED;
        device.info_raw(uapi::query::DEV_INFO, [0; 4], answer.as_mut_bytes())?;
        // Where it was padding before, there is the mask.
        Ok(answer.tail >> ip.raw() & 1 != 0)
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.queue.device
    }

    /// Returns the IP.
    pub fn ip(&self) -> Ip {
        self.ip
    }

    /// Returns the kernel's number for the queue.
    pub fn id(&self) -> u32 {
        self.queue.id
    }

    /// Returns the dwords of the ring.
    pub fn dwords(&self) -> usize {
        (RING_BYTES / 4) as usize
    }

    /// Returns the dwords that can be pushed before the engine has read more. No ioctl.
    ///
    /// # Errors
    ///
    /// [`Error::Absurd`] where the engine has read what was not written.
    pub fn free_dwords(&self) -> Result<usize> {
        let read = self.read.load_u64(0)? / self.unit();
        let left = self.written.checked_sub(read).and_then(|used| (RING_BYTES / 4).checked_sub(used));
        let absurd = Error::Absurd { field: "read pointer", value: read, reason: "not near the write pointer" };
        left.map(|dwords| dwords as usize).ok_or(absurd)
    }

    /// Returns the dwords that were pushed so far.
    pub fn pushed(&self) -> u64 {
        self.written
    }

    /// Puts dwords into the ring, which the engine does not see before [`start`](Self::start). The caller looks at
    /// [`free_dwords`](Self::free_dwords) first: what the engine has not read is else lost.
    ///
    /// # Errors
    ///
    /// [`Error::Range`] for more than the ring holds.
    pub fn push(&mut self, dwords: &[u32]) -> Result<()> {
        let start = self.written % (RING_BYTES / 4);
        let to_end = usize::try_from(RING_BYTES / 4 - start).unwrap_or(usize::MAX).min(dwords.len());
        let (before, behind) = dwords.split_at(to_end);
        self.ring.write_dwords(4 * start, before)?;
        self.ring.write_dwords(0, behind)?;
        self.written += wide(dwords.len());
        Ok(())
    }

    /// Starts what was pushed: stores the write pointer, and rings the doorbell with it. No ioctl.
    ///
    /// # Errors
    ///
    /// [`Error::Range`], which a mapping of a page does not have here.
    pub fn start(&self) -> Result<()> {
        let pointer = self.written * self.unit();
        // The ring's content first, then the pointer, then the doorbell, which the engine may see at once.
        fence(Ordering::SeqCst);
        self.write.store_u64(0, pointer)?;
        fence(Ordering::SeqCst);
        self.doorbell.store_u64(0, pointer)
    }

    /// Returns the steps of the pointers in a dword: copy engines count bytes.
    fn unit(&self) -> u64 {
        if self.ip == Ip::Sdma { 4 } else { 1 }
    }

    /// Returns the address of a dword for numbers of submissions, which packets in the ring may store to.
    pub fn number_address(&self) -> GpuVa {
        self.number_address
    }

    /// Returns that dword. No ioctl.
    pub fn number(&self) -> u32 {
        // Offset 0 of a page is in range and aligned, so this never falls back.
        let number = self.number.load_u32(0).unwrap_or(0);
        fence(Ordering::Acquire);
        number
    }

    /// Makes sync objects signal when the queue has run what was pushed and started so far. The last packet of that must be the
    /// queue's fence (PROTECTED_FENCE_SIGNAL).
    ///
    /// Request: AMDGPU_USERQ_SIGNAL.
    ///
    /// # Errors
    ///
    /// [`Error::ForeignDevice`], [`Error::Ioctl`].
    pub fn signal(&self, syncobjs: &[&Syncobj]) -> Result<()> {
        if syncobjs.iter().any(|syncobj| syncobj.device() != self.device()) {
            return Err(Error::ForeignDevice { what: "sync object" });
        }
        let mut handles: Vec<u32> = Vec::new();
        host_memory::extend(&mut handles, syncobjs.iter().map(|syncobj| syncobj.handle()))
            .map_err(|error| error.of("signals of a user queue"))?;
        let refused = |errno| Error::Ioctl { request: UserqSignal::NAME, errno };
        let num_syncobj_handles = u16::try_from(handles.len()).map_err(|_| refused(uapi::Errno::EINVAL))?;
        let syncobj_handles = wide(handles.as_ptr().expose_provenance());
        let mut argument =
            UserqSignal { queue_id: self.queue.id, syncobj_handles, num_syncobj_handles, ..UserqSignal::ZEROED };
        // SAFETY: the only address is that of `handles`, which outlives the call and has as many as the number says.
        unsafe { send_raw(self.device().kernel(), UserqSignal::REQUEST, &mut argument) }.map_err(refused)
    }

    /// Waits until all that was bound so far is in the page tables; false when the deadline came first. The CS ioctl waits for
    /// that by itself, but a doorbell does not.
    ///
    /// Request: AMDGPU_GEM_VA (clear of addresses at which nothing is bound), with a point of a sync object.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn wait_for_bindings(&self, deadline: Deadline) -> Result<bool> {
        self.page_tables.wait(deadline)
    }

    /// Returns the part of the queue that waits for bindings, for those who wait without the queue.
    pub(crate) fn page_tables(&self) -> &Arc<PageTables> {
        &self.page_tables
    }
}

/// Order of the changes of page tables.
#[derive(Debug)]
pub(crate) struct PageTables {
    /// Tells when page tables are there.
    done: Syncobj,
    /// Its point that was asked for last.
    point: Mutex<u64>,
    /// Addresses at which nothing is bound.
    nothing: VaLease,
}

impl PageTables {
    /// Waits until all that was bound so far is in the page tables, which change in order: a change of nothing comes behind all
    /// others. The lock is held for the request alone, so that points rise, and not for the wait.
    pub(crate) fn wait(&self, deadline: Deadline) -> Result<bool> {
        let mut point = self.point.lock();
        *point += 1;
        let mut argument = GemVaTimeline {
            operation: VaOperation::Clear as u32,
            va_address: self.nothing.start().as_u64(),
            map_size: PAGE_SIZE,
            vm_timeline_point: *point,
            vm_timeline_syncobj_out: self.done.handle(),
            ..GemVaTimeline::ZEROED
        };
        // SAFETY: the one address, that of handles to wait for, is null, and the number of them is 0.
        let sent = unsafe { send_raw(self.done.device().kernel(), GemVaTimeline::REQUEST, &mut argument) };
        let asked = *point;
        drop(point);
        sent.map_err(|errno| Error::Ioctl { request: GemVaTimeline::NAME, errno })?;
        self.done.wait_point(asked, deadline)
    }
}

/// System memory that the queue's engine may use in every way.
fn bound(device: &Device, bytes: u64) -> Result<Binding> {
    let size = bytes.next_multiple_of(PAGE_SIZE);
    Bo::create_bound(
        device,
        &BoundRequest {
            bo: BoRequest {
                size,
                alignment: PAGE_SIZE,
                domains: GemDomain::GTT,
                flags: GemCreateFlags::CPU_ACCESS_REQUIRED,
            },
            addresses: VaRequest::new(size),
            flags: VaFlags::READABLE | VaFlags::WRITEABLE | VaFlags::EXECUTABLE,
            priority: 0,
            guard_page: false,
        },
    )
}

/// The areas that the engine wants beside the ring, and the parameters that name them.
fn areas(device: &Device, ip: Ip) -> Result<(Vec<Binding>, Vec<u8>)> {
    if ip != Ip::Gfx {
        let area = bound(device, OWN_AREA)?;
        let va = area.address().as_u64();
        let parameters = match ip {
            Ip::Compute => UserqCompute { eop_va: va }.as_bytes().to_vec(),
            _ => UserqSdma { csa_va: va }.as_bytes().to_vec(),
        };
        return Ok((vec![area], parameters));
    }
    let mut wanted = UqFwAreas::new_zeroed();
    device.info_raw(uapi::query::UQ_FW_AREAS, [ip.raw(), 0, 0, 0], wanted.as_mut_bytes())?;
    let area = |field, bytes: u32| {
        if bytes == 0 || bytes > 64 << 20 {
            return Err(Error::Absurd { field, value: bytes.into(), reason: "not the size of an area" });
        }
        bound(device, bytes.into())
    };
    let (shadow, save) = (area("shadow_size", wanted.shadow_size)?, area("csa_size", wanted.csa_size)?);
    let parameters = UserqGfx { shadow_va: shadow.address().as_u64(), csa_va: save.address().as_u64() };
    Ok((vec![shadow, save], parameters.as_bytes().to_vec()))
}

impl QueueId {
    fn create(device: &Device, question: Userq, parameters: &[u8]) -> Result<Self> {
        let mqd = wide(parameters.as_ptr().expose_provenance());
        let mut argument = Userq { mqd, mqd_size: u64::from(count(parameters.len())), ..question };
        // SAFETY: the only address is that of `parameters`, which outlives the call and is as long as the size says.
        let sent = unsafe { send_raw(device.kernel(), Userq::REQUEST, &mut argument) };
        sent.map_err(|errno| Error::Ioctl { request: Userq::NAME, errno })?;
        Ok(Self { device: device.clone(), id: argument.answer().queue_id })
    }
}

impl Drop for QueueId {
    fn drop(&mut self) {
        let kernel = self.device.kernel();
        let freed = release(|| {
            let mut argument = Userq { op: userq_op::FREE, queue_id: self.id, ..Userq::ZEROED };
            // SAFETY: FREE follows no address, and all of them are null.
            unsafe { send_raw_quietly(kernel, Userq::REQUEST, &mut argument) }
        });
        freed.report(Userq::NAME, self.id);
    }
}
