//! `why`: why memory is not where it is wanted, as sentences.

use std::io::{self, Write};

use super::{Style, known};
use crate::{
    snapshot::units::{Age, percent},
    why::{Cause, Finding, Growth, Named, Pool, Share},
};

/// Writes the answers, with an empty line between them.
///
/// # Errors
///
/// The errors of writing to `out`.
pub fn write(findings: &[Finding], has_past: bool, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for (index, finding) in findings.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        write_one(finding, has_past, style, out)?;
    }
    Ok(())
}

fn write_one(finding: &Finding, has_past: bool, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let gpu = format!("GPU {}, {}", finding.gpu, known(finding.gpu_name.as_deref()));
    let heading = match &finding.process {
        Some(process) => format!("{} on {gpu}", name(process)),
        None => gpu,
    };
    writeln!(out, "{}", style.paint(1, &heading))?;
    line(out, "what", &summary(finding, style), style)?;
    let first = finding.causes.first().copied();
    for (index, cause) in finding.causes.iter().enumerate() {
        line(out, if index == 0 { "why" } else { "" }, &reason(*cause, finding, style), style)?;
    }
    if !finding.throttled.is_empty() {
        let text = format!("apart from memory, the firmware holds the clocks back: {}", finding.throttled.join(", "));
        line(out, "slow", &text, style)?;
    }
    if matches!(first, Some(Cause::Unknown | Cause::InPlace | Cause::Apu)) {
        return Ok(());
    }
    if !finding.owners.is_empty() {
        line(out, "whose", &shares(&finding.owners, "", style), style)?;
    }
    for pool in &finding.pools {
        line(out, "room", &room(pool, style), style)?;
    }
    if !finding.holders.is_empty() {
        let domain = if finding.is_about_visible_vram() { "visible VRAM" } else { "VRAM" };
        line(out, "holders", &format!("of {domain}: {}", shares(&finding.holders, "", style)), style)?;
    }
    match &finding.since {
        Some(growth) => line(out, "since", &since(growth, style), style)?,
        None if has_past => line(out, "since", "the past does not have this GPU's displaced memory", style)?,
        None => line(
            out,
            "since",
            "no past is known: --from RECORDING (of record) or --server ADDRESS (of serve) tells who grew",
            style,
        )?,
    }
    line(out, "protected", &protection(finding, style), style)?;
    for (index, remedy) in finding.remedies.iter().enumerate() {
        line(out, if index == 0 { "helps" } else { "" }, &format!("{}. {}", index + 1, remedy.text), style)?;
        if let Some(command) = &remedy.command {
            line(out, "", &format!("   {command}"), style)?;
        }
    }
    Ok(())
}

/// A line with the word that it is about, wrapped where the output is narrow.
fn line(out: &mut dyn Write, word: &str, text: &str, style: &Style) -> io::Result<()> {
    const INDENT: usize = 13;
    let room = style.width.unwrap_or(DEFAULT_WIDTH).saturating_sub(INDENT).max(20);
    let mut word = word;
    let mut rest = text;
    while rest.chars().count() > room {
        let end = rest.char_indices().nth(room).map_or(rest.len(), |(end, _)| end);
        // A word that is longer than the line is not broken: it may be a command.
        let Some(at) = rest.get(..end).and_then(|line| line.rfind(' ')).or_else(|| rest.find(' ')) else { break };
        let (head, tail) = rest.split_at(at);
        writeln!(out, "  {word:<9}  {}", head.trim_end())?;
        (word, rest) = ("", tail.trim_start());
    }
    writeln!(out, "  {word:<9}  {rest}")
}

/// Columns of a line where the width of the output is not known.
const DEFAULT_WIDTH: usize = 110;

fn name(process: &Named) -> String {
    format!("{} ({})", known(process.name.as_deref()), process.pid)
}

fn summary(finding: &Finding, style: &Style) -> String {
    let size = |bytes| style.units.text(bytes);
    match (finding.wanted, finding.displaced) {
        (Some(wanted), Some(0)) => format!("all {} that are wanted in VRAM are there", size(wanted)),
        (None, Some(0)) => "all that is wanted in VRAM is there".to_owned(),
        (Some(wanted), Some(displaced)) => {
            let share = percent(displaced, wanted).map(|share| format!(" ({share}%)")).unwrap_or_default();
            let visible = match finding.displaced_visible {
                Some(0) | None => String::new(),
                Some(visible) => format!("; the CPU must reach {} of that", size(visible)),
            };
            format!(
                "of {} that are wanted in VRAM, {}{share} are displaced to system memory{visible}",
                size(wanted),
                size(displaced)
            )
        }
        (None, Some(displaced)) => format!("{} are displaced to system memory", size(displaced)),
        (_, None) => "where its memory is wanted is unknown".to_owned(),
    }
}

