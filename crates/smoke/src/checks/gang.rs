//! Jobs that run side by side on several rings, in one submission.

use amdgpu_winsys::{
    cs::Target,
    uapi::{BoListEntry, CsChunkIb},
    winsys::{Capabilities, ChunkScratch, Chunks, Context, Deadline, Ip, PAGE_SIZE, Priority},
};

use crate::{
    lab::{HostMemory, Lab},
    level::Level,
    outcome::{Doing, Outcome, Stop, fail, same, skip},
    plan::Check,
    recorder::Recorder,
};

pub(crate) const CHECKS: &[Check] =
    &[Check::once("gang.submit", "two rings of one submission run side by side, each waiting for the other", submit)
        .at(Level::Core)
        .needs("gang submission, a graphics and a compute ring")
        .anchor("amd_gang_cs")
        .needing_a_kernel()];

/// Where the members' programs and what they tell each other are in one page each.
const GRAPHICS: u64 = 0;
const COMPUTE: u64 = PAGE_SIZE;
const WORDS: u64 = 2 * PAGE_SIZE;

const TOLD: u32 = 0x0060_0001;

fn submit(lab: &Lab<'_>) -> Outcome {
    let info = lab.device.info();
    if !info.capabilities.contains(Capabilities::GANG_SUBMIT) {
        return skip("the kernel knows no gangs");
    }
    if [Ip::Gfx, Ip::Compute].iter().any(|&ip| info.ring_count(ip) == 0) {
        return skip("there is no graphics or no compute ring");
    }
    let memory = lab.host_memory(3 * PAGE_SIZE)?;
    memory.write(0, &vec![0; 3 * PAGE_SIZE as usize])?;
    let (first, second) = (memory.at(WORDS)?, memory.at(WORDS + 64)?);
    // Neither gets to its end unless the other one runs at the same time.
    let graphics = program(lab, &memory, Ip::Gfx, GRAPHICS, |recorder| {
        recorder.write(first, &[TOLD])?;
        recorder.wait_for(second, TOLD)
    })?;
    let compute = program(lab, &memory, Ip::Compute, COMPUTE, |recorder| {
        recorder.wait_for(first, TOLD)?;
        recorder.write(second, &[TOLD])
    })?;
    let context = Context::new(&lab.device, Priority::Normal).doing("allocating a context")?;
    let bos = [BoListEntry { bo_handle: memory.memory().bo().handle(), bo_priority: 0 }];
    let ibs = [compute, graphics];
    let chunks = Chunks { ibs: &ibs, bos: &bos, ..Chunks::default() };
    let sequence = context.submit(chunks, &mut ChunkScratch::default()).doing("submitting a gang")?;
    let deadline = Deadline::after(std::time::Duration::from_secs(4));
    let done = context.wait(Ip::Gfx, 0, sequence, deadline).doing("waiting for the gang")?;
    same("the gang was done at the deadline", done, true)?;
    let told: Vec<_> = [memory.dwords(WORDS, 1)?, memory.dwords(WORDS + 64, 1)?].concat();
    same("what each told the other", told, vec![TOLD; 2])?;
    Ok("graphics and compute".to_owned())
}

/// Puts a program into memory, and says to the kernel where it is.
fn program(
    lab: &Lab<'_>,
    memory: &HostMemory,
    ip: Ip,
    at: u64,
    commands: impl FnOnce(&mut Recorder) -> amdgpu_winsys::cs::Result<()>,
) -> Result<CsChunkIb, Stop> {
    let Some(target) = Target::new(lab.device.info().gfx_level, ip) else {
        return fail(format!("{ip} takes no packets"));
    };
    let mut recorder = Recorder::new(&lab.device, target).doing("making a stream")?;
    commands(&mut recorder).doing("recording")?;
    let (_list, tape) = recorder.finish().doing("closing a stream")?;
    let mut dwords = tape.into_dwords();
    let used = dwords.len();
    dwords.resize(used + target.padding(used, 0), 0);
    target.fill(dwords.get_mut(used..).unwrap_or_default());
    let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
    memory.write(at, &bytes)?;
    Ok(CsChunkIb {
        va_start: memory.at(at)?.as_u64(),
        ib_bytes: bytes.len() as u32,
        ip_type: ip.index() as u32,
        ..CsChunkIb::ZEROED
    })
}
