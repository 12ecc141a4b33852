//! The name that a client gives itself.

use amdgpu_hw::num::wide;

use crate::{
    uapi::{Argument as _, CLIENT_NAME_MAX, Errno, SetClientName},
    winsys::{Device, KernelError, kernel::send_raw},
};

impl Device {
    /// Names the client for tools that read its fdinfo and for kernel messages, and returns `true` if the kernel can do that (Linux
    /// 6.13). An empty name removes it.
    ///
    /// The kernel takes up to 64 graphic ASCII characters. All others become `_`, and what is longer is cut.
    ///
    /// Request: SET_CLIENT_NAME.
    ///
    /// # Errors
    ///
    /// [`KernelError`] if the kernel refuses the request for another reason than that it does not know it.
    ///
    /// ```
    /// use amdgpu_sim::{KernelRelease, SimDevice, SimOptions, profile};
    /// use amdgpu_winsys::winsys::Device;
    ///
    /// let chip = profile("navi21").ok_or("no such chip")?;
    /// let named = |release| -> Result<_, Box<dyn std::error::Error>> {
    ///     let gpu = SimDevice::new(chip.clone(), SimOptions::of_kernel(release));
    ///     Ok(Device::new(gpu.open())?.set_client_name("a game")?)
    /// };
    /// assert_eq!((named(KernelRelease::V6_12)?, named(KernelRelease::V6_13)?), (false, true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_client_name(&self, name: &str) -> Result<bool, KernelError> {
        let mut bytes = [0; CLIENT_NAME_MAX];
        let mut len = 0;
        for (to, from) in bytes.iter_mut().zip(name.chars()) {
            *to = u8::try_from(from).ok().filter(u8::is_ascii_graphic).unwrap_or(b'_');
            len += 1;
        }
        let mut argument = SetClientName { name_len: len, name: wide(bytes.as_ptr().expose_provenance()) };
        // SAFETY: the only address is that of `bytes`, of which the kernel reads `name_len` at most.
        match unsafe { send_raw(self.kernel(), SetClientName::REQUEST, &mut argument) } {
            Ok(()) => Ok(true),
            Err(Errno::EINVAL) => Ok(false),
            Err(errno) => Err(KernelError::new(SetClientName::NAME, errno)),
        }
    }
}
