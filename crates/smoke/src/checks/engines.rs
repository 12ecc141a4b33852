//! Engines beside the command processors and copy engines: the display and the video engines.

use std::time::Duration;

use amdgpu_winsys::winsys::{Ip, VideoDirection};

use crate::{
    checks::check::Check,
    gpu::{display::Display, test_context::TestContext},
    level::Level,
    result::outcome::{ErrorContext, Outcome, ensure, fail, same, skip},
};

pub(crate) const CHECKS: &[Check] =
    &[Check::once("display.flip", "page flips end at vertical blanks, in order, and show what they were given", flip)
        .at(Level::Core)
        .needs("a connected display that no compositor holds")
        .anchor("kms_flip")];

/// The IPs whose engines code video.
const VIDEO: [Ip; 7] = [Ip::Uvd, Ip::Vce, Ip::UvdEnc, Ip::VcnDec, Ip::VcnEnc, Ip::VcnJpeg, Ip::Vpe];
/// The page flips of the check.
const FLIPS: u32 = 6;
/// The shades of the pictures, which take turns.
const SHADES: [u8; 2] = [0x30, 0xa0];

/// The messages by which a video engine decodes a frame are those of its firmware, and differ between its versions. A stream that a
/// program of the vendor did not make could hang the engine for reasons that say nothing about it.
const WHY: &str = "no frame is decoded: the commands are the firmware's own messages, which differ between its versions; \
    ffmpeg -hwaccel vaapi decodes one";

/// Tells the video engines: their rings, and the codecs with their limits. It submits nothing.
pub(crate) fn video(test: &TestContext<'_>) -> Outcome {
    let info = test.device.info();
    let mut engines = Vec::new();
    for block in VIDEO.into_iter().filter_map(|ip| info.ip_block(ip)) {
        let most = info.max_ibs.get(block.ip.index()).copied().unwrap_or(0);
        ensure(most > 0, || format!("{} has {} rings and takes no IB", block.ip, block.rings))?;
        let version = block.version;
        engines.push(format!("{} {} {}.{}.{}", block.rings, block.ip, version.major, version.minor, version.revision));
    }
    if engines.is_empty() {
        return skip(format!("the kernel offers no ring of a video engine; {WHY}"));
    }
    let mut parts = vec![format!("rings: {}", engines.join(", "))];
    for (direction, does) in [(VideoDirection::Decode, "decodes"), (VideoDirection::Encode, "encodes")] {
        let Some(all) = test.device.video_capabilities(direction).context("asking for the codecs")? else { continue };
        for (codec, limits) in all.codecs() {
            let (width, height, pixels) = (limits.max_width, limits.max_height, limits.max_pixels);
            ensure(width > 0 && height > 0 && pixels > 0, || {
                format!("{} of at most {width}x{height} pixels, {pixels} in all", codec.name())
            })?;
        }
        let names: Vec<_> = all.codecs().map(|(codec, _)| codec.name()).collect();
        if !names.is_empty() {
            parts.push(format!("{does} {}", names.join(", ")));
        }
    }
    parts.push(WHY.to_owned());
    Ok(parts.join("; "))
}

fn flip(test: &TestContext<'_>) -> Outcome {
    let mut display = Display::take(test.target)?;
    let (width, height, rate) = display.size();
    let pictures = [display.picture(SHADES[0])?, display.picture(SHADES[1])?];
    display.show(pictures[0])?;
    same("the framebuffer that is shown first", display.shown()?, pictures[0].id)?;
    let mut times: Vec<Duration> = Vec::new();
    for number in 1..=u64::from(FLIPS) {
        let which = (number % 2) as usize;
        let Some(end) = display.flip(pictures[which], number)? else {
            return fail(format!("flip {number} of {FLIPS} does not end"));
        };
        same("the number of the flip that ended", end.number, number)?;
        same(&format!("the framebuffer after flip {number}"), display.shown()?, pictures[which].id)?;
        if let Some(slot) = test.target.slot() {
            let shade = slot.device().scanned_out().and_then(|picture| picture.rgba.first().copied());
            same(&format!("the first pixel after flip {number}"), shade, Some(SHADES[which]))?;
        }
        let before = times.last().copied().unwrap_or_default();
        ensure(end.time > before, || {
            format!("flip {number} ended at {:?}, and the one before at {before:?}", end.time)
        })?;
        times.push(end.time);
    }
    let spent = times.last().copied().unwrap_or_default().saturating_sub(times.first().copied().unwrap_or_default());
    let each = spent.as_secs_f64() * 1e3 / f64::from(FLIPS - 1);
    Ok(format!("{FLIPS} flips at {width}x{height}, {rate} Hz, one each {each:.1} ms"))
}
