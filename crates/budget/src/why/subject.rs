//! The subject of a question: a process, processes of one name, or a GPU.

use crate::snapshot::model::{Gpu, Process, Snapshot};

/// A GPU, and the process of it that is meant; `None` for all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subject<'s> {
    /// The GPU.
    pub gpu: &'s Gpu,
    /// The process.
    pub process: Option<&'s Process>,
}

/// Returns what a word means, or each GPU without a word.
///
/// A number is a process ID if such a process holds memory, and otherwise the index of a GPU. Other words are tried in this order:
/// the whole name of a process, a PCI address, a node or a chip, a part of a process's name, a part of a GPU's name.
///
/// # Errors
///
/// A message that lists what there is, if nothing is meant.
pub fn select<'s>(snapshot: &'s Snapshot, word: Option<&str>) -> Result<Vec<Subject<'s>>, String> {
    let Some(word) = word else {
        return Ok(snapshot.gpus.iter().map(|gpu| Subject { gpu, process: None }).collect());
    };
    let lower = word.to_lowercase();
    let processes = |is_meant: &dyn Fn(&Process) -> bool| -> Vec<Subject<'s>> {
        let of = |gpu: &'s Gpu| gpu.processes.iter().flatten().map(move |process| (gpu, process));
        let all = snapshot.gpus.iter().flat_map(of).filter(|(_, process)| is_meant(process));
        all.map(|(gpu, process)| Subject { gpu, process: Some(process) }).collect()
    };
    let gpus = |is_meant: &dyn Fn(&Gpu) -> bool| -> Vec<Subject<'s>> {
        let all = snapshot.gpus.iter().filter(|gpu| is_meant(gpu));
        all.map(|gpu| Subject { gpu, process: None }).collect()
    };
    let number: Option<u32> = word.parse().ok();
    let holds = |text: Option<&str>| !lower.is_empty() && text.is_some_and(|text| text.to_lowercase().contains(&lower));
    let tries: [&dyn Fn() -> Vec<Subject<'s>>; 6] = [
        &|| processes(&|process| Some(process.pid) == number),
        &|| gpus(&|gpu| number.is_some_and(|number| gpu.index as u64 == u64::from(number))),
        &|| processes(&|process| process.name.as_deref() == Some(word)),
        &|| gpus(&|gpu| is_gpu(gpu, word)),
        &|| processes(&|process| holds(process.name.as_deref())),
        &|| gpus(&|gpu| holds(gpu.name.as_deref())),
    ];
    let found = tries.iter().map(|attempt| attempt()).find(|found| !found.is_empty());
    found.ok_or_else(|| {
        let mut names: Vec<String> = Vec::new();
        for process in snapshot.gpus.iter().flat_map(|gpu| gpu.processes.iter().flatten()) {
            let name = format!("{} ({})", process.name.as_deref().unwrap_or("-"), process.pid);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let more = names.len().saturating_sub(12);
        names.truncate(12);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let list = if names.is_empty() { "none that can be read".to_owned() } else { names.join(", ") };
        format!("no process that holds GPU memory, and no GPU, is called '{word}'; the processes are: {list}{more}")
    })
}

/// Returns `true` if a word names a GPU other than by its marketing name.
fn is_gpu(gpu: &Gpu, word: &str) -> bool {
    let node = gpu.render.as_deref();
    gpu.pci == word
        || gpu.pci.strip_prefix("0000:") == Some(word)
        || node == Some(word)
        || node.is_some_and(|node| node.strip_prefix("/dev/dri/") == Some(word))
        || gpu.chip.as_deref() == Some(word)
}
