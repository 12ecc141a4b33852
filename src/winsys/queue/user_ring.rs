//! User queues of the kernel: a ring, its pointers and a doorbell.

use std::{
    mem,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering, fence},
    },
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
        Binding, Bo, BoRequest, BoundRequest, CreateBoundError, Deadline, Device, Error, Feature, InvalidReply, Ip,
        KernelError, Mapping, NoAddress, OutOfRange, PAGE_SIZE, Result, Syncobj,
        kernel::{send_raw, send_raw_quietly},
        release::release,
    },
};

/// Size of a ring in bytes.
const RING_BYTES: u64 = 64 << 10;
/// Maximum size in bytes of the end-of-pipe area of a compute queue and of the save area of an SDMA queue.
const OWN_AREA: u64 = PAGE_SIZE;

/// A user queue of the kernel: a ring that this process fills and starts with a store to a doorbell, without an ioctl.
///
/// The ring is accessed as dwords. [`cs::UserQueue`](crate::cs::UserQueue) submits command lists through a `UserRing`.
///
/// Requests: AMDGPU_USERQ, AMDGPU_USERQ_SIGNAL. User queues need Linux 6.17, GFX11 or later, and the module parameter
/// `user_queue`; DEV_INFO lists the IPs that have them.
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
///
/// Dropping the ring frees the kernel's queue first, then the memory that the queue uses. If the kernel refuses to free the queue,
/// its engine may still access that memory: the memory and the device then stay open until the process ends.
#[derive(Debug)]
pub struct UserRing {
    queue: QueueId,
    ip: Ip,
    doorbell: Mapping,
    ring: Mapping,
    read: Mapping,
    write: Mapping,
    number: Mapping,
    number_address: GpuVa,
    /// The number of dwords written so far.
    written: u64,
    page_tables: Arc<PageTables>,
    /// The memory that the kernel's queue uses.
    bound: Vec<Binding>,
}

