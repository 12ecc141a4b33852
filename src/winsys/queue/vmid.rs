//! Reserved VMIDs.

use crate::{
    uapi::{Argument, VM_OP_RESERVE_VMID, VM_OP_UNRESERVE_VMID, Vm},
    winsys::{
        Device, Error, KernelError, Result,
        own::{send, send_quietly},
        release::release,
    },
};

/// A reservation of a VMID for the jobs of a device's file, for debuggers and tracers. It lasts until this value and every
/// other reservation of the device is dropped.
///
/// The kernel keeps one reservation for a file, however often it is requested, so reservations are counted here. While a
/// VMID is reserved, the kernel refuses gangs on chips that cannot flush two VMIDs at a time (before Vega10; Navi10 and
/// Navi14).
///
/// Source: Linux 6.12 `amdgpu_vm.c`, `amdgpu_vm_ioctl`; `amdgpu_cs.c`, `amdgpu_cs_vm_handling`.
///
/// ```
/// use amdgpu_winsys::{cs::Submission, winsys::{Deadline, VmidReservation}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// # let list = amdgpu_winsys::cs::Stream::new(&device, target, 64)?.finish()?;
/// let reservation = VmidReservation::new(&device)?;
/// // All jobs of the device's file now run on one VMID, where a debugger finds them.
/// let fence = queue.submit(&Submission { lists: &[&list], ..Submission::default() })?;
/// assert!(fence.wait(Deadline::NEVER)?);
/// drop(reservation);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "dropping the reservation releases the VMID"]
pub struct VmidReservation {
    device: Device,
}

impl VmidReservation {
    /// Reserves a VMID.
    ///
    /// Request: AMDGPU_VM (reserve VMID).
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the request.
    pub fn new(device: &Device) -> Result<Self> {
        let mut users = device.vmid_users().lock();
        if *users == 0 {
            let mut argument = Vm { op: VM_OP_RESERVE_VMID, flags: 0 };
            send(device.kernel(), &mut argument).map_err(|errno| Error::Kernel(KernelError::new(Vm::NAME, errno)))?;
        }
        *users += 1;
        Ok(Self { device: device.clone() })
    }
}

impl Drop for VmidReservation {
    fn drop(&mut self) {
        let mut users = self.device.vmid_users().lock();
        *users = users.saturating_sub(1);
        if *users > 0 {
            return;
        }
        let kernel = self.device.kernel();
        let given_back = release(|| send_quietly(kernel, &mut Vm { op: VM_OP_UNRESERVE_VMID, flags: 0 }));
        drop(users);
        given_back.report(Vm::NAME, 0);
    }
}
