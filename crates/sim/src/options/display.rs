//! Virtual displays.

use std::{fmt, str::FromStr};

use amdgpu_uapi::{MODE_TYPE_DRIVER, MODE_TYPE_PREFERRED, ModeInfo};

/// A display with a single mode of 60 frames per second, connected to the first connector of a device. Its text form is
/// `1920x1080`.
///
/// ```
/// use amdgpu_sim::Display;
///
/// let display: Display = "1280x720".parse()?;
/// assert_eq!((display.width(), display.height()), (1280, 720));
/// assert!("0x0".parse::<Display>().is_err());
/// # Ok::<(), amdgpu_sim::DisplayError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Display {
    width: u16,
    height: u16,
}

/// The error of parsing a text that is not a valid display size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("display {text:?}: no width and height from 64 to {} pixels, such as 1920x1080", Display::LARGEST)]
pub struct DisplayError {
    /// The rejected text.
    pub text: String,
}

impl Display {
    const SMALLEST: u16 = 64;
    const LARGEST: u16 = 7680;

    /// Returns the width in pixels.
    pub const fn width(self) -> u32 {
        self.width as u32
    }

    /// Returns the height in pixels.
    pub const fn height(self) -> u32 {
        self.height as u32
    }

    /// Returns width and height in millimetres, at 96 pixels per inch.
    pub(crate) const fn millimetres(self) -> (u32, u32) {
        (self.width() * 254 / 960, self.height() * 254 / 960)
    }

    /// Returns the mode with the reduced blanking of VESA's CVT 1.2. Small pictures have longer lines, because a timing with a
    /// clock below 10 MHz is invalid in an EDID.
    pub(crate) fn mode(self) -> ModeInfo {
        // The time of a frame, and the minimum vertical blanking, in nanoseconds.
        const FRAME: u32 = 16_666_667;
        const BLANK: u32 = 460_000;
        // The lowest pixel clock, in Hz.
        const SLOWEST: u32 = 10_000_000;
        let line = (FRAME - BLANK) / self.height();
        let blank = (BLANK / line + 1).max(15);
        let lines = self.height() + blank;
        let total = ((self.width() + 160).max(SLOWEST.div_ceil(60 * lines)), lines);
        let clock = u64::from(total.0) * u64::from(total.1) * 60 / 1000;
        let (width, height) = (self.width, self.height);
        let mut name = [0; 32];
        name.iter_mut().zip(self.to_string().bytes()).for_each(|(to, from)| *to = from);
        ModeInfo {
            // Rounded to the units of an EDID.
            clock: u32::try_from(clock / 10 * 10).unwrap_or(u32::MAX),
            hdisplay: width,
            hsync_start: width + 48,
            hsync_end: width + 80,
            htotal: u16::try_from(total.0).unwrap_or(u16::MAX),
            vdisplay: height,
            vsync_start: height + 3,
            vsync_end: height + 9,
            vtotal: u16::try_from(total.1).unwrap_or(u16::MAX),
            vrefresh: 60,
            // Horizontal sync is positive, vertical sync is negative.
            flags: 1 | 1 << 3,
            kind: MODE_TYPE_PREFERRED | MODE_TYPE_DRIVER,
            name,
            ..ModeInfo::ZEROED
        }
    }
}

impl fmt::Display for Display {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

impl FromStr for Display {
    type Err = DisplayError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| text.parse().ok().filter(|size| (Self::SMALLEST..=Self::LARGEST).contains(size));
        let both = text.split_once('x').and_then(|(width, height)| Some((number(width)?, number(height)?)));
        let (width, height) = both.ok_or_else(|| DisplayError { text: text.to_owned() })?;
        Ok(Self { width, height })
    }
}

/// The image on a display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
    /// Red, green, blue and 255 for each pixel, row by row.
    pub rgba: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_has_sixty_frames_a_second() {
        for (text, clock) in [("1920x1080", 138_652), ("640x480", 23_712), ("3840x2160", 533_280), ("64x64", 10_000)] {
            let mode = text.parse::<Display>().unwrap().mode();
            let frames = u64::from(mode.clock) * 1000 / (u64::from(mode.htotal) * u64::from(mode.vtotal));
            assert!((59..=60).contains(&frames), "{text}: {frames}");
            assert!(mode.clock.abs_diff(clock) < 600, "{text}: {}", mode.clock);
            assert!(mode.clock >= 10_000 && mode.htotal > mode.hsync_end, "{text}");
            assert!(mode.name.starts_with(text.as_bytes()) && mode.vsync_end <= mode.vtotal);
        }
    }

    #[test]
    fn other_texts_are_refused_in_words() {
        for text in ["", "1920", "1920x", "x", "63x64", "1920x7681", "1920X1080", "-1x600"] {
            let error = text.parse::<Display>().unwrap_err().to_string();
            assert!(error.contains(&format!("{text:?}")), "{error}");
        }
    }
}
