//! Memory shared between processes, and between GPUs.

use std::{
    fs::File,
    io,
    os::{fd::OwnedFd, unix::fs::FileExt},
    path::Path,
    process::{Command, Stdio},
};

use amdgpu_winsys::{
    cs::Submission,
    uapi::VaFlags,
    vamgr::VaRequest,
    winsys::{Binding, Bo, Device, Mapping},
};

use crate::{
    checks::{bos::share, check::Check},
    gpu::{
        pattern::pattern,
        target::{Peer, Target},
        test_context::TestContext,
    },
    level::Level,
    result::outcome::{ErrorContext, Outcome, ensure, fail, same_bytes, skip},
};

pub(crate) const CHECKS: &[Check] = &[
    Check::once("prime.process", "another process reads an exported BO, and what it writes arrives here", process)
        .at(Level::Core)
        .anchor("amd_bo@bo-export-import")
        .needing_a_kernel(),
    Check::once("prime.devices", "a second GPU reads what the first one's memory holds", devices)
        .at(Level::Core)
        .needs("a second GPU")
        .anchor("amd_prime")
        .needing_a_kernel(),
];

const SIZE: u64 = 64 << 10;

/// Values that this process writes and the other one answers with.
const QUESTION: u32 = 0x7175_6573;
const ANSWER: u32 = 0x616e_7377;

/// The argument that makes this program the other process.
pub(crate) const HELPER: &str = "--helper";

fn process(test: &TestContext<'_>) -> Outcome {
    let Some(program) = test.target.helper() else {
        return skip("this process cannot start itself once more");
    };
    let memory = share::exportable(test, SIZE)?;
    let dma_buf = memory.bo().export().context("exporting")?;
    let mapping = memory.map().context("mapping the exported BO")?;
    mapping.write(0, &pattern(QUESTION, SIZE as usize)).context("writing")?;
    let mut command = Command::new(program);
    command.arg(HELPER).stdin(Stdio::from(dma_buf)).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A simulated GPU lives in this process: the other one has its memory, and no device.
    if let Some(node) = test.target.node() {
        command.arg(node);
    }
    let output = command.output().context("starting another process")?;
    ensure(output.status.success(), || {
        format!("the other process: {}", String::from_utf8_lossy(&output.stderr).trim_end())
    })?;
    let mut found = vec![0; SIZE as usize];
    mapping.read(0, &mut found).context("reading")?;
    same_bytes(&found, &pattern(ANSWER, SIZE as usize))?;
    let how = if test.target.node().is_some() { "imported" } else { "as a file" };
    Ok(format!("{} KiB both ways, there {how}", SIZE >> 10))
}

/// The other process: compares what is in the dma-buf with what should be there, and answers. The reason of a failure is
/// for standard error.
pub(crate) fn help(dma_buf: OwnedFd, node: Option<&Path>) -> Result<(), String> {
    let mut found = vec![0; SIZE as usize];
    let same = |found: &[u8]| {
        let at = found.iter().zip(pattern(QUESTION, SIZE as usize)).position(|(found, expected)| *found != expected);
        at.map_or(Ok(()), |at| Err(format!("byte {at:#x} is not what was exported")))
    };
    let answer = pattern(ANSWER, SIZE as usize);
    if let Some(node) = node {
        let device = Device::open(node).map_err(|error| error.to_string())?;
        let bo = Bo::import(&device, &dma_buf).map_err(|error| error.to_string())?;
        let mapping = Mapping::new(&bo).map_err(|error| error.to_string())?;
        mapping.read(0, &mut found).map_err(|error| error.to_string())?;
        same(&found)?;
        return mapping.write(0, &answer).map_err(|error| error.to_string());
    }
    let text = |error: io::Error| error.to_string();
    let file = File::from(dma_buf);
    file.read_exact_at(&mut found, 0).map_err(text)?;
    same(&found)?;
    file.write_all_at(&answer, 0).map_err(text)
}

fn devices(test: &TestContext<'_>) -> Outcome {
    let Some(Peer { open, .. }) = test.target.peers().first() else { return skip("there is no second GPU") };
    let peer = open().context("opening the second GPU")?;
    let memory = share::exportable(test, SIZE)?;
    let dma_buf = memory.bo().export().context("exporting")?;
    let bytes = test.pattern(50, SIZE as usize);
    memory.map().context("mapping the exported BO")?.write(0, &bytes).context("writing")?;

    let there = Target::new("the second GPU", move || Ok(peer.clone()));
    let there = TestContext::open(&there, test.settings)?;
    let bo = Bo::import(&there.device, &dma_buf).context("importing on the second GPU")?;
    let lease = there.device.addresses().allocate(VaRequest::new(SIZE)).context("leasing addresses there")?;
    let bound = Binding::new(&bo, lease, VaFlags::READABLE | VaFlags::WRITEABLE);
    let imported = bound.map_err(|(_lease, error)| error).context("binding it there")?;
    let ring = there.ring_of(amdgpu_winsys::winsys::Ip::Sdma)?;
    let to = there.host_memory(SIZE)?;
    let (queue, at) = (there.queue(ring)?, to.at(0)?);
    let list = there.record(&queue, |recorder| recorder.copy(at, imported.address(), SIZE))?;
    let bindings = [imported.clone(), to.memory().binding().clone()];
    let fence = queue
        .submit(&Submission { lists: &[&list], memory: &bindings, ..Submission::default() })
        .context("submitting there")?;
    there.wait(&fence, || to.differs(&[0; 64]))?;
    let found = to.read(0, SIZE as usize)?;
    if found.is_empty() {
        return fail("nothing was read");
    }
    same_bytes(&found, &bytes)?;
    Ok(format!("{} KiB from one to the other, {}", SIZE >> 10, there.device.info().chip_name()))
}
