//! A page of markers that rings write and the CPU reads.

use amdgpu_hw::num::wide;

use crate::{
    cs::RecordResult as Result,
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::{GpuVa, VaRequest},
    winsys::{Binding, Bo, BoRequest, Capabilities, Device, Mapping, PAGE_SIZE},
};

/// A page of system memory that rings write, initially zero. It keeps its content if VRAM is lost.
///
/// From GFX9 on the page bypasses L2 (MTYPE_UC): a mark would otherwise stay in L2 until the end of the job, which never comes if
/// the ring hangs, and a ring that polls a mark of another ring or of the CPU might find the same old line forever. On older
/// generations the command processor never uses L2 for such accesses.
#[derive(Debug)]
pub(in crate::cs) struct MarkerPage {
    // Fields drop from top to bottom: the CPU mapping must be gone before the GPU binding.
    mapping: Mapping,
    binding: Binding,
}

impl MarkerPage {
    pub(in crate::cs) fn new(device: &Device) -> Result<Self> {
        let lease = device.addresses().allocate(VaRequest::new(PAGE_SIZE))?;
        let flags = GemCreateFlags::CPU_ACCESS_REQUIRED | GemCreateFlags::EXPLICIT_SYNC;
        let request = BoRequest { size: PAGE_SIZE, alignment: PAGE_SIZE, domains: GemDomain::GTT, flags };
        let bo = Bo::create(device, request)?;
        let is_cached = !device.info().capabilities.contains(Capabilities::L2_UNCACHED);
        let caching = if is_cached { VaFlags::empty() } else { VaFlags::MTYPE_UC };
        let rights = VaFlags::READABLE | VaFlags::WRITEABLE | caching;
        let binding = Binding::new(&bo, lease, rights).map_err(|(_lease, error)| error)?;
        let mapping = Mapping::new(&bo)?;
        // The kernel gives zeroed pages, but a shim in its place may give used ones.
        mapping.write(0, &[0; PAGE_SIZE as usize])?;
        Ok(Self { mapping, binding })
    }

    /// Returns the GPU address of a dword of the page. Indices beyond the page wrap.
    pub(in crate::cs) fn at(&self, index: usize) -> GpuVa {
        let start = self.binding.address();
        start.checked_add(Self::offset(index)).unwrap_or(start)
    }

    /// Returns the current value of a dword of the page. Indices beyond the page wrap.
    pub(in crate::cs) fn load(&self, index: usize) -> u32 {
        // The offset is in range and aligned, so the default is never used.
        self.mapping.load_u32(Self::offset(index)).unwrap_or(0)
    }

    /// Returns the binding, which every submission that writes or reads the page must list.
    pub(in crate::cs) fn binding(&self) -> &Binding {
        &self.binding
    }

    fn offset(index: usize) -> u64 {
        wide(index) * 4 % PAGE_SIZE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_dword_of_the_page_is_a_mark_of_its_own() {
        let page = wide(1024) * 4;
        assert_eq!(page, PAGE_SIZE);
        let offsets: Vec<u64> = (0..1026).map(MarkerPage::offset).collect();
        assert!((0..).step_by(4).zip(&offsets[..1024]).all(|(expected, &offset)| offset == expected));
        assert_eq!(offsets[1024..], [0, 4], "no index leads out of it");
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn marks_bypass_l2_where_pages_can() {
        for (chip, expected) in
            [("polaris10", VaFlags::empty()), ("vega10", VaFlags::MTYPE_UC), ("navi31", VaFlags::MTYPE_UC)]
        {
            let device = Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile(chip).unwrap())).unwrap();
            let page = MarkerPage::new(&device).unwrap();
            assert_eq!(page.binding().flags() & VaFlags::MTYPE_MASK, expected, "{chip}");
        }
    }
}
