//! The facts of a GPU under the names that Mesa prints.
//!
//! Mesa's drivers print their `radeon_info` with `AMD_DEBUG=info` (radeonsi) and `RADV_DEBUG=info` (RADV). [`GpuInfo::radeon_info`]
//! gives the same fields with the same text, so that the two can be laid beside each other. `tests/radeon_info.rs` compares them
//! with what RADV 26.2.6 prints of recorded chips.
//!
//! Left out is what is no fact of the GPU or of its kernel (`dev_filename`, the video codecs, which Mesa asks of the kernel one by
//! one and [`super::questions`] has, and what an environment variable sets), Mesa's own numbers of chips and generations, which change
//! between its releases, what Mesa's address library computes (`max_alignment`, the modifiers), which the crate `amdgpu-surface` has,
//! and the workarounds of single chips (`has_..._bug`) with its choices for displays, which are decisions of Mesa's.
//!
//! Source: RADV 26.2.6's output for the recorded chips; Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_query_gpu_info` and
//! `ac_print_gpu_info`.

mod addressing;
mod blocks;
mod chip;
mod list;
mod memory;

pub use self::list::RadeonField;

use self::list::List;
use crate::winsys::GpuInfo;

impl GpuInfo {
    /// Returns the facts that Mesa prints of its `radeon_info`, in its order and with its names and units.
    ///
    /// ```
    /// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
    /// let fields = device.info().radeon_info();
    /// let told = |name| fields.iter().find(|field| field.name == name).map(|field| field.value.as_str());
    /// assert_eq!(told("num_cu"), Some("60"));
    /// assert_eq!(told("memory_bandwidth"), Some("512 GB/s"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn radeon_info(&self) -> Vec<RadeonField> {
        let mut all = Vec::new();
        chip::device(self, &mut List { section: "Device info", all: &mut all });
        chip::identification(self, &mut List { section: "Identification", all: &mut all });
        blocks::flags(self, &mut List { section: "Flags", all: &mut all });
        memory::memory(self, &mut List { section: "Memory info", all: &mut all });
        blocks::command_processor(self, &mut List { section: "CP info", all: &mut all });
        blocks::kernel(self, &mut List { section: "Kernel & winsys capabilities", all: &mut all });
        chip::shader_core(self, &mut List { section: "Shader core info", all: &mut all });
        chip::compiler(self, &mut List { section: "Compiler info", all: &mut all });
        memory::rings(self, &mut List { section: "Ring info", all: &mut all });
        blocks::render_backends(self, &mut List { section: "Render backend info", all: &mut all });
        addressing::parts(self, &mut List { section: "GB_ADDR_CONFIG", all: &mut all });
        all
    }
}
