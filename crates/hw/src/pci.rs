//! PCI addresses.

use std::fmt;

/// The address of a device on the PCI bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PciAddress {
    /// PCI domain (segment).
    pub domain: u32,
    /// Bus number.
    pub bus: u8,
    /// Device number, below 32.
    pub device: u8,
    /// Function number, below 8.
    pub function: u8,
}

impl PciAddress {
    /// Parses an address in the form `0000:03:00.0`; `None` if the form or a number is invalid.
    pub fn parse(text: &str) -> Option<Self> {
        let (domain, rest) = text.split_once(':')?;
        let (bus, rest) = rest.split_once(':')?;
        let (device, function) = rest.split_once('.')?;
        Some(Self {
            domain: u32::from_str_radix(domain, 16).ok()?,
            bus: u8::from_str_radix(bus, 16).ok()?,
            device: u8::from_str_radix(device, 16).ok().filter(|&device| device < 32)?,
            function: u8::from_str_radix(function, 16).ok().filter(|&function| function < 8)?,
        })
    }
}

impl PciAddress {
    /// Returns the device UUID that RADV and radeonsi report for the GPU at this address, which lets Vulkan, OpenGL and other APIs
    /// identify the same device. It consists of domain, bus, device and function, four bytes each.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_compute_device_uuid`.
    pub fn device_uuid(&self) -> [u8; 16] {
        let parts = [self.domain, self.bus.into(), self.device.into(), self.function.into()];
        let mut uuid = [0; 16];
        uuid.as_chunks_mut::<4>().0.iter_mut().zip(parts).for_each(|(bytes, part)| *bytes = part.to_ne_bytes());
        uuid
    }
}

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:02x}:{:02x}.{}", self.domain, self.bus, self.device, self.function)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_and_printed_alike() {
        let address = PciAddress::parse("0000:0b:1f.7").unwrap();
        assert_eq!(address, PciAddress { domain: 0, bus: 0x0b, device: 0x1f, function: 7 });
        assert_eq!(address.to_string(), "0000:0b:1f.7");
    }

    /// Feature 12.
    #[test]
    fn the_device_uuid_is_the_place_in_four_numbers() {
        let uuid = PciAddress { domain: 1, bus: 0x0b, device: 0x1f, function: 7 }.device_uuid();
        assert_eq!(
            uuid.as_chunks::<4>().0.iter().map(|part| u32::from_ne_bytes(*part)).collect::<Vec<_>>(),
            [1, 11, 31, 7]
        );
    }

    #[test]
    fn what_is_no_address_is_none() {
        for text in ["", "0000:03:00", "0000:03:20.0", "0000:03:00.8", "x:03:00.0", "0000:103:00.0"] {
            assert_eq!(PciAddress::parse(text), None, "{text:?}");
        }
    }
}
