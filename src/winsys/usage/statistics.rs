//! The kernel's statistics: memory usage, moved bytes, and sensors.
//!
//! Each query is one INFO ioctl. Counters and usage are those of the whole GPU, for all processes together; any client may
//! query them.
//!
//! Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/amdgpu_kms.c`, `amdgpu_info_ioctl`.

use crate::{
    uapi::{Errno, MemoryInfo, query},
    winsys::{Device, Error, KernelError, Result, device::query::info},
};

/// Memory usage of all processes and the kernel in bytes, as INFO_MEMORY reports it (`heap_usage`).
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(0, 4096))?;
/// let usage = device.system_usage()?;
/// assert!(usage.vram >= memory.size() && usage.visible_vram <= usage.vram);
/// assert_eq!(usage.vram, device.vram_usage()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SystemUsage {
    /// Usage of all VRAM, visible or not, in bytes.
    pub vram: u64,
    /// Usage of the visible part of VRAM, in bytes.
    pub visible_vram: u64,
    /// Usage of GTT, in bytes.
    pub gtt: u64,
}

impl From<&MemoryInfo> for SystemUsage {
    fn from(memory: &MemoryInfo) -> Self {
        Self {
            vram: memory.vram.heap_usage,
            visible_vram: memory.cpu_accessible_vram.heap_usage,
            gtt: memory.gtt.heap_usage,
        }
    }
}

/// Counters of moved memory since the driver was loaded. They never decrease.
///
/// ```
/// use amdgpu_winsys::winsys::MoveCounters;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let before = device.move_counters()?;
/// // A frame later:
/// let moved = device.move_counters()?.since(before);
/// assert_eq!(moved, MoveCounters { evictions: 0, bytes_moved: 0 }); // all memory fits
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveCounters {
    /// Number of BOs that were evicted and copied.
    pub evictions: u64,
    /// Number of bytes copied by evictions and other moves.
    pub bytes_moved: u64,
}

impl MoveCounters {
    /// Returns the difference to `earlier`. A counter that is lower than before, as after a reload of the driver, counts
    /// from zero.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        const fn grown(now: u64, then: u64) -> u64 {
            if now >= then { now - then } else { now }
        }
        Self {
            evictions: grown(self.evictions, earlier.evictions),
            bytes_moved: grown(self.bytes_moved, earlier.bytes_moved),
        }
    }
}

/// A sensor of the GPU. A chip may lack some of them.
///
/// Source: Linux 6.12 `include/uapi/drm/amdgpu_drm.h`, `AMDGPU_INFO_SENSOR_*`.
///
/// ```
/// use amdgpu_winsys::winsys::Sensor;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// for sensor in Sensor::ALL {
///     if let Some(value) = device.sensor(sensor)? {
///         println!("{sensor:?}: {value}"); // in the unit of the sensor
///     }
/// }
/// assert_eq!(device.sensor(Sensor::NorthbridgeVoltage)?, None); // a card has none
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Sensor {
    /// Shader clock in MHz.
    ShaderClock = 1,
    /// Memory clock in MHz.
    MemoryClock = 2,
    /// Temperature in thousandths of a degree Celsius.
    Temperature = 3,
    /// Load of the GPU in percent.
    Load = 4,
    /// Average power in watts.
    AveragePower = 5,
    /// Voltage of the northbridge in millivolts; only APUs have this sensor.
    NorthbridgeVoltage = 6,
    /// Voltage of the graphics block in millivolts.
    GraphicsVoltage = 7,
    /// Shader clock of the stable power state in MHz.
    StableShaderClock = 8,
    /// Memory clock of the stable power state in MHz.
    StableMemoryClock = 9,
    /// Highest shader clock of the stable power state in MHz.
    PeakShaderClock = 10,
    /// Highest memory clock of the stable power state in MHz.
    PeakMemoryClock = 11,
    /// Current power in watts.
    InputPower = 12,
}

impl Sensor {
    /// All sensors, ordered by number.
    pub const ALL: [Self; 12] = [
        Self::ShaderClock,
        Self::MemoryClock,
        Self::Temperature,
        Self::Load,
        Self::AveragePower,
        Self::NorthbridgeVoltage,
        Self::GraphicsVoltage,
        Self::StableShaderClock,
        Self::StableMemoryClock,
        Self::PeakShaderClock,
        Self::PeakMemoryClock,
        Self::InputPower,
    ];
}

impl Device {
    /// Returns the memory usage of the whole GPU, with one ioctl.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the query.
    pub fn system_usage(&self) -> Result<SystemUsage> {
        self.memory_info().map(|memory| SystemUsage::from(&memory))
    }

    /// Returns the VRAM usage of all processes in bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the query.
    pub fn vram_usage(&self) -> Result<u64> {
        info(self.kernel(), "VRAM_USAGE", query::VRAM_USAGE, [0; 4])
    }

    /// Returns the usage of visible VRAM by all processes in bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the query.
    pub fn visible_vram_usage(&self) -> Result<u64> {
        info(self.kernel(), "VIS_VRAM_USAGE", query::VIS_VRAM_USAGE, [0; 4])
    }

    /// Returns the GTT usage of all processes in bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the query.
    pub fn gtt_usage(&self) -> Result<u64> {
        info(self.kernel(), "GTT_USAGE", query::GTT_USAGE, [0; 4])
    }

    /// Returns the counters of moved memory, with two ioctls.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses a query.
    pub fn move_counters(&self) -> Result<MoveCounters> {
        let counter = |name, number| info(self.kernel(), name, number, [0; 4]);
        Ok(MoveCounters {
            evictions: counter("NUM_EVICTIONS", query::NUM_EVICTIONS)?,
            bytes_moved: counter("NUM_BYTES_MOVED", query::NUM_BYTES_MOVED)?,
        })
    }

    /// Returns the number of times that the CPU accessed a mapping whose BO was in invisible VRAM and had to be moved.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the query.
    pub fn cpu_page_faults(&self) -> Result<u64> {
        info(self.kernel(), "NUM_VRAM_CPU_PAGE_FAULTS", query::NUM_VRAM_CPU_PAGE_FAULTS, [0; 4])
    }

    /// Returns a sensor's value, in the unit given by [`Sensor`]; `None` if the chip or the kernel does not have the
    /// sensor.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the query for another reason.
    pub fn sensor(&self, sensor: Sensor) -> Result<Option<u32>> {
        match info(self.kernel(), "SENSOR", query::SENSOR, [sensor as u32, 0, 0, 0]) {
            Ok(value) => Ok(Some(value)),
            // The kernel returns ENOENT without power management, and EINVAL for a sensor that it or the chip does not
            // have.
            Err(Error::Kernel(KernelError { errno: Errno::ENOENT | Errno::EINVAL, .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