/// The kernel's queue.
#[derive(Debug)]
struct QueueId {
    device: Device,
    id: u32,
    state: QueueState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueueState {
    Live,
    Freed,
    /// The kernel refused to free it.
    Stuck,
}

impl UserRing {
    /// Creates a user queue of an IP, with a ring of 64 KiB.
    ///
    /// # Errors
    ///
    /// * [`Error::Unsupported`] if the kernel has no user queues of the IP;
    /// * [`Error::InvalidReply`] if the kernel reports an area size out of range;
    /// * [`Error::Kernel`] if the kernel refuses the queue;
    /// * the errors of [`Bo::create_bound`] and [`Mapping::new`].
    pub fn new(device: &Device, ip: Ip) -> Result<Self> {
        if !Self::is_supported(device, ip)? {
            return Err(Error::Unsupported { feature: Feature::UserQueues });
        }
        let [ring, read, write, number] =
            [RING_BYTES, PAGE_SIZE, PAGE_SIZE, PAGE_SIZE].map(|bytes| bound(device, bytes, VaFlags::MTYPE_UC));
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
        let nothing = nothing.map_err(|source| Error::Address(NoAddress { is_fixed: false, source }))?;
        let maps = (
            Mapping::new(&doorbell)?,
            Mapping::new(ring.bo())?,
            Mapping::new(read.bo())?,
            Mapping::new(write.bo())?,
            Mapping::new(number.bo())?,
        );
        let (doorbell_map, ring_map, read_map, write_map, number_map) = maps;
        let room = ArcRoom::new().map_err(|error| error.of("a user queue"))?;
        device.page_table_changes().start();
        let (done, point) = (Syncobj::new(device, false)?, Mutex::new(0));
        let page_tables = PageTables { done, point, waited_for: AtomicU64::new(0), nothing };
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
            bound: all,
        })
    }

    /// Returns `true` if the kernel has user queues of an IP.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the query.
    pub fn is_supported(device: &Device, ip: Ip) -> Result<bool> {
        if device.info().driver.minor < USERQ_DRM_MINOR {
            return Ok(false);
        }
        let mut answer = DevInfo::ZEROED;
        device.info_raw(uapi::query::DEV_INFO, [0; 4], answer.as_mut_bytes())?;
        // The mask of IPs is in a field that was padding before.
        Ok(answer.tail >> ip.raw() & 1 != 0)
    }

    /// Returns the device that the queue belongs to.
    pub fn device(&self) -> &Device {
        &self.queue.device
    }

    /// Returns the IP of the queue.
    pub fn ip(&self) -> Ip {
        self.ip
    }

    /// Returns the kernel's ID of the queue.
    pub fn id(&self) -> u32 {
        self.queue.id
    }

    /// Returns the size of the ring in dwords.
    pub fn dwords(&self) -> usize {
        (RING_BYTES / 4) as usize
    }

    /// Returns the number of dwords that can be pushed before the engine reads more. Makes no ioctl.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidReply`] if the engine's read pointer is beyond the write pointer, or more than a ring behind it.
    pub fn free_dwords(&self) -> Result<usize> {
        let read = self.read.load_u64(0)? / self.unit();
        let left = self.written.checked_sub(read).and_then(|used| (RING_BYTES / 4).checked_sub(used));
        let invalid = Error::InvalidReply(InvalidReply {
            field: "read pointer",
            value: read,
            reason: "not near the write pointer",
        });
        left.map(|dwords| dwords as usize).ok_or(invalid)
    }

    /// Returns the number of dwords pushed so far.
    pub fn pushed(&self) -> u64 {
        self.written
    }

    /// Writes dwords to the ring. The engine does not read them before [`start`](Self::start). The caller must check
    /// [`free_dwords`](Self::free_dwords) first; otherwise dwords that the engine has not read yet are overwritten.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] if there are more dwords than the ring holds.
    pub fn push(&mut self, dwords: &[u32]) -> Result<()> {
        let start = self.written % (RING_BYTES / 4);
        // The two parts below are in range one by one, although together they may overlap.
        let (len, size) = (4 * wide(dwords.len()), RING_BYTES);
        if len > size {
            return Err(Error::OutOfRange(OutOfRange {
                handle: self.ring.bo().handle(),
                offset: 4 * start,
                len,
                size,
            }));
        }
        let to_end = usize::try_from(RING_BYTES / 4 - start).unwrap_or(usize::MAX).min(dwords.len());
        let (before, behind) = dwords.split_at(to_end);
        self.ring.write_dwords(4 * start, before)?;
        self.ring.write_dwords(0, behind)?;
        self.written += wide(dwords.len());
        Ok(())
    }

    /// Makes the engine execute the pushed dwords: stores the write pointer and rings the doorbell. Makes no ioctl.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] never occurs, because both mappings have at least one page.
    pub fn start(&self) -> Result<()> {
        let pointer = self.written * self.unit();
        // The contents of the ring must be visible before the pointer, and the pointer before the doorbell, which the
        // engine may read at once.
        fence(Ordering::SeqCst);
        self.write.store_u64(0, pointer)?;
        fence(Ordering::SeqCst);
        Ok(self.doorbell.store_u64(0, pointer)?)
    }

    /// Returns the pointer units of a dword: SDMA counts bytes.
    fn unit(&self) -> u64 {
        if self.ip == Ip::Sdma { 4 } else { 1 }
    }

    /// Returns the GPU address of a dword that the kernel does not use. Packets in the ring can write the number of the last
    /// completed submission there; [`number`](Self::number) reads it.
    pub fn number_address(&self) -> GpuVa {
        self.number_address
    }

    /// Returns the submission number that packets in the ring last wrote to [`number_address`](Self::number_address). Makes no
    /// ioctl.
    pub fn number(&self) -> u32 {
        // Offset 0 of a page is in range and aligned, so the load cannot fail.
        let number = self.number.load_u32(0).unwrap_or(0);
        fence(Ordering::Acquire);
        number
    }

    /// Makes sync objects signal when the queue has finished the dwords started so far. The last packet among them must be
    /// the queue's fence (PROTECTED_FENCE_SIGNAL).
    ///
    /// Request: AMDGPU_USERQ_SIGNAL.
    ///
    /// # Errors
    ///
    /// * [`Error::ForeignDevice`] if a sync object belongs to another device;
    /// * [`Error::HostMemory`] if host memory is exhausted;
    /// * [`Error::Kernel`] if the kernel refuses the request, or there are more than 65,535 sync objects.
    pub fn signal(&self, syncobjs: &[&Syncobj]) -> Result<()> {
        if syncobjs.iter().any(|syncobj| syncobj.device() != self.device()) {
            return Err(Error::ForeignDevice { what: "sync object" });
        }
        let mut handles: Vec<u32> = Vec::new();
        host_memory::extend(&mut handles, syncobjs.iter().map(|syncobj| syncobj.handle()))
            .map_err(|error| error.of("signals of a user queue"))?;
        let refused = |errno| Error::Kernel(KernelError::new(UserqSignal::NAME, errno));
        let num_syncobj_handles = u16::try_from(handles.len()).map_err(|_| refused(uapi::Errno::EINVAL))?;
        let syncobj_handles = wide(handles.as_ptr().expose_provenance());
        let mut argument =
            UserqSignal { queue_id: self.queue.id, syncobj_handles, num_syncobj_handles, ..UserqSignal::ZEROED };
        // SAFETY: the only address is that of `handles`, which outlives the call and has `num_syncobj_handles` elements. The queue is this
        // one, and its sync objects are the library's.
        unsafe { send_raw(self.device().kernel(), UserqSignal::REQUEST, &mut argument) }.map_err(refused)
    }

    /// Waits until the page tables contain all bindings made so far. Returns `false` if the deadline passes first. The CS
    /// ioctl waits for them by itself, but a doorbell does not.
    ///
    /// Request: AMDGPU_GEM_VA (clear of an address range without bindings), with a point of a sync object; none if the device has bound
    /// nothing since the last wait that ended in time.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the request.
    pub fn wait_for_bindings(&self, deadline: Deadline) -> Result<bool> {
        self.page_tables.wait(deadline)
    }

    /// Frees the kernel's queue, unless that was tried before; nothing can be pushed afterwards. Returns `false` if the kernel refused,
    /// so that the engine may still execute what was started.
    pub(crate) fn free(&mut self) -> bool {
        self.queue.free()
    }

    /// Returns the part of the queue that waits for bindings, for callers that wait without borrowing the queue.
    pub(crate) fn page_tables(&self) -> &Arc<PageTables> {
        &self.page_tables
    }
}

