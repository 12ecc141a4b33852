//! The kernel's statistics: memory in use, bytes moved, sensors.
//!
//! Each question is one INFO ioctl. Counters and usage are those of the whole GPU, over all processes; any client may
//! ask.
//!
//! Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/amdgpu_kms.c`, `amdgpu_info_ioctl`.

use crate::{
    uapi::{Errno, MemoryInfo, query},
    winsys::{Device, Error, Result, device::query::info},
};

/// Bytes in use by all processes and the kernel, as INFO_MEMORY reports them (`heap_usage`). Zero where unknown.
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
    /// Of all VRAM, visible or not.
    pub vram: u64,
    /// Of the visible part of VRAM.
    pub visible_vram: u64,
    /// Of GTT.
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

/// Bytes moved since the driver was loaded. The counters only grow.
///
/// ```
/// use amdgpu_winsys::winsys::MoveCounters;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let before = device.move_counters()?;
/// // A frame later:
/// let moved = device.move_counters()?.since(before);
/// assert_eq!(moved, MoveCounters { evictions: 0, bytes_moved: 0 }); // everything fits
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveCounters {
    /// Number of BOs that were evicted and copied.
    pub evictions: u64,
    /// Bytes copied by evictions and other moves.
    pub bytes_moved: u64,
}

impl MoveCounters {
    /// Returns the difference to `earlier`. Counters that went back, as after a reload of the driver, count from zero.
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
    /// Shader clock, MHz.
    ShaderClock = 1,
    /// Memory clock, MHz.
    MemoryClock = 2,
    /// Temperature, thousandths of a degree Celsius.
    Temperature = 3,
    /// Load, percent.
    Load = 4,
    /// Average power, watts.
    AveragePower = 5,
    /// Voltage of the northbridge, millivolts; APUs.
    NorthbridgeVoltage = 6,
    /// Voltage of the graphics block, millivolts.
    GraphicsVoltage = 7,
    /// Shader clock of the stable power state, MHz.
    StableShaderClock = 8,
    /// Memory clock of the stable power state, MHz.
    StableMemoryClock = 9,
    /// Highest shader clock of the stable power state, MHz.
    PeakShaderClock = 10,
    /// Highest memory clock of the stable power state, MHz.
    PeakMemoryClock = 11,
    /// Power at this moment, watts.
    InputPower = 12,
}

impl Sensor {
    /// Every sensor, by number.
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
    /// Returns the usage of the whole device, all three numbers from one ioctl.
    ///
    /// # Errors
    ///
    /// [`Error::Info`].
    pub fn system_usage(&self) -> Result<SystemUsage> {
        self.memory_info().map(|memory| SystemUsage::from(&memory))
    }

    /// Returns the VRAM in use, bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Info`].
    pub fn vram_usage(&self) -> Result<u64> {
        info(self.kernel(), "VRAM_USAGE", query::VRAM_USAGE, [0; 4])
    }

    /// Returns the visible VRAM in use, bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Info`].
    pub fn visible_vram_usage(&self) -> Result<u64> {
        info(self.kernel(), "VIS_VRAM_USAGE", query::VIS_VRAM_USAGE, [0; 4])
    }

    /// Returns the GTT in use, bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Info`].
    pub fn gtt_usage(&self) -> Result<u64> {
        info(self.kernel(), "GTT_USAGE", query::GTT_USAGE, [0; 4])
    }

    /// Returns the bytes moved so far. Two ioctls.
    ///
    /// # Errors
    ///
    /// [`Error::Info`].
    pub fn move_counters(&self) -> Result<MoveCounters> {
        let counter = |name, number| info(self.kernel(), name, number, [0; 4]);
        Ok(MoveCounters {
            evictions: counter("NUM_EVICTIONS", query::NUM_EVICTIONS)?,
            bytes_moved: counter("NUM_BYTES_MOVED", query::NUM_BYTES_MOVED)?,
        })
    }

    /// Returns the number of times the CPU touched a mapping whose BO was in invisible VRAM, so that it had to be moved.
    ///
    /// # Errors
    ///
    /// [`Error::Info`].
    pub fn cpu_page_faults(&self) -> Result<u64> {
        info(self.kernel(), "NUM_VRAM_CPU_PAGE_FAULTS", query::NUM_VRAM_CPU_PAGE_FAULTS, [0; 4])
    }

    /// Returns a sensor's value, in the unit that [`Sensor`] gives; `None` if the chip, or the kernel, has no such sensor.
    ///
    /// # Errors
    ///
    /// [`Error::Info`] for any other refusal.
    pub fn sensor(&self, sensor: Sensor) -> Result<Option<u32>> {
        match info(self.kernel(), "SENSOR", query::SENSOR, [sensor as u32, 0, 0, 0]) {
            Ok(value) => Ok(Some(value)),
            // Without power management ENOENT; a sensor that this chip or kernel lacks EINVAL.
            Err(Error::Info { errno: Errno::ENOENT | Errno::EINVAL, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
