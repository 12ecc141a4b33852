//! The kernel's answers without any derivation, for tools that store them.

use crate::{
    uapi::{DevInfo, Errno, InfoFirmware, InfoHwIp, MemoryInfo, firmware, query},
    winsys::{
        DriverVersion, Error, Ip, Kernel, KernelError, Result,
        device::query::{check_driver, info, registers},
    },
};

/// `AMDGPU_FAMILY_CI`, the first family of GFX7.
const FAMILY_CI: u32 = 120;
/// `AMDGPU_FAMILY_AI`, the first family of GFX9.
const FAMILY_AI: u32 = 141;
/// The instance that selects all engines and arrays.
const BROADCAST: u32 = u32::MAX;

/// The kernel's answers from which [`GpuInfo`](super::GpuInfo) is derived. They are sufficient to simulate the GPU.
///
/// ```
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_winsys::winsys::{Ip, RawInfo};
///
/// let raw = RawInfo::query(&SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
/// assert_eq!(raw.dev_info.device_id, 0x73bf);
/// assert_eq!(raw.ip_blocks[Ip::Compute.index()].available_rings, 0xf);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawInfo {
    /// Version of the kernel driver.
    pub driver: DriverVersion,
    /// The answer of DEV_INFO.
    pub dev_info: DevInfo,
    /// The answer of MEMORY, including the usage at the time of the query.
    pub memory: MemoryInfo,
    /// The answers of HW_IP_INFO, indexed by [`Ip::index`]; zeros if the chip lacks the block or the kernel does not know
    /// it.
    pub ip_blocks: [InfoHwIp; 10],
    /// The answers of HW_IP_COUNT, indexed by [`Ip::index`]; 0 if the chip lacks the block.
    pub ip_counts: [u32; 10],
    /// The answer of FW_VERSION for the micro engine.
    pub me_firmware: InfoFirmware,
    /// The answer of FW_VERSION for the prefetch parser.
    pub pfp_firmware: InfoFirmware,
    /// The answer of FW_VERSION for the compute micro engine.
    pub mec_firmware: InfoFirmware,
    /// The registers that describe the tiling of surfaces.
    pub registers: Vec<RegisterValue>,
}

/// A register value that READ_MMR_REG returned.
///
/// ```
/// use amdgpu_winsys::winsys::RawInfo;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let raw = RawInfo::query(device.kernel())?;
/// let config = raw.registers.iter().find(|register| register.name == "GB_ADDR_CONFIG").ok_or("not read")?;
/// assert_eq!((config.index, config.value), (None, device.info().tiling.gb_addr_config));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterValue {
    /// Name of the register, or of the array of registers that it belongs to.
    pub name: &'static str,
    /// Index of the register within its array; `None` if it is not in one.
    pub index: Option<u32>,
    /// Offset of the register in dwords.
    pub dword_offset: u32,
    /// The instance: shader engine in bits 7..0, shader array in bits 15..8; 0xff selects all.
    pub instance: u32,
    /// The value of the register.
    pub value: u32,
}

impl RawInfo {
    /// Queries all answers. Changes nothing.
    ///
    /// # Errors
    ///
    /// * [`OpenError::NotAmdgpu`](crate::winsys::OpenError::NotAmdgpu) if the driver is not amdgpu;
    /// * [`OpenError::DriverVersion`](crate::winsys::OpenError::DriverVersion) if the driver is not 3.27 or a later 3.x;
    /// * [`Error::Kernel`] if the kernel refuses a required query.
    pub fn query(kernel: &dyn Kernel) -> Result<Self> {
        let driver = check_driver(kernel)?;
        let dev_info: DevInfo = info(kernel, "DEV_INFO", query::DEV_INFO, [0; 4])?;
        let firmware = |kind| info(kernel, "FW_VERSION", query::FW_VERSION, [kind, 0, 0, 0]);
        let mut ip_blocks = [InfoHwIp::ZEROED; 10];
        let mut ip_counts = [0; 10];
        for ip in Ip::ALL {
            let input = [ip.raw(), 0, 0, 0];
            ip_blocks[ip.index()] = known(info(kernel, "HW_IP_INFO", query::HW_IP_INFO, input))?;
            ip_counts[ip.index()] = known(info(kernel, "HW_IP_COUNT", query::HW_IP_COUNT, input))?;
        }
        Ok(Self {
            driver,
            dev_info,
            memory: info(kernel, "MEMORY", query::MEMORY, [0; 4])?,
            ip_blocks,
            ip_counts,
            me_firmware: firmware(firmware::GFX_ME)?,
            pfp_firmware: firmware(firmware::GFX_PFP)?,
            mec_firmware: firmware(firmware::GFX_MEC)?,
            registers: tiling_registers(kernel, &dev_info)?,
        })
    }
}

/// Returns the answer, or zeros if the chip lacks the block or the kernel is too old to know it.
fn known<T: Default>(answer: Result<T>) -> Result<T> {
    match answer {
        Err(Error::Kernel(KernelError { errno: Errno::EINVAL, .. })) => Ok(T::default()),
        answer => answer,
    }
}

/// Reads the registers of [`TilingRegisters`](super::TilingRegisters) without decoding them.
fn tiling_registers(kernel: &dyn Kernel, dev: &DevInfo) -> Result<Vec<RegisterValue>> {
    let mut found = Vec::new();
    let mut one = |name, dword_offset, instance| -> Result<()> {
        let [value] = registers(kernel, dword_offset, instance)?;
        found.push(RegisterValue { name, index: None, dword_offset, instance, value });
        Ok(())
    };
    one("GB_ADDR_CONFIG", 0x263e, BROADCAST)?;
    if dev.family >= FAMILY_AI {
        return Ok(found);
    }
    let has_ci_registers = dev.family >= FAMILY_CI;
    for engine in 0..dev.num_shader_engines.min(4) {
        let instance = engine | 0xff << 8;
        one("CC_RB_BACKEND_DISABLE", 0x263d, instance)?;
        one("PA_SC_RASTER_CONFIG", 0xa0d4, instance)?;
        if has_ci_registers {
            one("PA_SC_RASTER_CONFIG_1", 0xa0d5, instance)?;
        }
    }
    one("MC_ARB_RAMCFG", 0x09d8, BROADCAST)?;
    array(&mut found, "GB_TILE_MODE", 0x2644, registers::<32>(kernel, 0x2644, BROADCAST)?);
    if has_ci_registers {
        array(&mut found, "GB_MACROTILE_MODE", 0x2664, registers::<16>(kernel, 0x2664, BROADCAST)?);
    }
    Ok(found)
}

fn array<const N: usize>(found: &mut Vec<RegisterValue>, name: &'static str, first: u32, values: [u32; N]) {
    found.extend((0..).zip(values).map(|(index, value)| RegisterValue {
        name,
        index: Some(index),
        dword_offset: first + index,
        instance: BROADCAST,
        value,
    }));
}