/// Waits for page table updates, which are executed in order.
#[derive(Debug)]
pub(crate) struct PageTables {
    /// Its points signal when page table updates are finished.
    done: Syncobj,
    /// The last requested point.
    point: Mutex<u64>,
    /// One more than the number of changes of the page tables that were waited for; 0 before the first wait.
    waited_for: AtomicU64,
    /// An address range without bindings.
    nothing: VaLease,
}

impl PageTables {
    /// Waits until the page tables contain all bindings made so far. Updates are executed in order, so an update of an
    /// unused range follows all earlier ones. The lock, which makes points rise, is held for the request but not for the
    /// wait.
    ///
    /// Makes no request if the device has bound nothing since an earlier wait that ended in time.
    pub(crate) fn wait(&self, deadline: Deadline) -> Result<bool> {
        let changes = self.done.device().page_table_changes().count() + 1;
        if self.waited_for.load(Ordering::SeqCst) >= changes {
            return Ok(true);
        }
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
        // SAFETY: the only address, of the handles to wait for, is null, and their number is 0. The range is a lease of this object,
        // without bindings.
        let sent = unsafe { send_raw(self.done.device().kernel(), GemVaTimeline::REQUEST, &mut argument) };
        let asked = *point;
        drop(point);
        sent.map_err(|errno| Error::Kernel(KernelError::new(GemVaTimeline::NAME, errno)))?;
        let is_reached = self.done.wait_point(asked, deadline)?;
        if is_reached {
            self.waited_for.fetch_max(changes, Ordering::SeqCst);
        }
        Ok(is_reached)
    }
}

