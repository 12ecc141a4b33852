//! The fields of DEV_INFO that a kernel fills in.

use crate::{
    uapi::{DevInfo, Layout},
    winsys::DriverVersion,
};

/// Fields that existed in the structure before the kernel filled them in, with the first DRM minor version that does.
///
/// Source: the version history in Linux 6.12 `amdgpu_drv.c`.
const SINCE: &[(&str, i32)] = &[
    ("tcc_disabled_mask", 35),
    ("num_shader_visible_vgprs", 45),
    ("min_engine_clock", 50),
    ("min_memory_clock", 50),
    ("pcie_gen", 51),
    ("pcie_num_lanes", 51),
    ("tcp_cache_size", 52),
    ("num_sqc_per_wgp", 52),
    ("sqc_data_cache_size", 52),
    ("sqc_inst_cache_size", 52),
    ("gl1c_cache_size", 52),
    ("gl2c_cache_size", 52),
    ("mall_size", 52),
    ("enabled_rb_pipes_mask_hi", 52),
    ("shadow_size", 53),
    ("shadow_alignment", 53),
    ("csa_size", 53),
    ("csa_alignment", 53),
];

/// The fields of [`DevInfo`] that the kernel filled in.
///
/// Kernels append fields to the structure. An older kernel writes fewer bytes; values derived from missing fields are then `None`
/// or 0, as their docs say. If a newer kernel returns a longer answer, only the fields of [`DevInfo`] are read.
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let answered = device.info().answered;
/// assert_eq!(answered.bytes(), size_of::<amdgpu_winsys::uapi::DevInfo>());
/// assert!(answered.has("mall_size") && !answered.has("no_such_field"));
/// assert_eq!(answered.missing().count(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DevInfoAnswer {
    bytes: usize,
    minor: i32,
}

impl DevInfoAnswer {
    pub(super) fn new(bytes: usize, driver: DriverVersion) -> Self {
        Self { bytes, minor: driver.minor }
    }

    /// Returns the number of bytes that the kernel wrote, at most the size of [`DevInfo`].
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// Returns `true` if the kernel filled in the field with this C name and its driver version defines it.
    pub fn has(self, field: &str) -> bool {
        fields().any(|(name, end)| name == field && self.is_answered(name, end))
    }

    /// Returns the names of the fields that the kernel did not fill in, in the order of the structure.
    pub fn missing(self) -> impl Iterator<Item = &'static str> {
        fields().filter(move |&(name, end)| !self.is_answered(name, end)).map(|(name, _)| name)
    }

    fn is_answered(self, name: &str, end: usize) -> bool {
        let since = SINCE.iter().find(|(field, _)| *field == name).map_or(0, |&(_, minor)| minor);
        end <= self.bytes && self.minor >= since
    }
}

/// Returns each field with the offset of its end. Padding has no name and is left out.
fn fields() -> impl Iterator<Item = (&'static str, usize)> {
    let ends = DevInfo::FIELDS.iter().skip(1).map(|&(_, offset)| offset).chain([DevInfo::SIZE]);
    DevInfo::FIELDS.iter().zip(ends).map(|(&(name, _), end)| (name, end)).filter(|(name, _)| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(bytes: usize, minor: i32) -> DevInfoAnswer {
        DevInfoAnswer::new(bytes, DriverVersion { major: 3, minor, patch: 0 })
    }

    #[test]
    fn a_field_is_answered_if_all_of_it_was_written_and_its_version_has_come() {
        let all = answer(DevInfo::SIZE, 60);
        assert_eq!(all.missing().collect::<Vec<_>>(), [""; 0]);
        assert!(all.has("csa_alignment") && !all.has("tail") && !all.has(""));
        let cut = answer(380, 60);
        assert!(cut.has("min_engine_clock") && !cut.has("min_memory_clock"));
        assert_eq!(cut.missing().next(), Some("min_memory_clock"));
        assert!(answer(384, 60).has("min_memory_clock"));
        let old = answer(DevInfo::SIZE, 50);
        assert!(old.has("min_engine_clock") && !old.has("pcie_gen") && !old.has("mall_size"));
        assert_eq!(answer(0, 60).missing().count(), fields().count());
    }

    #[test]
    fn each_field_with_a_version_exists() {
        for (field, minor) in SINCE {
            assert!(fields().any(|(name, _)| name == *field), "{field}");
            assert!(
                answer(DevInfo::SIZE, *minor).has(field) && !answer(DevInfo::SIZE, minor - 1).has(field),
                "{field}"
            );
        }
    }
}