fn reason(cause: Cause, finding: &Finding, style: &Style) -> String {
    let pool = |name: &str| finding.pools.iter().find(|pool| pool.name == name);
    let free = |name: &str| style.units.known(pool(name).and_then(|pool| pool.free));
    match cause {
        Cause::Unknown => {
            "unknown: the kernel does not say what is displaced (Linux 6.1 and later do), or the GPU could not be read"
                .to_owned()
        }
        Cause::InPlace => "nothing is displaced, so nothing has to be brought back".to_owned(),
        Cause::Apu => {
            "this is normal on an APU: GTT is as fast as the carve-out, in the same memory chips; the pool is the \
                       figure to watch"
                .to_owned()
        }
        Cause::VisibleVramFull => format!(
            "visible VRAM, which the CPU reaches, is full: {} free, {} wanted by buffers that need CPU access",
            free("visible_vram"),
            style.units.known(finding.displaced_visible)
        ),
        Cause::VramFull => {
            format!("VRAM is full: {} free, {} displaced", free("vram"), style.units.known(finding.displaced))
        }
        Cause::CgroupLimit => "its cgroup may not hold more VRAM (dmem.max)".to_owned(),
        Cause::VisibleVramLikely => format!(
            "visible VRAM, which the CPU reaches, is full ({} free); that is the reason if the CPU must reach it, which this kernel \
             does not say",
            free("visible_vram")
        ),
        Cause::RoomAgain => format!("VRAM has {} free, so it could be there: it has not come back yet", free("vram")),
    }
}

fn room(pool: &Pool, style: &Style) -> String {
    let state = match pool.full {
        Some(true) => ", full",
        _ => "",
    };
    let name = match pool.name {
        "vram" => "VRAM",
        "visible_vram" => "visible VRAM",
        _ => "GTT",
    };
    let size = |bytes| style.units.known(bytes);
    format!("{name}: {} of {} in use, {} free{state}", size(pool.used), size(pool.total), size(pool.free))
}

fn shares(list: &[Share], sign: &str, style: &Style) -> String {
    let text = |share: &Share| format!("{} {sign}{}", name(&share.process), style.units.text(share.bytes));
    list.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn since(growth: &Growth, style: &Style) -> String {
    let moment = growth.time.get(..19).unwrap_or(&growth.time).replace('T', " ");
    let then = match (growth.was_in_place, growth.displaced) {
        (true, _) => "when all of it was in VRAM".to_owned(),
        (false, bytes) => format!("when {} were displaced", style.units.text(bytes)),
    };
    let grew = if growth.grew.is_empty() { "no process grew".to_owned() } else { shares(&growth.grew, "+", style) };
    let shrank = match growth.shrank {
        0 => String::new(),
        bytes => format!("; others shrank by {}", style.units.text(bytes)),
    };
    format!("{moment} ({} ago), {then}: {grew}{shrank}", Age(growth.seconds))
}

fn protection(finding: &Finding, style: &Style) -> String {
    let protection = &finding.protection;
    if !protection.known {
        return "nothing: no dmem controller of cgroup v2 is known for this GPU".to_owned();
    }
    let size = |bytes| style.units.text(bytes);
    let own = match (&finding.process, protection.bytes, &protection.at) {
        (None, ..) => String::new(),
        (_, Some(0), Some(at)) => format!("nothing of it: dmem.low of {at} is 0"),
        (_, Some(bytes), Some(at)) => format!("{} of its cgroup (dmem.low of {at})", size(bytes)),
        _ => "nothing of it: its cgroup has no dmem controller".to_owned(),
    };
    let others: Vec<String> =
        protection.others.iter().map(|group| format!("{} {}", group.path, size(group.bytes))).collect();
    let others = match (own.is_empty(), others.is_empty()) {
        (true, true) => return "nothing of any cgroup (dmem.low and dmem.min are 0)".to_owned(),
        (_, true) => String::new(),
        (true, false) => others.join(", "),
        (false, false) => format!("; of others: {}", others.join(", ")),
    };
    own + &others
}