/// Allocates and binds system memory that the queue's engine may read, write and execute.
///
/// The ring, its pointers and its number are shared with a CPU and an engine that poll them, so their pages bypass L2
/// ([`VaFlags::MTYPE_UC`]), as in Mesa's `ac_linux_drm.c` and `amdgpu_userq.c`; `caching` is empty for memory of the engine alone.
fn bound(device: &Device, bytes: u64, caching: VaFlags) -> Result<Binding, CreateBoundError> {
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
            flags: VaFlags::READABLE | VaFlags::WRITEABLE | VaFlags::EXECUTABLE | caching,
            priority: 0,
            guard_page: false,
        },
    )
}

/// Allocates the areas that the engine needs besides the ring, and returns them with the parameters that refer to them.
fn areas(device: &Device, ip: Ip) -> Result<(Vec<Binding>, Vec<u8>)> {
    if ip != Ip::Gfx {
        let area = bound(device, OWN_AREA, VaFlags::empty())?;
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
            return Err(Error::InvalidReply(InvalidReply {
                field,
                value: bytes.into(),
                reason: "not the size of an area",
            }));
        }
        Ok(bound(device, bytes.into(), VaFlags::empty())?)
    };
    let (shadow, save) = (area("shadow_size", wanted.shadow_size)?, area("csa_size", wanted.csa_size)?);
    let parameters = UserqGfx { shadow_va: shadow.address().as_u64(), csa_va: save.address().as_u64() };
    Ok((vec![shadow, save], parameters.as_bytes().to_vec()))
}

impl QueueId {
    fn create(device: &Device, question: Userq, parameters: &[u8]) -> Result<Self> {
        let mqd = wide(parameters.as_ptr().expose_provenance());
        let mut argument = Userq { mqd, mqd_size: u64::from(count(parameters.len())), ..question };
        // SAFETY: the only address is that of `parameters`, which outlives the call and is `mqd_size` bytes long. The request makes a new
        // queue, in memory that is bound for it alone.
        let sent = unsafe { send_raw(device.kernel(), Userq::REQUEST, &mut argument) };
        sent.map_err(|errno| Error::Kernel(KernelError::new(Userq::NAME, errno)))?;
        Ok(Self { device: device.clone(), id: argument.answer().queue_id, state: QueueState::Live })
    }

    /// Frees the queue, unless that was tried before. Returns `false` if the kernel still has it.
    fn free(&mut self) -> bool {
        if self.state != QueueState::Live {
            return self.state == QueueState::Freed;
        }
        let kernel = self.device.kernel();
        let freed = release(|| {
            let mut argument = Userq { op: userq_op::FREE, queue_id: self.id, ..Userq::ZEROED };
            // SAFETY: FREE follows no address, and all of them are null. The queue is the one that is dropped.
            unsafe { send_raw_quietly(kernel, Userq::REQUEST, &mut argument) }
        });
        self.state = if freed.is_over() { QueueState::Freed } else { QueueState::Stuck };
        freed.report(Userq::NAME, self.id);
        freed.is_over()
    }
}

impl Drop for UserRing {
    fn drop(&mut self) {
        if !self.free() {
            // The engine may still access the memory, and closing a BO's handle would also unbind it.
            mem::forget(mem::take(&mut self.bound));
            // Nor is the unbound range that page table updates name given to others, so that nothing of this queue is.
            mem::forget(Arc::clone(&self.page_tables));
            tracing::error!(queue = self.id(), "memory leaked: the kernel refused to free the user queue that uses it");
        }
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_sim::{KernelRelease, SimDevice, SimOptions, profile};

    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn memory_that_engine_and_cpu_poll_bypasses_l2() {
        let options = SimOptions { user_queues: true, ..SimOptions::of_kernel(KernelRelease::V6_17) };
        let gpu = SimDevice::new(profile("navi31").unwrap(), options);
        let ring = UserRing::new(&Device::new(gpu.open()).unwrap(), Ip::Gfx).unwrap();
        let caching: Vec<_> = ring.bound.iter().map(|binding| binding.flags() & VaFlags::MTYPE_MASK).collect();
        assert_eq!(caching[..4], [VaFlags::MTYPE_UC; 4], "ring, read and write pointer, number");
        assert!(caching[4..].iter().all(VaFlags::is_empty), "areas of the engine alone: {caching:?}");
    }
}
