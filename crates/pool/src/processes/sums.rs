//! Sums that add up.

use crate::model::{Domains, Pair, Process, Unattributed, add};

/// Returns the bytes of all processes that should be in VRAM and are not.
pub(crate) fn evicted(processes: &[Process]) -> Option<u64> {
    let mut sum = None;
    for process in processes {
        add(&mut sum, process.evicted.vram);
    }
    sum
}

/// Returns the memory in use that belongs to no process.
///
/// Bytes that clients share are in the figures of each of them, and no interface says which are the same. The most that any one
/// shares is the least that is shared at all; that much is taken out, and what is left over counts as unattributed.
pub(crate) fn unattributed(domains: &Domains, processes: &[Process]) -> Unattributed {
    let mut result = Unattributed::default();
    (result.vram, result.shared.vram, result.overcounted.vram) = column(domains.vram.used, processes, |pair| pair.vram);
    (result.gtt, result.shared.gtt, result.overcounted.gtt) = column(domains.gtt.used, processes, |pair| pair.gtt);
    result
}

/// Unattributed, shared and overcounted bytes of one domain, so that
/// `used + overcounted = sum of own + shared + unattributed`.
fn column(
    used: Option<u64>,
    processes: &[Process],
    of: impl Fn(&Pair) -> Option<u64>,
) -> (Option<u64>, Option<u64>, Option<u64>) {
    let own = processes.iter().filter_map(|process| of(&process.own())).fold(0, u64::saturating_add);
    let shared = processes.iter().filter_map(|process| of(&process.shared)).max().unwrap_or(0);
    let Some(used) = used else { return (None, Some(shared), None) };
    let held = own.saturating_add(shared);
    (Some(used.saturating_sub(held)), Some(shared), Some(held.saturating_sub(used)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Domain;

    proptest! {
        #[test]
        fn the_rows_add_up_whatever_the_figures_are(
            used in 0_u64..1 << 50,
            rows in proptest::collection::vec((0_u64..1 << 40, 0_u64..1 << 40), 0..20)
        ) {
            let processes: Vec<Process> = rows.iter().map(|&(vram, shared)| Process {
                vram: Some(vram),
                shared: Pair { vram: Some(shared), gtt: None },
                ..Process::default()
            }).collect();
            let domains = Domains { vram: Domain { used: Some(used), ..Domain::default() }, ..Domains::default() };
            let rest = unattributed(&domains, &processes);
            let own: u64 = processes.iter().filter_map(|process| process.own().vram).sum();
            prop_assert_eq!(
                used + rest.overcounted.vram.unwrap(),
                own + rest.shared.vram.unwrap() + rest.vram.unwrap()
            );
            prop_assert_eq!(rest.gtt, None, "unknown usage leaves the rest unknown");
        }
    }
}
