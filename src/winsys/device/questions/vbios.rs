//! The video BIOS.

use crate::{
    uapi::{InfoVbios, query},
    winsys::{
        Device, Error, InvalidReply, Result,
        device::query::{info, info_bytes},
    },
};

/// The name and version of a GPU's video BIOS. Texts are empty if there is no video BIOS.
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let vbios = device.vbios()?;
/// assert_eq!((vbios.part_number.as_str(), vbios.version), ("", 0)); // simulated GPUs have none
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vbios {
    /// Name of the board.
    pub name: String,
    /// Part number, such as `113-D4120100-O02`.
    pub part_number: String,
    /// Version of the video BIOS as a number.
    pub version: u32,
    /// Version as text, such as `020.001.000.038.015697`.
    pub version_text: String,
    /// Date and time of the build, in the format of the BIOS.
    pub date: String,
}

/// The subqueries, passed in the first word of the input.
///
/// Source: Linux 6.12 `include/uapi/drm/amdgpu_drm.h`, `AMDGPU_INFO_VBIOS_SIZE`, `_IMAGE` and `_INFO`.
const SIZE: u32 = 1;
const IMAGE: u32 = 2;
const INFO: u32 = 3;

/// The largest accepted image size in bytes. Images are up to 256 KiB, and a card holds several.
const MOST: u32 = 16 << 20;

impl Vbios {
    fn of(answer: &InfoVbios) -> Self {
        Self {
            name: text(&answer.name),
            part_number: text(&answer.vbios_pn),
            version: answer.version,
            version_text: text(&answer.vbios_ver_str),
            date: text(&answer.date),
        }
    }
}

impl Device {
    /// Queries the name and version of the video BIOS.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the query.
    pub fn vbios(&self) -> Result<Vbios> {
        let answer: InfoVbios = info(self.kernel(), "VBIOS", query::VBIOS, [INFO, 0, 0, 0])?;
        Ok(Vbios::of(&answer))
    }

    /// Reads the image of the video BIOS; empty if there is none.
    ///
    /// ```
    /// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
    /// assert_eq!(device.vbios_image()?, [0; 0]); // simulated GPUs have none
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::Kernel`] if the kernel refuses the query;
    /// * [`Error::InvalidReply`] if the image is larger than 16 MiB.
    pub fn vbios_image(&self) -> Result<Vec<u8>> {
        let size: u32 = info(self.kernel(), "VBIOS", query::VBIOS, [SIZE, 0, 0, 0])?;
        if size > MOST {
            let reason = "more than any board has";
            return Err(Error::InvalidReply(InvalidReply { field: "VBIOS_SIZE", value: size.into(), reason }));
        }
        let mut image = vec![0; amdgpu_hw::num::index(size)];
        if size != 0 {
            info_bytes(self.kernel(), query::VBIOS, [IMAGE, 0, 0, 0], &mut image)?;
        }
        Ok(image)
    }
}

/// Returns a text up to its first NUL, without the spaces that some boards add as padding.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_a_field_of_its_own() {
        let mut answer = InfoVbios { version: 7, ..InfoVbios::ZEROED };
        (answer.name[0], answer.vbios_pn[0], answer.vbios_ver_str[0], answer.date[0]) = (b'n', b'p', b'v', b'd');
        let expected = Vbios {
            name: "n".to_owned(),
            part_number: "p".to_owned(),
            version: 7,
            version_text: "v".to_owned(),
            date: "d".to_owned(),
        };
        assert_eq!(Vbios::of(&answer), expected);
    }

    #[test]
    fn a_text_ends_with_its_first_nul_or_its_field() {
        assert_eq!(text(b"113-X  \0rest"), "113-X");
        assert_eq!(text(b"full"), "full");
        assert_eq!((text(b"\0x"), text(&[0xff, b'a', 0])), (String::new(), "\u{fffd}a".to_owned()));
    }
}
